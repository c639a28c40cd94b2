"""`aiopt-npu`: assemble, disassemble and simulate programs for NPUs (docs/npu.md).

As in `aiopt`, nothing heavy is imported before the fork.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aiopt.support import command
from aiopt.support.arguments import Parser, split_assignment
from aiopt.support.errors import InputError, ModelError, OptionError
from aiopt.support.files import read_input, write_output
from aiopt.support.isolate import Journal
from aiopt.tools.aiopt_run import describe, fill_inputs, load_array, save_reproducer

if TYPE_CHECKING:
    import numpy as np

    from aiopt.support.types import TensorType
    from aiopt.targets.npu.machine import Machine
    from aiopt.targets.npu.program import Program
    from aiopt.targets.npu.simulator import Result

_ACTIONS = {
    "asm": "text or MLIR to .npub",
    "disasm": ".npub to text, or to MLIR if FILE ends in .mlir",
    "run": "execute on the simulator, say what came out and how many cycles it took",
}
_MODES = {"asm": {"output"}, "disasm": {"output"}, "run": {"input", "result", "machine", "seed", "json"}}
_SHOWN_RACES = 10
_MLIR = ".mlir"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status: 1 on an error, a race included."""
    given = _parser().parse(arguments)
    return command.run(partial(_work, given), save_reproducer)


def _parser() -> Parser:
    parser = Parser("aiopt-npu", "Assemble, disassemble and simulate programs for NPUs.")
    add = parser.add_argument
    add("action", choices=list(_ACTIONS), help="; ".join(f"{name}: {text}" for name, text in _ACTIONS.items()))
    add("program", metavar="PROGRAM", help="text or .mlir (asm, run), .npub (disasm, run); '-': stdin")
    add("-o", dest="output", metavar="FILE", help="asm, disasm: where the result goes (default: stdout)")
    add("--input", action="append", default=[], metavar="NAME=FILE", help="run: .npy, or raw bytes (else random)")
    add("--result", action="append", default=[], metavar="NAME=FILE", help="run: write an output, .npy or raw bytes")
    add("--machine", metavar="NAME", help="run: a preset or a file .toml (default: the preset it was made for)")
    add("--seed", type=int, metavar="N", help="run: seed of the random inputs (default: 0)")
    add("--json", action="store_true", help="run: print one JSON object")
    return parser


def _work(given: argparse.Namespace, journal: Journal) -> int:
    journal.record(f"aiopt-npu {given.action}")
    for option in sorted(set().union(*_MODES.values()) - _MODES[given.action]):
        if getattr(given, option):
            name = "-o" if option == "output" else f"--{option}"
            raise OptionError(f"{name} is not for aiopt-npu {given.action}")
    from aiopt.targets.npu import npub

    data = read_input(given.program)
    is_binary = npub.looks_like_npub(data)
    if given.action == "run":
        _run(given, npub.read(data, given.program) if is_binary else _assemble(data, given.program))
        return 0
    output = None if given.output in (None, "-") else Path(given.output)
    if given.action == "disasm":
        _disassemble(npub.read(data, given.program), output)
    elif is_binary:
        raise ModelError(f"'{given.program}' is an npub file already")
    else:
        write_output(output, npub.write(_assemble(data, given.program)))
    return 0


def _assemble(data: bytes, origin: str) -> Program:
    from aiopt.passes import io
    from aiopt.targets.npu import asm, convert

    if Path(origin).suffix == _MLIR:
        return convert.only_program(io.read_unit(origin, io.new_context()), origin)
    try:
        text = data.decode()
    except UnicodeDecodeError:
        raise ModelError(f"'{origin}' is neither text nor an npub file") from None
    return asm.parse_program(text, origin)


def _disassemble(program: Program, output: Path | None) -> None:
    from mlir import ir

    from aiopt.passes import io
    from aiopt.passes.unit import Unit
    from aiopt.targets.npu import asm, convert

    if output is None or output.suffix != _MLIR:
        write_output(output, asm.print_program(program).encode())
        return
    context = io.new_context()
    with context, ir.Location.unknown():
        unit = Unit(ir.Module.create())
    convert.build_function(program, unit, "program")
    io.write_unit(unit, output)


