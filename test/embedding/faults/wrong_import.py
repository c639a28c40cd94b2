"""Tanh is imported as a sigmoid."""

from aiopt.frontend.onnx import importer

_right = importer.find


def _wrong(op_type: str, opset: int):
    return _right("Sigmoid" if op_type == "Tanh" else op_type, opset)


importer.find = _wrong
