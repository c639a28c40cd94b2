"""The list of passes for people: aiopt's own from their classes, upstream's as upstream prints them."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from dataclasses import MISSING, fields
from typing import get_type_hints

from aiopt.dialects.registry import dialects
from aiopt.passes.base import Configurable, NamedPipeline
from aiopt.passes.registry import registered
from aiopt.support.errors import CompileError

# The bindings load a dialect by name, but do not list them; a test holds this against mlir-opt --show-dialects.
UPSTREAM_DIALECTS = (
    "acc,affine,amdgpu,amx,arith,arm_neon,arm_sme,arm_sve,async,bufferization,builtin,cf,complex,dlti,emitc,func,gpu,"
    "index,irdl,linalg,llvm,math,memref,ml_program,mpi,nvgpu,nvvm,omp,pdl,pdl_interp,ptr,quant,rocdl,scf,shape,shard,"
    "smt,sparse_tensor,spirv,tensor,tosa,transform,ub,vector,wasmssa,x86vector,xegpu,xevm"
)


def list_passes() -> str:
    """All names that may stand in a pipeline, with what they do and their options."""
    classes = [cls for _, cls in sorted(registered().items())]
    pipelines = [cls for cls in classes if issubclass(cls, NamedPipeline)]
    passes = [cls for cls in classes if not issubclass(cls, NamedPipeline)]
    parts = [
        ("aiopt's pipelines:", "\n".join(map(_describe, pipelines))),
        ("aiopt's passes:", "\n".join(map(_describe, passes))),
        ("upstream's passes:", _upstream()),
    ]
    return "\n".join(f"{title}\n{text}" for title, text in parts if text) + "\n"


def list_dialects() -> str:
    """Upstream's dialects in the line mlir-opt prints, then those defined here."""
    return f"Available Dialects: {UPSTREAM_DIALECTS}\naiopt's dialects: {','.join(dialects())}\n"


def _describe(cls: type[Configurable]) -> str:
    text = " ".join((inspect.getdoc(cls) or "").split("\n\n")[0].split())
    lines = [f"  {cls.name:<48}-   {text}"]
    hints = get_type_hints(cls)
    for field in fields(cls):
        option = f"{field.name.replace('_', '-')}=<{hints[field.name].__name__}>"
        default = "required" if field.default is MISSING else f"default {str(field.default).lower()}"
        lines.append(f"    {option:<46}- {default}")
    return "\n".join(lines)


def upstream_names() -> list[str]:
    """The names of upstream's passes and pipelines."""
    return re.findall(r"^  (\S+)  +-", _upstream(), flags=re.MULTILINE)


def _upstream() -> str:
    """Upstream's list with the names as pipelines spell them, without dashes.

    It is printed by a process of its own: only at a regular exit does native code flush what it printed.
    """
    command = [sys.executable, "-c", "from aiopt.passes.native import print_passes; print_passes()"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise CompileError(f"MLIR could not list its passes: {done.stderr}")
    _, _, text = done.stdout.partition("\n")
    return re.sub(r"^( +)--(\S+)", r"\1\2  ", text, flags=re.MULTILINE).rstrip("\n")
