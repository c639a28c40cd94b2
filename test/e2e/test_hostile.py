"""Models that are broken, odd or made to do harm, through the commands: one line, bounded memory and time, no files."""

from __future__ import annotations

import os
import resource
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from e2e.commands import program

MEMORY = 6 << 30  # bytes of addresses, most of them those of libraries
SECONDS = 120
FLOAT = TensorProto.FLOAT
Nodes = list[onnx.NodeProto]


def model(
    nodes: Nodes | None = None,
    constants: list[onnx.TensorProto] | None = None,
    shape: tuple[int, ...] = (2, 3),
    functions: list[onnx.FunctionProto] | None = None,
) -> onnx.ModelProto:
    """From "x" to "y"; without nodes `y = x + w`."""
    nodes = nodes or [helper.make_node("Add", ["x", "w"], ["y"], "add")]
    constants = [numpy_helper.from_array(np.ones((2, 3), np.float32), "w")] if constants is None else constants
    ends = [
        helper.make_tensor_value_info("x", FLOAT, shape),
        helper.make_tensor_value_info("y", TensorProto.UNDEFINED, None),
    ]
    graph = helper.make_graph(nodes, "g", ends[:1], ends[1:], constants)
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid("my", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=9, functions=functions or [])


def node(operator: str, inputs: list[str], outputs: list[str], **attributes) -> onnx.NodeProto:
    return helper.make_node(operator, inputs, outputs, f"{operator.lower()}_{outputs[0]}", **attributes)


def tensor(*dims: int, name: str = "w", data: bytes = b"", kind: int = FLOAT) -> onnx.TensorProto:
    return TensorProto(dims=dims, data_type=kind, name=name, raw_data=data)


def unrolled(depth: int) -> onnx.ModelProto:
    """Branches in branches."""
    graph = helper.make_graph([node("Relu", ["x"], ["z"])], "leaf", [], [helper.make_value_info("z", onnx.TypeProto())])
    for _ in range(depth):
        branch = node("If", ["c"], ["z"], then_branch=graph, else_branch=graph)
        graph = helper.make_graph([branch], "level", [], [helper.make_value_info("z", onnx.TypeProto())])
        graph.node[0].attribute[1].g.Clear()
    nodes = [*graph.node, node("Identity", ["z"], ["y"])]
    return model(nodes, [numpy_helper.from_array(np.array(True), "c")])


def functions(depth: int, last: str) -> onnx.ModelProto:
    """Functions that call each other; the last one calls `last`."""
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid("my", 1)]
    bodies = [
        helper.make_function(
            "my",
            f"F{level}",
            ["a"],
            ["b"],
            [helper.make_node(name, ["a"], ["b"], domain="my" if name[0] == "F" else "")],
            opsets,
        )
        for level in range(depth)
        for name in [f"F{level + 1}" if level + 1 < depth else last]
    ]
    return model([helper.make_node("F0", ["x"], ["y"], "call", domain="my")], functions=bodies)


def doubling(depth: int) -> onnx.ModelProto:
    """Functions each of which calls the next one twice."""
    made = functions(depth, "Relu")
    for function in made.functions:
        first, second = function.node[0], function.node.add()
        second.CopyFrom(first)
        first.output[0] = second.input[0] = "half"
    return made


def declared(changed: Callable[[onnx.ModelProto], object]) -> onnx.ModelProto:
    """A good model in which something is changed."""
    made = model()
    made.graph.input.append(helper.make_tensor_value_info("w", FLOAT, (2, 3)))
    changed(made)
    return made


def referring() -> onnx.ModelProto:
    made = model([node("Concat", ["x", "w"], ["y"], axis=0)])
    made.graph.node[0].attribute[0].ref_attr_name = "axis"
    return made


def one_hot(depth: int) -> onnx.ModelProto:
    constants = [("i", np.array([1])), ("d", np.array(depth)), ("v", np.ones(2, np.float32))]
    return model([node("OneHot", ["i", "d", "v"], ["y"])], [numpy_helper.from_array(a, n) for n, a in constants])


def wrong_type() -> onnx.ModelProto:
    made = model([node("Concat", ["x", "w"], ["y"], axis=0)])
    made.graph.node[0].attribute[0].CopyFrom(helper.make_attribute("axis", "zero"))
    return made


def messages(depth: int) -> bytes:
    """A message in a message in ... as the first field of a graph: no model has so many."""
    data = b""
    for _ in range(depth):
        size, varint = len(data), b""
        while size >= 0x80:
            varint, size = varint + bytes([size & 0x7F | 0x80]), size >> 7
        data = b"\x0a" + varint + bytes([size]) + data
    return data


