"""What to hand on when native code aborts: the IR before the step and the pipeline from there, as one file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from mlir import ir

from aiopt.passes import pipeline
from aiopt.passes.io import new_context
from aiopt.passes.unit import Unit
from aiopt.support.files import write_output
from aiopt.support.isolate import Entry, Journal


class StepKeeper:
    """Observer that notes every step and the module before it in a journal (bytecode: a quarter of the text's time)."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    def before(self, steps: Sequence[str], unit: Unit) -> None:
        self._journal.record(steps[0], steps, unit.module.operation.write_bytecode)

    def end(self, unit: Unit) -> None:
        """What comes after the passes works on their result."""
        self._journal.record("code generation", (), unit.module.operation.write_bytecode)


def write_reproducer(entry: Entry, path: Path) -> None:
    """Write a journal's entry in the form `mlir-opt --run-reproducer` takes. Raises MLIRError if the IR is broken."""
    module = ir.Module.parse(entry.module, new_context())
    attributes = module.operation.attributes
    if "ai.weights" in attributes:
        del attributes["ai.weights"]  # it names a file beside another file; shapes and keys are what passes look at
    text = f"builtin.module({','.join(_shared_steps(entry.pipeline))})"
    write_output(path, with_pipeline(str(module), text).encode())


def _shared_steps(steps: Sequence[str]) -> list[str]:
    """The first step and, where that is upstream's, those after it up to the first of aiopt's own.

    The later ones were never reached; with a pass of aiopt's among them mlir-opt would refuse the whole.
    """
    shared = list(steps[:1])
    if shared and not pipeline.has_ours(pipeline.parse(shared[0])):
        for step in steps[1:]:
            if pipeline.has_ours(pipeline.parse(step)):
                break
            shared.append(step)
    return shared


def with_pipeline(module: str, text: str) -> str:
    """The text of a module with a pipeline as the resource that `--run-reproducer` reads."""
    quoted = text.replace("\\", "\\\\").replace('"', '\\"')
    resource = f"""  external_resources: {{
    mlir_reproducer: {{
      pipeline: "{quoted}",
      disable_threading: true,
      verify_each: true
    }}
  }}
#-}}
"""
    body = module.rstrip()
    # A module with resources of its own ends in such a block already, and there can be only one.
    block = body.removesuffix("#-}").rstrip() + ",\n" if body.endswith("#-}") else body + "\n\n{-#\n"
    return f"// Run with: mlir-opt --run-reproducer FILE, or aiopt -p '{text}' FILE\n{block}{resource}"
