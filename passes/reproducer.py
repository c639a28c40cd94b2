"""What to hand on when native code aborts: the IR before the step and the pipeline from there, as one file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from mlir import ir

from aiopt.passes.manager import build
from aiopt.passes.pipeline_text import MODULE, Nest, Plain, has_ours, parse
from aiopt.passes.text import to_bytecode
from aiopt.passes.unit import Unit
from aiopt.support.errors import IRError
from aiopt.support.files import write_output
from aiopt.support.isolate import Entry, Journal


class StepKeeper:
    """Observer that notes every step and the module before it in a journal (bytecode: a quarter of the text's time).

    keep: with a step those that follow it ("rest"), no other ("last"), or all from the first on ("all").
    """

    def __init__(self, journal: Journal, keep: str = "rest") -> None:
        self._journal, self._keep = journal, keep
        self._first: tuple[Sequence[str], bytes] | None = None

    def before(self, steps: Sequence[str], unit: Unit) -> None:
        if self._keep == "all":
            self._first = self._first or (steps, to_bytecode(unit.module.operation))
            texts, module = self._first
            self._journal.record(steps[0], texts, lambda file: file.write(module))  # pyright: ignore[reportArgumentType]
        else:
            texts = steps[:1] if self._keep == "last" else steps
            self._journal.record(steps[0], texts, unit.module.operation.write_bytecode)

    def end(self, unit: Unit) -> None:
        """What comes after the passes works on their result."""
        self._journal.record("code generation", (), unit.module.operation.write_bytecode)


def write_reproducer(entry: Entry, path: Path, whole: bool = False, threading: bool = False) -> None:
    """Write a journal's entry in the form `mlir-opt --run-reproducer` takes. Raises MLIRError if the IR is broken.

    whole: keep passes of aiopt's own after upstream's, which were not reached and which mlir-opt does not know; the
    text is then upstream's to the letter. threading: what it says of threads.
    """
    from aiopt.passes.io import new_context  # brings the dialects, which a run of upstream's passes does not need

    context = new_context()
    context.allow_unregistered_dialects = True
    module = ir.Module.parse(entry.module, context)
    attributes = module.operation.attributes
    if "ai.weights" in attributes:
        del attributes["ai.weights"]  # it names a file beside another file; shapes and keys are what passes look at
    steps = entry.pipeline if whole else _shared_steps(entry.pipeline)
    with context, ir.Location.unknown():
        text = pipeline_text(Unit(module), [step for text in steps for step in parse(text).items], True)  # pyright: ignore[reportArgumentType]
    note = "" if whole else "// Run with: mlir-opt --run-reproducer FILE, or aiopt --run-reproducer FILE\n"
    write_output(path, (note + reproducer(str(module), text, threading)).encode())


def pipeline_text(unit: Unit, steps: Iterable[Plain], implicit_nesting: bool) -> str:
    """A pipeline with all options written out, as upstream writes it into reproducers."""
    with unit.module.context:
        texts = [str(build(Nest(MODULE, (step,)), unit, implicit_nesting).native.manager) for step in steps]
    return f"{MODULE}({', '.join(text.removeprefix(f'{MODULE}(').removesuffix(')') for text in texts)})"


def reproducer(module: str, pipeline: str, threading: bool = False, verify: bool = True) -> str:
    """Text of a module with the pipeline to run on it, as upstream writes it."""
    quoted = pipeline.replace("\\", "\\\\").replace('"', '\\"')
    resource = f"""  external_resources: {{
    mlir_reproducer: {{
      pipeline: "{quoted}",
      disable_threading: {str(not threading).lower()},
      verify_each: {str(verify).lower()}
    }}
  }}
#-}}
"""
    body = module.rstrip()
    # A module with resources of its own ends in such a block already, and there can be only one.
    block = body.removesuffix("#-}").rstrip() + ",\n" if body.endswith("#-}") else body + "\n\n{-#\n"
    return block + resource


def read_pipeline(text: str) -> str:
    """The pipeline in a reproducer. Raises IRError if there is none."""
    block = re.search(r"^ *mlir_reproducer: *\{(.*?)^ *\}", text, re.DOTALL | re.MULTILINE)
    found = re.search(r'^ *pipeline: *"((?:[^"\\]|\\.)*)"', block[1], re.MULTILINE) if block else None
    if found is None:
        raise IRError("--run-reproducer takes text with a resource 'mlir_reproducer' that has a pipeline")
    return re.sub(r"\\(.)", r"\1", found[1])


def _shared_steps(steps: Sequence[str]) -> list[str]:
    """The first step and, where that is upstream's, those after it up to the first of aiopt's own.

    The later ones were never reached; with a pass of aiopt's among them mlir-opt would refuse the whole.
    """
    shared = list(steps[:1])
    if shared and not has_ours(parse(shared[0])):
        for step in steps[1:]:
            if has_ours(parse(step)):
                break
            shared.append(step)
    return shared
