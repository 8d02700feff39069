"""What dies, and what is wrong with the data: killed workers bit for bit, and the sentence of every other fault.

    python benchmarks/dask_faults.py [--kills 20] [--part kills|messages] [--seed 0]

``kills``: a solve on a cluster of its own, two workers, one of which is killed at a random moment of each run; against
the same solve without a cluster. ``messages``: a scheduler that is killed, chunks that cannot be read, chunks that hold
no data, parts that do not belong together. Only processes that this script has started are ever killed.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import dask.array as da
import distributed
import numpy as np

import tiebreak as tb
import tiebreak.dask as td

ROWS, COLUMNS, CHUNK = 120_000, 30, 3000


class Slow:
    """A block that takes its time to come, so that there is time to die."""

    def __init__(self, path: Path, first: int, seconds: float) -> None:
        self.path, self.first, self.seconds = path, first, seconds
        self.where = f"rows from {first} of {path.name}"

    def read(self) -> np.ndarray:
        """The rows."""
        time.sleep(self.seconds)
        return np.array(np.load(self.path, mmap_mode="r")[self.first : self.first + CHUNK])


def problem(folder: Path, seconds: float, scheduler: str | None) -> tb.Problem:
    """Logistic with equal columns, read slowly."""
    pieces = [Slow(folder / "A.npy", first, seconds) for first in range(0, ROWS, CHUNK)]
    A = td.ChunkedMatrix(pieces, COLUMNS, [CHUNK] * len(pieces), "A", scheduler=scheduler)
    return tb.Problem(tb.SquaredNorm(), tb.Logistic(A, np.load(folder / "y.npy")), tb.L1Ball(3.0))


def fingerprint(result: tb.Result) -> tuple[bytes, ...]:
    """The bits of the answer and of its bounds."""
    found = result.certificate
    return result.x.tobytes(), np.array([result.f, result.g, found.g_lower, found.g_upper, found.f_lower]).tobytes()


def kills(count: int, seed: int) -> None:
    """So many solves, a worker killed in each; those that end with other bits are counted."""
    rng = np.random.default_rng(seed)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        A = rng.standard_normal((ROWS, COLUMNS))
        A[:, -1] = A[:, 0]
        np.save(folder / "A.npy", A)
        np.save(folder / "y.npy", (A @ rng.standard_normal(COLUMNS) + rng.standard_normal(ROWS) > 0).astype(float))
        expected = fingerprint(tb.solve(problem(folder, 0.0, "synchronous")))
        length, same, died = None, 0, 0
        for k in range(count + 1):  # the first one, that is not counted, shows how long it takes
            with cluster() as (_, pids):
                killed: list[float] = []
                began = time.perf_counter()

                def kill(began: float = began, pids: list[int] = pids, killed: list[float] = killed) -> None:
                    os.kill(pids[int(rng.integers(len(pids)))], signal.SIGKILL)
                    killed.append(time.perf_counter() - began)

                timer = threading.Timer(float(rng.uniform(0.05, 0.95)) * (length or 0.0), kill)
                if length is not None:
                    timer.start()
                found = tb.solve(problem(folder, 0.02, None), max_time=300)
                took = time.perf_counter() - began
                timer.cancel()
                if length is None:
                    length = took
                    print(f"undisturbed: {took:.1f} s, {found.status.name}, {fingerprint(found) == expected}")
                    continue
                died += bool(killed)
                same += fingerprint(found) == expected
                when = f"killed after {killed[0]:.2f} s" if killed else "over before the kill"
                bits = "the same bits" if fingerprint(found) == expected else "OTHER BITS"
                print(f"  {k}: {when}, {took:.1f} s in all, {found.status.name}, {bits}", flush=True)
        print(f"{count} solves, {died} with a killed worker: {same} with the same bits")


@contextlib.contextmanager
def cluster() -> Iterator[tuple[Any, list[int]]]:
    """Two workers of this script's own, and their process ids."""
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", silence_logs=60
        ) as own,
        distributed.Client(own) as client,
    ):
        yield client, list(client.run(os.getpid).values())


