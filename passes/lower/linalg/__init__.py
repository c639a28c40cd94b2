"""Lowering rules from `ai` ops to linalg on tensors, one file per op family."""

from aiopt.passes.lower.linalg import contraction, elementwise, movement, reduction

FAMILIES = (contraction, elementwise, movement, reduction)  # importing them fills rules.RULES
