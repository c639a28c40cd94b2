"""`aiopt-compile`: compile a model into a file: an artifact of aiopt, or what a C program needs.

As in `aiopt`, nothing heavy is imported before the fork.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import aiopt
from aiopt.source import source_files
from aiopt.support import command
from aiopt.support.arguments import (
    Parser,
    add_fusion_option,
    add_target_options,
    parse_shapes,
    reject_target,
    target_choice,
)
from aiopt.support.errors import OptionError, OutputError, OverwriteError, UnsupportedError
from aiopt.support.files import is_special, read_input, refuse_sources, staged, write_output
from aiopt.support.fusion import AUTO
from aiopt.support.isolate import Journal
from aiopt.tools.aiopt import STDIN, save_reproducer
from aiopt.tools.aiopt_run import count, reject_shapes

if TYPE_CHECKING:
    from aiopt.runtime.base import Net
    from aiopt.runtime.net import CompiledNet

_KINDS = {
    "aio": "one file for aiopt.load and aiopt-run",
    "so": "a shared object, with a file of weights beside it",
    "obj": "an object, with a file of weights beside it",
    "header": "a C header for the two before",
}
WEIGHTS_SUFFIX = ".weights"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status."""
    return command.run(partial(_work, _parser().parse(arguments)), save_reproducer)


def _parser() -> Parser:
    parser = Parser("aiopt-compile", "Compile a model into a file.")
    add = parser.add_argument
    add("model", nargs="?", metavar="MODEL", help=".onnx, .mlir of any level, or .aio; '-': stdin")
    add("-o", dest="output", metavar="FILE", help="where the result goes; '-' (a header only): stdout")
    kinds = "; ".join(f"{kind}: {text}" for kind, text in _KINDS.items())
    add("--emit", choices=list(_KINDS), default="aio", help=f"what to write ({kinds}; default: aio)")
    add("--shape", action="append", default=[], metavar="NAME=1x3x48x320", help="shape of an input of an ONNX model")
    add("--threads", type=count, default=1, metavar="N", help="threads of a run, which code is made for (default: 1)")
    add_target_options(parser)
    add_fusion_option(parser)
    add("--no-cache", action="store_true", help="compile even if the cache has the net, and leave the cache alone")
    add("--c-flags", action="store_true", help="print what cc needs to build programs with compiled nets")
    return parser


def _work(given: argparse.Namespace, journal: Journal) -> int:
    if given.c_flags:
        write_output(None, _c_flags().encode())
        return 0
    if given.model is None:
        raise OptionError("aiopt-compile needs a MODEL")
    if given.output is None:
        raise OptionError("aiopt-compile needs -o FILE: what it writes is not text")
    if given.output == STDIN and given.emit != "header":
        raise OptionError(f"--emit={given.emit} is not text: name a file with -o")
    output = None if given.output == STDIN else Path(given.output)
    sources = list(source_files(given.model)) if given.model != STDIN else []
    if output is not None:
        refuse_sources(output, sources)
    command.progress(f"compiling {given.model} ...")
    net = _net(given, journal)
    command.progress("")
    journal.record("writing the result")
    if given.emit == "aio" and output is not None:
        net.save(output)
        return 0
    whole = _whole(net, given.emit)
    if given.emit == "header" or output is None:
        from aiopt.runtime.c_header import c_header

        write_output(output, c_header(whole, aiopt.__version__).encode())
    else:
        _write_code(output, given.emit, whole, sources)
    return 0


def _whole(net: Net, kind: str) -> CompiledNet:
    """The net, if all of it is code for the CPU. Raises UnsupportedError."""
    from aiopt.runtime.net import CompiledNet

    if not isinstance(net, CompiledNet):
        raise UnsupportedError(f"--emit={kind} takes nets on the CPU alone; one in parts goes into an artifact (.aio)")
    return net


def _net(given: argparse.Namespace, journal: Journal) -> Net:
    from aiopt.runtime import artifact

    shapes = parse_shapes(given.shape)
    if given.model != STDIN and artifact.looks_like_artifact(given.model):
        reject_shapes(shapes, "a compiled net")
        reject_target(given)
        return aiopt.load(given.model, given.threads)
    journal.record("loading MLIR")
    from aiopt import api
    from aiopt.passes import io, pipeline
    from aiopt.passes.reproducer import StepKeeper
    from aiopt.staged import StagedNet

    model = read_input(STDIN) if given.model == STDIN else Path(given.model)
    if io.is_mlir(model):
        reject_shapes(shapes, "MLIR")
    with pipeline.observed(StepKeeper(journal)):
        source, target = api.read_source(model), target_choice(given)
        net = api.compile_static(source, target, given.threads, shapes, not given.no_cache, fusion=given.fusion or AUTO)
    if isinstance(net, StagedNet):
        net.save(given.output)  # raises: it says what of the model is not compiled
    return net


def _write_code(output: Path, kind: str, net: CompiledNet, sources: Sequence[Path]) -> None:
    """The code and, where the net has any, its weights: both or neither."""
    from aiopt.support import linker

    weights = output.with_suffix(WEIGHTS_SUFFIX)
    if net.weights.nbytes:
        if is_special(output):
            raise OutputError(f"cannot write '{output}': the weights go into a file beside it, so it has to be a file")
        refuse_sources(weights, sources)
        _keep_other_weights(weights, output, net)
    code = linker.shared_object(net.objects) if kind == "so" else linker.joined_object(net.objects)
    if not net.weights.nbytes:
        write_output(output, code)
        return
    with staged(weights, [net.weights.data]), staged(output, code):
        pass


def _keep_other_weights(weights: Path, output: Path, net: CompiledNet) -> None:
    """Raise OutputError if the weights would replace the code, or a file that does not look like an older self."""
    if weights == output:
        raise OverwriteError(f"cannot write '{output}': the weights go into a file of this name; end it in .so or .o")
    if is_special(weights) or weights.is_dir():
        raise OutputError(f"cannot write the weights '{weights}': it is not a file")
    if not weights.exists() or _is_compiled(output):
        return
    if weights.stat().st_size != net.weights.nbytes or weights.read_bytes() != net.weights.tobytes():
        raise OverwriteError(
            f"cannot write the weights '{weights}': another file of that name is there, and no compiled net beside it; "
            "remove it, or give the output another name"
        )


def _is_compiled(path: Path) -> bool:
    """True for code that an earlier call wrote: its weights lie beside it."""
    if not path.is_file():
        return False
    code = path.read_bytes()
    return code.startswith(b"\x7fELF") and re.search(rb"\0aiopt_\w+_info\0", code) is not None


def _c_flags() -> str:
    from aiopt.runtime import library

    folder = library.path().parent
    return f"-I{library.include_folder()} -L{folder} -Wl,-rpath,{folder} -laiopt_runtime\n"
