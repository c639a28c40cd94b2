"""What elementwise ops have in common."""

from aiopt.dialects.ai.checks import broadcast, check_same_element
from aiopt.dialects.ai.dialect import AiDialect, Trait
from aiopt.support.types import TensorType


class Unary(AiDialect.Operation):
    """Base of ops from one element to one element of the same type.

    Shapes: out has the shape of input. One flop per element, whatever the function.
    """

    traits = frozenset({Trait.ELEMENTWISE})

    @staticmethod
    def infer(input: TensorType) -> TensorType:
        return input

    @staticmethod
    def flops(input: TensorType) -> int:
        return input.size


class Binary(AiDialect.Operation):
    """Base of ops from two elements to one of the same type.

    Shapes: lhs and rhs broadcast as in numpy; out has the shape they broadcast to.
    Types: lhs, rhs and out have one element type.
    Errors: differing element types; shapes that do not broadcast.
    """

    traits = frozenset({Trait.ELEMENTWISE})

    @staticmethod
    def infer(lhs: TensorType, rhs: TensorType) -> TensorType:
        check_same_element(lhs=lhs, rhs=rhs)
        return lhs.with_shape(*broadcast(lhs.shape, rhs.shape))

    @staticmethod
    def flops(lhs: TensorType, rhs: TensorType) -> int:
        return Binary.infer(lhs, rhs).size
