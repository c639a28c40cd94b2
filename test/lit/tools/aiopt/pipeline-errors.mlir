// Every mistake in a pipeline is an error and status 1, found before a pass has run.
// RUN: not aiopt %s -p 'ai-canonicalise' 2>&1 | filecheck %s --check-prefix=GUESS
// GUESS: {{^}}error: no pass is called 'ai-canonicalise', did you mean 'ai-canonicalize'?
// RUN: not aiopt %s -p 'cse,func.func(canonicalize,nope)' 2>&1 | filecheck %s --check-prefix=NAME
// NAME: {{^}}error: no pass is called 'nope' (aiopt --list-passes shows all)
// RUN: not aiopt %s -p 'canonicalize{top=1}' 2>&1 | filecheck %s --check-prefix=UPSTREAM-OPTION
// UPSTREAM-OPTION: {{^}}error: bad option in 'canonicalize{top=1}': {{.*}}no such option top
// RUN: not aiopt %s -p 'canonicalize{max-iterations=abc}' 2>&1 | filecheck %s --check-prefix=UPSTREAM-VALUE
// UPSTREAM-VALUE: {{^}}error: bad option in 'canonicalize{max-iterations=abc}': failed to add `canonicalize` with options `max-iterations=abc` [AI0402]{{$}}
// UPSTREAM-VALUE-NOT: {{.}}
// RUN: not aiopt %s -p 'ai-dce{depth=1}' 2>&1 | filecheck %s --check-prefix=OPTION
// OPTION: {{^}}error: ai-dce has no option 'depth' (it has none)
// RUN: not aiopt %s -p 'cse,' 2>&1 | filecheck %s --check-prefix=COMMA
// COMMA: {{^}}error: pipeline: expected the name of a pass at '' (column 5)
// RUN: not aiopt %s -p 'func.func(cse' 2>&1 | filecheck %s --check-prefix=OPEN
// OPEN: {{^}}error: pipeline: expected ',' or ')' at '' (column 14)
// RUN: not aiopt %s -p 'cse)' 2>&1 | filecheck %s --check-prefix=CLOSE
// CLOSE: {{^}}error: pipeline: expected ',' at ')' (column 4)
// RUN: not aiopt %s -p 'scf.for(ai-dce)' 2>&1 | filecheck %s --check-prefix=NEST
// NEST: {{^}}error: aiopt's own passes can be nested in func.func only, not in scf.for
// RUN: not aiopt %s -p 'one-shot-bufferize' 2>&1 | filecheck %s --check-prefix=FAIL
// FAIL: {{pipeline-errors.mlir:26:8: error: op was not bufferized$}}
// FAIL-NEXT: {{^}}  %y = "ai.relu"(%x)
// FAIL-NEXT: {{^}}       ^
func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = "ai.relu"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}
