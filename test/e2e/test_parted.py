"""One net on two targets: products on an NPU (its simulator), the rest on the CPU.

Oracles: numpy's float32 in the order that docs/npu.md states for the products, ONNX Runtime for integers (bit for bit)
and, within 1e-4 of the largest value, for what comes behind tanh and softmax.
"""

from __future__ import annotations

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import aiopt
from aiopt import driver
from aiopt.passes import io
from aiopt.runtime.base import Net
from aiopt.support.compare import TOLERANCE, relative_difference, run_onnxruntime
from aiopt.support.errors import (
    AioptError,
    CompileError,
    InputError,
    ModelError,
    OptionError,
    PipelineError,
    UnsupportedError,
)
from aiopt.support.kernel_cache import KernelCache
from aiopt.targets import find_target
from aiopt.targets.cpu.target import CpuTarget
from aiopt.targets.npu.machine import Machine, find_machine
from aiopt.targets.parted import PartedTarget
from e2e import mlps
from e2e.commands import command, error_of

MACHINES = ["edge16", "mid32"]
ROWS, SIZES = 24, (70, 90, 40, 10)


def _in_stated_order(x: np.ndarray, weight: np.ndarray, bias: np.ndarray, machine: Machine) -> np.ndarray:
    """Products of `rows` terms from first to last, these sums from first to last, then the bias; all in f32."""
    total: np.ndarray | None = None
    for start in range(0, x.shape[1], machine.rows):
        part = x[:, start : start + 1] * weight[start]
        for k in range(start + 1, min(start + machine.rows, x.shape[1])):
            part = part + x[:, k : k + 1] * weight[k]
        total = part if total is None else total + part
    assert total is not None
    return total + bias


@pytest.fixture(scope="module")
def mlp_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("mlp") / "mlp.onnx"
    path.write_bytes(mlps.float_mlp(ROWS, SIZES)[0])
    return path


@pytest.fixture(scope="module", params=MACHINES)
def mlp(request: pytest.FixtureRequest, mlp_file: Path) -> Net:
    net = aiopt.compile(mlp_file, target="npu,cpu", machine=request.param, cache=False)
    assert isinstance(net, Net)
    return net


@pytest.fixture(scope="module")
def x() -> np.ndarray:
    return np.random.default_rng(1).standard_normal((ROWS, SIZES[0])).astype(np.float32)


def test_f32_products_are_those_of_numpy(mlp: Net, mlp_file: Path, x: np.ndarray) -> None:
    machine = find_machine(mlp.report()["parts"][0]["machine"])
    arrays = mlps.float_mlp(ROWS, SIZES)[1]
    outputs, value = mlp.run({"x": x}), x
    for weight, bias in zip(arrays[:-2:2], arrays[1:-2:2], strict=True):
        value = np.maximum(_in_stated_order(value, weight, bias, machine), 0)
    assert np.array_equal(outputs["features"], value)
    references = run_onnxruntime(mlp_file, {"x": x})
    for name, want in references.items():
        assert relative_difference(outputs[name], want) <= TOLERANCE, name


def test_the_report_says_where_and_why(mlp: Net) -> None:
    report = mlp.report()
    placed = {"+".join(kernel["nodes"]): kernel for kernel in report["kernels"]}
    assert [part["target"] for part in report["parts"]] == ["npu", "cpu", "npu", "cpu"]
    for node in ("MatMul_0+Add_0+Relu_0", "MatMul_1+Add_1+Relu_1", "MatMul_2+Add_2"):
        kernel = placed[node]
        assert kernel["target"] == "npu"
        assert "why" not in kernel
        assert kernel["cycles"] > 0
        mhz = find_machine(report["parts"][0]["machine"]).mhz
        assert kernel["seconds"] == pytest.approx(kernel["cycles"] / (mhz * 1e6))
    for node, op in (("Tanh", "ai.tanh"), ("Softmax", "ai.softmax")):
        assert placed[node]["target"] == "cpu"
        assert placed[node]["why"] == f"npu: {op}: the NPU has no instruction for it"
        assert "cycles" not in placed[node]
    for part in report["parts"]:
        if part["target"] == "npu":
            assert part["cycles"] == sum(k["cycles"] for k in report["kernels"] if k["part"] == part["part"])
    assert report["launches"] == len(report["kernels"]) == len(mlp.launches)


