"""What a node of an operator looks like, in which opsets, and who says what it means."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import onnx
from onnx import helper

from aiopt.frontend.onnx.registry import NEWEST_OPSET, OLDEST_OPSET
from aiopt.frontend.onnx.schema import find_schema

ONNXRUNTIME, REFERENCE, NUMPY = "ONNX Runtime", "onnx.reference", "numpy"


@dataclass(frozen=True)
class Form:
    """A node in the opsets `since` to `until` of its domain, held against the oracle in each version of its operator.

    Inputs that are None are absent; those named in `known` are initializers. For the oracle numpy `want` holds the
    outputs, computed from the operator's text.
    """

    inputs: Mapping[str, np.ndarray | None]
    attributes: Mapping[str, Any]
    known: Sequence[str] = ()
    since: int = OLDEST_OPSET
    until: int = NEWEST_OPSET
    outputs: int = 1
    oracle: str = ONNXRUNTIME
    want: Sequence[np.ndarray] = ()
    tolerance: float = 3e-6

    def versions(self, op_type: str, domain: str = "") -> Iterator[tuple[int, int]]:
        """Each version of the operator that such a node can have, and the first opset of its domain with it."""
        seen = 0
        for opset in range(self.since, self.until + 1):
            if (version := version_of(op_type, opset, domain)) and version != seen:
                seen = version
                yield version, opset


def version_of(op_type: str, opset: int, domain: str = "") -> int:
    """The opset since which an operator means what it means in this one; 0 before it comes, 1 if onnx has it not."""
    if schema := find_schema(op_type, opset, domain):
        return schema.since_version
    return 0 if onnx.defs.has(op_type, domain) else 1


def form(*arrays: Any, known: str | bool = "", want: Any = (), oracle: str | None = None, **more: Any) -> Form:
    """A form whose inputs are called a, b, c, ...; `known`: those of these letters, or True: all but the first.

    What is no field of a form is an attribute of the node.
    """
    inputs = {chr(ord("a") + at): None if array is None else np.asarray(array) for at, array in enumerate(arrays)}
    fields = {key: more.pop(key) for key in ("since", "until", "outputs", "tolerance") if key in more}
    wanted = tuple(map(np.asarray, want if isinstance(want, tuple) else (want,)))
    given = [name for name, array in inputs.items() if array is not None]
    chosen = given[1:] if known is True else list(known or "")
    return Form(inputs, more, chosen, want=wanted, oracle=oracle or (NUMPY if wanted else ONNXRUNTIME), **fields)


def then_reference(opset: int, *forms: Form) -> list[Form]:
    """Forms for operators whose newest version, of this opset, ONNX Runtime 1.32 does not have."""
    newer = [replace(each, since=opset, oracle=REFERENCE) for each in forms]
    return [*(replace(each, until=opset - 1) for each in forms), *newer]


def f32(*shape: int, seed: int = 0) -> np.ndarray:
    """Standard normal numbers."""
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def i64(*values: int) -> np.ndarray:
    """A list of integers."""
    return np.array(values, np.int64)


def integers(dtype: Any, *shape: int, low: int | None = None, high: int | None = None, seed: int = 0) -> np.ndarray:
    """Any of the type, or those from low to high."""
    limits = np.iinfo(dtype)
    low, high = limits.min if low is None else low, limits.max if high is None else high
    return np.random.default_rng(seed).integers(low, high + 1, shape).astype(dtype)


def code(dtype: Any) -> int:
    """The number ONNX has for an element type."""
    return int(helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))


X = f32(2, 3, 4)
IMAGE = f32(1, 4, 6, 8)
