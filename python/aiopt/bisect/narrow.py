"""From a pass that is at fault to the op, and the ONNX nodes, whose value it made wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from aiopt.bisect.calls import Call, Place, Plan, overlap
from aiopt.bisect.search import Finding, Search, State
from aiopt.bisect.values import Run, Tolerance, Value
from aiopt.passes import pipeline
from aiopt.passes.graph.group_kernels import GroupKernels
from aiopt.passes.spec.base import Level


@dataclass(frozen=True)
class Culprit:
    """An op or kernel with its nodes, how far its value is off (of the largest element), and what else is known."""

    op: str
    nodes: tuple[str, ...]
    difference: float | None = None
    note: str = ""


def narrow(search: Search, finding: Finding, known: Sequence[Value] = ()) -> Culprit | None:
    """The culprit of a finding, None if it cannot be told; `known`: right values, where there is no state before."""
    after = finding.after
    assert after.run is not None
    if after.level is Level.LLVM:
        return None
    if after.run.calls and after.level not in (Level.GRAPH, Level.KERNELS):
        return _wrong_call(search, after)
    before = finding.before.run.values if finding.before and finding.before.run else known
    return _wrong_value(search.tolerance, after.run, finding.outputs, before)


def _wrong_value(tolerance: Tolerance, run: Run, outputs: Sequence[str], before: Sequence[Value]) -> Culprit | None:
    """Walk from a wrong output to operands that no value of the run before explains, as far as that goes."""
    array = run.outputs[outputs[0]]
    starts = [n for n, value in enumerate(run.values) if value.array.tobytes() == array.tobytes()]
    if not starts:
        return None
    at = starts[-1]
    while True:
        wrong = [n for n in run.values[at].sources if not _is_known(tolerance, run.values[n], before)]
        if not wrong:
            break
        at = min(wrong)
    value = run.values[at]
    return Culprit(value.op, value.nodes, _nearest(tolerance, value, before))


def _is_known(tolerance: Tolerance, value: Value, before: Sequence[Value]) -> bool:
    return not value.sources or tolerance.explains(value.array, before)


def _nearest(tolerance: Tolerance, value: Value, before: Sequence[Value]) -> float | None:
    """The difference to the value that the last of its nodes had before."""
    same = [v for v in before if v.array.shape == value.array.shape and set(v.nodes[-1:]) == set(value.nodes[-1:])]
    return tolerance.difference(value.array, same[-1].array) if same else None


def _wrong_call(search: Search, state: State) -> Culprit | None:
    assert state.run is not None
    assert state.plan is not None
    expected = search.expected_calls() or _calls_of_first(search)
    number = search.tolerance.wrong_call(state.run.calls, expected)
    clash = overwritten(state.plan, [len(results) for results in state.run.calls], number)
    if clash is not None:
        return clash
    if number is None:
        return None
    if (single := _single_op(search, state)) is not None:
        return single
    call, results = state.plan.calls[number], zip(state.run.calls[number], expected[number], strict=True)
    largest = max(search.tolerance.difference(have.array, want.array) for have, want in results)
    return Culprit(f"@{call.kernel}", call.nodes, largest)


def _calls_of_first(search: Search) -> list[list[Value]]:
    first = search.states[0]
    assert first.run is not None
    return first.run.calls


def overwritten(plan: Plan, results: Sequence[int], reader: int | None) -> Culprit | None:
    """A call that writes where a value lies that call number `reader` (None: the caller) has yet to read."""
    end = len(plan.calls) if reader is None else reader
    read = plan.outputs.values() if reader is None else plan.calls[reader].operands[: -results[reader] or None]
    for place in read:
        makers = [n for n in range(end) if place in plan.calls[n].results(results[n])]
        for number in range(makers[-1] if makers else 0, min(end + 1, len(plan.calls))):
            call = plan.calls[number]
            own = makers and number == makers[-1]
            written = _written(call, results[number], scratch_only=bool(own))
            if any(overlap(place, other) for other in written) and not (number == end and place in written):
                return _clash(plan, number, makers[-1] if makers else None, reader)
    return None


def _written(call: Call, results: int, scratch_only: bool) -> tuple[Place, ...]:
    scratch = call.operands[len(call.operands) - call.scratch :]
    return scratch if scratch_only else call.results(results) + scratch


def _clash(plan: Plan, writer: int, maker: int | None, reader: int | None) -> Culprit:
    call = plan.calls[writer]
    victim = "an input" if maker is None else f"the result of @{plan.calls[maker].kernel}{_of(plan.calls[maker])}"
    end = "it is returned" if reader is None else f"@{plan.calls[reader].kernel}{_of(plan.calls[reader])} reads it"
    return Culprit(f"@{call.kernel}", call.nodes, None, f"it overwrites {victim} before {end}")


def _of(call: Call) -> str:
    return f" ({', '.join(call.nodes)})" if call.nodes else ""


def _single_op(search: Search, state: State) -> Culprit | None:
    """Take the street again with a kernel for each op; the op whose kernel is wrong, None if all are right then."""
    texts = [step.text for step in search.steps]
    begin = next((n for n, text in enumerate(texts) if text.startswith(GroupKernels.name)), None)
    if begin is None:
        return None
    ungrouped = search.steps[begin - 1].state if begin else search.states[0]
    again = search.restart(ungrouped)
    for text in [str(GroupKernels(max_ops=1)), *texts[begin + 1 : search.position(state) + 1]]:
        pipeline.run(again.unit, text)
        again.keep(text)
    last = again.states[-1]
    last.run = again.run(last)
    number = search.tolerance.wrong_call(last.run.calls, again.expected_calls())
    if number is None:
        return None
    assert last.plan is not None
    kernels, result = again.expected_calls()[number], last.run.calls[number][0]
    names = again.ops_of(kernels[0].op)
    return Culprit(
        names[0] if len(names) == 1 else f"@{kernels[0].op}",
        last.plan.calls[number].nodes,
        search.tolerance.difference(result.array, kernels[0].array),
    )