def test_it_is_called_like_any_net(mlp: Net, x: np.ndarray) -> None:
    outputs = mlp.run({"x": x})
    assert list(outputs) == ["features", "logits", "y"]
    for have, want in zip(mlp(x), outputs.values(), strict=True):
        assert np.array_equal(have, want)
    with ThreadPoolExecutor(4) as pool:
        for result in pool.map(lambda _: mlp.run({"x": x}), range(8)):
            assert all(np.array_equal(result[name], outputs[name]) for name in outputs)
    seconds = dict(mlp.profile({"x": x}))
    assert all(seconds[k["kernel"]] == k["seconds"] for k in mlp.report()["kernels"] if k["target"] == "npu")
    with pytest.raises(InputError, match=r"input 'x' has shape \(2, 70\), expected \(24, 70\)"):
        mlp.run({"x": x[:2]})
    with pytest.raises(InputError, match="has no input 'z'"):
        mlp.run({"z": x})


def test_a_file_holds_all_parts(mlp: Net, x: np.ndarray, tmp_path: Path) -> None:
    mlp.save(tmp_path / "net.aio")
    with aiopt.load(tmp_path / "net.aio") as loaded:
        assert loaded.report()["kernels"] == mlp.report()["kernels"]
        want, have = mlp.run({"x": x}), loaded.run({"x": x})
        assert all(np.array_equal(have[name], want[name]) for name in want)
    with pytest.raises(AioptError, match="net 'mlp' has been closed"):
        loaded.run({"x": x})
    data = bytearray((tmp_path / "net.aio").read_bytes())
    data[data.index(b"NPUB")] ^= 1
    (tmp_path / "net.aio").write_bytes(data)
    with pytest.raises(ModelError, match="damaged"):
        aiopt.load(tmp_path / "net.aio")


