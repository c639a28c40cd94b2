"""Read a command line as LLVM's tools do, with the flags of a table; other flags may name passes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace

from aiopt.tools.opt.flags import FLAGS, LEFT_OUT, Flag, Kind

TOOL = "aiopt"
_BOOLEANS = {"": True, **dict.fromkeys(("true", "TRUE", "True", "1"), True)}
_BOOLEANS |= dict.fromkeys(("false", "FALSE", "False", "0"), False)


class UsageError(Exception):
    """A command line that cannot be obeyed; the text is what goes to the standard error."""


@dataclass
class Given:
    """A command line: values by flag, the input, flags that may be passes in their order, and those LLVM obeys."""

    values: SimpleNamespace
    input: str = "-"
    passes: list[tuple[str, str]] = field(default_factory=list)  # name, options
    native: list[str] = field(default_factory=list)


def parse(words: Sequence[str], flags: Mapping[str, Flag] = FLAGS) -> Given:
    """Read a command line. Raises UsageError."""
    given = Given(SimpleNamespace(**{flag.key: _default(flag) for flag in flags.values()}))
    positional: list[str] = []
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word == "--":
            positional += rest
            break
        if word == "-" or not word.startswith("-"):
            positional.append(word)
            continue
        name, equals, text = word.removeprefix("-").removeprefix("-").partition("=")
        if flag := flags.get(name):
            _set(given, flag, text if equals else None, rest)
        elif name in LEFT_OUT:
            raise UsageError(f"{TOOL}: '{word.partition('=')[0]}' is mlir-opt's alone: {LEFT_OUT[name]}\n")
        else:
            given.passes.append((name, text))
    if len(positional) > 1:
        raise UsageError(
            f"{TOOL}: Too many positional arguments specified!\n"
            f"Can specify at most 1 positional arguments: See: {TOOL} --help\n"
        )
    given.input = positional[0] if positional else "-"
    return given


def unknown(name: str, value: str, known: Iterable[str]) -> UsageError:
    """The error for a flag nobody knows, with the nearest of those known if it is near."""
    value = f"={value}" if value else ""
    nearest = min(known, key=lambda candidate: (_distance(name, candidate), candidate), default="")
    text = f"{TOOL}: Unknown command line argument '--{name}{value}'.  Try: '{TOOL} --help'\n"
    if nearest and _distance(name, nearest) <= max(2, len(name) // 3):
        text += f"{TOOL}: Did you mean '{_dashes(nearest)}{nearest}{value}'?\n"
    return UsageError(text)


def help_text() -> str:
    """What --help prints: every flag of the table, and where the passes are listed."""
    lines = [
        "OVERVIEW: aiopt runs passes of aiopt and MLIR on a model or on MLIR text of any level\n",
        f"USAGE: {TOOL} [options] <input file: .mlir, .mlirbc or .onnx; '-' or nothing: stdin>\n",
        "OPTIONS:\n",
    ]
    lines += _described(FLAGS.values())
    lines += [
        "",
        "Each pass and pipeline of --list-passes is an option, too: --canonicalize --ai-cse=...; they run in the",
    ]
    return (
        "\n".join([*lines, 'order given. Options of a pass: --canonicalize="max-iterations=3 top-down=false".']) + "\n"
    )


def help_list() -> str:
    """What --help-list prints: the flags in one list sorted by name."""
    return "\n".join(_described(sorted(FLAGS.values(), key=lambda flag: flag.name))) + "\n"


def _described(flags: Iterable[Flag]) -> list[str]:
    lines = []
    for flag in flags:
        shape = {Kind.SWITCH: "", Kind.MAYBE: f"[=<{flag.metavar}>]"}.get(flag.kind, f"=<{flag.metavar}>")
        text = f"  {_dashes(flag.name)}{flag.name}{shape if flag.name != 'o' else ' <filename>'}"
        lines.append(f"{text:<54} - {flag.help}")
        lines += [f"    ={choice}" for choice in flag.choices]
    return lines


def _dashes(name: str) -> str:
    return "-" if len(name) == 1 else "--"


def _default(flag: Flag) -> object:
    if flag.default is not None:
        return flag.default
    return {Kind.SWITCH: False, Kind.MANY: []}.get(flag.kind)


def _set(given: Given, flag: Flag, text: str | None, rest: list[str]) -> None:
    if flag.kind in (Kind.VALUE, Kind.MANY) and text is None:
        if not rest:
            raise _wrong(flag, "requires a value!")
        text = rest.pop(0)
    value = _value(flag, text or "")
    if flag.native:
        given.native.append(f"--{flag.name}={text or 'true'}")
    if flag.kind is Kind.MANY:
        setattr(given.values, flag.key, [*getattr(given.values, flag.key), *str(value).split(",")])
    else:
        setattr(given.values, flag.key, value)


def _value(flag: Flag, text: str) -> object:
    if flag.kind is Kind.SWITCH:
        if text not in _BOOLEANS:
            raise _wrong(flag, f"'{text}' is invalid value for boolean argument! Try 0 or 1")
        return _BOOLEANS[text]
    if flag.choices and text not in flag.choices and not (flag.kind is Kind.MAYBE and not text):
        raise _wrong(flag, f"Cannot find option named '{text}'!")
    if flag.number:
        try:
            number = int(text, 0)
        except ValueError:
            number = None
        if number is None or (number < 0 and flag.metavar == "uint"):
            raise _wrong(flag, f"'{text}' value invalid for {flag.metavar} argument!")
        return number
    return text


def _wrong(flag: Flag, what: str) -> UsageError:
    return UsageError(f"{TOOL}: for the {_dashes(flag.name)}{flag.name} option: {what}\n")


def _distance(a: str, b: str) -> int:
    """Levenshtein's distance."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        previous, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            previous, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, previous + (x != y))
    return row[-1]
