func.func @f() -> (tensor<2xi32>, tensor<6xi32>) {
  %a = arith.constant dense_resource<blob> : tensor<2xi32>
  %b = arith.constant dense<[1, 2, 3, 4, 5, 6]> : tensor<6xi32>
  return %a, %b : tensor<2xi32>, tensor<6xi32>
}

{-#
  dialect_resources: {
    builtin: {
      blob: "0x040000000100000002000000"
    }
  }
#-}
