"""Engines that run ONNX models: aiopt and its peers, which are packages of their own, loaded only when they are used.

A peer computes in f32 on the given number of threads, with its optimisations on.
"""

from __future__ import annotations

import importlib.util
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from aiopt.support.errors import AioptError, CompileError, MissingPackageError, OptionError
from aiopt.support.target import AUTO

Arrays = Mapping[str, np.ndarray]
Run = Callable[[Arrays], dict[str, np.ndarray]]


@dataclass(frozen=True)
class Job:
    """What an engine is to run: a file, the shapes of its inputs, threads; amp, fusion, winograd: for aiopt alone."""

    model: Path
    shapes: Mapping[str, tuple[int, ...]]
    threads: int = 1
    amp: str = "none"
    fusion: str = AUTO
    winograd: str = AUTO


@dataclass(frozen=True)
class Loaded:
    """A model that is ready to run; profile: seconds of each kernel, of those engines that can tell."""

    run: Run
    report: Mapping[str, Any]
    profile: Callable[[Arrays], list[tuple[str, float]]] | None = None


@dataclass(frozen=True)
class Engine:
    """package: its distribution; module: what is imported."""

    name: str
    package: str
    module: str
    load: Callable[[Job], Loaded]

    def version(self) -> str:
        """Of the installed package."""
        return version(self.package)


def find(name: str) -> Engine:
    """The engine of a name. Raises OptionError if there is none, or its package is not installed."""
    engine = ENGINES.get(name)
    if engine is None:
        raise OptionError(f"there is no engine '{name}' (there are: {', '.join(ENGINES)})")
    if importlib.util.find_spec(engine.module) is None:
        raise MissingPackageError(
            f"engine '{name}' needs a package that is not installed: pip install {engine.package}"
        )
    return engine


def _aiopt(job: Job) -> Loaded:
    """Compiled in another process: this one loads the net, as a program that uses it does."""
    import aiopt
    from aiopt.bench.compile_job import compile_apart

    with tempfile.TemporaryDirectory(prefix="aiopt-bench-") as folder:
        path = Path(folder) / "net.aio"
        report = compile_apart(job, path)
        net = compile_here(job) if report is None else aiopt.load(path, job.threads)
    return Loaded(net.run, report or net.report(), net.profile)


def compile_here(job: Job) -> Any:
    """The net of a job, whatever the cache has."""
    import aiopt

    return aiopt.compile(
        job.model,
        threads=job.threads,
        shapes=job.shapes or None,
        amp=job.amp,
        fusion=job.fusion,
        winograd=job.winograd,
        cache=False,
    )


def _onnxruntime(job: Job) -> Loaded:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = job.threads
    options.log_severity_level = 3  # errors only
    session = onnxruntime.InferenceSession(str(job.model), options, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return Loaded(lambda inputs: dict(zip(names, session.run(None, dict(inputs)), strict=True)), {})  # pyright: ignore[reportArgumentType]


def _openvino(job: Job) -> Loaded:
    """In f32: by itself it computes in bf16 where the CPU can."""
    import openvino  # pyright: ignore[reportMissingImports]

    core = openvino.Core()
    model = core.read_model(str(job.model))
    model.reshape({name: list(shape) for name, shape in job.shapes.items()})
    settings = {
        "INFERENCE_PRECISION_HINT": "f32",
        "INFERENCE_NUM_THREADS": job.threads,
        "NUM_STREAMS": 1,
        "PERFORMANCE_HINT": "LATENCY",
    }
    request = core.compile_model(model, "CPU", settings).create_infer_request()
    names = [output.get_any_name() for output in model.outputs]

    def run(inputs: Arrays) -> dict[str, np.ndarray]:
        request.infer(dict(inputs))
        return {name: request.get_tensor(name).data.copy() for name in names}

    return Loaded(run, {})


def _iree(job: Job) -> Loaded:
    """Compiled for this CPU with the default options; its task system is held to the given number of threads."""
    import iree.compiler as compiler  # pyright: ignore[reportMissingImports]
    import iree.runtime as runtime  # pyright: ignore[reportMissingImports]
    import onnx
    from iree.compiler.tools import import_onnx  # pyright: ignore[reportMissingImports]

    with tempfile.TemporaryDirectory(prefix="aiopt-bench-") as folder:
        model = onnx.load(str(job.model))
        for value in model.graph.input:
            if value.name in job.shapes:
                dims = value.type.tensor_type.shape.dim
                for dim, size in zip(dims, job.shapes[value.name], strict=True):
                    dim.dim_value = size
        fixed, text = Path(folder) / "model.onnx", Path(folder) / "model.mlir"
        onnx.save(model, str(fixed))
        import_onnx.main(import_onnx.parse_arguments([str(fixed), "-o", str(text)]))
        arguments = ["--iree-llvmcpu-target-cpu=host", "--iree-llvmcpu-stack-allocation-limit=1048576"]
        code = compiler.compile_file(str(text), input_type="onnx", target_backends=["llvm-cpu"], extra_args=arguments)
    runtime.flags.parse_flags(f"--task_topology_group_count={job.threads}")
    config = runtime.Config("local-task" if job.threads > 1 else "local-sync")
    module = runtime.load_vm_module(runtime.VmModule.copy_buffer(config.vm_instance, code), config)
    (function,) = [name for name in module.vm_module.function_names if not name.startswith("__")]
    inputs_of = [value.name for value in model.graph.input]
    names = [value.name for value in model.graph.output]

    def run(inputs: Arrays) -> dict[str, np.ndarray]:
        found = module[function](*[inputs[name] for name in inputs_of if name in inputs])
        values = found if isinstance(found, (list, tuple)) else [found]
        return dict(zip(names, (np.asarray(value) for value in values), strict=True))

    return Loaded(run, {})


ENGINES = {
    engine.name: engine
    for engine in (
        Engine("aiopt", "aiopt", "aiopt", _aiopt),
        Engine("onnxruntime", "onnxruntime", "onnxruntime", _onnxruntime),
        Engine("openvino", "openvino", "openvino", _openvino),
        Engine("iree", "iree-base-compiler", "iree", _iree),
    )
}


def load(name: str, job: Job) -> Loaded:
    """A model in an engine. Raises AioptError: what the engine says, in one line."""

    try:
        return find(name).load(job)
    except AioptError:
        raise
    except Exception as error:  # engines share no class of errors
        raise CompileError(f"{name} cannot load '{job.model}': {type(error).__name__}: {error}") from error
