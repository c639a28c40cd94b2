"""Codes of errors: each kind has one, each has a page, and each is raised by something a user can do."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import aiopt
from aiopt import driver
from aiopt.frontend.onnx.registry import NEWEST_OPSET
from aiopt.passes import io, pipeline
from aiopt.runtime import library
from aiopt.support import catalogue, errors, linker, plugins
from aiopt.support.errors import AioptError
from aiopt.support.weights import WeightStore
from aiopt.tools.aiopt_run import check as check_comparison
from aiopt.tools.aiopt_run import load_array
from bench import seeds
from e2e.test_hostile import BROKEN, OUTSIDE

ROOT = Path(__file__).resolve().parents[3]
X = np.ones((2, 3), np.float32)
OF_COMMANDS = {errors.CRASH, errors.OUT_OF_MEMORY, errors.INTERNAL, errors.SYSTEM}  # test_command.py has them


def kinds(base: type[AioptError] = AioptError) -> Iterator[type[AioptError]]:
    yield base
    for kind in base.__subclasses__():
        yield from kinds(kind)


def test_a_message_is_one_line_that_terminals_can_show() -> None:
    assert str(AioptError("a\n b\x1b[31m \ud800")) == r"a b\x1b[31m \ud800"
    long = str(AioptError(f"node '{'x' * 1000}' is wrong"))
    assert long.endswith("[... 702 characters ...]" + "x" * 149 + "' is wrong")
    assert len(str(AioptError("word " * 100000).at("here"))) < 4200


OWN = {kind for kind in kinds() if kind.__module__.startswith("aiopt.")}


def relu(
    shape: Any = (2, 3), kind: int = TensorProto.FLOAT, opset: int = 18, operator: str = "Relu", **attributes: Any
):
    node = helper.make_node(operator, ["x"], ["y"], "node", **attributes)
    ends = [
        helper.make_tensor_value_info("x", kind, shape),
        helper.make_tensor_value_info("y", TensorProto.UNDEFINED, None),
    ]
    graph = helper.make_graph([node], "g", ends[:1], ends[1:])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=9)


def _text_constant() -> onnx.ModelProto:
    made = relu(operator="Constant", value_string=b"text")
    del made.graph.node[0].input[:]
    return made


def net(shape: Any = (2, 3)) -> Any:
    return aiopt.compile(relu(shape), cache=False)


def broken(name: str) -> Callable[[Path], Any]:
    def act(_folder: Path) -> Any:
        model = BROKEN[name][0]
        return aiopt.compile(model, cache=False)

    return act


def outside(name: str) -> Callable[[Path], Any]:
    def act(folder: Path) -> Any:
        inner = folder / "inner"
        inner.mkdir()
        (folder / "secret").write_bytes(bytes(24))
        (inner / "m.onnx").write_bytes(OUTSIDE[name][0](inner).SerializeToString())
        return aiopt.compile(inner / "m.onnx", cache=False)

    return act


def parse(text: str, *weights: Path) -> Any:
    return io.read_unit(text.encode(), io.new_context())


def changed(folder: Path) -> None:
    path = folder / "m.onnx"
    onnx.save(relu(("n", 3)), path)
    opened = aiopt.compile(path, cache=False)
    onnx.save(relu(("m", 3)), path)
    opened.run({"x": X})


def declared(_: Path) -> Any:
    model = relu()
    model.graph.output[0].CopyFrom(helper.make_tensor_value_info("y", TensorProto.INT64, [2, 3]))
    return aiopt.compile(model, cache=False)


def endless(_: Path) -> Any:
    model = seeds._loop()
    model.graph.node[0].input[0] = ""
    return driver.load_unit(model, io.new_context())


def slow_fails(_: Path) -> Any:
    with aiopt.compile(relu(operator="Unique", axis=7), cache=False) as staged:
        staged.run({"x": X})


def saved(folder: Path, change: Callable[[bytearray], Any]) -> Any:
    path = folder / "n.aio"
    net().save(path)
    data = bytearray(path.read_bytes())
    change(data)
    path.write_bytes(data)
    return aiopt.load(path)


def foreign_machine(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    net().save(folder / "n.aio")
    monkeypatch.setattr("platform.machine", lambda: "pdp11")
    return aiopt.load(folder / "n.aio")


def no_library(_: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(library, "_NAME", "nothing.so")
    return library.path.__wrapped__()


def no_linker(_: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr("shutil.which", lambda _name: None)
    return linker.shared_object([b"", b""])


def closed(_: Path) -> Any:
    made = net()
    made.close()
    made.run({"x": X})


def failed(_: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    made = net()
    monkeypatch.setattr(made, "_run", lambda *_: 99)
    made.run({"x": X})


def wrong_result(_: Path) -> Any:
    output = {"name": "y", "difference": 1.0, "within": False, "tolerance": 1e-4}
    check_comparison({"compare": "onnxruntime", "amp": "none", "outputs": [output]})


def taken(folder: Path) -> Any:
    (folder / "w.safetensors").write_bytes(b"mine")
    WeightStore().save(folder / "w.safetensors", set())


def no_plugin(_: Path) -> Any:
    plugins.load("no_such_module_at_all")


MAIN = 'module attributes {ai.level = "graph", ai.net = "n"} { func.func @main(%x: tensor<2xf32> {ai.name = "x"})'
ACTIONS: dict[str, Callable[..., Any]] = {
    "AI0101": broken("a type there is not"),
    "AI0102": lambda folder: aiopt.compile(folder / "none.onnx"),
    "AI0103": broken("garbage"),
    "AI0104": outside("no file"),
    "AI0105": outside("a path with .."),
    "AI0106": outside("an offset beyond the file"),
    "AI0107": broken("no initializer"),
    "AI0108": broken("a cycle"),
    "AI0109": broken("a function that calls itself"),
    "AI0110": broken("an attribute of a wrong type"),
    "AI0111": lambda _: aiopt.compile(relu(operator="And"), cache=False),
    "AI0112": broken("too few values"),
    "AI0113": declared,
    "AI0114": changed,
    "AI0115": lambda _: parse('module attributes {ai.weights = "elided"} {}'),
    "AI0201": endless,
    "AI0202": lambda _: driver.load_unit(relu(operator="NonZero"), io.new_context()),
    "AI0203": lambda _: aiopt.compile(relu(opset=99), cache=False),
    "AI0204": lambda _: driver.load_unit(relu(kind=TensorProto.STRING), io.new_context()),
    "AI0205": lambda _: driver.load_unit(_text_constant(), io.new_context()),
    "AI0206": lambda _: driver.load_unit(seeds._branches(), io.new_context()),
    "AI0207": broken("a huge input"),
    "AI0208": lambda folder: aiopt.compile(seeds._staged(), cache=False).save(folder / "n.aio"),
    "AI0301": lambda folder: load_array("x", folder / "none.npy"),
    "AI0302": lambda _: driver.compile(relu(("n", 3))),
    "AI0303": lambda _: aiopt.compile(relu(), shapes={"x": (4, 3)}, cache=False),
    "AI0304": lambda _: net().run({"z": X}),
    "AI0305": lambda _: net().run({"x": X.astype(np.float64)}),
    "AI0306": lambda _: net().run({"x": X.T}),
    "AI0307": lambda _: net().bind({"x": X}, {"y": X}),
    "AI0308": slow_fails,
    "AI0401": lambda _: aiopt.compile(relu(), threads=0),
    "AI0402": lambda _: pipeline.parse("ai-cse{"),
    "AI0403": no_linker,
    "AI0404": no_plugin,
    "AI0501": lambda _: parse("module attributes {ai.level = 3} {}"),
    "AI0502": lambda _: parse("module {"),
    "AI0503": lambda _: parse(MAIN.replace("@main", "@other") + " { return } }"),
    "AI0601": lambda _: pipeline.run(parse("module {}"), "ai-plan-memory"),
    "AI0602": wrong_result,
    "AI0603": lambda _: linker.shared_object([b"no object", b"no object"]),
    "AI0701": lambda folder: net().save(folder / "none" / "n.aio"),
    "AI0702": taken,
    "AI0801": lambda folder: saved(folder, lambda data: data.__setitem__(slice(0, 4), b"nope")),
    "AI0802": lambda folder: saved(folder, lambda data: data.__delitem__(slice(len(data) // 2, None))),
    "AI0803": lambda folder: saved(folder, lambda data: data.__setitem__(8, 77)),
    "AI0804": foreign_machine,
    "AI0901": no_library,
    "AI0902": closed,
    "AI0903": failed,
}
# The base, which nothing raises; what is shown as mlir-opt does (test/lit/tools); NPU programs (test/unit/targets).
ELSEWHERE = {"AI0001", "AI0504", "AI1001"}


def test_every_kind_has_a_code_of_its_own() -> None:
    assert [kind for kind in OWN if "code" not in vars(kind)] == []
    codes = [kind.code for kind in OWN]
    assert sorted(codes) == sorted(set(codes))


def test_every_code_has_a_page_and_every_page_a_code() -> None:
    assert set(catalogue.pages()) == {kind.code for kind in OWN} | OF_COMMANDS
    for page in catalogue.pages().values():
        assert page.title
        assert page.text.strip()
        assert page.advice.strip()


def test_pages_say_the_opsets_that_are_read() -> None:
    assert f"aiopt reads 1 to {NEWEST_OPSET}" in catalogue.explain("AI0203")


def test_every_code_is_raised_by_a_test() -> None:
    assert set(ACTIONS) | ELSEWHERE | OF_COMMANDS == set(catalogue.pages())


@pytest.mark.parametrize("code", ACTIONS)
def test_what_a_user_does_has_this_code(code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    action = ACTIONS[code]
    more = (monkeypatch,) if "monkeypatch" in action.__code__.co_varnames[: action.__code__.co_argcount] else ()
    with pytest.raises(AioptError) as caught:
        action(tmp_path, *more)
    assert caught.value.code == code, f"{type(caught.value).__name__}: {caught.value}"
    assert "\n" not in str(caught.value)


def test_nothing_raises_the_base_itself() -> None:
    """So that every `raise` has a code that says something."""
    found = []
    for folder in ("python/aiopt", "dialects", "passes", "tools"):
        for path in (ROOT / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
                    called = node.exc.func
                    if isinstance(called, ast.Name) and called.id == "AioptError":
                        found.append(f"{path.relative_to(ROOT)}:{node.lineno}")
    assert found == []


def test_a_name_with_a_line_end_leaves_one_line() -> None:
    assert str(AioptError("a\nb").at("node 'x\ny'")) == "node 'x y': a b"


def test_an_opset_that_is_no_32_bit_number() -> None:
    model = relu(operator="Far", domain="far")
    model.opset_import.append(helper.make_opsetid("far", 1 << 40))
    with pytest.raises(errors.UnsupportedOperatorError):
        aiopt.compile(model, cache=False)


def test_a_code_there_is_none_of() -> None:
    with pytest.raises(errors.OptionError, match="no error has the code 'AI9999'"):
        catalogue.explain("AI9999")
    assert re.match(r"AI0001  .*\nAI0101  ", catalogue.explain(""))
