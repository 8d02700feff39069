"""How long a solve in chunks takes on a cluster that is described in numbers: this machine's kernels, and a simulation.

    python benchmarks/dask_sizing.py --rows 1e9 --columns 1000 --workers 100 [--disk 1e9] [--network 1.25e9]
                                     [--task-bytes 1e9] [--chunk-bytes 64e6] [--newton 8] [--format markdown]

What is measured, here and now, on one chunk and with one thread: the kernel of every pass, the merge of two results,
their size, and the memory a kernel takes. What is simulated: tasks and merges as the library makes them, given to
workers one after the other by one scheduler. What is assumed is printed with the answer.
"""

from __future__ import annotations

import harness  # noqa: F401  first of all: before NumPy

# isort: split
import argparse
import heapq
import pickle
import time
import tracemalloc
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

import tiebreak as tb
import tiebreak.dask as td
from tiebreak.dask.passes import FAN_IN
from tiebreak.engines.chunked import proof, triangle
from tiebreak.engines.chunked.frame import Frame
from tiebreak.engines.chunked.levels import RowLevel
from tiebreak.objectives import chunked as in_chunks

ROUNDS = 3


class Pass(NamedTuple):
    """One pass as measured on a chunk: seconds a byte, of a merge, bytes of a result, and of what a kernel takes."""

    name: str
    pace: float
    merge: float
    result: float
    memory: float


class Simulated(NamedTuple):
    """One pass over all the data."""

    seconds: float
    moved: float
    tasks: int


def measured(d: int, chunk_bytes: float) -> list[Pass]:
    """Every pass of a quadratic level and of a logistic one."""
    rng = np.random.default_rng(0)
    rows = max(int(chunk_bytes / 8 / d), d + 1, 64)
    A = rng.standard_normal((rows, d))
    b = A @ rng.standard_normal(d) + rng.standard_normal(rows)
    x, entries = rng.standard_normal(d) / d, [np.asarray(b), np.asarray(b > 0, dtype=float)]
    small = td.chunked(A[: 4 * d + 64], chunk_rows=4 * d + 64, scheduler="synchronous")
    found = []
    for name, loss, entry in (("least squares", tb.LeastSquares, entries[0]), ("logistic", tb.Logistic, entries[1])):
        level = loss(small, entry[: small.shape[0]])
        (term,) = RowLevel.of(level, d).terms
        fold = triangle.Triangle(term.recipe, x)
        evaluate = in_chunks.Evaluate(x, (in_chunks._Reader.of(level, 0, [level]),))
        frame = None
        if term.recipe.link(np.ones(1)).quadratic:
            frame = Frame.of(
                triangle.reduced([(1.0, fold(0, A[: 4 * d + 64], entry[: 4 * d + 64]).triangle)], d).triangle, d
            )
        w = np.zeros(d) if frame is not None else x
        prove = proof.Prove((np.stack([x, w], axis=1),), (term.recipe,), (1,), (frame,))
        for title, kernel, merge in (
            ("value and gradient", evaluate, in_chunks._added),
            ("triangle", fold, triangle.together),
            ("proof", prove, proof.merged),
        ):
            found.append(_one(f"{name}: {title}", partial(kernel, 0, A, entry), merge, A.nbytes))
    return found


def _one(name: str, kernel: Callable[[], Any], merge: Callable[[Any, Any], Any], size: int) -> Pass:
    tracemalloc.start()
    result = kernel()
    memory = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    pace = min(_seconds(kernel) for _ in range(ROUNDS)) / size
    return Pass(
        name,
        pace,
        min(_seconds(lambda: merge(result, result)) for _ in range(ROUNDS)),
        len(pickle.dumps(result)),
        memory,
    )


def _seconds(call: Callable[[], Any]) -> float:
    before = time.process_time()
    call()
    return time.process_time() - before


