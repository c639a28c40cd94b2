"""`aiopt.load`: nets from files, without the compiler."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from aiopt.runtime import artifact, net, parted
from aiopt.runtime.artifact import Artifact
from aiopt.runtime.base import Net
from aiopt.support.errors import ModelError


def load(path: str | Path, threads: int | None = None) -> Net:
    """The net in a file written by `save` or aiopt-compile; needs neither mlir nor onnx. Its weights stay in the file.

    threads: of a run; by default as many as the net had that was saved.

    Raises ModelError if the file is unreadable, cut off or damaged, CompileError if it does not fit this machine,
    OptionError for a wrong thread count.
    """
    if not isinstance(path, (str, Path)):
        raise ModelError(f"a compiled net is loaded from a path, not from {type(path).__name__}")
    stored = artifact.read_artifact(path)
    wanted: int = stored.header["threads"] if threads is None else threads
    return open_net(stored, stored.header["report"], wanted)


def open_net(stored: Artifact, report: Mapping[str, Any], threads: int) -> Net:
    """The net of a file that was read. report: kept by reference. Raises as `load` does."""
    if not parted.is_parted(stored):
        return net.from_artifact(stored, report, threads)
    from aiopt.targets.npu.device import NpuPart  # a simulator, which most nets do not need

    loaders = {"cpu": parted.CpuPart.load, "npu": NpuPart.load}
    return parted.from_artifact(stored, report, threads, loaders)
