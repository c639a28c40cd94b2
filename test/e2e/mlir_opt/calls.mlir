func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  %r = "unknown.op"(%x) : (tensor<8xf32>) -> tensor<8xf32> loc(callsite("inner.py":1:2 at fused["outer.py":3:4, "name"]))
  return %r : tensor<8xf32>
}
