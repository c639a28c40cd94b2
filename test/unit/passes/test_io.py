"""aiopt.passes.io: units as files."""

from pathlib import Path

import numpy as np
import pytest
from mlir import ir
from safetensors.numpy import load_file, save_file

from aiopt.passes import pipeline
from aiopt.passes.io import is_mlir, new_context, read_unit, write_unit
from aiopt.passes.reproducer import StepKeeper, write_reproducer
from aiopt.passes.spec import Level
from aiopt.passes.unit import Unit
from aiopt.support.errors import IRError, ModelError, OutputError, SpecError
from aiopt.support.isolate import Journal

TEXT = """
module attributes {ai.level = "graph"} {
  func.func @main(%x: tensor<2xf32> {ai.name = "x"}) -> (tensor<2xf32> {ai.name = "y"}) {
    %w = "ai.constant"() {key = "layer/weight"} : () -> tensor<2xf32>
    %y = "ai.mul"(%x, %w) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    return %y : tensor<2xf32>
  }
}
"""


def make_unit(**weights: list[float]) -> Unit:
    unit = read_unit(TEXT.encode(), new_context())
    for key, values in weights.items():
        unit.weights.add(key.replace("_", "/"), np.array(values, np.float32))
    return unit


def test_a_unit_comes_back_with_its_values(tmp_path: Path):
    unit = make_unit(layer_weight=[1.5, -2], other=[3])
    write_unit(unit, tmp_path / "net.mlir")
    again = read_unit(tmp_path / "net.mlir", new_context())
    assert again.level is Level.GRAPH
    assert list(again.weights) == ["layer/weight"]
    np.testing.assert_array_equal(again.weights["layer/weight"], np.array([1.5, -2], np.float32))
    assert "ai.weights" not in unit.module.operation.attributes  # of the file only, not of the unit


def test_a_folder_can_be_moved(tmp_path: Path):
    (tmp_path / "a").mkdir()
    write_unit(make_unit(layer_weight=[1, 2]), tmp_path / "a" / "net.mlir")
    (tmp_path / "a").rename(tmp_path / "b")
    assert len(read_unit(str(tmp_path / "b" / "net.mlir"), new_context()).weights) == 1


def test_a_file_can_be_written_over_itself(tmp_path: Path):
    path = tmp_path / "net.mlir"
    write_unit(make_unit(layer_weight=[1, 2]), path)
    before = path.read_bytes()
    write_unit(read_unit(path, new_context()), path)
    assert path.read_bytes() == before
    assert sorted(file.name for file in tmp_path.iterdir()) == ["net.mlir", "net.safetensors"]


def test_bytecode_and_bytes(tmp_path: Path):
    write_unit(make_unit(layer_weight=[1, 2]), tmp_path / "net.mlir")
    unit = read_unit(tmp_path / "net.mlir", new_context())
    with unit.module.context:
        unit.module.operation.attributes["ai.weights"] = ir.StringAttr.get("net.safetensors")
    with open(tmp_path / "net.mlirbc", "wb") as file:
        unit.module.operation.write_bytecode(file)
    again = read_unit(tmp_path / "net.mlirbc", new_context())
    assert "layer/weight" in again.weights
    contents = read_unit((tmp_path / "net.mlirbc").read_bytes(), new_context(), folder=tmp_path)
    assert "layer/weight" in contents.weights


def test_planned_weights_are_kept_after_their_constants_are_gone(tmp_path: Path):
    text = b'module attributes {ai.weights_layout = {"layer/weight" = 0 : i64}} {}'
    unit = read_unit(text, new_context())
    unit.weights.add("layer/weight", np.arange(3, dtype=np.float32))
    write_unit(unit, tmp_path / "net.mlir")
    assert list(load_file(tmp_path / "net.safetensors")) == ["layer/weight"]


def test_text_without_values_stays_so(tmp_path: Path):
    write_unit(make_unit(), tmp_path / "net.mlir")
    assert not (tmp_path / "net.safetensors").exists()
    with pytest.raises(ModelError, match='ai.weights = "elided"'):
        read_unit(tmp_path / "net.mlir", new_context())


