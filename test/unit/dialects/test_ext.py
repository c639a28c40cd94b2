"""Dialects made from Python classes (dialects/ext.py)."""

import subprocess
from pathlib import Path

import mlir
import numpy as np
import pytest
from mlir import ir

from aiopt.dialects.ai import AiDialect, ReluOp
from aiopt.dialects.constraints import AnyTensor
from aiopt.dialects.ext import Dialect, Result, describe, node_names, operations, to_ir, type_of, verify
from aiopt.support.errors import IRError
from aiopt.support.types import TensorType
from unit.dialects.toy import JoinOp, ToyDialect

F32, I8 = TensorType((2,), "f32"), TensorType((2,), "i8")
ATTRIBUTES = {"flag": True, "count": -3, "scale": 0.1, "label": 'a "b"', "kind": "ui8", "sizes": [2]}


@pytest.fixture
def toy():
    """Two values in a block of a module in a context with the toy dialect; used as `with toy() as (f32, i8)`."""
    with ir.Context() as context, ir.Location.unknown():
        ToyDialect.load(context)
        module = ir.Module.parse("func.func @main(%f: tensor<2xf32>, %i: tensor<2xi8>) { return }")
        block = module.body.operations[0].regions[0].blocks[0]
        with ir.InsertionPoint.at_block_terminator(block):
            yield module, *block.arguments


def test_a_class_body_is_read_in_order():
    assert [(s.name, s.kind) for s in JoinOp.operand_slots] == [
        ("first", "single"),
        ("middle", "optional"),
        ("rest", "variadic"),
    ]
    assert [s.name for s in JoinOp.result_slots] == ["left", "right"]
    assert list(JoinOp.attribute_slots) == list(ATTRIBUTES)
    assert JoinOp.OPERATION_NAME == "toy.join"
    assert ToyDialect.operations == {"join": JoinOp}


def test_all_kinds_of_slots_and_attributes_round_trip(toy):
    module, f, i = toy
    JoinOp(i, f, [i, f], **ATTRIBUTES)
    verify(module)
    again = ir.Module.parse(str(module))
    verify(again)
    op = next(op for op in operations(again) if isinstance(op, JoinOp))
    assert op.python_attributes() == ATTRIBUTES
    first, middle, rest = op.operand_groups()
    assert type_of(first) == I8
    assert type_of(middle) == F32
    assert [type_of(value) for value in rest] == [I8, F32]
    assert type_of(op.right) == F32
    assert op.label.value == ATTRIBUTES["label"]


@pytest.mark.parametrize("count", [0, 1, 8])
@pytest.mark.parametrize("middle", [True, False])
def test_optional_and_variadic_operands(toy, count, middle):
    module, f, i = toy
    op = JoinOp(i, f if middle else None, [f] * count, **{**ATTRIBUTES, "sizes": [count]})
    assert module.operation.verify()
    verify(module)
    assert list(op.operation.attributes["operandSegmentSizes"]) == [1, int(middle), *[1] * count, *[0] * (8 - count)]
    assert (op.middle is None) != middle
    assert len(op.rest) == count


def test_the_builder_refuses(toy):
    _, f, i = toy
    with pytest.raises(IRError, match="toy.join: operand 'rest' takes 1 to 8 values"):
        JoinOp(i, f, [f] * 9, **{**ATTRIBUTES, "sizes": [9]})
    with pytest.raises(IRError, match=r"toy.join: sizes must be \[1\]"):
        JoinOp(i, f, [f], **ATTRIBUTES)


def test_the_verifier_names_slot_and_place(toy):
    module, _, i = toy
    JoinOp(i, i, [], loc=ir.Location.name("Join_1"), **{**ATTRIBUTES, "sizes": [0]})
    with pytest.raises(IRError, match=r"toy.join: operand 'middle' must be a tensor of floats.*\(at 'Join_1'\)"):
        verify(module)


def test_evaluate_gives_arrays(toy):
    _, _, i = toy
    op = JoinOp(i, None, [], **{**ATTRIBUTES, "sizes": [0]})
    left, right = op.evaluate([np.array(4, np.int8), None, [np.float32(1), np.float32(2)]])
    assert isinstance(left, np.ndarray)
    assert isinstance(right, np.ndarray)
    assert (left.item(), right.item()) == (1, 3)


