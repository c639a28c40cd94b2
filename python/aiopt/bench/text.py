"""What measurements say, as lines of text."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any


def measurement(model: str, entry: Mapping[str, Any]) -> Iterator[str]:
    """A line for the model and one for each engine."""
    yield f"{model}, {entry['threads']} threads{variant(entry)}"
    if "note" in entry:
        yield f"  note: {entry['note']}"
    for name, found in entry["engines"].items():
        yield f"  {name:12s} {found['error'] if 'error' in found else ', '.join(_parts(found))}"


def variant(entry: Mapping[str, Any]) -> str:
    """How the model was compiled, where that is not the default."""
    defaults = {"amp": "none", "winograd": "auto"}
    given = {key: entry.get(key, default) for key, default in defaults.items()}
    return "".join(f", {key} {given[key]}" for key, default in defaults.items() if given[key] != default)


def _parts(found: Mapping[str, Any]) -> Iterator[str]:
    low, high = found["quartiles"]
    yield f"{found['median'] * 1e3:.3f} ms ({low * 1e3:.3f} to {high * 1e3:.3f})"
    yield f"load {found['load_seconds']:.2f} s"
    yield f"memory {found['peak_bytes'] / 1e6:.0f} MB"
    if "difference" in found:
        yield f"difference {found['difference']:.2g}"
    if "ratio" in found:
        yield f"aiopt takes {found['ratio']:.2f} of its time"


def means(models: Sequence[Mapping[str, Any]], peers: Sequence[str]) -> Iterator[str]:
    """Geometric means over the models of a record, of each engine and of the best of each model."""
    for threads in sorted({entry["threads"] for model in models for entry in model["measurements"]}):
        entries = [e["engines"] for m in models for e in m["measurements"] if e["threads"] == threads]
        ratios = [[entry[peer]["ratio"] for peer in peers if "ratio" in entry[peer]] for entry in entries]
        for peer in peers:
            found = [entry[peer]["ratio"] for entry in entries if "ratio" in entry[peer]]
            if found:
                yield f"{threads} threads, aiopt / {peer}: {mean(found):.3f} (mean of {len(found)})"
        best = [max(found) for found in ratios if found]
        if len(peers) > 1 and best:
            yield f"{threads} threads, aiopt / the best: {mean(best):.3f} (mean), at most {max(best):.3f}"


def mean(ratios: Iterable[float]) -> float:
    """The geometric mean."""
    found = list(ratios)
    return math.exp(sum(map(math.log, found)) / len(found))
