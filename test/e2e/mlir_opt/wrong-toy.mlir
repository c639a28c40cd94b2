func.func @f() -> i32 {
  %0 = "toy.one"() : () -> i32
  return %0 : i32
}
