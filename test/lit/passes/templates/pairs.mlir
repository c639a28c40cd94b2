// RUN: aiopt -p 'ai-group-kernels,ai-outline-kernels,ai-select-route{vector-bits=512 registers=32 fma=true dot=true}' %s -o %t.mlir
// RUN: filecheck %s --check-prefix=ROUTE --input-file=%t.mlir
// RUN: aiopt -p 'ai-pack-weights,convert-ai-to-linalg' %t.mlir | filecheck %s --check-prefix=LOOPS
// RUN: aiopt --emit=asm --cpu=cooperlake %s | filecheck %s --check-prefix=ASM
// RUN: aiopt --emit=asm --cpu=x86-64-v3 %s | filecheck %s --check-prefix=PLAIN
// RUN: not aiopt --emit=asm --cpu=i486 %s 2>&1 | filecheck %s --check-prefix=CPU
// CPU: error: there is no CPU 'i486' (there are: host, x86-64,

// Weights are known, k is even: pairs. An odd k, and a right side that is computed, are summed one by one.
// ROUTE: @matmul_0{{.*}}ai.template = {ahead = 0 : i64, dot = 1 : i64
// ROUTE: @matmul_1{{.*}}ai.template = {ahead = 0 : i64, dot = 0 : i64
// ROUTE: @matmul_2{{.*}}ai.template = {ahead = 0 : i64, dot = 0 : i64

// LOOPS: func.func private @matmul_0
// LOOPS: %[[W:.*]] = vector.load {{.*}} vector<32xbf16>
// LOOPS: vector.load {{.*}} vector<2xbf16>
// LOOPS: vector.broadcast {{.*}} : i32 to vector<16xi32>
// LOOPS: x86vector.avx512.dot {{.*}} %[[W]] : vector<32xbf16> -> vector<16xf32>

// The inner loop: a pair of a row from memory in all lanes, its products with two vectors of columns, and so on, without
// conversions.
// ASM: kernel.matmul_0
// ASM: vbroadcastss {{.*}}(%{{.*}}), [[ROW:%zmm[0-9]+]]
// ASM-NEXT: vdpbf16ps {{%zmm[0-9]+}}, [[ROW]], {{%zmm[0-9]+}}
// ASM-NEXT: vdpbf16ps {{%zmm[0-9]+}}, [[ROW]], {{%zmm[0-9]+}}
// ASM-NEXT: vbroadcastss
// ASM-NEXT: vdpbf16ps
// ASM-NOT: vcvt
// ASM: vdpbf16ps
// PLAIN-NOT: zmm
// PLAIN-NOT: vdpbf16ps
// PLAIN-NOT: truncsfbf2
module attributes {ai.level = "graph", ai.net = "net"} {
  func.func @main(%x: tensor<64x64xbf16> {ai.name = "x"}, %o: tensor<64x63xbf16> {ai.name = "o"}) -> (tensor<64x64xf32> {ai.name = "y"}, tensor<64x64xf32> {ai.name = "z"}, tensor<64x64xf32> {ai.name = "s"}) {
    %w = arith.constant dense<1.500000e+00> : tensor<64x64xbf16>
    %v = arith.constant dense<1.500000e+00> : tensor<63x64xbf16>
    %y = "ai.matmul"(%x, %w) {acc = f32, to = f32} : (tensor<64x64xbf16>, tensor<64x64xbf16>) -> tensor<64x64xf32>
    %z = "ai.matmul"(%o, %v) {acc = f32, to = f32} : (tensor<64x63xbf16>, tensor<63x64xbf16>) -> tensor<64x64xf32>
    %s = "ai.matmul"(%x, %x) {acc = f32, to = f32} : (tensor<64x64xbf16>, tensor<64x64xbf16>) -> tensor<64x64xf32>
    return %y, %z, %s : tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>
  }
}