def messages() -> None:
    """The sentence of each fault."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for title, fault in (
            ("scheduler killed", scheduler_killed),
            ("file cut short", cut_short),
            ("file gone", gone),
            ("compressed chunk spoilt", spoilt),
            ("NaN", holds_nan),
            ("rows of A and b", lambda _: tb.LeastSquares(da.ones((10, 2), chunks=(5, 2)), np.ones(9))),
            ("chunks of A and b", other_chunks),
            ("columns cut", lambda _: tb.LeastSquares(da.ones((10, 2), chunks=(5, 1)), np.ones(10))),
            ("no numbers", lambda _: tb.LeastSquares(da.from_array(np.full((4, 2), "a")), np.ones(4))),
            ("empty", lambda _: tb.LeastSquares(da.ones((0, 2)), np.ones(0))),
            ("taken for a NumPy array", lambda _: np.asarray(td.chunked(np.ones((4, 2))))),
        ):
            print(f"{title}: {sentence(fault, folder)}", flush=True)


def sentence(fault: Callable[[Path], object], folder: Path) -> str:
    """What a user reads."""
    try:
        return f"NO ERROR: {fault(folder)}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def scheduler_killed(folder: Path) -> object:
    """A scheduler and a worker as processes of their own; the first dies in the middle of a solve."""
    place = folder / "scheduler.json"
    run = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--port", "0", "--scheduler-file", str(place)]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    scheduler = subprocess.Popen([*run, "--no-dashboard"], **quiet)  # type: ignore[call-overload]
    worker = None
    try:
        while not place.exists():
            time.sleep(0.1)
        work = [sys.executable, "-m", "distributed.cli.dask_worker", "--scheduler-file", str(place), "--nthreads", "1"]
        worker = subprocess.Popen([*work, "--no-dashboard", "--local-directory", str(folder)], **quiet)  # type: ignore[call-overload]
        np.save(folder / "A.npy", np.random.default_rng(0).standard_normal((ROWS, COLUMNS)))
        np.save(folder / "y.npy", np.tile([0.0, 1.0], ROWS // 2))
        with distributed.Client(scheduler_file=str(place)) as client:
            client.wait_for_workers(1)
            timer = threading.Timer(1.5, scheduler.kill)
            timer.start()
            began = time.perf_counter()
            try:
                return tb.solve(problem(folder, 0.1, None))
            except Exception as error:
                raise type(error)(f"{error} [after {time.perf_counter() - began:.1f} s]") from None
    finally:
        for process in (worker, scheduler):
            if process is not None:
                process.kill()
                process.wait()


def cut_short(folder: Path) -> object:
    """A file of numbers that ends too early."""
    np.save(folder / "short.npy", np.ones((1000, 3)))
    A = td.from_memmap(folder / "short.npy", chunk_rows=300, scheduler="threads")
    os.truncate(folder / "short.npy", 10_000)
    return tb.LeastSquares(A, np.ones(1000)).value(np.zeros(3))


def gone(folder: Path) -> object:
    """A file that somebody has deleted since."""
    np.save(folder / "gone.npy", np.ones((1000, 3)))
    A = td.from_memmap(folder / "gone.npy", chunk_rows=300, scheduler="threads")
    (folder / "gone.npy").unlink()
    return tb.LeastSquares(A, np.ones(1000)).value(np.zeros(3))


def spoilt(folder: Path) -> object:
    """A compressed chunk whose bytes are others."""
    import zarr

    path = folder / "spoilt.zarr"
    zarr.open_array(path, mode="w", shape=(1000, 3), chunks=(250, 3), dtype="f8")[:] = np.random.default_rng(
        0
    ).standard_normal((1000, 3))
    chunk = max((one for one in path.rglob("*") if one.is_file()), key=lambda one: (one.stat().st_size, str(one)))
    chunk.write_bytes(b"no data at all")
    A = td.from_zarr(path, chunk_rows=250, scheduler="threads")
    return tb.LeastSquares(A, np.ones(1000)).value(np.zeros(3))


def holds_nan(folder: Path) -> object:
    """In the third chunk."""
    A = np.ones((1000, 3))
    A[507, 1] = np.nan
    return tb.LeastSquares(da.from_array(A, chunks=(250, 3)), np.ones(1000)).value(np.zeros(3))


def other_chunks(folder: Path) -> object:
    """Frames of other partitions, whose lengths nobody knows."""
    import dask.dataframe as dd
    import pandas as pd

    one = dd.from_pandas(pd.DataFrame({"a": np.ones(10)}), npartitions=2)
    other = dd.from_pandas(pd.DataFrame({"b": np.ones(10)}), npartitions=3)
    return tb.LeastSquares(td.from_frame(one, ["a"]), td.from_frame(other, "b"))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--part", choices=["kills", "messages"])
    chosen = parser.parse_args()
    if chosen.part in (None, "messages"):
        messages()
    if chosen.part in (None, "kills"):
        kills(chosen.kills, chosen.seed)
