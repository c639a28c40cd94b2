"""ONNX element types and tensors as aiopt has them."""

from __future__ import annotations

import numpy as np
import onnx
from onnx import helper, numpy_helper

from aiopt.support.errors import AioptError, ModelError, TensorDataError, UnsupportedTypeError
from aiopt.support.types import TensorType, element_of, has_element


def element_type(code: int, what: str) -> str:
    """The element type of an onnx.TensorProto.DataType; `what` names its owner in messages.

    Errors: UnsupportedError for a type aiopt does not have (strings, complex, 8 bits and less of float),
    ModelError for a number that is no type.
    """
    try:
        dtype = helper.tensor_dtype_to_np_dtype(code)
    except (KeyError, ValueError, TypeError) as error:
        raise ModelError(f"{what} has element type {code}, which is none of ONNX") from error
    if code == onnx.TensorProto.STRING or not has_element(dtype):
        raise UnsupportedTypeError(f"{what} has elements of type {type_name(code)}, which aiopt does not have")
    return element_of(dtype)


def type_name(code: int) -> str:
    """FLOAT, BFLOAT16, ..."""
    return onnx.TensorProto.DataType.Name(code)  # pyright: ignore[reportArgumentType]


def to_array(tensor: onnx.TensorProto, what: str) -> np.ndarray:
    """The values of a tensor, read-only.

    Errors: ModelError if they do not fit its shape, UnsupportedError for an element type aiopt does not have.
    """
    element_type(tensor.data_type, what)
    return foreign_array(tensor, what)


def declared_type(tensor: onnx.TensorProto) -> TensorType | None:
    """What a tensor says it is; None for types aiopt does not have."""
    try:
        return TensorType(tuple(tensor.dims), element_type(tensor.data_type, ""))
    except AioptError:
        return None


def foreign_array(tensor: onnx.TensorProto, what: str) -> np.ndarray:
    """The values of a tensor of any of ONNX's types. Errors: ModelError if they do not fit its shape."""
    try:
        array = numpy_helper.to_array(tensor)
    except (ValueError, TypeError, KeyError) as error:
        raise TensorDataError(
            f"the values of {what} do not fit its type and shape {list(tensor.dims)}: {error}"
        ) from error
    if array.shape != tuple(tensor.dims):
        raise TensorDataError(f"the values of {what} do not fit its type and shape {list(tensor.dims)}")
    array.flags.writeable = False
    return array
