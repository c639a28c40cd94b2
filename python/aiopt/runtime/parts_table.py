"""What ran where and why, of the report of a net in parts, as text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def parts_table(report: Mapping[str, Any]) -> list[str]:
    """A line for each kernel (where, how long or why there) and each NPU; none for a net that is not in parts."""
    if "parts" not in report:
        return []
    lines = [_kernel(entry) for entry in report["kernels"]]
    for device in report["target"]["devices"]:
        counted = [part for part in report["parts"] if part["target"] == device["name"] and "cycles" in part]
        if counted:
            cycles, seconds = (sum(part[key] for part in counted) for key in ("cycles", "seconds"))
            machine = device["machine"]
            where = f"{cycles} cycles, {seconds * 1e6:.1f} us at {machine['mhz']} MHz on {machine['name']}"
            parts = f"{len(counted)} part{'s' if len(counted) > 1 else ''}"
            lines.append(f"{device['name']}: {where} (simulated), in {parts}")
    return lines


def _kernel(entry: Mapping[str, Any]) -> str:
    """`kernel softmax_4 (Softmax_9): cpu (npu: ai.softmax: the NPU has no instruction for it)`"""
    nodes = f" ({'+'.join(entry['nodes'])})" if entry["nodes"] else ""
    cycles = f", {entry['cycles']} cycles, {entry['seconds'] * 1e6:.1f} us" if "cycles" in entry else ""
    why = f" ({entry['why']})" if "why" in entry else ""
    return f"kernel {entry['kernel']}{nodes}: {entry['target']}{cycles}{why}"
