"""The dialect class and what passes may know of an op without naming it."""

from enum import Enum

from aiopt.dialects.ext import Dialect


class Trait(Enum):
    """What an op does with its elements; passes decide by traits, never by lists of names."""

    ELEMENTWISE = "out[i] depends on the operands at i (numpy broadcasting) alone"
    REDUCTION = "folds axes of its operand"
    CONTRACTION = "sums products over shared axes (matmul, conv)"
    NORMALIZATION = "scales by statistics of a row or a channel (softmax, batch_norm)"
    POOLING = "folds windows of its operand"
    MOVEMENT = "copies elements to other places without arithmetic"
    VIEW = "same elements in the same memory order; costs nothing on row-major buffers"
    SENSITIVE = "an error of its operand grows in its result, so that mixed precision computes it in f32"
    CONSTANT = "a value known at compile time"


class AiDialect(Dialect, name="ai"):
    """Neural network operations on tensors of static shape."""

    on_tensors = True
