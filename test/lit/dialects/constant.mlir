// RUN: aiopt -p ai-verify %s | filecheck %s
// RUN: sed 's/key = "conv.weight"/key = ""/' %s | not aiopt -p ai-verify 2>&1 | filecheck %s --check-prefix=EMPTY
// RUN: sed 's/key = "conv.weight"/key = 3 : i64/' %s | not aiopt -p ai-verify 2>&1 | filecheck %s --check-prefix=STRING
// RUN: sed 's/ui64/index/' %s | not aiopt -p ai-verify 2>&1 | filecheck %s --check-prefix=TYPE

// CHECK: "ai.constant"() {key = "conv.weight"} : () -> tensor<4x3xui64>
// EMPTY: error: {{.*}}ai.constant: the key is empty: it must name a value of the WeightStore (at 'W')
// STRING: error: {{.*}}expected base attribute 'builtin.string' but got 'builtin.integer'
// TYPE: error: {{.*}}ai.constant: result 'out' must be a tensor, but is tensor<4x3xindex> (at 'W')
func.func @main() {
  %0 = "ai.constant"() {key = "conv.weight"} : () -> tensor<4x3xui64> loc("W")
  return
}
