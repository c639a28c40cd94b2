// No command writes over what it reads, or over weights of somebody else; MLIR text may take its own place.
// RUN: rm -rf %t && mkdir -p %t
// RUN: %python %S/Inputs/write_model.py %t/net.onnx
// RUN: cp %t/net.onnx %t/plain && ln -s plain %t/link && cp %t/net.onnx %t/before
// RUN: not aiopt %t/net.onnx -o %t/net.onnx 2>&1 | filecheck %s
// RUN: not aiopt %t/net.onnx --emit=obj -o %t/./net.onnx 2>&1 | filecheck %s
// RUN: not aiopt %t/plain -o %t/link 2>&1 | filecheck %s
// RUN: not aiopt-compile %t/net.onnx -o %t/net.onnx 2>&1 | filecheck %s
// RUN: not aiopt-compile %t/net.onnx --emit=header -o %t/net.onnx 2>&1 | filecheck %s
// RUN: cmp %t/net.onnx %t/before && cmp %t/plain %t/before
// CHECK: {{^}}error: cannot write '{{.*}}': the model is read from it; give the output another name

// RUN: aiopt %t/net.onnx -o %t/net.mlir
// RUN: aiopt %t/net.mlir -p ai-cse -o %t/net.mlir
// RUN: not aiopt %t/net.mlir --emit=asm -o %t/net.mlir 2>&1 | filecheck %s
// RUN: not aiopt %t/net.mlir --emit=asm -o %t/net.safetensors 2>&1 | filecheck %s
// RUN: cp %t/net.mlir %t/copy.mlir
// RUN: aiopt %t/copy.mlir | filecheck %s --check-prefix=GOOD
// GOOD: ai.conv

// RUN: cp %t/before %t/other.safetensors
// RUN: not aiopt %t/net.onnx -o %t/other.mlir 2>&1 | filecheck %s --check-prefix=OTHER
// RUN: cmp %t/other.safetensors %t/before
// OTHER: {{^}}error: cannot write the weights '{{.*}}other.safetensors': aiopt did not write the file of that name that is there; remove it, or give the output another name

// RUN: cp %t/before %t/yolo.weights
// RUN: not aiopt-compile %t/net.onnx --emit=obj -o %t/yolo.o 2>&1 | filecheck %s --check-prefix=WEIGHTS
// RUN: cmp %t/yolo.weights %t/before
// RUN: not ls %t/yolo.o
// RUN: not aiopt-compile %t/net.onnx --emit=so -o %t/code.weights 2>&1 | filecheck %s --check-prefix=NAME
// RUN: aiopt-compile %t/net.onnx --emit=obj -o %t/code.o
// RUN: aiopt-compile %t/net.onnx --emit=so -o %t/code.so
// RUN: aiopt-compile %t/net.onnx --emit=so -o %t/code.so
// WEIGHTS: {{^}}error: cannot write the weights '{{.*}}yolo.weights': another file of that name is there, and no compiled net beside it
// NAME: {{^}}error: cannot write '{{.*}}code.weights': the weights go into a file of this name; end it in .so or .o
