"""Running a transform module on a payload."""

from __future__ import annotations

from mlir import ir
from mlir.dialects.transform import interpreter


def apply_schedule(payload: ir.Operation, schedule: ir.Module) -> None:
    """Run the one named sequence of a schedule on a payload op. Raises MLIRError if the schedule fails."""
    sequence = schedule.body.operations[0]
    interpreter.apply_named_sequence(payload, sequence, schedule.operation)
