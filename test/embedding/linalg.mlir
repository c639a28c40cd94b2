// As torch-mlir writes relu(x @ w.T + b), returned with its softmax over the rows; a test puts DATA in.
#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d1)>
#map2 = affine_map<(d0, d1) -> (d0, 0)>
#map3 = affine_map<(d0, d1) -> (d0)>
module {
  ml_program.global private mutable @global_seed(dense<0> : tensor<i64>) : tensor<i64>
  func.func @forward(%arg0: tensor<3x4xf32>) -> (tensor<3x5xf32>, tensor<3x5xf32>) {
    %cst = arith.constant 0.000000e+00 : f32
    %low = arith.constant 0xFF800000 : f32
    %w = arith.constant dense_resource<torch_tensor_5_4_torch.float32> : tensor<5x4xf32>
    %b = arith.constant dense<[0.5, -0.5, 0.25, -0.25, 0.0]> : tensor<5xf32>
    %0 = tensor.empty() : tensor<4x5xf32>
    %transposed = linalg.transpose ins(%w : tensor<5x4xf32>) outs(%0 : tensor<4x5xf32>) permutation = [1, 0]
    %1 = tensor.empty() : tensor<3x5xf32>
    %2 = linalg.fill ins(%cst : f32) outs(%1 : tensor<3x5xf32>) -> tensor<3x5xf32>
    %3 = linalg.matmul ins(%arg0, %transposed : tensor<3x4xf32>, tensor<4x5xf32>) outs(%2 : tensor<3x5xf32>) -> tensor<3x5xf32>
    %4 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%3, %b : tensor<3x5xf32>, tensor<5xf32>) outs(%1 : tensor<3x5xf32>) {
    ^bb0(%in: f32, %in_0: f32, %out: f32):
      %14 = arith.addf %in, %in_0 : f32
      %15 = arith.cmpf ugt, %14, %cst : f32
      %16 = arith.select %15, %14, %cst : f32
      linalg.yield %16 : f32
    } -> tensor<3x5xf32> loc("relu")
    %5 = tensor.empty() : tensor<3xf32>
    %6 = linalg.fill ins(%low : f32) outs(%5 : tensor<3xf32>) -> tensor<3xf32>
    %7 = linalg.generic {indexing_maps = [#map, #map3], iterator_types = ["parallel", "reduction"]} ins(%4 : tensor<3x5xf32>) outs(%6 : tensor<3xf32>) {
    ^bb0(%in: f32, %out: f32):
      %14 = arith.maximumf %in, %out : f32
      linalg.yield %14 : f32
    } -> tensor<3xf32>
    %expanded = tensor.expand_shape %7 [[0, 1]] output_shape [3, 1] : tensor<3xf32> into tensor<3x1xf32>
    %8 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel"]} ins(%4, %expanded : tensor<3x5xf32>, tensor<3x1xf32>) outs(%1 : tensor<3x5xf32>) {
    ^bb0(%in: f32, %in_0: f32, %out: f32):
      %14 = arith.subf %in, %in_0 : f32
      %15 = math.exp %14 : f32
      linalg.yield %15 : f32
    } -> tensor<3x5xf32>
    %9 = linalg.fill ins(%cst : f32) outs(%5 : tensor<3xf32>) -> tensor<3xf32>
    %10 = linalg.generic {indexing_maps = [#map, #map3], iterator_types = ["parallel", "reduction"]} ins(%8 : tensor<3x5xf32>) outs(%9 : tensor<3xf32>) {
    ^bb0(%in: f32, %out: f32):
      %14 = arith.addf %in, %out : f32
      linalg.yield %14 : f32
    } -> tensor<3xf32>
    %11 = linalg.generic {indexing_maps = [#map, #map3, #map], iterator_types = ["parallel", "parallel"]} ins(%8, %10 : tensor<3x5xf32>, tensor<3xf32>) outs(%1 : tensor<3x5xf32>) {
    ^bb0(%in: f32, %in_0: f32, %out: f32):
      %14 = arith.divf %in, %in_0 : f32
      linalg.yield %14 : f32
    } -> tensor<3x5xf32>
    return %4, %11 : tensor<3x5xf32>, tensor<3x5xf32>
  }
}
{-#
  dialect_resources: {
    builtin: {
      torch_tensor_5_4_torch.float32: "0x04000000DATA"
    }
  }
#-}
