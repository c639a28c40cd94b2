// Times as a tree and as JSON.
// RUN: aiopt %s --pass-pipeline='builtin.module(func.func(cse))' --mlir-timing -o /dev/null 2>&1 | filecheck %s
// RUN: aiopt %s --cse --mlir-timing --mlir-output-format=json -o /dev/null 2>&1 | %python -m json.tool | filecheck %s --check-prefix=JSON
// CHECK: Execution time report
// CHECK: Parser
// CHECK-NEXT: 'func.func' Pipeline
// CHECK-NEXT: CSE
// CHECK: Total
// JSON: "name": "CSE"
// JSON: "name": "Total"
func.func @f(%x: i32) -> i32 {
  %c = arith.constant 1 : i32
  %d = arith.constant 1 : i32
  %a = arith.addi %c, %d : i32
  %b = arith.addi %a, %x : i32
  return %b : i32
}
