"""The compiled net gets weights of all zeros: the IR is right to the end."""

import numpy as np

from aiopt.targets.cpu import target

_right = target.pack_weights


def _wrong(module, weights) -> np.ndarray:
    blob = _right(module, weights)
    blob[:] = 0
    return blob


target.pack_weights = _wrong
