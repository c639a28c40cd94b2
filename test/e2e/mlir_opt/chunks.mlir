func.func @a() -> i32 {
  %c = arith.constant 1 : i32
  %d = arith.constant 1 : i32
  return %c : i32
}
// -----
func.func @b( {
  return
}

// -----

func.func @c() {
  return
}
// ------
func.func @d() {
  return
}
