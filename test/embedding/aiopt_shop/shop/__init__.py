"""The dialect `shop`."""

import numpy as np

from aiopt.dialects.ai import Trait
from aiopt.dialects.constraints import FloatTensor
from aiopt.dialects.ext import Dialect, Operand, Result
from aiopt.support.types import TensorType


class ShopDialect(Dialect, name="shop"):
    """Activations that aiopt does not have."""

    on_tensors = True


class SwishOp(ShopDialect.Operation, name="swish"):
    """out = input * sigmoid(input).

    Shapes: as input. Types: floats.
    Source: Ramachandran et al., Searching for Activation Functions, 2017.
    """

    traits = frozenset({Trait.ELEMENTWISE})
    input: Operand[FloatTensor]
    out: Result[FloatTensor]

    @staticmethod
    def infer(input: TensorType) -> TensorType:
        return input

    @staticmethod
    def reference(input: np.ndarray) -> np.ndarray:
        return input / (1 + np.exp(-input))
