"""ONNX models (opsets 1 and later) to the `ai` dialect."""

from aiopt.frontend.onnx.importer import import_model

__all__ = ["import_model"]