def test_a_file_is_run_without_the_compiler(mlp: Net, x: np.ndarray, tmp_path: Path) -> None:
    mlp.save(tmp_path / "net.aio")
    np.save(tmp_path / "x.npy", x)
    script = (
        "import sys\n"
        "sys.modules['mlir'] = sys.modules['onnx'] = None  # to import them fails\n"
        "import aiopt, numpy\n"
        "net = aiopt.load(sys.argv[1])\n"
        "numpy.save(sys.argv[3], net(numpy.load(sys.argv[2]))[2])\n"
    )
    paths = [str(tmp_path / name) for name in ("net.aio", "x.npy", "y.npy")]
    done = subprocess.run([sys.executable, "-c", script, *paths], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert np.array_equal(np.load(tmp_path / "y.npy"), mlp(x)[2])


def test_the_cache_knows_machines_apart(mlp_file: Path, x: np.ndarray, monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setenv("AIOPT_CACHE", "1")
    monkeypatch.setenv("AIOPT_CACHE_DIR", str(tmp_path))
    nets = [aiopt.compile(mlp_file, target="npu,cpu", machine=machine) for machine in ("edge16", "edge16", "mid32")]
    assert [net.report()["cache"] for net in nets] == ["miss", "hit", "miss"]
    assert np.array_equal(nets[0](x)[2], nets[1](x)[2])
    cycles = [sum(part.get("cycles", 0) for part in net.report()["parts"]) for net in nets]
    assert cycles[0] == cycles[1] > cycles[2]


@pytest.mark.parametrize("machine", MACHINES)
def test_integers_are_those_of_onnxruntime(machine: str) -> None:
    model, inputs = mlps.magika_mlp(), mlps.magika_mlp_input()
    net = aiopt.compile(model, target="npu,cpu", machine=machine, cache=False)
    report = net.report()
    assert [part["target"] for part in report["parts"]] == ["cpu", "npu", "cpu"]
    placed = {"+".join(kernel["nodes"]): kernel["target"] for kernel in report["kernels"]}
    assert placed == {
        **dict.fromkeys(("Equal+Cast", "Dequantize", "Softmax"), "cpu"),
        **dict.fromkeys(("Dense_0", "Dense_1", "Dense_2"), "npu"),
    }
    outputs, references = net.run(inputs), run_onnxruntime(model, inputs)
    assert len(np.unique(references["codes"])) > 100, "the codes say something"
    assert np.array_equal(outputs["codes"], references["codes"])
    assert np.array_equal(outputs["logits"], references["logits"])
    assert relative_difference(outputs["y"], references["y"]) <= TOLERANCE


def test_the_command_says_what_ran_where(mlp_file: Path, tmp_path: Path) -> None:
    words = ["--target=npu,cpu", "--machine=mid32", "--no-cache"]
    done = command("aiopt-run", mlp_file, *words, "--repeat=1", "--compare=onnxruntime")
    assert done.returncode == 0, done.stderr
    assert "kernel tanh_2 (Tanh): cpu (npu: ai.tanh: the NPU has no instruction for it)\n" in done.stdout
    assert " at 800 MHz on mid32 (simulated), in 2 parts\n" in done.stdout
    done = command("aiopt-compile", mlp_file, *words, "-o", tmp_path / "net.aio")
    assert done.returncode == 0, done.stderr
    info = command("aiopt-run", "--info", tmp_path / "net.aio").stdout
    assert "kernel tanh_2 (Tanh): cpu (npu: ai.tanh: the NPU has no instruction for it)\n" in info
    facts = json.loads(command("aiopt-run", tmp_path / "net.aio", "--repeat=1", "--json").stdout)
    assert [part["target"] for part in facts["parts"]] == ["npu", "cpu", "npu", "cpu"]
    message = error_of("aiopt-run", tmp_path / "net.aio", "--target=cpu")
    assert "a compiled net is for its target" in message
    message = error_of("aiopt-compile", mlp_file, *words, "--emit=so", "-o", tmp_path / "net.so")
    assert "--emit=so takes nets on the CPU alone" in message


def test_text_of_every_level_goes_on(mlp_file: Path, x: np.ndarray, tmp_path: Path) -> None:
    target = find_target("npu,cpu", "edge16")
    want = aiopt.compile(mlp_file, target="npu,cpu", machine="edge16", cache=False)(x)
    path = mlp_file
    for number, stage in enumerate(target.stages()):
        text = tmp_path / f"{number}.mlir"
        done = command("aiopt", path, "-p", stage.pipeline, "-o", text)
        assert done.returncode == 0, done.stderr
        assert f'ai.level = "{stage.target.value}"' in text.read_text()
        net = aiopt.compile(text, target="npu,cpu", machine="edge16")
        assert all(np.array_equal(have, expected) for have, expected in zip(net(x), want, strict=True))
        path = text
    done = command("aiopt-run", path, "--target=npu,cpu", "--machine=edge16", "--repeat=1", "--compare=reference")
    assert done.returncode == 0, done.stderr
    with pytest.raises(PipelineError, match="takes IR of level kernels, but this is parts"):
        aiopt.compile(path)
    with pytest.raises(CompileError, match="@part_0_npu is for target 'npu', and this is compiled for cpu"):
        PartedTarget([CpuTarget()]).build(driver.load_unit(path, io.new_context()), KernelCache())


def test_open_dimensions_are_compiled_at_the_first_call(x: np.ndarray) -> None:
    model, _ = mlps.float_mlp("rows", SIZES)
    net = aiopt.compile(model, target="npu,cpu", machine="mid32", cache=False)
    for rows in (1, ROWS):
        outputs, references = net.run({"x": x[:rows]}), run_onnxruntime(model, {"x": x[:rows]})
        assert all(relative_difference(outputs[name], want) <= TOLERANCE for name, want in references.items())
        assert net.report()["parts"][0]["target"] == "npu"


def test_a_net_can_be_on_the_npu_as_a_whole() -> None:
    pick = np.random.default_rng(3)
    inputs = {name: pick.standard_normal(shape).astype(np.float32) for name, shape in (("x", (4, 6)), ("y", (5, 3)))}
    net = aiopt.compile(mlps.dense_model(), target="npu", machine="edge16", cache=False)
    assert [part["target"] for part in net.report()["parts"]] == ["npu"]
    want = run_onnxruntime(mlps.dense_model(), inputs)["z"]
    assert relative_difference(net.run(inputs)["z"], want) <= TOLERANCE


def test_what_no_op_computes_is_returned_by_some_target() -> None:
    """An input, a constant, and one product twice."""
    model = mlps.returning_model()
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    net = aiopt.compile(model, target="npu,cpu", machine="edge16", cache=False)
    outputs, references = net.run({"x": x}), run_onnxruntime(model, {"x": x})
    assert list(outputs) == list(references)
    for name, want in references.items():
        assert np.array_equal(outputs[name], want), name


def test_mixed_precision_leaves_low_products_to_the_cpu(mlp_file: Path) -> None:
    low = "ai-amp{type=bf16 gain=false},ai-kernels-pipeline{target=npu,cpu}"
    done = command("aiopt", mlp_file, "-p", low, "--elide-weights")
    assert done.returncode == 0, done.stderr
    assert "npu: ai.matmul: its operands are bf16, not f32" in done.stdout
    assert 'ai.target = "npu"' not in done.stdout


@pytest.mark.parametrize(
    ("options", "kind", "message"),
    [
        ({"target": "npu,cpu"}, OptionError, "target npu needs a machine .*edge16, mid32"),
        ({"target": "npu,cpu", "machine": "edge"}, OptionError, "there is no machine 'edge', did you mean 'edge16'?"),
        ({"target": "npu,cpu", "machine": "no.toml"}, OptionError, "cannot read machine file 'no.toml'"),
        ({"target": "npu,cpu", "machine": 16}, OptionError, "machine must be a str, not 16"),
        ({"target": "cpu", "machine": "edge16"}, OptionError, "target cpu takes no machine, but was given 'edge16'"),
        ({"target": "npu,gpu", "machine": "edge16"}, OptionError, r"no target 'gpu'.* \(there are: cpu, npu\)"),
        ({"target": "cpu,cpu"}, OptionError, "names a target twice"),
        (
            {"target": "npu", "machine": "edge16"},
            UnsupportedError,
            r"no target of npu runs ai.tanh \(at 'Tanh'\)",
        ),
    ],
)
def test_what_does_not_go(mlp_file: Path, options: dict, kind: type[AioptError], message: str) -> None:
    with pytest.raises(kind, match=message):
        aiopt.compile(mlp_file, cache=False, **options)


def test_a_machine_too_small_for_a_kernel_leaves_it_to_the_cpu(mlp_file: Path, x: np.ndarray, tmp_path: Path) -> None:
    text = (Path(aiopt.targets.npu.machine.__file__).parent / "machines" / "edge16.toml").read_text()
    assert "spad_kib = 256" in text
    assert "acc_kib = 64" in text
    path = tmp_path / "tiny.toml"
    path.write_text(text.replace("spad_kib = 256", "spad_kib = 1").replace("acc_kib = 64", "acc_kib = 1"))
    net = aiopt.compile(mlp_file, target="npu,cpu", machine=str(path), cache=False)
    kernels = {"+".join(kernel["nodes"]): kernel for kernel in net.report()["kernels"]}
    first = kernels["MatMul_0+Add_0+Relu_0"]
    assert first["target"] == "cpu", "its bias and two turns of the smallest tiles need more than 1 KiB"
    assert "there are 1024" in first["why"]
    assert relative_difference(net(x)[2], run_onnxruntime(mlp_file, {"x": x})["y"]) <= TOLERANCE
