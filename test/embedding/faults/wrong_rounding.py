"""Folding a batch norm into a convolution rounds the new weights to bf16, and toward zero at that."""

import numpy as np

from aiopt.passes.graph.fold_batch_norm import FoldBatchNorm
from aiopt.passes.rewrite import Rewriter
from aiopt.passes.unit import Unit

_right = FoldBatchNorm.run
_constant = Rewriter.constant


def _rounded(rewriter: Rewriter, array: np.ndarray, hint: str):
    return _constant(rewriter, (array.view(np.uint32) & np.uint32(0xFFFF0000)).view(array.dtype), hint)


def _wrong(self: FoldBatchNorm, unit: Unit) -> None:
    Rewriter.constant = _rounded
    try:
        _right(self, unit)
    finally:
        Rewriter.constant = _constant


FoldBatchNorm.run = _wrong
