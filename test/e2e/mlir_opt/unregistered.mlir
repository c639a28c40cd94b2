func.func @f(%t: tensor<8xf32>) -> tensor<8xf32> {
  %r = "unknown.op"(%t) {x = #unknown<thing>} : (tensor<8xf32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}
