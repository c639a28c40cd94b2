"""Values known at compile time."""

from typing import NoReturn

from mlir import ir

from aiopt.dialects.ai.dialect import AiDialect, Trait
from aiopt.dialects.constraints import AnyTensor
from aiopt.dialects.ext import Result, check_attribute, check_slot
from aiopt.support.errors import IRError


class ConstantOp(AiDialect.Operation, name="constant"):
    """A value that lives in the WeightStore under `key`.

    Shapes: any; the result type is given to the builder as `results=[TensorType]`.
    Types: any.
    Errors: a key that is empty or holds NUL, where names in MLIR's dictionaries end.
    Source: ONNX initializers and Constant-13.
    """

    traits = frozenset({Trait.CONSTANT})
    key: ir.StringAttr
    out: Result[AnyTensor]

    @staticmethod
    def infer(*, key: str) -> NoReturn:
        raise ValueError(f"the type of constant '{key}' cannot be inferred: build it with results=[...]")

    @staticmethod
    def reference(*, key: str) -> NoReturn:
        raise IRError(f"ai.constant: the value of '{key}' is in the WeightStore, not in the IR: look it up there")

    def verify_op(self) -> None:
        """Any type aiopt has will do; the key must be there."""
        check_slot(self.OPERATION_NAME, "result", self.result_slots[0], self.operation.results[0])
        check_attribute(self.OPERATION_NAME, "key", ir.StringAttr, self.operation.attributes["key"])
        key = self.python_attributes()["key"]
        if not key:
            raise IRError("ai.constant: the key is empty: it must name a value of the WeightStore")
        if "\0" in key:
            raise IRError(f"ai.constant: the key {key!r} holds NUL: give the value another name")
