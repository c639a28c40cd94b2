"""The specs of the levels: what each refuses, in one line, before a pass could stumble over it."""

import re

import numpy as np
import pytest
from mlir import ir

from aiopt import driver
from aiopt.passes import pipeline, spec
from aiopt.passes.adopt import adopt
from aiopt.passes.io import new_context, read_unit
from aiopt.passes.spec import Level
from aiopt.support.errors import AioptError, IRError, SpecError

HEAD = 'module attributes {ai.level = "%s", ai.net = "net"} {'
GRAPH = (
    (HEAD % "graph")
    + """
  func.func @main(%x: tensor<4xf32> {ai.name = "x"}, %z: tensor<4xf32> {ai.name = "z"})
      -> (tensor<4xf32> {ai.name = "y"}) {
    %0 = "ai.add"(%x, %z) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
"""
)
KERNELS = (
    (HEAD % "kernels")
    + """
  func.func @main(%x: tensor<4xf32> {ai.name = "x"}) -> (tensor<4xf32> {ai.name = "y"}, tensor<4xf32> {ai.name = "z"}) {
    %0 = call @relu(%x) {ai.nodes = ["Relu_0"]} : (tensor<4xf32>) -> tensor<4xf32>
    %1 = call @relu(%0) {ai.nodes = ["Relu_1"]} : (tensor<4xf32>) -> tensor<4xf32>
    return %0, %1 : tensor<4xf32>, tensor<4xf32>
  }
  func.func private @relu(%a: tensor<4xf32>) -> tensor<4xf32>
      attributes {ai.kernel, ai.ops = ["ai.relu"], ai.flops = 4 : i64} {
    %0 = "ai.relu"(%a) : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
"""
)
NETWORK = (
    (HEAD % "graph")
    + """
  func.func @main(%x: tensor<2x4xf32> {ai.name = "x"}) -> (tensor<2x4xf32> {ai.name = "y"}) {
    %w = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
    %0 = "ai.softmax"(%x) {axis = 1 : i64} : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %1 = "ai.softmax"(%0) {axis = 0 : i64} : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %2 = "ai.softmax"(%1) {axis = 1 : i64} : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %3 = "ai.add"(%2, %w) : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
    return %3 : tensor<2x4xf32>
  }
}
"""
)


def edited(text: str, old: str, new: str) -> str:
    """The text with every match of a pattern replaced; there has to be one."""
    found = re.sub(old, new, text)
    assert found != text, old
    return found


@pytest.fixture(scope="module")
def lowered() -> dict[Level, str]:
    """NETWORK at the levels below KERNELS, without its weights."""
    texts = {}
    unit = read_unit(NETWORK.encode(), new_context())
    steps = {
        Level.TENSOR: "ai-kernels-pipeline,convert-ai-to-linalg",
        Level.LOOPS: "ai-loops-pipeline",
        Level.LLVM: "ai-cpu-lower-pipeline",
    }
    for level, text in steps.items():
        pipeline.run(unit, text)
        texts[level] = str(unit.module)
    return texts


