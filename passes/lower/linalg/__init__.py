"""Lowering rules from `ai` ops to linalg on tensors, one file per op family."""

from aiopt.passes.lower.linalg import (
    contraction,
    conv,
    conv_transpose,
    elementwise,
    integer,
    logic,
    movement,
    normalization,
    quantize,
    reduction,
    sampling,
    scan,
    scatter,
    selection,
)

# importing them fills rules.RULES
FAMILIES = (
    contraction,
    conv,
    conv_transpose,
    elementwise,
    integer,
    logic,
    movement,
    normalization,
    quantize,
    reduction,
    sampling,
    scan,
    scatter,
    selection,
)
