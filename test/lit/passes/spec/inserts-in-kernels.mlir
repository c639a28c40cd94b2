// RUN: aiopt -p convert-ai-to-linalg --split-input-file --verify-diagnostics %s

// A kernel may read another part of what it completes.
module attributes {ai.level = "kernels", ai.net = "net"} {
  func.func @main(%x: tensor<2x4xf32> {ai.name = "x"}) -> (tensor<2x8xf32> {ai.name = "y"}) {
    %0 = call @first(%x) : (tensor<2x4xf32>) -> tensor<2x8xf32>
    %1 = call @second(%x, %0) : (tensor<2x4xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
    return %1 : tensor<2x8xf32>
  }
  func.func private @first(%x: tensor<2x4xf32>) -> tensor<2x8xf32> attributes {ai.kernel, ai.ops = ["ai.insert"]} {
    %0 = "ai.insert"(%x) {axis = 1 : i64, operandSegmentSizes = array<i32: 1, 0>, size = 8 : i64, start = 0 : i64} : (tensor<2x4xf32>) -> tensor<2x8xf32>
    return %0 : tensor<2x8xf32>
  }
  func.func private @second(%x: tensor<2x4xf32>, %into: tensor<2x8xf32>) -> tensor<2x8xf32> attributes {ai.kernel, ai.ops = ["ai.add", "ai.insert"]} {
    %s = "ai.slice"(%into) {sizes = array<i64: 2, 4>, starts = array<i64: 0, 0>, steps = array<i64: 1, 1>} : (tensor<2x8xf32>) -> tensor<2x4xf32>
    %0 = "ai.add"(%x, %s) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
    %i = "ai.insert"(%0, %into) {axis = 1 : i64, operandSegmentSizes = array<i32: 1, 1>, size = 8 : i64, start = 4 : i64} : (tensor<2x4xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
    return %i : tensor<2x8xf32>
  }
}

// -----

// But not the part that it writes.
module attributes {ai.level = "kernels", ai.net = "net"} {
  func.func @main(%x: tensor<2x4xf32> {ai.name = "x"}) -> (tensor<2x8xf32> {ai.name = "y"}) {
    %0 = call @first(%x) : (tensor<2x4xf32>) -> tensor<2x8xf32>
    %1 = call @second(%x, %0) : (tensor<2x4xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
    return %1 : tensor<2x8xf32>
  }
  func.func private @first(%x: tensor<2x4xf32>) -> tensor<2x8xf32> attributes {ai.kernel, ai.ops = ["ai.insert"]} {
    %0 = "ai.insert"(%x) {axis = 1 : i64, operandSegmentSizes = array<i32: 1, 0>, size = 8 : i64, start = 0 : i64} : (tensor<2x4xf32>) -> tensor<2x8xf32>
    return %0 : tensor<2x8xf32>
  }
  func.func private @second(%x: tensor<2x4xf32>, %into: tensor<2x8xf32>) -> tensor<2x8xf32> attributes {ai.kernel, ai.ops = ["ai.add", "ai.insert"]} {
    %s = "ai.slice"(%into) {sizes = array<i64: 2, 4>, starts = array<i64: 0, 2>, steps = array<i64: 1, 1>} : (tensor<2x8xf32>) -> tensor<2x4xf32>
    %0 = "ai.add"(%x, %s) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
    // expected-error @+1 {{level kernels does not allow 'ai.insert' in @second into what it reads, but for other parts of that}}
    %i = "ai.insert"(%0, %into) {axis = 1 : i64, operandSegmentSizes = array<i32: 1, 1>, size = 8 : i64, start = 4 : i64} : (tensor<2x4xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
    return %i : tensor<2x8xf32>
  }
}

// -----

// Nor some rows of another.
module attributes {ai.level = "kernels", ai.net = "net"} {
  func.func @main(%x: tensor<2x4xf32> {ai.name = "x"}) -> (tensor<2x8xf32> {ai.name = "y"}) {
    %0 = call @first(%x) : (tensor<2x4xf32>) -> tensor<2x8xf32>
    %1 = call @second(%x, %0) : (tensor<2x4xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
    return %1 : tensor<2x8xf32>
  }
  func.func private @first(%x: tensor<2x4xf32>) -> tensor<2x8xf32> attributes {ai.kernel, ai.ops = ["ai.insert"]} {
    %0 = "ai.insert"(%x) {axis = 1 : i64, operandSegmentSizes = array<i32: 1, 0>, size = 8 : i64, start = 0 : i64} : (tensor<2x4xf32>) -> tensor<2x8xf32>
    return %0 : tensor<2x8xf32>
  }
  func.func private @second(%x: tensor<2x4xf32>, %into: tensor<2x8xf32>) -> tensor<2x8xf32> attributes {ai.kernel, ai.ops = ["ai.add", "ai.insert"]} {
    %s = "ai.slice"(%into) {sizes = array<i64: 1, 4>, starts = array<i64: 0, 0>, steps = array<i64: 2, 1>} : (tensor<2x8xf32>) -> tensor<1x4xf32>
    %0 = "ai.add"(%x, %s) : (tensor<2x4xf32>, tensor<1x4xf32>) -> tensor<2x4xf32>
    // expected-error @+1 {{level kernels does not allow 'ai.insert' in @second into what it reads, but for other parts of that}}
    %i = "ai.insert"(%0, %into) {axis = 1 : i64, operandSegmentSizes = array<i32: 1, 1>, size = 8 : i64, start = 4 : i64} : (tensor<2x4xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
    return %i : tensor<2x8xf32>
  }
}

// -----

// Nor all of it.
module attributes {ai.level = "kernels", ai.net = "net"} {
  func.func @main(%x: tensor<2x4xf32> {ai.name = "x"}) -> (tensor<2x8xf32> {ai.name = "y"}) {
    %0 = call @first(%x) : (tensor<2x4xf32>) -> tensor<2x8xf32>
    %1 = call @second(%x, %0) : (tensor<2x4xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
    return %1 : tensor<2x8xf32>
  }
  func.func private @first(%x: tensor<2x4xf32>) -> tensor<2x8xf32> attributes {ai.kernel, ai.ops = ["ai.insert"]} {
    %0 = "ai.insert"(%x) {axis = 1 : i64, operandSegmentSizes = array<i32: 1, 0>, size = 8 : i64, start = 0 : i64} : (tensor<2x4xf32>) -> tensor<2x8xf32>
    return %0 : tensor<2x8xf32>
  }
  func.func private @second(%x: tensor<2x4xf32>, %into: tensor<2x8xf32>) -> tensor<2x8xf32> attributes {ai.kernel, ai.ops = ["ai.add", "ai.insert"]} {
    %s = "ai.reduce_sum"(%into) {axes = array<i64: 1>, keepdims = true} : (tensor<2x8xf32>) -> tensor<2x1xf32>
    %0 = "ai.add"(%x, %s) : (tensor<2x4xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
    // expected-error @+1 {{level kernels does not allow 'ai.insert' in @second into what it reads, but for other parts of that}}
    %i = "ai.insert"(%0, %into) {axis = 1 : i64, operandSegmentSizes = array<i32: 1, 1>, size = 8 : i64, start = 4 : i64} : (tensor<2x4xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
    return %i : tensor<2x8xf32>
  }
}

// -----

// What it completes is an argument,
module attributes {ai.level = "kernels", ai.net = "net"} {
  func.func @main(%x: tensor<2x4xf32> {ai.name = "x"}) -> (tensor<2x8xf32> {ai.name = "y"}) {
    %0 = call @first(%x) : (tensor<2x4xf32>) -> tensor<2x8xf32>
    %1 = call @second(%x, %0) : (tensor<2x4xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
    return %1 : tensor<2x8xf32>
  }
  func.func private @first(%x: tensor<2x4xf32>) -> tensor<2x8xf32> attributes {ai.kernel, ai.ops = ["ai.insert"]} {
    %0 = "ai.insert"(%x) {axis = 1 : i64, operandSegmentSizes = array<i32: 1, 0>, size = 8 : i64, start = 0 : i64} : (tensor<2x4xf32>) -> tensor<2x8xf32>
    return %0 : tensor<2x8xf32>
  }
  func.func private @second(%x: tensor<2x4xf32>, %into: tensor<2x8xf32>) -> tensor<2x8xf32> attributes {ai.kernel, ai.ops = ["ai.add", "ai.insert"]} {
    %0 = "ai.relu"(%x) : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %w = "ai.relu"(%into) : (tensor<2x8xf32>) -> tensor<2x8xf32>
    // expected-error @+1 {{level kernels does not allow 'ai.insert' in @second into what is no argument of it}}
    %i = "ai.insert"(%0, %w) {axis = 1 : i64, operandSegmentSizes = array<i32: 1, 1>, size = 8 : i64, start = 4 : i64} : (tensor<2x4xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
    return %i : tensor<2x8xf32>
  }
}

// -----

// and it gives nothing else.
module attributes {ai.level = "kernels", ai.net = "net"} {
  func.func @main(%x: tensor<2x4xf32> {ai.name = "x"}) -> (tensor<2x8xf32> {ai.name = "y"}) {
    %0 = call @first(%x) : (tensor<2x4xf32>) -> tensor<2x8xf32>
    %1 = call @second(%x, %0) : (tensor<2x4xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
    return %1 : tensor<2x8xf32>
  }
  func.func private @first(%x: tensor<2x4xf32>) -> tensor<2x8xf32> attributes {ai.kernel, ai.ops = ["ai.insert"]} {
    %0 = "ai.insert"(%x) {axis = 1 : i64, operandSegmentSizes = array<i32: 1, 0>, size = 8 : i64, start = 0 : i64} : (tensor<2x4xf32>) -> tensor<2x8xf32>
    return %0 : tensor<2x8xf32>
  }
  func.func private @second(%x: tensor<2x4xf32>, %into: tensor<2x8xf32>) -> tensor<2x8xf32> attributes {ai.kernel, ai.ops = ["ai.add", "ai.insert"]} {
    %0 = "ai.relu"(%x) : (tensor<2x4xf32>) -> tensor<2x4xf32>
    // expected-error @+1 {{level kernels does not allow 'ai.insert' in @second but as what ends it and is all that it gives}}
    %i = "ai.insert"(%0, %into) {axis = 1 : i64, operandSegmentSizes = array<i32: 1, 1>, size = 8 : i64, start = 4 : i64} : (tensor<2x4xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
    %1 = "ai.relu"(%i) : (tensor<2x8xf32>) -> tensor<2x8xf32>
    return %1 : tensor<2x8xf32>
  }
}

// -----

module attributes {ai.level = "kernels", ai.net = "net"} {
  func.func @main(%x: tensor<2x4xf32> {ai.name = "x"}) -> (tensor<2x8xf32> {ai.name = "y"}) {
    %0 = call @first(%x) : (tensor<2x4xf32>) -> tensor<2x8xf32>
    %1 = call @second(%x, %0) : (tensor<2x4xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
    return %1 : tensor<2x8xf32>
  }
  func.func private @first(%x: tensor<2x4xf32>) -> tensor<2x8xf32> attributes {ai.kernel, ai.ops = ["ai.insert"]} {
    %0 = "ai.insert"(%x) {axis = 1 : i64, operandSegmentSizes = array<i32: 1, 0>, size = 8 : i64, start = 0 : i64} : (tensor<2x4xf32>) -> tensor<2x8xf32>
    return %0 : tensor<2x8xf32>
  }
  func.func private @second(%x: tensor<2x4xf32>, %into: tensor<2x8xf32>) -> tensor<2x8xf32> attributes {ai.kernel, ai.ops = ["ai.add", "ai.insert"]} {
    %0 = "ai.relu"(%x) : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %1 = "ai.relu"(%into) : (tensor<2x8xf32>) -> tensor<2x8xf32>
    // expected-error @+1 {{level kernels does not allow 'ai.insert' in @second but as what ends it and is all that it gives}}
    %i = "ai.insert"(%0, %into) {axis = 1 : i64, operandSegmentSizes = array<i32: 1, 1>, size = 8 : i64, start = 4 : i64} : (tensor<2x4xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
    return %1 : tensor<2x8xf32>
  }
}