def refused(text: str) -> str:
    with pytest.raises(AioptError) as caught:
        driver.compile(ir.Module.parse(text, new_context()))
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("element", ["index", "i4", "i128", "complex<f32>", "!llvm.ptr", "si32", "f8E4M3FN"])
@pytest.mark.parametrize("text", [GRAPH, KERNELS], ids=["graph", "kernels"])
def test_element_types(text: str, element: str) -> None:
    text = edited(re.sub(r'"ai\.(add|relu)"', r'"ai.identity"', text), "tensor<4xf32>", f"tensor<4x{element}>")
    text = re.sub(r"\(%x, %z\) : \(tensor<.*?>, ", "(%x) : (", text)
    assert "elements are one of" in refused(text) or "must be a tensor" in refused(text)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"z"', '"x"', "two inputs of @main are called 'x'"),
        ('ai.name = "z"', "ai.name = 3", "ai.name = 3 : i64: a name is a string"),
        ('ai.name = "z"', r'ai.name = "a\\FFb"', r"the bytes \\FF in a string are not UTF-8"),
        ('ai.name = "z"', r'ai.name = "a\\00b"', r"'a\\x00b' of @main .* cannot have a NUL"),
        ('ai.net = "net"', "ai.net = 3", "ai.net must be a C identifier, but is 3 : i64"),
        ('ai.net = "net"', 'ai.net = "a b"', 'ai.net must be a C identifier, but is "a b"'),
        ("module attributes", "module @n attributes", None),
        (r"    %0 =", "    %k = arith.constant dense_resource<v> : tensor<4xf32>\n    %0 =", "dense elements only"),
    ],
)
def test_graph(old: str, new: str, message: str | None) -> None:
    text = edited(GRAPH, old, new)
    if message is None:
        assert driver.compile(ir.Module.parse(text, new_context())).inputs
    else:
        assert re.search(message, refused(text))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        # What @main returns becomes a buffer that the kernel writes: nothing would write that of another value.
        ("return %0, %1 :", "return %x, %1 :", "'func.return' of what no kernel computes"),
        ("return %0, %1 :", "return %0, %0 :", "'func.return' of one value twice"),
        (
            "return %0, %1 :",
            "%c = arith.constant dense<1.0> : tensor<4xf32>\n    return %c, %1 :",
            "'func.return' of what no kernel computes",
        ),
        (
            "return %0, %1 :",
            '%c = "ai.reshape"(%x) {shape = array<i64: 4>} : (tensor<4xf32>) -> tensor<4xf32>\n    return %0, %c :',
            "'func.return' of what no kernel computes",
        ),
        (
            "return %0, %1 :",
            '%c = "ai.reshape"(%1) {shape = array<i64: 4>} : (tensor<4xf32>) -> tensor<4xf32>\n    return %1, %c :',
            "'func.return' of one value twice",
        ),
        ('"z"', '"y"', "two outputs of @main are called 'y'"),
        (r', ai\.ops = \["ai.relu"\]', "", "@relu without the names of its ops in the attribute ai.ops"),
        (r'\["ai.relu"\]', "[3]", r"@relu with ai.ops = \[3\]"),
        ("4 : i64", '"x"', '@relu with ai.flops = "x"'),
        ('"Relu_0"', "3", r"with ai.nodes = \[3\]"),
        ("call @relu\\(%0\\)", "call @relu2(%0)", "'relu2' does not reference a valid function"),
        (r"(?s) \{\n    %0 = \"ai.relu.*", "\n}", "@relu without a body"),
        (
            r'%0 = "ai.relu"\(%a\)',
            '%k = arith.constant dense<[1., 2., 3., 4.]> : tensor<4xf32>\n    %0 = "ai.relu"(%k)',
            "'arith.constant' of elements that differ inside a kernel",
        ),
        (
            r"(?s)    return %0 : tensor<4xf32>\n  \}\n\}",
            "    return %0 : tensor<4xf32>\n  }\n  func.func private @no() attributes {ai.kernel, ai.ops = []} "
            "{\n    return\n  }\n}",
            "@no without results",
        ),
        (r"\}\n$", "memref.global @g : memref<4xf32>\n}", "'memref.global' beside functions"),
    ],
)
def test_kernels(old: str, new: str, message: str) -> None:
    text = edited(KERNELS, old, new)
    with pytest.raises((SpecError, IRError), match=message):
        read_unit(text.encode(), new_context())


def test_main_cannot_be_called() -> None:
    text = (
        (HEAD % "kernels")
        + """
      func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
        %0 = call @main(%x) : (tensor<4xf32>) -> tensor<4xf32>
        return %0 : tensor<4xf32>
      }
    }"""
    )
    assert "'func.call' of @main" in refused(text)


@pytest.mark.parametrize(
    ("level", "old", "new", "message"),
    [
        (Level.TENSOR, r"ai.whole_axes = array<i64[^>]*>", 'ai.whole_axes = "x"', 'with ai.whole_axes = "x"'),
        (Level.TENSOR, r"call @softmax_add\w*\(.*\n", "\n", "an output that no call takes"),
        (Level.LOOPS, r"ai.arena_bytes = \d+", "ai.arena_bytes = 0", "ai.arena_bytes is 0"),
        (Level.LOOPS, r"ai.arena_bytes = \d+ : i64", 'ai.arena_bytes = "x"', "must be a number of bytes"),
        (Level.LOOPS, r"ai.weights_bytes = \d+", "ai.weights_bytes = 0", "ai.weights_bytes is 0"),
        (Level.LOOPS, r"ai.weights_bytes = \d+", "ai.weights_bytes = 4096", "without memref<4096xi8>"),
        (Level.LOOPS, r"ai.weights_layout = \{[^}]*\}", 'ai.weights_layout = "x"', "must be a dictionary of offsets"),
        (Level.LOOPS, r"ai.weights_layout = \{[^}]*\}", "ai.weights_layout = {}", "does not say of what"),
        (Level.LOOPS, r"(ai.weights_layout = \{[^}]*= )0 :", r"\g<1>6400 :", "at byte 6400"),
        (Level.LOOPS, r"ai.arena_lower_bound_bytes = \d+ : i64", "ai.arena_lower_bound_bytes", "a number of bytes"),
        (
            Level.LOOPS,
            r"memref<128xi8>",
            "memref<64xi8>",
            "without memref<128xi8> as its last argument: ai.arena_bytes",
        ),
        (Level.LOOPS, r"arith.constant 64 : index", "arith.constant 128 : index", "of the bytes 128 to 160"),
        (Level.LOOPS, r"arith.constant 64 : index", "arith.constant -64 : index", "of the bytes -64 to -32"),
        (Level.LOOPS, r"arith.constant 64 : index", "arith.constant 4 : index", "of the bytes 4 to 36"),
        (Level.LOOPS, r"ai.scratch = 0", "ai.scratch = 9", "9 : i64 scratch arguments"),
        (Level.LLVM, r"ai.weights_bytes = \d+ : i64", 'ai.weights_bytes = "x"', "must be a number of bytes"),
        (Level.LLVM, r"ai.weights_layout = \{[^}]*\}", "ai.weights_layout = {}", "does not say of what"),
        (Level.LLVM, r"ai.arena_bytes = \d+ : i64, ", "", "ai.arena_bytes must be a number of bytes, but is not there"),
        (Level.LLVM, r'ai.net = "net"', 'ai.net = "other"', "a definition of @aiopt_other_info"),
    ],
)
def test_memory_plan(lowered: dict[Level, str], level: Level, old: str, new: str, message: str) -> None:
    text = edited(lowered[level], old, new)
    with pytest.raises(SpecError, match=re.escape(message)):
        read_unit(text.encode(), new_context())


