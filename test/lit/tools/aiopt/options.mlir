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
// UNKNOWN: {{^}}aiopt: Unknown command line argument '--frobnicate=3'.  Try: 'aiopt --help'
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
// OUTPUT: {{^}}cannot open output file '{{.*}}out.mlir': No such file or directory
// RUN: aiopt %s -o /dev/null
// RUN: not aiopt --version 2>&1 > /dev/full | filecheck %s --check-prefix=FULL
// FULL: {{^}}error: cannot write the standard output: No space left on device
// RUN: mlir-opt --show-dialects > %t.theirs
// RUN: aiopt --show-dialects | grep Available | diff %t.theirs -
// RUN: aiopt --show-dialects | filecheck %s --check-prefix=DIALECTS
// DIALECTS: {{^}}aiopt's dialects: ai,npu
// RUN: aiopt --help-list | filecheck %s --check-prefix=LIST-OF-FLAGS
// LIST-OF-FLAGS: --allow-unregistered-dialect
// LIST-OF-FLAGS: --verify-roundtrip
// RUN: not aiopt --load-dialect-plugin=x.so 2>&1 | filecheck %s --check-prefix=PLUGIN
// PLUGIN: aiopt: '--load-dialect-plugin' is mlir-opt's alone: plugins are Python modules, not C++ libraries
// RUN: not aiopt --canonicalise 2>&1 < /dev/null | filecheck %s --check-prefix=NO-INPUT
// NO-INPUT: aiopt: Did you mean '--canonicalize'?
module {}
