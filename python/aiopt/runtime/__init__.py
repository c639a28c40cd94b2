"""Loading and running compiled nets. Imports neither mlir nor onnx."""