def test_views_reach_no_further_than_their_source() -> None:
    text = (
        (HEAD % "tensor")
        + """
      func.func @main(%x: memref<4xf32> {ai.name = "x"}, %y: memref<8xf32> {ai.name = "y", ai.output}) {
        %v = memref.reinterpret_cast %x to offset: [0], sizes: [8], strides: [1] : memref<4xf32> to memref<8xf32>
        call @copy(%v, %y) : (memref<8xf32>, memref<8xf32>) -> ()
        return
      }
      func.func private @copy(%a: memref<8xf32>, %b: memref<8xf32>) attributes {ai.kernel, ai.ops = []} {
        return
      }
    }"""
    )
    with pytest.raises(SpecError, match="a row-major view of as many elements only"):
        read_unit(text.encode(), new_context())


@pytest.mark.parametrize("kind", ["4xi4", "4xindex", "?xf32", "4xf32, strided<[2]>", "4xf32, 1", "4xsi32"])
def test_buffers(kind: str) -> None:
    text = (
        (HEAD % "tensor")
        + f"""
      func.func @main(%x: memref<{kind}> {{ai.name = "x"}}, %y: memref<{kind}> {{ai.name = "y", ai.output}}) {{
        call @copy(%x, %y) : (memref<{kind}>, memref<{kind}>) -> ()
        return
      }}
      func.func private @copy(%a: memref<{kind}>, %b: memref<{kind}>) attributes {{ai.kernel, ai.ops = []}} {{
        return
      }}
    }}"""
    )
    with pytest.raises(SpecError, match="row-major buffers of static shape"):
        read_unit(text.encode(), new_context())


def test_unnamed_arguments_get_names_that_are_free() -> None:
    text = edited(edited(GRAPH, r' \{ai.name = "z"\}', ""), '"x"', '"x1"')
    unit = read_unit(text.encode(), new_context())
    adopt(unit)
    spec.check(unit.module, Level.GRAPH)
    assert 'ai.name = "x1_"' in str(unit.module)


@pytest.mark.parametrize("name", ["exp", "expf", "llvm.memcpy.p0.p0.i64", "llvm.foo", "run", "aiopt_net_info", "a b"])
def test_kernels_may_be_called_as_anything(name: str) -> None:
    """Names of libm, of LLVM's intrinsics and of the net's own symbols."""
    kind = "tensor<64x512xf64>"
    text = (
        (HEAD % "kernels")
        + f"""
      func.func @main(%x: {kind} {{ai.name = "x"}}) -> ({kind} {{ai.name = "y"}}) {{
        %0 = call @"{name}"(%x) : ({kind}) -> {kind}
        %1 = call @"{name}_task_0"(%0) : ({kind}) -> {kind}
        return %1 : {kind}
      }}
      func.func private @"{name}"(%a: {kind}) -> {kind} attributes {{ai.kernel, ai.ops = ["ai.exp"]}} {{
        %0 = "ai.exp"(%a) : ({kind}) -> {kind}
        return %0 : {kind}
      }}
      func.func private @"{name}_task_0"(%a: {kind}) -> {kind} attributes {{ai.kernel, ai.ops = ["ai.neg"]}} {{
        %0 = "ai.neg"(%a) : ({kind}) -> {kind}
        return %0 : {kind}
      }}
    }}"""
    )
    x = np.linspace(-1, 1, 64 * 512).reshape(64, 512)
    net = driver.compile(ir.Module.parse(text, new_context()))
    np.testing.assert_allclose(net.run({"x": x})["y"], -np.exp(x), rtol=1e-12)
    assert len(net.profile({"x": x})) == 2