def test_loading_twice_does_nothing():
    context = ir.Context()
    for _ in range(3):
        ToyDialect.load(context)
        AiDialect.load(context)
    assert context.is_registered_operation("toy.join")
    assert context.is_registered_operation("ai.relu")


def test_each_context_has_its_own():
    for _ in range(2):
        with ir.Context() as context, ir.Location.unknown():
            AiDialect.load(context)
            text = 'func.func @main(%x: tensor<f32>) { "ai.relu"(%x) : (tensor<f32>) -> tensor<f32>\n return }'
            module = ir.Module.parse(text)
            assert any(isinstance(op, ReluOp) for op in operations(module))


def test_an_unloaded_dialect_does_not_parse():
    with ir.Context(), ir.Location.unknown(), pytest.raises(ir.MLIRError, match="unregistered dialect"):
        ir.Module.parse('func.func @main(%x: tensor<f32>) { "ai.relu"(%x) : (tensor<f32>) -> tensor<f32>\n return }')


@pytest.mark.parametrize(("axis", "code"), [("1 : i64", 0), ('"one"', 1)])
def test_stock_mlir_opt_loads_the_irdl(tmp_path, axis, code):
    (tmp_path / "ai.irdl.mlir").write_text(AiDialect.irdl())
    (tmp_path / "x.mlir").write_text(
        "func.func @main(%x: tensor<2x3xf32>) {\n"
        f'  "ai.softmax"(%x) {{axis = {axis}}} : (tensor<2x3xf32>) -> tensor<2x3xf32>\n  return\n}}'
    )
    tool = Path(mlir.__path__[0]) / "bin" / "mlir-opt"
    command = [tool, f"--irdl-file={tmp_path / 'ai.irdl.mlir'}", tmp_path / "x.mlir"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == code
    assert ('"ai.softmax"' in done.stdout) if code == 0 else ("expected base attribute" in done.stderr)


def test_two_classes_of_one_name_are_an_error():
    with pytest.raises(TypeError, match=r"two classes define toy\.join"):

        class OtherOp(ToyDialect.Operation, name="join"):
            out: Result[AnyTensor]

    assert ToyDialect.operations["join"] is JoinOp


def test_a_dialect_must_stand_where_mlir_looks_for_it():
    with pytest.raises(TypeError, match=r"define it in or below a module <package>\.elsewhere"):

        class ElsewhereDialect(Dialect, name="elsewhere"):
            pass


def test_an_unknown_annotation_is_an_error():
    with pytest.raises(TypeError, match="neither an operand, a result nor an attribute"):

        class BadOp(ToyDialect.Operation, name="bad"):
            size: int

    assert "bad" not in ToyDialect.operations


def test_an_undeclared_op_is_refused(toy):
    with pytest.raises(ir.MLIRError, match="toy.unknown"):
        ir.Module.parse('"toy.unknown"() : () -> ()')


def test_flops_default_to_none():
    assert JoinOp.flops(F32, None, [], **ATTRIBUTES) == 0


def test_types_convert_both_ways(toy):
    for kind in (F32, TensorType((), "i1"), TensorType((0, 3), "ui64")):
        assert type_of(to_ir(kind)) == kind
    with pytest.raises(IRError, match="ranked tensor of static shape, got f32"):
        type_of(ir.F32Type.get())


def test_node_names():
    with ir.Context():
        a, b = ir.Location.name("a"), ir.Location.name("b", ir.Location.file("f.mlir", 1, 2))
        inner = ir.Location.fused([ir.Location.name("c"), a])
        assert node_names(ir.Location.fused([b, a, inner])) == ["b", "a", "c"]
        assert node_names(a) == ["a"]
        assert node_names(ir.Location.unknown()) == []
        assert node_names(ir.Location.file("f.mlir", 1, 2)) == []
        assert describe(a) == "'a'"
        assert describe(ir.Location.file("f.mlir", 1, 2)) == "'f.mlir':1:2"