def simulated(one: Pass, total: float, chosen: argparse.Namespace) -> Simulated:
    """Tasks over all data and their tree of merges, each given to the first worker that is free by one scheduler.

    Merges go first. Reading is not overlapped with work; of the results of a merge the share ``moved`` comes from other
    workers, over the network of the one that merges.
    """
    rng = np.random.default_rng(0)
    tasks = max(1, int(np.ceil(total / chosen.task_bytes)))
    parts, fan = [tasks], 2**FAN_IN
    while parts[-1] > 1:
        parts.append(-(-parts[-1] // fan))
    own = total / tasks
    merges_in_task = max(own / chosen.chunk_bytes - 1, 0)
    work = own * one.pace + merges_in_task * one.merge
    waiting = [min(fan, below - fan * i) for below, count in pairwise(parts) for i in range(count)]
    offsets = np.cumsum([0, *parts])
    free = [0.0] * chosen.workers
    ready: list[tuple[float, int, int]] = [(0.0, 1, i) for i in range(tasks)]  # since when, merges before tasks, which
    done: dict[int, float] = {}
    heapq.heapify(free)
    heapq.heapify(ready)
    clock, moved, end = 0.0, 0.0, 0.0
    while ready:
        since, _, i = heapq.heappop(ready)
        clock = max(clock, since) + chosen.overhead
        start = max(heapq.heappop(free), clock)
        if i < tasks:
            took = own / chosen.disk + work * max(0.1, 1 + chosen.noise * rng.standard_normal())
        else:
            level = int(np.searchsorted(offsets, i, side="right")) - 1
            inputs = min(fan, parts[level - 1] - fan * (i - offsets[level]))
            arriving = chosen.moved * inputs * one.result
            moved += arriving
            took = arriving / chosen.network + (inputs - 1) * one.merge
        end = start + took
        heapq.heappush(free, end)
        done[i] = end
        level = int(np.searchsorted(offsets, i, side="right")) - 1
        if level + 1 < len(parts):
            parent = int(offsets[level + 1] + (i - offsets[level]) // fan)
            k = parent - tasks
            waiting[k] -= 1
            if not waiting[k]:
                children = offsets[level] + fan * (parent - offsets[level + 1]) + np.arange(fan)
                heapq.heappush(ready, (max(done[int(c)] for c in children if int(c) in done), 0, parent))
    return Simulated(max(done.values()), moved, tasks)


def main() -> None:
    """The table, the whole solves, and what they rest on."""
    parser = argparse.ArgumentParser()
    for name, default, words in (
        ("rows", 1e9, ""),
        ("columns", 1000, ""),
        ("workers", 100, "one thread each"),
        ("disk", 1e9, "bytes a second, of each worker"),
        ("network", 1.25e9, "bytes a second, of each worker"),
        ("task-bytes", 1e9, ""),
        ("chunk-bytes", 64e6, "a task reads so much at once"),
        ("overhead", 2.5e-3, "seconds of the scheduler for a task"),
        ("noise", 0.2, "of the seconds of a task, relative"),
        ("moved", 0.7, "share of results that are merged on another worker"),
        ("newton", 8, "passes of Newton's method"),
    ):
        parser.add_argument(f"--{name}", type=float, default=default, help=words)
    chosen = parser.parse_args()
    n, d, chosen.workers = int(chosen.rows), int(chosen.columns), int(chosen.workers)
    total = 8.0 * n * d
    print(f"{n:,} x {d:,} float64 ({total / 1e9:,.0f} GB), {chosen.workers} workers of one thread\n")
    print(f"| {'pass':34} | here, s a GB | tasks | seconds | moved, GB | memory of a worker, GB |")
    print(f"|{'-' * 36}|---:|---:|---:|---:|---:|")
    seconds = {}
    for one in measured(d, chosen.chunk_bytes):
        found = simulated(one, total, chosen)
        seconds[one.name] = found.seconds
        memory = (
            chosen.chunk_bytes
            + one.memory
            + (2**FAN_IN + np.log2(chosen.task_bytes / chosen.chunk_bytes + 2)) * one.result
        )
        print(f"| {one.name:34} | {one.pace * 1e9:.2f} | {found.tasks:,} | {found.seconds:,.0f} "
              f"| {found.moved / 1e9:.2f} | {memory / 1e9:.2f} |")  # fmt: skip
    quadratic = seconds["least squares: triangle"] + seconds["least squares: proof"]
    newton = chosen.newton * seconds["logistic: triangle"] + seconds["logistic: proof"]
    print(f"\nquadratic levels, one data set (triangle, proof): {quadratic / 60:,.0f} min")
    print(f"logistic below ({chosen.newton:g} steps of Newton's method, proof): {newton / 60:,.0f} min")
    print(f"a first-order method: {seconds['logistic: value and gradient']:,.0f} s an update")
    print(
        "\nAssumed: kernels as fast as here (one BLAS thread), whatever the number of workers;\n"
        f"{chosen.disk / 1e9:g} GB/s from disk and {chosen.network / 1e9:g} GB/s over the network for each worker, "
        f"reading not overlapped with work;\nthe scheduler takes {1e3 * chosen.overhead:g} ms a task; their times vary "
        f"by {100 * chosen.noise:g} %; {100 * chosen.moved:g} % of results are merged elsewhere; nobody dies.\n"
        f"Not counted: the small problem of {d:,} columns on one machine. Simulated, not run."
    )


if __name__ == "__main__":
    main()
