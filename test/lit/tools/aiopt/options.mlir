// The command line itself.
// RUN: aiopt --version | filecheck %s --check-prefix=VERSION
// VERSION: {{^}}aiopt {{[0-9]+\.[0-9]+\.[0-9]+}}, LLVM 22.1.8
// RUN: aiopt --list-passes | filecheck %s --check-prefix=LIST
// LIST: aiopt's pipelines:
// LIST: aiopt's passes:
// LIST: ai-dce {{ *}}- {{.+}}
// LIST: upstream's passes:
// LIST: {{^}}  affine-loop-unroll-jam {{ *}}- {{ *}}Unroll and jam affine loops
// LIST-NEXT: {{^}}    unroll-jam-factor=<uint> {{.*}}(default 4)
// LIST: {{^}}  cse {{ *}}- {{.+}}
// RUN: aiopt --help | filecheck %s --check-prefix=HELP
// HELP: --pass-pipeline

// RUN: not aiopt --lst-passes %s 2>&1 | filecheck %s --check-prefix=GUESS
// GUESS: {{^}}aiopt: Unknown command line argument '--lst-passes'.  Try: 'aiopt --help'
// GUESS-NEXT: {{^}}aiopt: Did you mean '--list-passes'?
// RUN: not aiopt %s --frobnicate=3 2>&1 | filecheck %s --check-prefix=UNKNOWN
// UNKNOWN: {{^}}aiopt: Unknown command line argument '--frobnicate'.  Try: 'aiopt --help'
// UNKNOWN-NOT: mean
// RUN: not aiopt %s --emit=ptx 2>&1 | filecheck %s --check-prefix=EMIT
// EMIT: {{^}}aiopt: for the --emit option: Cannot find option named 'ptx'!
// RUN: not aiopt %s %s 2>&1 | filecheck %s --check-prefix=TWO
// TWO: {{^}}aiopt: Too many positional arguments specified!
// RUN: not aiopt %s --shape x=1x2 2>&1 | filecheck %s --check-prefix=SHAPE
// SHAPE: {{^}}error: --shape is for ONNX models; MLIR has its shapes in the text
// RUN: not aiopt %s --shape x=1xa 2>&1 | filecheck %s --check-prefix=SIZES
// SIZES: {{^}}error: --shape x=1xa: sizes are whole numbers with an x between, as in x=1x3x48x320
// RUN: not aiopt %s -o %t.absent/out.mlir 2>&1 | filecheck %s --check-prefix=OUTPUT
// OUTPUT: {{^}}error: cannot write '{{.*}}out.mlir': No such file or directory
// RUN: aiopt %s -o /dev/null
// RUN: not aiopt --version 2>&1 > /dev/full | filecheck %s --check-prefix=FULL
// FULL: {{^}}error: cannot write the standard output: No space left on device
module {}
