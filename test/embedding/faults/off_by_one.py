"""The loop over the tiles of a softmax ends one iteration early."""

from mlir import ir
from mlir.dialects import func, scf

from aiopt.dialects.ext import operations
from aiopt.passes.schedules.schedule_tile_and_fuse import ScheduleTileAndFuse
from aiopt.passes.unit import Unit

_right = ScheduleTileAndFuse.run_on_function


def _wrong(self: ScheduleTileAndFuse, function: func.FuncOp, unit: Unit) -> None:
    _right(self, function, unit)
    if not function.name.value.startswith("softmax"):
        return
    for op in operations(function):
        if isinstance(op, scf.ForallOp):
            upper = list(op.operation.attributes["staticUpperBound"])
            steps = list(op.operation.attributes["staticStep"])
            longest = upper.index(max(upper))
            upper[longest] -= steps[longest]
            op.operation.attributes["staticUpperBound"] = ir.DenseI64ArrayAttr.get(upper)


ScheduleTileAndFuse.run_on_function = _wrong