WHOLE = model().SerializeToString()
BROKEN: dict[str, tuple[bytes | onnx.ModelProto, str]] = {
    "empty": (b"", "AI0103"),
    "truncated": (WHOLE[: len(WHOLE) // 2], "AI0103"),
    "garbage": (bytes(range(256)) * 64, "AI0103"),
    "messages in messages": (messages(20000), "AI0103"),
    "an LFS pointer": (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n", "AI0103"),
    "a cycle": (
        model([node("Add", ["x", "b"], ["a"]), node("Add", ["x", "a"], ["b"]), node("Relu", ["b"], ["y"])]),
        "AI0108",
    ),
    "a wrong order": (model([node("Relu", ["a"], ["y"]), node("Relu", ["x"], ["a"])]), "AI0108"),
    "a name twice": (model([node("Relu", ["x"], ["y"]), node("Neg", ["x"], ["y"])]), "AI0107"),
    "an initializer twice": (model(None, [tensor(1, data=bytes(4)), tensor(1, data=bytes(4))]), "AI0107"),
    "no initializer": (model(None, []), "AI0107"),
    "a negative size": (model(None, [tensor(-2, 3, data=bytes(24))]), "AI0112"),
    "a size that overflows": (model(None, [tensor(1 << 62, 1 << 62, data=bytes(24))]), "AI0112"),
    "too few values": (model(None, [tensor(2, 3, data=bytes(8))]), "AI0112"),
    "a type there is not": (model(None, [tensor(2, 3, data=bytes(24), kind=99)]), "AI0101"),
    "a huge input": (model([node("Relu", ["x"], ["y"])], shape=(1 << 40, 1 << 20)), "AI0207"),
    "a huge input of a small result": (
        model([node("ReduceMax", ["x"], ["y"])], shape=((1 << 63) - 1, 5)),
        "AI0207",
    ),
    "a huge result": (
        model([node("Expand", ["x", "s"], ["y"])], [numpy_helper.from_array(np.array([1 << 45, 2, 3]), "s")]),
        "AI0207",
    ),
    "a huge constant": (
        model([node("ConstantOfShape", ["s"], ["y"])], [numpy_helper.from_array(np.array([1 << 31, 1 << 31]), "s")]),
        "AI0207",
    ),
    "a huge result on the slow route": (
        model([node("HannWindow", ["s"], ["y"])], [numpy_helper.from_array(np.array(1 << 38), "s")]),
        "AI0",
    ),
    "an attribute of a wrong type": (wrong_type(), "AI0110"),
    "an attribute there is not": (model([node("Softmax", ["x"], ["y"], size=3)]), "AI0110"),
    "an attribute there is not, on the slow route": (model([node("Unique", ["x"], ["y"], size=3)]), "AI0110"),
    "an attribute of no function": (referring(), "AI0110"),
    "an input of negative size": (
        declared(lambda made: made.graph.input[0].type.tensor_type.shape.dim[0].__setattr__("dim_value", -3)),
        "AI0113",
    ),
    "an initializer of another shape than its input": (
        declared(lambda made: made.graph.input[1].type.tensor_type.shape.dim[0].__setattr__("dim_value", 1)),
        "AI0113",
    ),
    "an initializer of another type than its input": (
        declared(lambda made: made.graph.input[1].type.tensor_type.__setattr__("elem_type", TensorProto.INT32)),
        "AI0113",
    ),
    "an IR version there is not": (declared(lambda made: made.__setattr__("ir_version", 1 << 62)), "AI0203"),
    "functions that double": (doubling(31), "AI0207"),
    "a long axis": (one_hot(1 << 28), "AI0207"),
    "an axis beyond any memory": (one_hot(1 << 45), "AI0207"),
    "branches in branches": (unrolled(24), "AI0"),
    "functions in functions": (functions(200, "Relu"), "AI0109"),
    "a function that calls itself": (functions(2, "F0"), "AI0109"),
}


def external(location: str, **entries: int) -> onnx.ModelProto:
    made = tensor(2, 3)
    made.data_location = TensorProto.EXTERNAL
    for key, value in {"location": location, **entries}.items():
        made.external_data.add(key=key, value=str(value))
    return model(None, [made])


def _link_out(folder: Path) -> onnx.ModelProto:
    (folder / "w.data").symlink_to(folder.parent / "secret")
    return external("w.data")


def _pipe(folder: Path) -> onnx.ModelProto:
    os.mkfifo(folder / "w.data")
    return external("w.data")


def _short(folder: Path, **entries: int) -> onnx.ModelProto:
    (folder / "w.data").write_bytes(bytes(24))
    return external("w.data", **entries)


OUTSIDE: dict[str, tuple[Callable[[Path], onnx.ModelProto], str]] = {
    "a path with ..": (lambda _: external("../secret"), "AI0105"),
    "a path with .. inside": (lambda _: external("a/../../secret"), "AI0105"),
    "an absolute path": (lambda folder: external(str(folder.parent / "secret")), "AI0105"),
    "a link that leads out": (_link_out, "AI0105"),
    "no location": (lambda _: external(""), "AI0105"),
    "a pipe": (_pipe, "AI0104"),
    "a folder": (lambda _: external("."), "AI0104"),
    "no file": (lambda _: external("none.data"), "AI0104"),
    "an offset beyond the file": (lambda folder: _short(folder, offset=1 << 40), "AI0106"),
    "a length beyond the file": (lambda folder: _short(folder, offset=8, length=24), "AI0106"),
    "a negative offset": (lambda folder: _short(folder, offset=-8), "AI0106"),
}


def run(*words: str | Path) -> subprocess.CompletedProcess[str]:
    """A command with little memory and time. subprocess raises TimeoutExpired if it takes too long."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))

    return subprocess.run(
        [program(str(words[0])), *map(str, words[1:])],
        env={**os.environ, "AIOPT_CACHE": "0"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS,
        preexec_fn=limit,
    )


def refuse(path: Path, code: str) -> None:
    before = sorted(path.parent.rglob("*"))
    for words in (["aiopt-check", path], ["aiopt-compile", path, "-o", path.parent / "out.aio"], ["aiopt-run", path]):
        done = run(*words)
        assert done.returncode == 1, done
        if words[0] == "aiopt-check" and done.stdout:  # what is wrong with a node stands in its table
            assert f" {code}" in done.stdout
            assert done.stderr == ""
            continue
        assert done.stdout == ""
        (line,) = done.stderr.splitlines()
        assert line.startswith("error: ")
        assert line.isprintable()
        assert len(line) < 5000
        assert f"[{code}" in line, line
        assert sorted(path.parent.rglob("*")) == before


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_model_is_one_line(name: str, tmp_path: Path) -> None:
    made, code = BROKEN[name]
    path = tmp_path / "m.onnx"
    path.write_bytes(made if isinstance(made, bytes) else made.SerializeToString())
    refuse(path, code)


@pytest.mark.parametrize("name", ["A" * 600000, "A\x1b[31m"])
def test_names_are_shown_as_text_of_some_length(name: str, tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    onnx.save(model([node(name, ["x"], ["y"])]), path)
    for command in ("aiopt-check", "aiopt-run"):
        done = run(command, path)
        assert done.returncode == 1
        assert all(line.isprintable() and len(line) < 5000 for line in (done.stdout + done.stderr).splitlines())


@pytest.mark.parametrize("name", OUTSIDE)
def test_external_data_is_only_read_where_it_may_lie(name: str, tmp_path: Path) -> None:
    make, code = OUTSIDE[name]
    folder = tmp_path / "model"
    folder.mkdir()
    (tmp_path / "secret").write_bytes(bytes(24))
    path = folder / "m.onnx"
    path.write_bytes(make(folder).SerializeToString())
    refuse(path, code)


def good(path: Path) -> None:
    for words in (["aiopt-check", path], ["aiopt-run", path]):
        done = run(*words)
        assert (done.returncode, done.stderr) == (0, ""), done


def test_links_in_the_folder_are_followed(tmp_path: Path) -> None:
    (tmp_path / "real.data").write_bytes(bytes(24))
    (tmp_path / "w.data").symlink_to("real.data")
    path = tmp_path / "m.onnx"
    path.write_bytes(external("w.data").SerializeToString())
    good(path)


def test_a_hub_cache_of_links_is_one_folder(tmp_path: Path) -> None:
    """snapshots/<revision>/<file> -> ../../blobs/<digest>, the model and its data alike."""
    blobs, snapshot = tmp_path / "blobs", tmp_path / "snapshots" / "0a1b"
    blobs.mkdir()
    snapshot.mkdir(parents=True)
    (blobs / "aaaa").write_bytes(external("m.onnx_data").SerializeToString())
    (blobs / "bbbb").write_bytes(bytes(24))
    (snapshot / "m.onnx").symlink_to("../../blobs/aaaa")
    (snapshot / "m.onnx_data").symlink_to("../../blobs/bbbb")
    good(snapshot / "m.onnx")


def test_an_initializer_may_be_an_input_too(tmp_path: Path) -> None:
    made = model()
    made.graph.input.append(helper.make_tensor_value_info("w", FLOAT, (2, 3)))
    path = tmp_path / "m.onnx"
    onnx.save(made, path)
    good(path)
