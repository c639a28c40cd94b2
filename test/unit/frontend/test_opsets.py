"""Every operator that is compiled, in each version that a model of opset 7 to 28 can have. Oracle: as its forms say."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from aiopt.frontend.onnx.registry import NEWEST_OPSET, OLDEST_OPSET, covered_opsets, domains, op_types
from unit.frontend.forms.form import NUMPY, ONNXRUNTIME, REFERENCE, Form, X, form, version_of
from unit.frontend.forms.table import FORMS, oracles
from unit.frontend.single_node import Arrays, equal, node_model, onnxruntime_run, reference_run, run

RUNNERS = {ONNXRUNTIME: onnxruntime_run, REFERENCE: reference_run}
UNWRITTEN = "SimplifiedLayerNormalization"  # ONNX has it not, ONNX Runtime writes it: see test_fused_microsoft.py


OPSET_BESIDE = 17  # of ONNX's own domain, in a model whose node is of another


def _hold(op_type: str, form: Form, opset: int, domain: str = "") -> None:
    opsets = {"opset": OPSET_BESIDE, "domain": domain, "domain_opset": opset} if domain else {"opset": opset}
    names = {"known": form.known, "outputs": form.outputs}
    model = node_model(op_type, form.inputs, **opsets, **names, **form.attributes)
    arrays = {name: array for name, array in form.inputs.items() if array is not None}
    given = {name: array for name, array in arrays.items() if name not in form.known}
    equal(run(model, arrays), _want(form, model, given), form.tolerance)


def _want(form: Form, model: object, given: Arrays) -> Arrays:
    if form.oracle == NUMPY:
        return {f"y{at}": array for at, array in enumerate(form.want)}
    return RUNNERS[form.oracle](model, given)


ALL = [
    pytest.param(domain, name, form, id=f"{name}-{at}")
    for (domain, name), forms in FORMS.items()
    for at, form in enumerate(forms)
]


@pytest.mark.parametrize(("domain", "op_type", "form"), ALL)
def test_in_each_version(domain: str, op_type: str, form: Form) -> None:
    opsets = [opset for _, opset in form.versions(op_type, domain)]
    assert opsets
    for opset in opsets:
        _hold(op_type, form, opset, domain)


def _compiled() -> Iterator[tuple[str, str, int]]:
    """The operators that have a handler, and their versions."""
    for domain in domains():
        for op_type in op_types(domain):
            for opset in covered_opsets(op_type, domain):
                yield domain, op_type, version_of(op_type, opset, domain)


def test_no_version_is_without_an_oracle() -> None:
    found = oracles()
    assert {key for key in _compiled() if key not in found} == {("", UNWRITTEN, 1)}


def test_a_form_has_the_versions_of_its_opsets() -> None:
    assert list(form(X).versions("Softmax")) == [(1, 7), (11, 11), (13, 13)]
    assert list(form(X, since=12, until=20).versions("ReduceMax")) == [(12, 12), (13, 13), (18, 18), (20, 20)]
    assert list(form(X, until=9).versions("Upsample")) == [(7, 7), (9, 9)]
    (gelu,) = FORMS["com.microsoft", "Gelu"]
    assert list(gelu.versions("Gelu", "com.microsoft")) == [(1, 1)]
    assert (form(X).since, form(X).until) == (OLDEST_OPSET, NEWEST_OPSET)


def test_what_differs_from_the_oracle_is_found() -> None:
    for other in (form(X, want=X), form(X, want=-X[0]), form(X, want=-X.astype(np.float64)), form(X, want=-X - 1e-4)):
        with pytest.raises(AssertionError):
            _hold("Neg", other, 13)
    _hold("Neg", form(X, want=-X), 13)
