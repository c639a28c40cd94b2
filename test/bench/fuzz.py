"""Compile and run mutated models: `python test/bench/fuzz.py --seconds 60`.

Each must become a net that runs, or an AioptError. A finding is another exception, an abort, a hang, or memory beyond
the limit; each kind is printed once and its model kept in --keep. Exit status 1 if there was any.
"""

from __future__ import annotations

import argparse
import random
import resource
import sys
import time
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any

if __package__ in (None, ""):
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench import worker_pool
from bench.mutate import mutate
from bench.seeds import seeds

MEMORY = 6 << 30  # bytes of addresses; LLVM's and MLIR's libraries take a sixth of it
SECONDS = 60  # for one model
_BATCH = 100  # models between two looks at the clock
_LARGEST_INPUT = 1 << 20  # bytes: nets that want more are compiled, but not run


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status."""
    parser = argparse.ArgumentParser(description="Compile and run mutated models.")
    parser.add_argument("--seconds", type=float, default=60, help="how long (default: 60)")
    parser.add_argument("--seed", type=int, default=0, help="of the mutations (default: 0)")
    parser.add_argument("--workers", type=int, default=1, help="processes (default: 1)")
    parser.add_argument("--keep", type=Path, help="a folder for the models that were findings")
    parser.add_argument("--show", type=Path, help="run one model of that folder instead, with its traceback")
    given = parser.parse_args(arguments)
    if given.show:
        print(try_model(given.show.read_bytes()) or "good")
        return 0
    models, start, count, found = seeds(), time.monotonic(), 0, {}
    while (left := given.seconds - (time.monotonic() - start)) > 0:
        items = [_mutant(models, given.seed, count + index) for index in range(_BATCH)]
        # No model is begun after the end: those that are left answer at once.
        end = time.monotonic() + left
        results = worker_pool.run_all(_until(end), items, workers=given.workers, seconds=SECONDS)
        for item, result in zip(items, results, strict=True):
            count += result != _LATE
            if result == worker_pool.TOO_LONG:  # a machine that does other things as well may have let it wait
                (result,) = worker_pool.run_all(try_model, [item], workers=1, seconds=SECONDS)
            if isinstance(result, str) and result not in found:
                found[result] = item
                print(f"{len(found)}: {result}", flush=True)
                if given.keep:
                    given.keep.mkdir(parents=True, exist_ok=True)
                    (given.keep / f"{given.seed}-{len(found)}.onnx").write_bytes(item)
    print(f"{count} models of seed {given.seed} in {time.monotonic() - start:.0f} s: {len(found)} findings")
    return 1 if found else 0


_LATE = ("late",)


def _until(end: float) -> Any:
    def limited(model: bytes) -> Any:
        return _LATE if time.monotonic() > end else try_model(model)

    return limited


def _mutant(models: Sequence[bytes], seed: int, number: int) -> bytes:
    chance = random.Random(f"{seed}/{number}")
    return mutate(chance.choice(models), models, chance)


def try_model(model: bytes) -> str | None:
    """Compile and run a model; what went wrong, as one line that is the same for the same place in the code."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    import aiopt

    try:
        _use(model)
    except aiopt.AioptError as error:
        return "an error of several lines" if "\n" in str(error) else None
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        ours = [frame for frame in frames if "aiopt" in frame.filename and "bench" not in frame.filename] or frames
        place = f"{'/'.join(Path(ours[-1].filename).parts[-3:])}:{ours[-1].lineno}"
        return f"{type(error).__name__} at {place}: {' '.join(str(error).split())[:160]}"
    return None


def _use(model: bytes) -> None:
    import numpy as np

    import aiopt
    from aiopt.source import read_source

    shapes = {
        name: tuple(d if isinstance(d, int) else 2 for d in dims or ()) for name, dims in _open(read_source(model))
    }
    with aiopt.compile(model, shapes=shapes or None, cache=False) as net:
        if any(kind is None or kind.nbytes > _LARGEST_INPUT for kind in net.inputs.values()):
            return
        net.run({name: np.ones(kind.shape, kind.dtype) for name, kind in net.inputs.items()})


def _open(source: Any) -> list[Any]:
    return list(source.open_inputs.items())


if __name__ == "__main__":
    sys.exit(main())
