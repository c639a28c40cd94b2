func.func @f() -> f32 {
  %0 = "toy.one"() : () -> f32
  return %0 : f32
}
