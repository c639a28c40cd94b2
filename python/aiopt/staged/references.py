"""What the host runs by itself, or says in other words, because the onnx package's reference cannot or does otherwise.

Source: ONNX operator specification (Cast-9 to 25, NonMaxSuppression-10/11, RoiAlign-10, Multinomial-7/22).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import helper

from aiopt.dialects.ai.numerics import convert
from aiopt.frontend.onnx.attributes import Attributes
from aiopt.frontend.onnx.part import Step
from aiopt.frontend.onnx.schema import domain_of
from aiopt.support.errors import NodeInputError
from aiopt.support.types import element_of, has_element

Inputs = Sequence[Any]
Evaluate = Callable[[Inputs], list[Any]]  # the onnx package's reference of the node
Reference = Callable[[Step, Inputs, Evaluate], list[Any]]
_HALF_PIXELS = 16  # the opset since which RoiAlign may shift by half a pixel, and does


def find(op_type: str, domain: str = "") -> Reference | None:
    """The function of an operator, or None: the onnx package's reference does."""
    return None if domain else _REFERENCES.get(op_type)


def needs_reference(op_type: str, domain: str = "") -> bool:
    """False for an operator that is run without the onnx package's reference, which may not have it."""
    return domain != "" or op_type not in _WHOLE


def spelt(step: Step) -> tuple[onnx.NodeProto, int]:
    """A node as the onnx package's reference reads it, and the opset of its domain it has then."""
    node = step.node
    if node.op_type != "RoiAlign" or domain_of(node) or step.opset >= _HALF_PIXELS:
        return node, step.opset
    copy = onnx.NodeProto()
    copy.CopyFrom(node)
    copy.attribute.append(helper.make_attribute("coordinate_transformation_mode", "output_half_pixel"))
    return copy, _HALF_PIXELS


def _cast(step: Step, inputs: Inputs, evaluate: Evaluate) -> list[Any]:
    """A type that numpy has not is widened first: to i32, whose low bits integers keep, or f32, which holds it.

    From there to a type that nets have, it is `ai.cast`.
    """
    x, *others = inputs
    if not (isinstance(x, np.ndarray) and x.dtype.kind == "V"):
        return evaluate(inputs)
    wide = x.astype(np.int32 if "int" in x.dtype.name else np.float32)
    code = Attributes(step.node.attribute).get_int("to", None)
    target = others[0].dtype if code is None else np.dtype(helper.tensor_dtype_to_np_dtype(code))
    return [convert(wide, element_of(target))] if has_element(target) else evaluate([wide, *others])


def _non_max_suppression(step: Step, inputs: Inputs, evaluate: Evaluate) -> list[Any]:
    """boxes [N, B, 4] and scores [N, C, B] -> [chosen, 3]: image, class and box, of each class the best ones first.

    Left out: max_output_boxes_per_class is 0, iou_threshold 0, and no score too low.
    """
    boxes, scores, *limits = inputs
    most, overlap, least = (*limits, *[None] * (3 - len(limits)))
    if boxes.ndim != 3 or boxes.shape[2] != 4 or scores.ndim != 3 or boxes.shape[:2] != scores.shape[::2]:
        raise NodeInputError(f"boxes {list(boxes.shape)} and scores {list(scores.shape)} must be [N, B, 4], [N, C, B]")
    centred = Attributes(step.node.attribute).get_bool("center_point_box", False)
    count, limit = (0 if value is None else value.reshape(-1)[0] for value in (most, overlap))
    floor = None if least is None else least.reshape(-1)[0]
    chosen = [
        (image, kind, box)
        for image, corners in enumerate(_corners(boxes, centred))
        for kind, row in enumerate(scores[image])
        for box in _best(corners, row, count, limit, floor)
    ]
    return [np.array(chosen, np.int64).reshape(-1, 3)]


def _corners(boxes: np.ndarray, centred: bool) -> np.ndarray:
    """[N, B, 4]: both low ends, then both high ones."""
    first, second = boxes[..., :2], boxes[..., 2:]
    if centred:
        return np.concatenate([first - second / 2, first + second / 2], -1)
    return np.concatenate([np.minimum(first, second), np.maximum(first, second)], -1)


def _best(corners: np.ndarray, scores: np.ndarray, most: int, limit: float, floor: float | None) -> list[int]:
    """Boxes by falling score, of equal ones the first, without those that overlap one before them too much."""
    left = np.argsort(-scores, kind="stable")
    if floor is not None:
        left = left[scores[left] > floor]
    found: list[int] = []
    while left.size and len(found) < most:
        found.append(int(left[0]))
        left = left[1:][~_overlaps(corners[left[0]], corners[left[1:]], limit)]
    return found


def _overlaps(box: np.ndarray, others: np.ndarray, limit: float) -> np.ndarray:
    """Whether intersection over union is above the limit; without a common area it never is."""
    sides = np.minimum(box[2:], others[:, 2:]) - np.maximum(box[:2], others[:, :2])
    common = np.where((sides > 0).all(-1), sides.prod(-1), 0)
    own, theirs = (box[2:] - box[:2]).prod(-1), (others[:, 2:] - others[:, :2]).prod(-1)
    union = own + theirs - common
    valid = (common > 0) & (own > 0) & (theirs > 0) & (union > 0)
    return valid & (common / np.where(valid, union, 1) > limit)


def _multinomial(step: Step, inputs: Inputs, evaluate: Evaluate) -> list[Any]:
    """[N, sample_size] classes, drawn by their log-probabilities [N, C] (the largest of them with Gumbel noise)."""
    (x,), attributes = inputs, Attributes(step.node.attribute)
    if x.ndim != 2 or not x.shape[1]:
        raise NodeInputError(f"the input must have the shape [batch, classes], but has {list(x.shape)}")
    seed, kind = attributes.get_float("seed", None), attributes.get_int("dtype", onnx.TensorProto.INT32)
    # Any bits of a float are a seed.
    random = np.random.default_rng(None if seed is None else int(np.float32(seed).view(np.uint32)))
    noise = random.gumbel(size=(x.shape[0], attributes.get_int("sample_size", 1), x.shape[1]))
    drawn = (x[:, None].astype(np.float64) + noise).argmax(-1)
    return [drawn.astype(helper.tensor_dtype_to_np_dtype(kind))]


_WHOLE: dict[str, Reference] = {"Multinomial": _multinomial, "NonMaxSuppression": _non_max_suppression}
_REFERENCES: dict[str, Reference] = {**_WHOLE, "Cast": _cast, "CastLike": _cast}
