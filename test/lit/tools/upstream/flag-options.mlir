// A pass given as a flag takes its options as the value.
// RUN: aiopt %s --canonicalize="max-iterations=3 top-down=false" --dump-pass-pipeline -o /dev/null 2>&1 | filecheck %s
// CHECK: canonicalize{{.*}}max-iterations=3 {{.*}}top-down=false
func.func @f(%x: i32) -> i32 {
  %c = arith.constant 1 : i32
  %d = arith.constant 1 : i32
  %a = arith.addi %c, %d : i32
  %b = arith.addi %a, %x : i32
  return %b : i32
}
