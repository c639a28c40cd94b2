"""All forms by domain and operator, and the oracles that they name: what docs/reference/operators.md is made from."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace

from aiopt.frontend.onnx.registry import MICROSOFT, covered_opsets
from unit.frontend.forms import control, elementwise, features, microsoft, movement, neural, sums
from unit.frontend.forms.form import Form

ML = "ai.onnx.ml"
_MODULES = [("", control), ("", elementwise), ("", movement), ("", neural), ("", sums)]
_MODULES += [(ML, features), (MICROSOFT, microsoft)]


def _collect() -> dict[tuple[str, str], list[Form]]:
    found: dict[tuple[str, str], list[Form]] = {}
    for domain, module in _MODULES:
        for op_type, forms in module.FORMS.items():
            if (domain, op_type) in found:
                raise ValueError(f"{module.__name__} has forms of {op_type}, which another file has")
            found[domain, op_type] = [_in_domain(op_type, form, domain) for form in forms]
    return found


def _in_domain(op_type: str, form: Form, domain: str) -> Form:
    """Forms of other domains are for all of their opsets that aiopt has."""
    if not domain:
        return form
    opsets = covered_opsets(op_type, domain)
    return replace(form, since=min(opsets), until=max(opsets))


FORMS = _collect()


def oracles() -> Mapping[tuple[str, str, int], set[str]]:
    """By domain, operator and version (the opset of the domain since which it means what it means)."""
    found: dict[tuple[str, str, int], set[str]] = defaultdict(set)
    for (domain, op_type), forms in FORMS.items():
        for form in forms:
            for version, _ in form.versions(op_type, domain):
                found[domain, op_type, version].add(form.oracle)
    return found
