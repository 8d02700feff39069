"""Least squares with sparse data over large Euclidean balls: seconds of the processor, and the width of the bracket.

``python benchmarks/large_balls.py [variables]``: ten entries a row, radii up to one where the multiplier is small, and
then one that does not bind, which is left to first-order methods for ten seconds.
"""

from __future__ import annotations

import harness  # isort: skip  (before NumPy: one thread)

import sys
import time

import numpy as np
import scipy.sparse as sp

import tiebreak as tb


def main() -> None:
    n = int(float((sys.argv[1:] or ["1e5"])[0]))
    rng = np.random.default_rng(0)
    A = sp.random_array((n, n), density=10 / n, rng=rng, format="csr", data_sampler=rng.standard_normal)
    g, f = tb.LeastSquares(A, rng.standard_normal(n)), tb.SquaredNorm(rng.standard_normal(n))
    print("radius      seconds  method     width of f*, relative   one lower solution   f")
    for radius in (0.05, 0.15, 0.5, 1.0, 100.0):
        size = radius * float(np.sqrt(n))
        began = time.process_time()
        limit = 10.0 if radius == 100.0 else 200.0
        result = tb.solve(tb.Problem(f, g, tb.L2Ball(size)), max_time=limit)
        taken, known = time.process_time() - began, result.certificate
        width = (known.f_upper - known.f_lower) / (1 + abs(result.f))
        line = f"{size:8.1f}  {taken:9.2f}  {result.method:10} {width:.1e}                 {known.lower_unique}"
        print(f"{line}                 {result.f:.10g}", flush=True)


if __name__ == "__main__":
    assert harness
    main()
