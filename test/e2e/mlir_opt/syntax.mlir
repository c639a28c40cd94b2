func.func @f() {
	%0 = arith.constant	"no"
  return
}
