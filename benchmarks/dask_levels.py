"""Two levels with data in chunks: the answer against one machine, brackets against closed forms, passes and their time.

    python benchmarks/dask_levels.py [--gigabytes 0.5] [--part answers|passes|logistic|method]

Sizes are those of a laptop: the file is as large as asked for, passes run on threads of this machine. The plain pass is
value and gradient by NumPy over the same file, chunk by chunk, in the same run, in turn with the others.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import tempfile
import time

import numpy as np

import tiebreak as tb
import tiebreak.dask as td


def answers(count: int) -> None:
    """The closed forms of the tests: condition 1e2, 1e4, 1e6; copies of columns; sets that hold and sets that bind."""
    worst, missed, other_side, proved, alone_proved, total = 0.0, 0, 0, 0, 0, 0
    for seed in range(count):
        for bits in (7, 13, 20):
            data = dyadic(seed, bits, bool(seed % 2))
            A, b, centre, f = data
            sets = (tb.L1Ball(16.0), tb.Box(-4.0, 4.0), tb.L1Ball(1.0), tb.Box(-0.25, 0.25), tb.Simplex())
            for k, domain in enumerate(sets):
                levels = [
                    tb.Problem(tb.SquaredNorm(centre), tb.LeastSquares(rows, b, 1 / len(b)), domain)
                    for rows in (td.chunked(A, chunk_rows=25, scheduler="synchronous"), A)
                ]
                far, alone = (tb.solve(one, "exact", max_time=30) for one in levels)
                exact = (f, f) if k < 2 else (alone.certificate.f_lower, alone.certificate.f_upper)
                total, proved = total + 1, proved + far.success
                alone_proved += alone.success
                missed += far.certificate.f_lower > exact[1]
                missed += not far.certificate.g_lower <= alone.certificate.g_upper
                other_side += not alone.certificate.g_lower <= far.certificate.g_upper
                if alone.success:
                    difference = abs(far.f - alone.f) / (1 + abs(alone.f))
                    worst = max(worst, difference)
                    if difference > 1e-9:
                        print(f"  seed {seed}, 2^{bits}, {domain!r}: {difference:.1e}, {far.status.name}")
    print(f"{total} instances: {proved} CONVERGED in chunks, {alone_proved} in memory")
    print(f"largest difference of f where memory is CONVERGED: {worst:.1e}; brackets that miss: {missed + other_side}")


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


def passes(gigabytes: float, d: int = 100) -> None:
    """Least squares from Zarr: how many passes, and how long each is against the plain one."""
    with tempfile.TemporaryDirectory() as folder:
        paths = stored(folder, gigabytes, d)
        kinds: dict[str, list[float]] = {}
        for _ in range(3):
            A, b = (td.from_zarr(path, scheduler="threads") for path in paths)
            n = A.shape[0] or 1
            base = plain(paths, np.ones(d))
            result = tb.solve(tb.Problem(tb.SquaredNorm(), tb.LeastSquares(A, b, 1 / n), tb.L1Ball(3.0)))
            for one in A.passes:
                kinds.setdefault(one.kind, []).append(one.seconds / base)
                kinds.setdefault(f"{one.kind}, outside of kernels", []).append(
                    1 - one.working / one.seconds / min(one.tasks, os.cpu_count() or 1)
                )
        bracket = result.certificate.upper_gap
        print(f"{gigabytes:g} GB, {n} x {d}: {result.status.name}, {len(A.passes)} passes, bracket {bracket:.1e}")
        for kind, ratios in kinds.items():
            print(f"  {kind}: {statistics.median(ratios):.2f}" + ("" if "," in kind else " plain passes"))
        print(f"  peak memory of this process: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.2f} GB")


def logistic(gigabytes: float, d: int = 100) -> None:
    """Logistic below, least norm above: passes, and the same in memory."""
    with tempfile.TemporaryDirectory() as folder:
        paths = stored(folder, gigabytes, d, labels=True)
        A, b = (td.from_zarr(path, scheduler="threads") for path in paths)
        began = time.perf_counter()
        result = tb.solve(tb.Problem(tb.SquaredNorm(), tb.Logistic(A, b), tb.L1Ball(5.0)))
        took = time.perf_counter() - began
        print(f"logistic, {A.shape[0]} x {d}: {result.status.name}, {len(A.passes)} passes, {took:.1f} s, "
              f"bracket {result.certificate.upper_gap:.1e}, g within {result.certificate.lower_gap:.1e}")  # fmt: skip


def method(rows: int = 100_000, d: int = 100) -> None:
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
    parser.add_argument("--count", type=int, default=8)
    parser.add_argument("--part", choices=["answers", "passes", "logistic", "method"])
    chosen = parser.parse_args()
    if chosen.part in (None, "answers"):
        answers(chosen.count)
    if chosen.part in (None, "passes"):
        passes(chosen.gigabytes)
    if chosen.part in (None, "logistic"):
        logistic(chosen.gigabytes)
    if chosen.part in (None, "method"):
        method()
