"""What each ONNX operator means in `ai` ops: one function per operator and meaning, found by registry.py."""
