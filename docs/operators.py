"""The page of operators: what is compiled of each and whom it is held against, from what compiler and tests read."""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path

import onnx
from onnx.reference.ops import load_op

from aiopt.frontend.onnx.registry import NEWEST_OPSET, OLDEST_OPSET, covered_opsets, domains, find, op_types
from aiopt.frontend.onnx.schema import domain_of, find_schema
from aiopt.staged.references import needs_reference

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "test"))  # for bench and unit
from bench.onnx_suite import expected_failures, node_cases
from unit.frontend.forms.table import oracles

COMPILED, EXPANDED, SLOW, NOTHING = "compiled", "compiled as others", "slow route", "no"
CASES = "cases of onnx"
_COLUMNS = (COMPILED, EXPANDED, SLOW, NOTHING)
_HEAD = f"""# Operators of ONNX

For each operator, the opsets ({OLDEST_OPSET} to {NEWEST_OPSET}) of a model in which a node of it is

- *{COMPILED}*: aiopt has a handler;
- *{EXPANDED}*: it is expanded into nodes of other operators, by which ONNX defines it, or (If, Loop, Scan) as far as
  its way and length are known;
- on the *{SLOW}*: run by the onnx package's reference, or one of aiopt's own, between compiled parts;
- not there at all.

Element types and attributes may narrow this: `aiopt-check MODEL` says it of each node.

Where ONNX leaves open what comes of something, or asks for an error that compiled code cannot give, there is one rule.
An index of a run that is out of range takes the nearest element in its dimension where it is read (Gather,
GatherElements, GatherND ...), and is left out where it is written (ScatterElements, ScatterND, TensorScatter ...); one
that is known when compiling is an error. A float that is cast to an integer goes by way of 32 bits (to int64, uint32
and uint64: 64), of which the low bits are kept, and is the lowest number of that word if it does not fit or is NaN.

*Tested against* lists for each oracle the versions of the operator (the opset since which it means what it means) in
which it is held against it. ONNX Runtime, onnx.reference and numpy (written from the operator's text) are what the
forms under `test/unit/frontend/forms` name; `test/unit/frontend/test_opsets.py` runs each form in each version, and
fails for a version that is compiled and has none. The *{CASES}* are the node cases of `onnx.backend.test` that pass,
of onnx {onnx.__version__} and with ONNX's own expected output as oracle; their number stands in brackets, and
`python test/bench/onnx_cases.py` runs them all. Other tests go more deeply into attributes and types, and name their
oracles themselves.
"""
_Oracles = Mapping[tuple[str, str, int], set[str]]
_Cases = Mapping[tuple[str, str], Counter[int]]


def page(note: str) -> str:
    """The text of the page."""
    named, cases = oracles(), _cases()
    rows = [(f"`{name}`", *_ranges(name, named), _tested(name, "", named, cases)) for name in _operators()]
    parts = [note + _HEAD, _table(("operator", *_COLUMNS, "tested against"), rows)]
    for domain in sorted(set(domains()) - {""}):
        rows = [
            (f"`{name}`", _range(covered_opsets(name, domain)), _tested(name, domain, named, cases))
            for name in op_types(domain)
        ]
        parts.append(f"## {domain}\n\n{_table(('operator', 'opsets of the domain', 'tested against'), rows)}")
    return "\n\n".join(parts) + "\n"


def _operators() -> Sequence[str]:
    """Those of ONNX's own domain that one of the opsets has."""
    names = {schema.name for schema in onnx.defs.get_all_schemas_with_history() if not schema.domain}
    return sorted(name for name in names if any(_exists(name, opset) for opset in _opsets()))


def _opsets() -> range:
    return range(OLDEST_OPSET, NEWEST_OPSET + 1)


def _exists(name: str, opset: int) -> bool:
    schema = find_schema(name, opset)
    return schema is not None and (not schema.deprecated or find(name, opset) is not None)


def _ranges(name: str, named: _Oracles) -> Iterator[str]:
    status = {opset: _status(name, opset, named) for opset in _opsets() if _exists(name, opset)}
    for wanted in _COLUMNS:
        yield _range([opset for opset, found in status.items() if found == wanted])


def _status(name: str, opset: int, named: _Oracles) -> str:
    if find(name, opset) is not None:
        return COMPILED
    if ("", name, find_schema(name, opset).since_version) in named:  # its forms are compiled, as their test shows
        return EXPANDED
    if not needs_reference(name):
        return SLOW
    try:
        load_op("", name, opset)
    except NotImplementedError:
        return NOTHING
    return SLOW


def _tested(name: str, domain: str, named: _Oracles, cases: _Cases) -> str:
    """`ONNX Runtime: 7, 13; cases of onnx: 13 (4)`"""
    versions: dict[str, list[str]] = defaultdict(list)
    for (owner, op_type, version), found in sorted(named.items()):
        if (owner, op_type) == (domain, name):
            for oracle in found:
                versions[oracle].append(str(version))
    counts = sorted(cases.get((domain, name), {}).items())
    versions[CASES] = [f"{version} ({count})" for version, count in counts]
    return "; ".join(f"{oracle}: {', '.join(found)}" for oracle, found in sorted(versions.items()) if found)


def _range(opsets: Sequence[int]) -> str:
    """`7-12, 18`"""
    runs = [list(run) for _, run in groupby(enumerate(opsets), lambda entry: entry[1] - entry[0])]
    ends = [(run[0][1], run[-1][1]) for run in runs]
    return ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in ends)


def _cases() -> _Cases:
    """How many cases pass of each operator, by version; not those of what defines it ("expanded")."""
    failing, found = expected_failures(), defaultdict[tuple[str, str], Counter[int]](Counter)
    for case in node_cases():
        if case.name in failing or "_expanded" in case.name:
            continue
        node = next(node for node in case.model.graph.node if node.op_type == case.group)
        opsets = {entry.domain: entry.version for entry in case.model.opset_import}
        schema = find_schema(node.op_type, opsets[node.domain], domain_of(node))
        found[domain_of(node), node.op_type][schema.since_version] += 1
    return found


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [" | ".join(head), " | ".join("---" for _ in head), *(" | ".join(row) for row in rows)]
    return "\n".join(f"| {line} |" for line in lines)
