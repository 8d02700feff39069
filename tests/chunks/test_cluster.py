"""Passes on a cluster of this machine: the same bits as without one, whoever dies; lost clusters as sentences."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import dask.array as da
import distributed
import numpy as np
import pytest

import tiebreak as tb
import tiebreak.dask as td

rng = np.random.default_rng(0)
A = rng.standard_normal((4000, 5))
b = A @ np.ones(5) + rng.standard_normal(4000)


@pytest.fixture
def client() -> Iterator[object]:
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", silence_logs=60
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def slowly(block: np.ndarray) -> np.ndarray:
    time.sleep(0.05)
    return block


def workers(client: object) -> list[int]:
    """The processes of the workers of this test's own cluster."""
    return [one["pid"] for one in client.run(lambda dask_worker: {"pid": os.getpid()}).values()]  # type: ignore[attr-defined]


def test_a_killed_worker_changes_no_bit(client: object, tmp_path: Path) -> None:
    np.save(tmp_path / "A.npy", A)
    x = np.linspace(-1, 1, 5)
    alone = tb.Logistic(td.from_memmap(tmp_path / "A.npy", chunk_rows=130, scheduler="synchronous"), b > 0)
    expected = alone.value_and_grad(x)
    blocks = da.from_array(A, chunks=(130, 5)).map_blocks(slowly, meta=A[:0])
    far = tb.Logistic(blocks, b > 0)
    pids = workers(client)
    timer = threading.Timer(0.6, lambda: os.kill(pids[0], signal.SIGKILL))
    timer.start()
    value, grad = far.value_and_grad(x)
    timer.join()
    assert value == expected[0]
    assert grad.tobytes() == expected[1].tobytes()
    on_cluster = tb.Logistic(td.from_memmap(tmp_path / "A.npy", chunk_rows=130), b > 0)
    assert on_cluster.value(x) == expected[0]
    holds_nan = A.copy()
    holds_nan[300, 1] = np.nan
    with pytest.raises(ValueError, match="NaN in chunk 2, row 40, column 1"):
        tb.LeastSquares(da.from_array(holds_nan, chunks=(130, 5)), b).value(x)


class Deadly:
    """A kernel that ends its worker at every chunk: the scheduler blames all tasks of a worker that dies."""

    def __call__(self, k: int, rows: object) -> int:
        os._exit(1)


def test_a_task_that_kills_its_workers_is_named(client: object) -> None:
    data = td.chunked(A, chunk_rows=2000)
    data._level = lambda kind: 0  # type: ignore[method-assign]
    client.cluster.scheduler.allowed_failures = 0  # type: ignore[attr-defined]
    with pytest.raises(td.ChunkError, match=r"every worker that tried chunk [01] died, .* more memory"):
        data.reduce(Deadly(), max)


def test_a_cluster_without_workers_is_a_sentence() -> None:
    with (
        distributed.LocalCluster(n_workers=0, processes=True, dashboard_address=":0", silence_logs=60) as cluster,
        distributed.Client(cluster),
    ):
        problem = tb.Problem(tb.SquaredNorm(), tb.LeastSquares(td.chunked(A, chunk_rows=2000), b), tb.L1Ball(1.0))
        with pytest.raises(td.ChunkError, match="the cluster has no workers"):
            tb.solve(problem, max_time=1.0)
