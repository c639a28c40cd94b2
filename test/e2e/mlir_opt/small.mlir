func.func @f(%x: i32) -> i32 {
  %c = arith.constant 1 : i32
  %d = arith.constant 1 : i32
  %a = arith.addi %c, %d : i32
  %b = arith.addi %a, %x : i32
  return %b : i32
}
func.func private @g(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %dead = arith.addf %c, %c : tensor<4xf32>
  %y = arith.addf %x, %c : tensor<4xf32> loc("sum"("elsewhere.py":3:4))
  return %y : tensor<4xf32>
}
