"""The gradient of sparse least squares against the memory bandwidth: n = d = 1e5, 1e7 nonzeros.

    python benchmarks/sparse_gradient.py [--side 100000] [--nonzeros 10000000]

A'(A x - b) reads the data twice (values and indices), so the limit is two passes over them at the bandwidth of a
plain sum, measured in the same run; with numba one pass serves both. The parts are timed as well, as SciPy computes
them, to see what an irregular access costs.
"""

from __future__ import annotations

import harness  # first of all: before NumPy

# isort: split
import argparse
import sys

import numpy as np
from scipy import sparse

import tiebreak as tb
from harness import Table, race, seconds


def random_rows(side: int, nonzeros: int) -> sparse.csr_array:
    """As many entries in each row, in random columns, sorted."""
    rng = np.random.default_rng(0)
    each = nonzeros // side
    columns = np.sort(rng.integers(0, side, (side, each), dtype=np.int32), axis=1)
    A = sparse.csr_array(
        (rng.normal(size=side * each), columns.ravel(), np.arange(0, side * each + 1, each, dtype=np.int32)),
        shape=(side, side),
    )
    A.sum_duplicates()
    return A


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--side", type=int, default=10**5)
    parser.add_argument("--nonzeros", type=int, default=10**7)
    arguments = parser.parse_args()
    A = random_rows(arguments.side, arguments.nonzeros)
    rng = np.random.default_rng(1)
    x, b = rng.normal(size=A.shape[1]), rng.normal(size=A.shape[0])
    size = A.data.nbytes + A.indices.nbytes

    stream = np.ones(size // 8)
    objective = tb.LeastSquares(A, b)
    u = A @ x
    assert np.allclose(objective.grad(x), A.T @ (u - b), rtol=1e-10)
    columns, transposed = A.tocsc(), sparse.csr_array(A.T)

    def plain() -> None:
        with harness.without_numba():
            objective.value_and_grad(x)

    times = race(
        {
            "one pass over the data, plain sum": lambda: stream.sum(),
            "value_and_grad": lambda: objective.value_and_grad(x),
            "value_and_grad, NumPy alone": plain,
            "A x, by rows (gather)": lambda: A @ x,
            "A x, by columns (scatter)": lambda: columns @ x,
            "A'u, without a copy (scatter)": lambda: A.T @ u,
            "A'u, by rows of a stored transpose (gather)": lambda: transposed @ u,
        }
    )
    one_pass = times["one pass over the data, plain sum"]
    table = Table(
        f"Sparse least squares, {A.shape[0]} x {A.shape[1]}, {A.nnz} nonzeros, {size / 1e6:.0f} MB",
        ("what", "time", "/ two passes"),
    )
    for name, best in times.items():
        table.add(name, seconds(best), best / (2 * one_pass))
    ratio = times["value_and_grad"] / (2 * one_pass)
    print(f"\nBandwidth of the plain sum: {size / one_pass / 1e9:.1f} GB/s. Asked for: within 2.5 of the limit.")
    harness.save("sparse_gradient", [table], {"ratio": ratio})
    return 0


if __name__ == "__main__":
    sys.exit(main())