def _run(given: argparse.Namespace, program: Program) -> None:
    from aiopt.targets.npu.program import ProgramError
    from aiopt.targets.npu.simulator import simulate

    machine = _machine(given.machine, program)
    files = _files("--input", given.input)
    targets = _files("--result", given.result)
    known = {tensor.name for tensor in program.outputs}
    for name in targets:
        if name not in known:
            raise OptionError(f"--result {name}: the program has no such output")
    inputs = _inputs({tensor.name: tensor.type for tensor in program.inputs}, files, given.seed or 0)
    command.progress("simulating ...")
    result = simulate(program, machine, inputs)
    command.progress("")
    if result.races:
        shown = "; ".join(str(race) for race in result.races[:_SHOWN_RACES])
        more = len(result.races) - _SHOWN_RACES
        raise ProgramError(shown + (f"; and {more} more" if more > 0 else ""))
    for name, path in targets.items():
        write_output(path, _as_file(path, result.outputs[name]))
    write_output(None, (_as_json if given.json else _as_text)(result, machine).encode())


def _machine(name: str | None, program: Program) -> Machine:
    from aiopt.targets.npu.machine import find_by_hash, find_machine

    machine = find_machine(name) if name else find_by_hash(program.machine_hash)
    if machine is None:
        raise OptionError(f"the program is for machine '{program.machine}', which is no preset: name it with --machine")
    return machine


def _files(option: str, texts: Sequence[str]) -> dict[str, Path]:
    files: dict[str, Path] = {}
    for text in texts:
        name, file = split_assignment(option, text, "x.npy")
        if name in files:
            raise OptionError(f"{option} gives '{name}' twice")
        files[name] = Path(file)
    return files


def _inputs(types: Mapping[str, TensorType], files: Mapping[str, Path], seed: int) -> dict[str, np.ndarray]:
    """The given inputs, those without a file random. Names that are none are left to the simulator to reject."""
    import numpy as np

    arrays: dict[str, np.ndarray] = {}
    for name, path in files.items():
        if path.suffix == ".npy" or name not in types:
            arrays[name] = load_array(name, path)
            continue
        raw = read_input(path)
        if len(raw) != types[name].nbytes:
            raise InputError(f"input '{name}': '{path}' must have {types[name].nbytes} bytes, but has {len(raw)}")
        arrays[name] = np.frombuffer(raw, types[name].dtype).reshape(types[name].shape)
    return fill_inputs(types, arrays, seed)


def _as_file(path: Path, array: np.ndarray) -> bytes:
    if path.suffix != ".npy":
        return array.tobytes()
    import io

    import numpy as np

    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


def _facts(result: Result, machine: Machine) -> dict[str, Any]:
    return {
        "machine": machine.name,
        "outputs": [describe(name, array) for name, array in result.outputs.items()],
        "cycles": result.cycles,
        "seconds": result.cycles / (machine.mhz * 1e6),
        "macs": result.macs,
        "utilisation": result.utilisation,
        "busy_cycles": {queue.name.lower(): cycles for queue, cycles in result.busy.items()},
        "loaded_bytes": result.loaded_bytes,
        "stored_bytes": result.stored_bytes,
    }


def _as_json(result: Result, machine: Machine) -> str:
    return json.dumps(_facts(result, machine)) + "\n"


def _as_text(result: Result, machine: Machine) -> str:
    facts = _facts(result, machine)
    lines = []
    for output in facts["outputs"]:
        shape = "x".join(map(str, output["shape"])) or "scalar"
        numbers = ", ".join(f"{key} {output[key]:.6g}" for key in ("min", "max", "mean"))
        lines.append(f"output {output['name']}: {shape} {output['dtype']}, {numbers}")
    lines.append(f"cycles: {result.cycles} ({facts['seconds'] * 1e6:.1f} us at {machine.mhz} MHz on {machine.name})")
    lines.append(f"utilisation of the array: {result.utilisation:.1%} ({result.macs} multiply-adds)")
    shares = (f"{name} {cycles / result.cycles:.1%}" for name, cycles in facts["busy_cycles"].items())
    lines.append(f"busy: {', '.join(shares)}")
    lines.append(f"dram: {result.loaded_bytes} bytes loaded, {result.stored_bytes} stored")
    return "\n".join(lines) + "\n"
