"""What holds for every ai op: built, printed, parsed, verified, inferred and evaluated alike."""

import inspect
from typing import Any

import numpy as np
import pytest
from mlir import ir
from mlir.dialects import func

from aiopt.dialects import ai, ext
from aiopt.dialects.ai import AiDialect
from aiopt.support.errors import IRError
from aiopt.support.types import TensorType
from unit.dialects.examples import EXAMPLES, tensor

INFERRED = [name for name in EXAMPLES if name != "constant"]


def build(name: str) -> ir.Module:
    """A module whose @main is one op, built from its example."""
    operands, attributes = EXAMPLES[name]
    op = AiDialect.operations[name]
    flat = [kind for group in operands for kind in (group if isinstance(group, list) else [group])]
    module = ir.Module.create()
    with ir.InsertionPoint(module.body):
        main = func.FuncOp("main", ([ext.to_ir(kind) for kind in flat], []))
    with ir.InsertionPoint(main.add_entry_block()):
        values = iter(main.arguments)
        given = [[next(values) for _ in group] if isinstance(group, list) else next(values) for group in operands]
        results = [tensor(6, 4, 3, 3)] if name == "constant" else None
        op(*given, results=results, loc=ir.Location.name("Node_0"), **attributes)
        func.ReturnOp([])
    return module


def the_op(module: ir.Module) -> ext.Operation:
    return next(op for op in ext.operations(module) if isinstance(op, ext.Operation))


def test_there_is_an_example_of_every_op():
    assert set(EXAMPLES) == set(AiDialect.operations)


def test_every_op_class_is_exported():
    assert {cls.__name__ for cls in AiDialect.operations.values()} <= set(ai.__all__)


@pytest.mark.parametrize("name", EXAMPLES)
def test_text_and_back(context, name):
    module = build(name)
    assert module.operation.verify()
    ext.verify(module)
    text = module.operation.get_asm(enable_debug_info=True)
    again = ir.Module.parse(text)
    ext.verify(again)
    assert again.operation.get_asm(enable_debug_info=True) == text
    op = the_op(again)
    assert type(op) is AiDialect.operations[name]
    given = EXAMPLES[name][1]
    assert {key: op.python_attributes()[key] for key in given} == given


@pytest.mark.parametrize("name", INFERRED)
def test_infer_gives_the_type_of_the_reference(name):
    rng = np.random.default_rng(0)

    def array(kind: Any) -> Any:
        return [array(k) for k in kind] if isinstance(kind, list) else rng.random(kind.shape).astype(kind.dtype)

    operands, attributes = EXAMPLES[name]
    op = AiDialect.operations[name]
    padded = operands + [None] * (len(op.operand_slots) - len(operands))
    attributes = {**op.defaults(*padded, **attributes), **attributes}
    (expected,) = op.infer_types(*padded, **attributes)
    result = op.reference(*[array(kind) for kind in padded], **attributes)
    assert TensorType.of(np.asarray(result)) == expected
    assert op.flops(*padded, **attributes) >= 0


@pytest.mark.parametrize("name", EXAMPLES)
def test_documentation_names_shapes_types_and_source(name):
    text = inspect.getdoc(AiDialect.operations[name]) or ""
    assert all(word in text for word in ("Shapes:", "Types:", "Source: ONNX"))
    assert AiDialect.operations[name].traits


@pytest.mark.parametrize("name", INFERRED)
def test_a_wrong_result_type_is_an_error(context, name):
    module = build(name)
    result = the_op(module).operation.results[0]
    text, kind, other = str(module), str(result.type), f"tensor<7x11x13x{ext.type_of(result).element}>"
    at = text.rindex(kind)
    wrong = text[:at] + other + text[at + len(kind) :]
    with pytest.raises(IRError, match=rf"ai.{name}: result 'out' has type {other}, but must have"):
        ext.verify(ir.Module.parse(wrong))


def test_the_builder_refuses_what_infer_refuses(context):
    module = build("add")
    op = the_op(module)
    with ir.InsertionPoint(op), pytest.raises(IRError, match="ai.matmul: both operands must have rank 2"):
        ai.MatMulOp(op.lhs, op.rhs)


def test_constants_need_a_type_and_a_key(context):
    module = build("constant")
    with ir.InsertionPoint(the_op(module)):
        with pytest.raises(IRError, match="build it with results="):
            ai.ConstantOp(key="w")
        empty = ai.ConstantOp(key="", results=[tensor(2)])
    with pytest.raises(IRError, match="ai.constant: the key is empty"):
        empty.verify_op()
    with pytest.raises(IRError, match="value of 'w' is in the WeightStore"):
        ai.ConstantOp.reference(key="w")
    assert ai.ConstantOp.flops(key="w") == 0