def test_some_values_known_and_some_not(tmp_path: Path):
    unit = read_unit(TEXT.replace('"ai.mul"(%x, %w)', '"ai.mul"(%v, %w)').replace(
        "    %w =", '    %v = "ai.constant"() {key = "v"} : () -> tensor<2xf32>\n    %w ='
    ).encode(), new_context())  # fmt: skip
    unit.weights.add("v", np.ones(2, np.float32))
    with pytest.raises(ModelError, match="value of constant 'layer/weight' is not known"):
        write_unit(unit, tmp_path / "net.mlir")
    assert not list(tmp_path.iterdir())


def test_a_place_that_cannot_be_written(tmp_path: Path):
    with pytest.raises(OutputError, match="cannot write"):
        write_unit(make_unit(layer_weight=[1, 2]), tmp_path / "absent" / "net.mlir")
    with pytest.raises(OutputError, match=r"end it in .mlir"):
        write_unit(make_unit(layer_weight=[1, 2]), tmp_path / "net.safetensors")
    assert not list(tmp_path.iterdir())


def test_weights_that_cannot_be_written_leave_no_text(tmp_path: Path):
    (tmp_path / "net.safetensors").mkdir()
    with pytest.raises(OutputError, match=r"cannot write the weights '.*net.safetensors'"):
        write_unit(make_unit(layer_weight=[1, 2]), tmp_path / "net.mlir")
    assert [file.name for file in tmp_path.iterdir()] == ["net.safetensors"]


def test_weights_replace_only_files_that_aiopt_wrote(tmp_path: Path):
    save_file({"other": np.ones(3, np.float32)}, tmp_path / "net.safetensors")
    before = (tmp_path / "net.safetensors").read_bytes()
    for contents in (before, b"something else"):
        (tmp_path / "net.safetensors").write_bytes(contents)
        with pytest.raises(OutputError, match=r"aiopt did not write the file of that name"):
            write_unit(make_unit(layer_weight=[1, 2]), tmp_path / "net.mlir")
        assert (tmp_path / "net.safetensors").read_bytes() == contents
        assert not (tmp_path / "net.mlir").exists()
    (tmp_path / "net.safetensors").unlink()
    for values in ([1, 2], [3, 4]):
        write_unit(make_unit(layer_weight=values), tmp_path / "net.mlir")


def test_weights_of_another_text_stay_as_they_are(tmp_path: Path):
    write_unit(make_unit(layer_weight=[1, 2]), tmp_path / "shared.mlir")
    (tmp_path / "shared.mlir").rename(tmp_path / "net.mlir")
    before = (tmp_path / "shared.safetensors").read_bytes()
    with pytest.raises(OutputError, match=r"cannot write '.*shared.safetensors': the model is read from it"):
        write_unit(read_unit(tmp_path / "net.mlir", new_context()), tmp_path / "shared.mlir")
    assert (tmp_path / "shared.safetensors").read_bytes() == before


def test_kinds_of_files(tmp_path: Path):
    for name, data, expected in [
        ("a.mlir", b"anything", True),
        ("a.onnx", b"module {}", False),
        ("text", b"module {}", True),
        ("bytecode", b"ML\xefR\r\0", True),
        ("model", b"\x08\x07\x12\x04abcd", False),
        ("binary", b"a\0b", False),
        ("latin", b"\xff\xfe", False),
    ]:
        (tmp_path / name).write_bytes(data)
        assert is_mlir(tmp_path / name) is expected, name
        assert is_mlir(str(tmp_path / name)) is expected, name
    assert is_mlir(b"module {}")
    assert not is_mlir(object())
    with pytest.raises(ModelError, match="cannot read"):
        is_mlir(tmp_path / "absent")


