"""Command lines as LLVM's tools take them: one `error:` line, status 1, and a guess at what was meant."""

from __future__ import annotations

import argparse
import difflib
import sys
from collections.abc import Iterable, Sequence
from typing import NoReturn

from aiopt.support.errors import OptionError
from aiopt.support.fusion import MODES
from aiopt.support.target import AUTO, LIBRARIES, NO_LIBRARY, WINOGRAD, CodeOptions, TargetChoice


class Parser(argparse.ArgumentParser):
    """An argparse parser whose long options may also be written with one dash, as LLVM's tools allow."""

    def __init__(self, prog: str, description: str) -> None:
        super().__init__(prog=prog, description=description, allow_abbrev=False)

    def error(self, message: str) -> NoReturn:
        """Print the error and exit with 1 (argparse's own status is 2)."""
        print(f"error: {message.removeprefix('argument ')} [{OptionError.code}]", file=sys.stderr)
        sys.exit(1)

    def parse(self, arguments: Sequence[str] | None) -> argparse.Namespace:
        """Parse, or exit with 1 and an `error:` line."""
        given = [self._two_dashes(a) for a in (sys.argv[1:] if arguments is None else arguments)]
        for text in given:  # said before what is missing: argparse would say that first
            if text.startswith("--") and text.partition("=")[0] not in {"--", *self._option_string_actions}:
                self._refuse(text)
        namespace, unknown = self.parse_known_args(given)
        for text in unknown:
            self._refuse(text)
        return namespace

    def _refuse(self, text: str) -> NoReturn:
        name = text.partition("=")[0]
        if text.startswith("-"):
            self.error(f"unknown option '{name}'{did_you_mean(name, self._option_string_actions)}")
        self.error(f"unexpected argument '{text}': one input file at a time")

    def _two_dashes(self, text: str) -> str:
        name = "-" + text.partition("=")[0]
        return "-" + text if text.startswith("-") and name in self._option_string_actions else text


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`, did you mean 'x'?`, or nothing if no known word is close."""
    close = difflib.get_close_matches(word, list(known), n=1)
    return f", did you mean '{close[0]}'?" if close else ""


def parse_shapes(texts: Sequence[str]) -> dict[str, tuple[int, ...]]:
    """`["x=1x3x8x8"]` -> {"x": (1, 3, 8, 8)}; `x=` is a scalar. Raises OptionError."""
    shapes: dict[str, tuple[int, ...]] = {}
    for text in texts:
        name, shape = split_assignment("--shape", text, "1x3x48x320")
        sizes = shape.split("x") if shape else []
        if not all(size.isdecimal() and size.isascii() for size in sizes):
            raise OptionError(f"--shape {text}: sizes are whole numbers with an x between, as in {name}=1x3x48x320")
        if name in shapes:
            raise OptionError(f"--shape gives input '{name}' twice")
        shapes[name] = tuple(int(size) for size in sizes)
    return shapes


def split_assignment(option: str, text: str, example: str) -> tuple[str, str]:
    """`name=value` -> (name, value); a name may hold `=`. Raises OptionError."""
    name, equals, value = text.rpartition("=")
    if not equals or not name:
        raise OptionError(f"{option} {text}: expected NAME=..., as in {option} x={example}")
    return name, value


def add_target_options(parser: Parser) -> None:
    """--target, --machine, --winograd and --cpu-library (see aiopt.compile)."""
    parser.add_argument("--target", metavar="NAMES", help="targets in order of preference, as npu,cpu (default: cpu)")
    parser.add_argument("--machine", metavar="NAME", help="the NPU to compile for: edge16, mid32 or a file .toml")
    parser.add_argument(
        "--cpu-library",
        choices=LIBRARIES,
        metavar="|".join(LIBRARIES),
        help=f"send matrix products to a library (default: {NO_LIBRARY})",
    )
    add_winograd_option(parser)


def add_winograd_option(parser: Parser) -> None:
    """--winograd (see aiopt.compile)."""
    parser.add_argument(
        "--winograd",
        choices=WINOGRAD,
        metavar="|".join(WINOGRAD),
        help="3x3 convolutions by Winograd's algorithm: where it is faster, none, all in tiles of 2x2 or 4x4 pixels; "
        f"the error it adds is at most 1e-5 of a layer's largest result (default: {AUTO})",
    )


def add_fusion_option(parser: Parser) -> None:
    """--fusion (see aiopt.compile)."""
    what = "layers that follow each other in one kernel: where it is faster, wherever it can be had, or never"
    parser.add_argument("--fusion", choices=MODES, help=f"{what} (default: {AUTO})")


def target_choice(given: argparse.Namespace) -> TargetChoice:
    """What --target, --machine, --winograd and --cpu-library say."""
    names = TargetChoice.names if given.target is None else given.target
    options = CodeOptions(given.winograd or AUTO, given.cpu_library or NO_LIBRARY)
    return TargetChoice(names, given.machine, options)


def reject_target(given: argparse.Namespace) -> None:
    """Raise OptionError if a target is given for a net that was compiled for one."""
    if given.target is not None or given.machine is not None:
        raise OptionError("--target and --machine take the model; a compiled net is for its target")
    if any(option is not None for option in (given.winograd, given.cpu_library, given.fusion)):
        raise OptionError("--winograd, --cpu-library and --fusion take the model; in a compiled net they are decided")
