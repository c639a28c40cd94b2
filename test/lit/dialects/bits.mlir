// RUN: aiopt -p ai-verify %s | aiopt -p ai-verify | filecheck %s
// RUN: sed 's/tensor<4xui8>/tensor<4xf32>/g' %s | not aiopt -p ai-verify 2>&1 | filecheck %s --check-prefix=TYPE
// RUN: sed 's/to = i32/to = i16/' %s | not aiopt -p ai-verify 2>&1 | filecheck %s --check-prefix=WIDTH

// CHECK-LABEL: func.func @bits
// CHECK: "ai.shift_left"(%{{.*}}, %{{.*}}) : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xui8>
// CHECK: "ai.shift_right"
// CHECK: "ai.and"(%{{.*}}, %{{.*}}) : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xui8>
// CHECK: "ai.bitcast"(%{{.*}}) {to = i32} : (tensor<2xf32>) -> tensor<2xi32>
// TYPE: error: {{.*}}ai.shift_left: operand 'lhs' must be a tensor of integers, but is tensor<4xf32>
// WIDTH: error: {{.*}}ai.bitcast: to must be a type other than i1 and as wide as f32, but is i16
func.func @bits(%x: tensor<4xui8>, %y: tensor<4xui8>, %z: tensor<2xf32>) {
  %0 = "ai.shift_left"(%x, %y) : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xui8>
  %1 = "ai.shift_right"(%0, %y) : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xui8>
  %2 = "ai.and"(%1, %y) : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xui8>
  %3 = "ai.bitcast"(%z) {to = i32} : (tensor<2xf32>) -> tensor<2xi32>
  return
}
