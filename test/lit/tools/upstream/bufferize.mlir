// Tensors become buffers, at the borders of functions, too.
// RUN: aiopt %s --one-shot-bufferize="bufferize-function-boundaries=true" | filecheck %s
// CHECK: func.func @f(%[[M:.*]]: memref<4xf32
// CHECK: memref.store %{{.*}}, %[[M]]
func.func @f(%t: tensor<4xf32>, %x: f32) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %r = tensor.insert %x into %t[%c0] : tensor<4xf32>
  return %r : tensor<4xf32>
}
