// RUN: aiopt -p ai-verify %s | aiopt -p ai-verify | filecheck %s
// RUN: sed 's/f16/i16/g' %s | not aiopt -p ai-verify 2>&1 | filecheck %s --check-prefix=FLOAT
// RUN: sed 's/i8/ui8/g' %s | not aiopt -p ai-verify 2>&1 | filecheck %s --check-prefix=SIGNED
// RUN: sed 's/to = i1/to = f128/' %s | not aiopt -p ai-verify 2>&1 | filecheck %s --check-prefix=CAST
// RUN: sed 's/tensor<5xi1>/tensor<?xi1>/' %s | not aiopt -p ai-verify 2>&1 | filecheck %s --check-prefix=STATIC
// RUN: sed 's/{to = i1}/{}/' %s | not aiopt -p ai-verify 2>&1 | filecheck %s --check-prefix=MISSING

// CHECK-LABEL: func.func @floats
// CHECK: "ai.identity"(%{{.*}}) : (tensor<f32>) -> tensor<f32>
// CHECK: "ai.abs"
// CHECK: "ai.sqrt"
// CHECK: "ai.log"
// CHECK: "ai.exp"(%{{.*}}) : (tensor<2x0xf16>) -> tensor<2x0xf16>
// CHECK: "ai.tanh"
// CHECK: "ai.erf"
// CHECK: "ai.sigmoid"
// FLOAT: error: {{.*}}ai.exp: operand 'input' must be a tensor of floats, but is tensor<2x0xi16> (at 'Exp_1')
func.func @floats(%x: tensor<f32>, %h: tensor<2x0xf16>) {
  %0 = "ai.identity"(%x) : (tensor<f32>) -> tensor<f32>
  %1 = "ai.abs"(%0) : (tensor<f32>) -> tensor<f32>
  %2 = "ai.sqrt"(%1) : (tensor<f32>) -> tensor<f32>
  %3 = "ai.log"(%2) : (tensor<f32>) -> tensor<f32>
  %4 = "ai.exp"(%h) : (tensor<2x0xf16>) -> tensor<2x0xf16> loc("Exp_1")
  %5 = "ai.tanh"(%4) : (tensor<2x0xf16>) -> tensor<2x0xf16>
  %6 = "ai.erf"(%5) : (tensor<2x0xf16>) -> tensor<2x0xf16>
  %7 = "ai.sigmoid"(%6) : (tensor<2x0xf16>) -> tensor<2x0xf16>
  return
}

// CHECK-LABEL: func.func @signed
// CHECK: "ai.neg"(%{{.*}}) : (tensor<5xi8>) -> tensor<5xi8>
// CHECK: "ai.relu"
// SIGNED: error: {{.*}}ai.neg: operand 'input' must be a tensor of signed numbers, but is tensor<5xui8> (at 'Neg_2')
func.func @signed(%x: tensor<5xi8>) {
  %0 = "ai.neg"(%x) : (tensor<5xi8>) -> tensor<5xi8> loc("Neg_2")
  %1 = "ai.relu"(%0) : (tensor<5xi8>) -> tensor<5xi8>
  return
}

// CHECK-LABEL: func.func @cast
// CHECK: "ai.cast"(%{{.*}}) {to = i1} : (tensor<5xf32>) -> tensor<5xi1>
// CAST: error: {{.*}}ai.cast: no tensor of aiopt has elements of type f128
// STATIC: error: {{.*}}ranked tensor of static shape, got tensor<?xi1>
// MISSING: error: {{.*}}attribute "to" is expected but not provided
func.func @cast(%x: tensor<5xf32>) {
  %0 = "ai.cast"(%x) {to = i1} : (tensor<5xf32>) -> tensor<5xi1> loc("Cast_3")
  return
}
