"""Two levels with data in chunks: the answer against one machine, brackets against closed forms, passes and their time.

    python benchmarks/dask_levels.py [--gigabytes 0.5] [--workers 0] [--part answers|passes|logistic|method]

The file is as large as asked for. Passes run on threads of this machine, or on workers with one thread each, whose
memory is limited to a quarter of the file. The plain pass is value and gradient by NumPy over the same file, chunk by
chunk, in the same run, in turn with the others. ``logistic`` also solves the same problem in memory.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import resource
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import tiebreak as tb
import tiebreak.dask as td


def answers(count: int) -> None:
    """The closed forms of the tests: condition 1e2, 1e4, 1e6; copies of columns; sets that hold and sets that bind."""
    worst, missed, other_side, proved, alone_proved, total = 0.0, 0, 0, 0, 0, 0
    known = {"chunks": 0.0, "memory": 0.0}
    for seed in range(count):
        for bits in (7, 13, 20):
            data = dyadic(seed, bits, bool(seed % 2))
            A, b, centre, f = data
            loose = (tb.Space(), tb.L1Ball(16.0), tb.Box(-4.0, 4.0))
            sets = (*loose, tb.L1Ball(1.0), tb.Box(-0.25, 0.25), tb.Simplex())
            for k, domain in enumerate(sets):
                levels = [
                    tb.Problem(tb.SquaredNorm(centre), tb.LeastSquares(rows, b, 1 / len(b)), domain)
                    for rows in (td.chunked(A, chunk_rows=25, scheduler="synchronous"), A)
                ]
                far, alone = (tb.solve(one, "exact", max_time=30) for one in levels)
                exact = (f, f) if k < len(loose) else (alone.certificate.f_lower, alone.certificate.f_upper)
                total, proved = total + 1, proved + far.success
                alone_proved += alone.success
                missed += not (far.certificate.f_lower <= exact[1] and exact[0] <= far.certificate.f_upper)
                missed += not far.certificate.g_lower <= alone.certificate.g_upper
                other_side += not alone.certificate.g_lower <= far.certificate.g_upper
                if k < len(loose):
                    for name, found in (("chunks", far), ("memory", alone)):
                        known[name] = max(known[name], abs(found.f - f) / (1 + f)) if found.success else known[name]
                if alone.success:
                    difference = abs(far.f - alone.f) / (1 + abs(alone.f))
                    worst = max(worst, difference)
                    if difference > 1e-9:
                        print(f"  seed {seed}, 2^{bits}, {domain!r}: {difference:.1e}, {far.status.name}")
    print(f"{total} instances: {proved} CONVERGED in chunks, {alone_proved} in memory")
    print(f"largest difference of f where memory is CONVERGED: {worst:.1e}; brackets that miss: {missed + other_side}")
    print(f"from the closed form, where there is one: chunks {known['chunks']:.1e}, memory {known['memory']:.1e}")


def dyadic(seed: int, bits: int, graded: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """As in tests/chunks/test_exact_in_chunks.py: everything exact in double precision."""
    rng = np.random.default_rng(seed)
    A = rng.integers(-8, 9, (60, 6)).astype(float)
    if graded:
        A *= 2.0 ** -np.round(np.linspace(0, bits, 6))
    else:
        A[:, 1] = A[:, 0] + 2.0**-bits * A[:, 1]
    A = np.repeat(np.hstack([A, A[:, :3]]), 2, axis=0)
    x0, centre = rng.integers(-4, 5, (2, 9)) / 8
    b = A @ x0 + np.repeat(rng.integers(1, 9, 60), 2) * np.tile([1.0, -1.0], 60)
    x = x0.copy()
    for one in range(3):
        both, apart = x0[one] + x0[one + 6], centre[one] - centre[one + 6]
        x[one], x[one + 6] = (both + apart) / 2, (both - apart) / 2
    return A, b, centre, 0.5 * float((x - centre) @ (x - centre))


def stored(folder: str, gigabytes: float, d: int, labels: bool = False) -> tuple[str, str]:
    """Rows with one column twice and their targets, written chunk by chunk as Zarr."""
    import zarr

    n, rng = int(gigabytes * 1e9 / 8 / d), np.random.default_rng(0)
    rows = max(1, 2**26 // (8 * d))
    paths = os.path.join(folder, "A.zarr"), os.path.join(folder, "b.zarr")
    A = zarr.open_array(paths[0], mode="w", shape=(n, d), chunks=(rows, d), dtype="f8")
    b = zarr.open_array(paths[1], mode="w", shape=(n,), chunks=(rows,), dtype="f8")
    slope = rng.standard_normal(d) / np.sqrt(d)
    for first in range(0, n, rows):
        part = rng.standard_normal((min(rows, n - first), d))
        part[:, -1] = part[:, 0]
        target = part @ slope + rng.standard_normal(len(part))
        A[first : first + rows], b[first : first + rows] = part, target > 0 if labels else target
    return paths


def plain(paths: tuple[str, str], x: np.ndarray) -> float:
    """Seconds of one pass for value and gradient by NumPy alone."""
    import zarr

    A, b = (zarr.open_array(path, mode="r") for path in paths)
    began, grad, rows = time.perf_counter(), np.zeros(x.size), A.chunks[0]
    for first in range(0, A.shape[0], rows):
        part = A[first : first + rows]
        grad += part.T @ (part @ x - b[first : first + rows])
    return time.perf_counter() - began


@contextlib.contextmanager
def machines(workers: int, limit: float) -> Iterator[object]:
    """A cluster of this machine whose workers may take so many bytes each; none for 0 workers."""
    if not workers:
        yield None
        return
    import distributed

    options = {"threads_per_worker": 1, "processes": True, "dashboard_address": ":0", "silence_logs": 40}
    with (
        distributed.LocalCluster(n_workers=workers, memory_limit=int(limit), **options) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def peak() -> float:
    """The most memory that this process ever had, in GB."""
    status = Path("/proc/self/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    return int(re.search(r"VmHWM:\s*(\d+)", status.read_text())[1]) / 1e6  # type: ignore[index]


def passes(gigabytes: float, workers: int, d: int = 100) -> None:
    """Least squares from Zarr: how many passes, and how long each is against the plain one."""
    with tempfile.TemporaryDirectory() as folder:
        paths = stored(folder, gigabytes, d)
        size = 8e-9 * (d + 1) * int(gigabytes * 1e9 / 8 / d)
        kinds: dict[str, list[float]] = {}
        with machines(workers, size * 1e9 / 4) as client:
            for _ in range(3):
                A, b = (td.from_zarr(path, scheduler=None if workers else "threads") for path in paths)
                n = A.shape[0] or 1
                base = plain(paths, np.ones(d))
                result = tb.solve(
                    tb.Problem(tb.SquaredNorm(), tb.LeastSquares(A, b, 1 / n), tb.L1Ball(3.0)), max_time=600
                )
                hands = workers or os.cpu_count() or 1
                for one in A.passes:
                    kinds.setdefault(one.kind, []).append(one.seconds / base)
                    share = 1 - one.working / one.seconds / min(one.tasks, hands)
                    kinds.setdefault(f"{one.kind}, outside of kernels, {one.tasks} tasks", []).append(share)
            found = [peak()] if client is None else list(client.run(peak).values())  # type: ignore[attr-defined]
        bracket, where = result.certificate.upper_gap, f"{workers} workers" if workers else "threads"
        print(f"{size:.3g} GB, {n} x {d}, {where}: {result.status.name}, {len(A.passes)} passes, bracket {bracket:.1e}")
        for kind, ratios in kinds.items():
            print(f"  {kind}: {statistics.median(ratios):.2f}" + ("" if "," in kind else " plain passes"))
        limit = f", limit {size / 4:.2f}" if workers else ""
        print(f"  peak memory of a process that works: {max(found):.2f} GB{limit}")


def logistic(gigabytes: float, workers: int, d: int = 100) -> None:
    """Logistic below, the loss of validation rows above: passes, and the same in memory."""
    rng = np.random.default_rng(1)
    with tempfile.TemporaryDirectory() as folder, machines(workers, 8e9) as client:
        paths = stored(folder, gigabytes, d, labels=True)
        A, b = (td.from_zarr(path, scheduler=None if client else "threads") for path in paths)
        V = rng.standard_normal((5000, d))
        upper = tb.LeastSquares(V, V @ rng.standard_normal(d) + rng.standard_normal(5000), 1 / 5000)
        domain = tb.L1Ball(5.0)
        began = time.perf_counter()
        result = tb.solve(tb.Problem(upper, tb.Logistic(A, b), domain), max_time=600)
        took = time.perf_counter() - began
        kinds = ", ".join(f"{[one.kind for one in A.passes].count(k)} {k}" for k in {one.kind: 0 for one in A.passes})
        print(f"logistic, {A.shape[0]} x {d}: {result.status.name}, {len(A.passes)} passes ({kinds}), {took:.1f} s, "
              f"bracket {result.certificate.upper_gap:.1e}, g within {result.certificate.lower_gap:.1e}")  # fmt: skip
        import zarr

        near = tb.Logistic(*(zarr.open_array(path, mode="r")[:] for path in paths))
        began = time.perf_counter()
        alone = tb.solve(tb.Problem(upper, near, domain), max_time=600)
        took = time.perf_counter() - began
        off = abs(result.f - alone.f) / (1 + abs(alone.f)), abs(result.g - alone.g) / (1 + abs(alone.g))
        print(f"  in memory: {alone.status.name} by {alone.method}, {took:.1f} s; relative differences: "
              f"f {off[0]:.1e}, g {off[1]:.1e}; x {np.abs(result.x - alone.x).max():.1e}")  # fmt: skip


def method(rows: int, d: int = 100) -> None:
    """A first-order method: seconds per update in chunks against memory, in turn."""
    rng = np.random.default_rng(0)
    A = rng.standard_normal((rows, d))
    y = (A @ rng.standard_normal(d) > 0).astype(float)
    times: dict[str, list[float]] = {"memory": [], "chunks": []}
    for _ in range(3):
        for name, data in (("memory", A), ("chunks", td.chunked(A, chunk_rows=rows // 8, scheduler="threads"))):
            problem = tb.Problem(tb.SquaredNorm(), tb.Logistic(data, y), tb.L1Ball(5.0))
            result = tb.solve(problem, "big-sam", max_iter=20, tol_lower=1e-12)
            times[name].append(result.time / result.nit)
    ratio = min(times["chunks"]) / min(times["memory"])
    print(f"big-sam, {rows} x {d}: an update in chunks takes {ratio:.2f} times one in memory")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--gigabytes", type=float, default=0.5)
    parser.add_argument("--workers", type=int, default=0)
    parser.add_argument("--count", type=int, default=8)
    parser.add_argument("--part", choices=["answers", "passes", "logistic", "method"])
    chosen = parser.parse_args()
    if chosen.part in (None, "answers"):
        answers(chosen.count)
    if chosen.part in (None, "passes"):
        passes(chosen.gigabytes, chosen.workers)
    if chosen.part in (None, "logistic"):
        logistic(chosen.gigabytes, chosen.workers)
    if chosen.part in (None, "method"):
        method(int(chosen.gigabytes * 1e9 / 800))
