"""What is asked of the suite of models, held against a record of it; and what holds back what is missed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aiopt.bench.roofline import rows, table
from aiopt.bench.text import mean
from aiopt.support.compare import TOLERANCE
from aiopt.support.cost import Machine
from bench.figure import Figure, at_least, at_most

STATISTICS = ("median", "least", "cpu_median", "cpu_least")
MEANS = (1.0, 0.85)  # of our time / the better peer's
MOST = 1.05  # of any model
SCALING = 0.95  # of the better peer's speed-up by threads
_OURS, _BASE = "aiopt", "onnxruntime"
_KERNELS, _MODELS = 6, 4  # that a table of what holds a milestone back shows

HEAD = (
    f"{'model':14s} {'threads':>7s} {'aiopt ms':>9s} {'ORT ms':>9s} {'OV f32 ms':>9s} {'/ ORT':>6s} {'/ best':>6s} "
    f"{'scaling':>7s} {'MB':>5s} {'ORT MB':>6s} {'difference':>10s}"
)
Model = Mapping[str, Any]
Entry = Mapping[str, Any]


@dataclass(frozen=True)
class Milestone:
    """A figure, and the models that keep it from being met, the worst first."""

    figure: Figure
    culprits: Sequence[str] = ()


def statistic(threads: int, by: str) -> str:
    """What is compared on so many threads: CPU time says nothing of several."""
    return by if threads == 1 else by.removeprefix("cpu_")


def ratio(entry: Entry, by: str, peers: Sequence[str] | None = None) -> float:
    """Our time / the least of these peers' (default: all that ran)."""
    engines, by = entry["engines"], statistic(entry["threads"], by)
    others = [name for name in engines if name != _OURS] if peers is None else peers
    times = [engines[name][by] for name in others if by in engines[name]]
    return engines[_OURS][by] / min(times) if times else float("nan")


def scaling(model: Model, threads: int, by: str) -> float:
    """Our speed-up from one thread to `threads` / that of the peer that is fastest on these; NaN if not measured."""
    one, many = _entry(model, 1), _entry(model, threads)
    if one is None or many is None or threads == 1:
        return float("nan")
    by = statistic(threads, by)
    peers = [
        name for name in many["engines"] if name != _OURS and by in many["engines"][name] and by in one["engines"][name]
    ]
    if not peers:
        return float("nan")
    best = min(peers, key=lambda name: many["engines"][name][by])
    ours, theirs = (one["engines"][name][by] / many["engines"][name][by] for name in (_OURS, best))
    return ours / theirs


def line(model: Model, entry: Entry, by: str) -> str:
    """A model on a number of threads."""
    engines, kind = entry["engines"], statistic(entry["threads"], by)
    times = [1e3 * engines.get(name, {}).get(kind, float("nan")) for name in (_OURS, _BASE, "openvino")]
    memory = [engines.get(name, {}).get("peak_bytes", float("nan")) / 1e6 for name in (_OURS, _BASE)]
    relative = scaling(model, entry["threads"], by)
    shown = "" if relative != relative else f"{relative:.2f}"
    return (
        f"{model['model']:14s} {entry['threads']:7d} {times[0]:9.3f} {times[1]:9.3f} {times[2]:9.3f} "
        f"{ratio(entry, by, [_BASE]):6.2f} {ratio(entry, by):6.2f} {shown:>7s} "
        f"{memory[0]:5.0f} {memory[1]:6.0f} {engines[_OURS].get('difference', float('nan')):10.1e}"
    )


def milestones(models: Sequence[Model], threads: int, by: str) -> Iterator[Milestone]:
    """All that is asked on this number of threads."""
    entries = {model["model"]: entry for model in models if (entry := _entry(model, threads)) is not None}
    to_base = {name: ratio(entry, by, [_BASE]) for name, entry in entries.items()}
    to_best = {name: ratio(entry, by) for name, entry in entries.items()}
    on = f"{threads} thread{'s' if threads > 1 else ''}"
    yield _of_mean(f"{on}, mean of {len(entries)} models, time / ONNX Runtime's", to_base, MEANS[0])
    for most in MEANS:
        yield _of_mean(f"{on}, mean of {len(entries)} models, time / the better peer's", to_best, most)
    yield _of_worst(f"{on}, worst model, time / the better peer's", to_best, MOST)
    if threads > 1:
        relative = {model["model"]: scaling(model, threads, by) for model in models if model["model"] in entries}
        known = {name: value for name, value in relative.items() if value == value}
        if known:
            name = f"{on}, worst model, speed-up / the better peer's"
            yield _of_worst(name, known, SCALING, at_least, lambda value: -value)
    memory = {name: entry["engines"][_OURS]["peak_bytes"] / _peak(entry) for name, entry in entries.items()}
    yield _of_worst(f"{on}, worst model, peak memory / ONNX Runtime's", memory, 1.0, slow=False)
    differences = {name: entry["engines"][_OURS].get("difference", float("nan")) for name, entry in entries.items()}
    yield _of_worst(f"{on}, worst model, difference / largest output", differences, TOLERANCE, slow=False)


def report(found: Sequence[Milestone], models: Sequence[Model], threads: int, machine: Machine) -> Iterator[str]:
    """Lines: the milestones, then the kernels of the models that keep those about time from being met."""
    yield from (str(one.figure) for one in found)
    culprits = dict.fromkeys(name for one in found if not one.figure.met for name in one.culprits)
    by_name = {model["model"]: model for model in models}
    for name in culprits:
        entry = _entry(by_name[name], threads)
        if entry is not None and "profile" in entry:
            yield f"what holds back {name} on {threads} threads:"
            yield holding_back(entry, machine)


def holding_back(entry: Entry, machine: Machine) -> str:
    """The roofline table of the kernels that lose most time to the roofline."""
    found = sorted(rows(entry["report"], entry["profile"], machine), key=lambda row: -row.lost)
    return table(found[:_KERNELS], sum(row.seconds for row in found))


def _of_mean(name: str, ratios: Mapping[str, float], most: float) -> Milestone:
    figure = at_most(name, mean(ratios.values()), most)
    worst = sorted((key for key in ratios if not ratios[key] <= most), key=lambda key: -ratios[key])
    return Milestone(figure, worst[:_MODELS])


def _of_worst(
    name: str,
    values: Mapping[str, float],
    limit: float,
    judge: Callable[[str, float, float], Figure] = at_most,
    badness: Callable[[float], float] = lambda value: value,
    *,
    slow: bool = True,
) -> Milestone:
    """The worst of some values (a NaN is worst); slow: its kernels say why."""
    order = sorted(values, key=lambda key: (values[key] == values[key], -badness(values[key])))
    figure = judge(f"{name} ({order[0]})", values[order[0]], limit)
    missed = [key for key in order if not judge("", values[key], limit).met]
    return Milestone(figure, missed[:_MODELS] if slow else ())


def _peak(entry: Entry) -> float:
    return entry["engines"].get(_BASE, {}).get("peak_bytes", float("nan"))


def _entry(model: Model, threads: int) -> Entry | None:
    return next((entry for entry in model["measurements"] if entry["threads"] == threads), None)
