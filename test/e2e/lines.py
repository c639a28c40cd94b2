"""Lines of text the recogniser reads without a mistake at each of SIZES; all fit into its narrowest input."""

SIZES = (24, 28, 32)
LINES = (
    "Hello, world!",
    "The quick brown fox",
    "over 13 lazy dogs",
    "Total: $1,234.56",
    "Call +49 (30) 901820",
    "Invoice 2024-0815",
    "Is this 100% correct?",
    "weights/model.onnx",
    "user@example.com",
    "Room 7B; door #42",
    "Don't panic!",
    "Open 9:00-17:30",
)
