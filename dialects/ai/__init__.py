"""The `ai` dialect: what a neural network computes, on tensors of static shape, in about 30 orthogonal ops."""

from aiopt.dialects.ai.dialect import AiDialect, Trait
from aiopt.dialects.ai.nn import MatMulOp

__all__ = ["AiDialect", "MatMulOp", "Trait"]
