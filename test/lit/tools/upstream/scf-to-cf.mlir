// An if becomes branches.
// RUN: aiopt %s --convert-scf-to-cf | filecheck %s
// CHECK: cf.cond_br %{{.*}}, ^[[THEN:.*]], ^[[ELSE:.*]]
// CHECK: ^[[THEN]]:
// CHECK-NOT: scf.if
func.func @f(%c: i1, %x: f32) -> f32 {
  %r = scf.if %c -> f32 {
    %y = arith.negf %x : f32
    scf.yield %y : f32
  } else {
    scf.yield %x : f32
  }
  return %r : f32
}