def test_an_absent_optional_operand_is_none(context):
    module = build("conv")
    op = the_op(module)
    with ir.InsertionPoint(op):
        bare = ai.ConvOp(op.input, op.weight, None, group=2)
    assert bare.bias is None
    assert op.bias is not None
    assert bare.python_attributes() == {
        "strides": [1, 1],
        "pads": [0, 0, 0, 0],
        "dilations": [1, 1],
        "group": 2,
        "acc": "f32",
    }


def test_concat_takes_at_most_eight(context):
    module = build("relu")
    op = the_op(module)
    with ir.InsertionPoint(op):
        assert list(ai.ConcatOp([op.input] * 8, axis=1).operation.results[0].type.shape) == [2, 24]
        with pytest.raises(IRError, match="operand 'inputs' takes 1 to 8 values"):
            ai.ConcatOp([op.input] * 9, axis=1)


def _conv(attributes: str) -> str:
    types = "(tensor<1x1x2xf32>, tensor<1x1x2xf32>) -> tensor<1x1x1xf32>"
    return (
        "func.func @main(%x: tensor<1x1x2xf32>, %w: tensor<1x1x2xf32>) {\n"
        f'  "ai.conv"(%x, %w) {{{attributes}}} : {types} loc("Conv_7")\n  return\n}}'
    )


_GOOD = {
    "acc": "f32",
    "dilations": "array<i64: 1>",
    "group": "1 : i64",
    "pads": "array<i64: 0, 0>",
    "strides": "array<i64: 1>",
    "operandSegmentSizes": "array<i32: 1, 1, 0>",
}


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("group", "1 : i32", "attribute 'group' must be an integer of type i64, but is 1 : i32"),
        ("group", "true", "attribute 'group' must be an integer of type i64, but is true"),
        ("strides", "array<i32: 1>", "attribute 'strides' must be an array of i64"),
        ("strides", "array<i64: 1, 1>", "strides must have 1 numbers, but has 2"),
        ("acc", "index", "acc must be a float type at least as wide as f32, but is index"),
        ("operandSegmentSizes", "array<i32: 1, 1>", "must be 3 numbers"),
        ("operandSegmentSizes", "array<i32: 1, 1, 1>", "add up to the 2 operands"),
        ("operandSegmentSizes", "array<i32: 2, 0, 0>", "each 0 or 1"),
        ("operandSegmentSizes", "array<i32: 1, 0, 1>", "operand 'weight' must be there"),
    ],
)
def test_parsed_attributes_are_checked(context, key, value, message):
    text = _conv(", ".join(f"{k} = {v}" for k, v in {**_GOOD, key: value}.items()))
    module = ir.Module.parse(text)
    with pytest.raises(IRError, match=rf"ai.conv: .*{message}.*\(at 'Conv_7'\)"):
        ext.verify(module)


@pytest.mark.parametrize("key", ["acc", "group", "strides"])
def test_missing_attributes_are_errors(context, key):
    text = _conv(", ".join(f"{k} = {v}" for k, v in _GOOD.items() if k != key))
    with pytest.raises(ir.MLIRError, match=key):
        ir.Module.parse(text)


@pytest.mark.parametrize(
    ("op", "element", "message"),
    [
        ("relu", "ui8", "must be a tensor of signed numbers"),
        ("exp", "i32", "must be a tensor of floats"),
        ("abs", "i1", "must be a tensor of numbers"),
        ("identity", "f128", "must be a tensor, but"),
    ],
)
def test_element_types_are_checked(context, op, element, message):
    kind = f"tensor<2x{element}>"
    module = ir.Module.parse(f'func.func @main(%x: {kind}) {{ "ai.{op}"(%x) : ({kind}) -> {kind}\n return }}')
    with pytest.raises(IRError, match=rf"ai.{op}: operand 'input' {message}"):
        ext.verify(module)


def test_dynamic_shapes_are_refused(context):
    kind = "tensor<?xf32>"
    module = ir.Module.parse(f'func.func @main(%x: {kind}) {{ "ai.relu"(%x) : ({kind}) -> {kind}\n return }}')
    with pytest.raises(IRError, match="expected a ranked tensor of static shape"):
        ext.verify(module)


def test_other_types_are_refused_by_irdl(context):
    for kind in ("tensor<*xf32>", "memref<2xf32>", "f32"):
        with pytest.raises(ir.MLIRError, match="expected base type 'builtin.tensor'"):
            ir.Module.parse(f'func.func @main(%x: {kind}) {{ "ai.relu"(%x) : ({kind}) -> {kind}\n return }}')
