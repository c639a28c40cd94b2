// A small convolutional net in tosa.
func.func @main(%x: tensor<1x8x8x3xf32> {ai.name = "image"}) -> (tensor<1x10xf32> {ai.name = "scores"}) {
  %w = "tosa.const"() <{values = dense<0.1> : tensor<4x3x3x3xf32>}> : () -> tensor<4x3x3x3xf32>
  %b = "tosa.const"() <{values = dense<[0.1, 0.2, 0.3, 0.4]> : tensor<4xf32>}> : () -> tensor<4xf32>
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.conv2d %x, %w, %b, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : (tensor<1x8x8x3xf32>, tensor<4x3x3x3xf32>, tensor<4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x8x8x4xf32>
  %1 = tosa.clamp %0 {min_val = 0.0 : f32, max_val = 6.0 : f32} : (tensor<1x8x8x4xf32>) -> tensor<1x8x8x4xf32>
  %2 = tosa.reduce_sum %1 {axis = 1 : i32} : (tensor<1x8x8x4xf32>) -> tensor<1x1x8x4xf32>
  %s = tosa.const_shape {values = dense<[1, 1, 32]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %3 = tosa.reshape %2, %s : (tensor<1x1x8x4xf32>, !tosa.shape<3>) -> tensor<1x1x32xf32>
  %m = "tosa.const"() <{values = dense<0.01> : tensor<1x32x10xf32>}> : () -> tensor<1x32x10xf32>
  %4 = tosa.matmul %3, %m, %z, %z : (tensor<1x1x32xf32>, tensor<1x32x10xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x10xf32>
  %t = tosa.const_shape {values = dense<[1, 10]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %5 = tosa.reshape %4, %t : (tensor<1x1x10xf32>, !tosa.shape<2>) -> tensor<1x10xf32>
  %6 = tosa.tanh %5 : (tensor<1x10xf32>) -> tensor<1x10xf32>
  return %6 : tensor<1x10xf32>
}
