"""aiopt.passes.values: values that are, and are not, those a module's constants speak of."""

from pathlib import Path

import numpy as np
import pytest
from mlir import ir
from safetensors.numpy import save_file

from aiopt.passes import pipeline
from aiopt.passes.io import new_context, read_unit, write_unit
from aiopt.support.errors import IRError, ModelError
from unit.passes.test_io import TEXT, make_unit


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"layer/weight": np.ones(2, np.int32)}, "'layer/weight' is 2xf32 .*:4:10.*, but in '.*' it is 2xi32"),
        ({"layer/weight": np.ones((1, 2), np.float32)}, "it is 1x2xf32"),
        ({"layer/weight": np.ones(1, np.float64)}, "it is 1xf64"),
        ({"layer/weight": np.ones(1, np.complex64)}, r"it is complex64\[1\]"),
        ({"other": np.ones(2, np.float32)}, "has no value for constant 'layer/weight'"),
        ({}, "has no value for constant 'layer/weight'"),
    ],
)
def test_values_that_are_not_those_of_the_constants(tmp_path: Path, values: dict[str, np.ndarray], message: str):
    save_file(values, tmp_path / "net.safetensors")
    (tmp_path / "net.mlir").write_text(TEXT.replace("{ai.level", '{ai.weights = "net.safetensors", ai.level', 1))
    with pytest.raises(ModelError, match=message):
        read_unit(tmp_path / "net.mlir", new_context())


def planned(tmp_path: Path) -> str:
    """The text of a net whose memory is planned; its weights are written beside it."""
    unit = make_unit(layer_weight=[1, 2])
    pipeline.run(unit, "ai-kernels-pipeline,convert-ai-to-linalg,ai-loops-pipeline")
    write_unit(unit, tmp_path / "net.mlir")
    read_unit(tmp_path / "net.mlir", new_context())
    return (tmp_path / "net.mlir").read_text()


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"layer/weight": np.ones(2, np.int32)}, r"'layer/weight' is used as memref<2xf32> .*it is 2xi32"),
        ({"layer/weight": np.ones((1, 2), np.float32)}, "it is 1x2xf32"),
        ({"layer/weight": np.ones(3, np.float32)}, "it is 3xf32"),
        ({"other": np.ones(2, np.float32)}, "has no value for constant 'layer/weight'"),
    ],
)
def test_values_that_are_not_those_of_the_plan(tmp_path: Path, values: dict[str, np.ndarray], message: str):
    planned(tmp_path)
    save_file(values, tmp_path / "net.safetensors")
    with pytest.raises(ModelError, match=message):
        read_unit(tmp_path / "net.mlir", new_context())


def test_values_that_do_not_fit_their_places(tmp_path: Path):
    planned(tmp_path)
    text = 'module attributes {ai.weights = "net.safetensors", ai.weights_bytes = 4 : i64, ai.weights_layout = {L}} {}'
    for layout in ('"layer/weight" = 0 : i64', '"layer/weight" = -8 : i64'):
        (tmp_path / "net.mlir").write_text(text.replace("{L}", f"{{{layout}}}"))
        with pytest.raises(ModelError, match="'layer/weight' has 8 bytes in '.*', more than"):
            read_unit(tmp_path / "net.mlir", new_context())


@pytest.mark.parametrize("dtype", ["bool", "uint8", "uint64", "int8", "float16"])
@pytest.mark.parametrize("passes", ["", "convert-ai-to-linalg", "convert-ai-to-linalg,ai-loops-pipeline"])
def test_values_of_every_type_come_back_at_every_level(tmp_path: Path, dtype: str, passes: str):
    element = {"bool": "i1", "uint8": "ui8", "uint64": "ui64", "int8": "i8", "float16": "f16"}[dtype]
    text = TEXT.replace("f32", element).replace('"ai.mul"', '"ai.equal"')
    text = text.replace(
        f"-> tensor<2x{element}>\n    return %y : tensor<2x{element}>", "-> tensor<2xi1>\n    return %y : tensor<2xi1>"
    )
    unit = read_unit(
        text.replace(f'(tensor<2x{element}> {{ai.name = "y"', '(tensor<2xi1> {ai.name = "y"').encode(), new_context()
    )
    unit.weights.add("layer/weight", np.array([1, 0], dtype))
    pipeline.run(unit, ",".join(["ai-kernels-pipeline", passes]).rstrip(","))
    write_unit(unit, tmp_path / "net.mlir")
    assert read_unit(tmp_path / "net.mlir", new_context()).weights["layer/weight"].dtype == dtype


def test_names_of_values_may_hold_anything_but_nul(tmp_path: Path):
    keys = ['a"\\', "line\nend", "\u00e9", "\x7f", "tab\t", "nul\0end"]
    unit = make_unit()
    given = [unit.weights.add(key, np.array([number, 2], np.float32)) for number, key in enumerate(keys)]
    assert given == [*keys[:-1], "nul_end"]
    for key in given:
        with unit.module.context:
            unit.module.body.operations[0].entry_block.operations[0].attributes["key"] = ir.StringAttr.get(key)
        write_unit(unit, tmp_path / "net.mlir")
        assert list(read_unit(tmp_path / "net.mlir", new_context()).weights) == [key]
    with pytest.raises(IRError, match="the key 'layer.x00weight' holds NUL"):
        read_unit(TEXT.replace("layer/weight", r"layer\00weight").encode(), new_context())