@pytest.mark.parametrize(
    ("text", "kind", "message"),
    [
        ("func.func @f(", IRError, r"^<stdin>:1:\d+: "),
        ('"other.op"() : () -> ()', IRError, r"^<stdin>:1:11: .*unregistered dialect$"),
        ('module attributes {ai.level = "x"} {}', IRError, "ai.level must be one of graph"),
        ("module attributes {ai.level = 1} {}", IRError, "ai.level must be one of graph"),
        ("module attributes {ai.weights = 1} {}", IRError, "ai.weights must be the name"),
        ('module attributes {ai.weights = "none.safetensors"} {}', ModelError, "'none.safetensors' .* are missing"),
        ('module attributes {ai.level = "graph"} {}', SpecError, "one function, called @main"),
        (TEXT.replace("%y : tensor<2xf32>", "%y : tensor<3xf32>"), IRError, r"^<stdin>:6:12: "),
    ],
)
def test_broken_text(text: str, kind: type[Exception], message: str):
    with pytest.raises(kind, match=message):
        read_unit(text.encode(), new_context())


def test_a_broken_file_is_named_with_line_and_column(tmp_path: Path):
    path = tmp_path / "net.mlir"
    path.write_text("module {\n  func.func @f() { retrun }\n}")
    with pytest.raises(IRError, match=rf"^{path}:2:20: "):
        read_unit(path, new_context())
    (tmp_path / "w.safetensors").write_bytes(b"not a safetensors file")
    path.write_text('module attributes {ai.weights = "w.safetensors"} {}')
    with pytest.raises(ModelError, match="cannot read weights from .*w.safetensors"):
        read_unit(path, new_context())


def test_reproducers_hold_what_mlir_opt_can_run(tmp_path: Path):
    """Upstream's step, and those of upstream's after it, up to aiopt's first; weights and their file are left out."""
    unit = make_unit()
    with unit.module.context:
        unit.module.operation.attributes["ai.weights"] = ir.StringAttr.get("net.safetensors")
    journal = Journal()
    keeper = StepKeeper(journal)
    steps = ["func.func(cse)", "canonicalize{max-iterations=3}", "ai-dce", "cse"]
    upstream = "func.func(cse), canonicalize{  max-iterations=3 max-num-rewrites=-1 region-simplify=normal "
    upstream += "test-convergence=false top-down=true}"
    for first, expected in [(0, upstream), (2, "ai-dce"), (3, "cse")]:
        keeper.before(steps[first:], unit)
        write_reproducer(journal.read(), tmp_path / "r.mlir")
        text = (tmp_path / "r.mlir").read_text()
        assert f'pipeline: "builtin.module({expected})",' in text
        read_unit(tmp_path / "r.mlir", new_context())


def test_a_reproducer_of_a_module_with_resources(tmp_path: Path):
    text = b"""func.func @f() -> tensor<1xi8> { %0 = arith.constant dense_resource<blob> : tensor<1xi8>
      return %0 : tensor<1xi8> }
      {-# dialect_resources: { builtin: { blob: "0x0100000007" } } #-}"""
    journal = Journal()
    StepKeeper(journal).before(["cse"], read_unit(text, new_context()))
    write_reproducer(journal.read(), tmp_path / "r.mlir")
    result = (tmp_path / "r.mlir").read_text()
    assert result.count("{-#") == 1
    assert 'blob: "0x0100000007"' in result
    read_unit(tmp_path / "r.mlir", new_context())


def test_observers_see_every_step_of_named_pipelines():
    seen: list[tuple[str, int]] = []

    class Watcher:
        def before(self, steps: list[str], unit: Unit) -> None:
            seen.append((steps[0], len(steps)))

        def end(self, unit: Unit) -> None:
            seen.append(("end", 0))

    unit = make_unit()
    with pipeline.observed(Watcher()):
        pipeline.run(unit, "cse,ai-dce,func.func(canonicalize)")
    pipeline.run(unit, "cse")
    assert seen == [("cse", 3), ("ai-dce", 2), ("func.func(canonicalize)", 1), ("end", 0)]
