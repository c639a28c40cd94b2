"""The page of operators: what is compiled of each, from the registry that the compiler asks."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby

import onnx
from onnx.backend.test.case.node import collect_testcases
from onnx.reference.ops import load_op

from aiopt.frontend.onnx.control_flow import EXPANDERS
from aiopt.frontend.onnx.functions import has_body
from aiopt.frontend.onnx.registry import NEWEST_OPSET, OLDEST_OPSET, covered_opsets, domains, find, op_types
from aiopt.frontend.onnx.schema import find_schema

COMPILED, EXPANDED, SLOW, NOTHING = "compiled", "compiled as others", "slow route", "no"
_COLUMNS = (COMPILED, EXPANDED, SLOW, NOTHING)
_HEAD = f"""# Operators of ONNX

For each operator, the opsets ({OLDEST_OPSET} to {NEWEST_OPSET}) of a model in which a node of it is

- *{COMPILED}*: aiopt has a handler, or unrolls and expands it (If, Loop, Scan, as far as their lengths are known);
- *{EXPANDED}*: ONNX defines it by other operators, into which it is expanded;
- on the *{SLOW}*: run by the onnx package's reference between compiled parts;
- not there at all.

Element types and attributes may narrow this: `aiopt-check MODEL` says it of each node. *Cases* are the node cases of
`onnx.backend.test` of onnx {onnx.__version__} whose first node is of the operator: their oracle is ONNX's own expected
output, and `python test/bench/onnx_cases.py` runs them all. Operators that aiopt reads differently from
their text have unit tests under `test/unit/frontend`, which name their oracle (ONNX Runtime, onnx.reference, or numpy).
"""


def page(note: str) -> str:
    """The text of the page."""
    cases = _cases()
    rows = [(f"`{name}`", *_ranges(name), str(cases[name] or "")) for name in _operators()]
    parts = [note + _HEAD, _table(("operator", *_COLUMNS, "cases"), rows)]
    for domain in sorted(set(domains()) - {""}):
        rows = [(f"`{name}`", _range(covered_opsets(name, domain))) for name in op_types(domain)]
        parts.append(f"## {domain}\n\n{_table(('operator', 'opsets of the domain'), rows)}")
    return "\n\n".join(parts) + "\n"


def _operators() -> Sequence[str]:
    """Those of ONNX's own domain that one of the opsets has."""
    names = {schema.name for schema in onnx.defs.get_all_schemas_with_history() if not schema.domain}
    return sorted(name for name in names if any(_exists(name, opset) for opset in _opsets()))


def _opsets() -> range:
    return range(OLDEST_OPSET, NEWEST_OPSET + 1)


def _exists(name: str, opset: int) -> bool:
    schema = find_schema(name, opset)
    return schema is not None and not schema.deprecated


def _ranges(name: str) -> Iterator[str]:
    status = {opset: _status(name, opset) for opset in _opsets() if _exists(name, opset)}
    for wanted in _COLUMNS:
        yield _range([opset for opset, found in status.items() if found == wanted])


def _status(name: str, opset: int) -> str:
    if find(name, opset) is not None or name in EXPANDERS:
        return COMPILED
    if has_body(onnx.NodeProto(op_type=name), opset):
        return EXPANDED
    try:
        load_op("", name, opset)
    except NotImplementedError:
        return NOTHING
    return SLOW


def _range(opsets: Sequence[int]) -> str:
    """`7-12, 18`"""
    runs = [list(run) for _, run in groupby(enumerate(opsets), lambda entry: entry[1] - entry[0])]
    ends = [(run[0][1], run[-1][1]) for run in runs]
    return ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in ends)


def _cases() -> Counter[str]:
    with warnings.catch_warnings(action="ignore"):  # onnx overflows on purpose while it makes its cases
        return Counter(case.model.graph.node[0].op_type for case in collect_testcases(""))


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [" | ".join(head), " | ".join("---" for _ in head), *(" | ".join(row) for row in rows)]
    return "\n".join(f"| {line} |" for line in lines)
