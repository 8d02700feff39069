"""Good files to spoil: problem files with their data, results and checkpoints."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
from scipy import sparse

import tiebreak as tb
from tiebreak.methods import SOLVERS

LIMITS = "\n[limits]\nmax_iter = 40\nmax_time = 2.0\ntol_upper = 1e-3\ntol_lower = 1e-3\n"

TWO_LEVELS = """\
slack = 0.0
output = "answer"
x0 = [0.1, 0.2, 0.0, 0.0]

[upper]
terms = [
  { type = "SquaredNorm", center = [1.0, 0.0, 0.5, 0.25], weight = 2.0 },
  { type = "Linear", c = [1, 0, 0, -1] },
]

[lower]
type = "LeastSquares"
A = { file = "data.csv", columns = ["a", "b", "c", "d"] }
b = { file = "data.csv", column = "y" }
scale = 0.5

[domain]
type = "L1Ball"
radius = 2.0

[method]
name = "cg-bio-anytime"
lower_steps = "exact"
step = { type = "Harmonic", a = 2, shift = 2 }
"""

FROM_ARCHIVES = """\
method = "auto"

[upper]
type = "Quadratic"
Q = { file = "dense.npz", array = "Q" }
q = { file = "dense.npz", array = "q" }

[lower]
type = "LeastSquares"
A = { file = "sparse.npz" }
b = [1.0, 2.0, 3.0]

[domain]
type = "Polyhedron"
A_ub = [[1, 1, 1, 1]]
b_ub = [3.0]
bounds = [[0, 1], [0, 1], [0, 1], [0, 1]]
"""

CHAIN = """\
[[levels]]
type = "Linear"
c = [1.0, 1.0, 0.0, 0.0]

[[levels]]
type = "LeastSquares"
A = [[1.0, 0.0, 1.0, 0.0]]
b = [1.0]

[domain]
type = "Product"
[domain.blocks]
w = { type = "Simplex", total = 1.0, shape = [2] }
p = { type = "Box", lower = 0.0, upper = 1.0, shape = [2] }
"""

CURVE = """\
slacks = [1e-3, 1e-1]

[upper]
type = "SquaredNorm"
dim = 4

[lower]
type = "Logistic"
A = { file = "data.csv", without = ["y"] }
y = [1, -1, 1]

[domain]
type = "L2Ball"
radius = 1.5
center = [0.0, 0.0, 0.1, 0.0]
"""

MPS = """\
NAME  power
OBJSENSE
    MIN
ROWS
 N  cost
 N  co2
 L  most
 G  least
 E  both
COLUMNS
 x[1]  cost  1.5  most  1
 x[1]  least  1  co2  2.5
 y  cost  2  most  1
 y  both  -1  co2  4
 z  cost  1  both  1
RHS
 RHS  most  9  least  1
 RHS  both  3  co2  -5
RANGES
 RNG  most  8
BOUNDS
 UP BND  x[1]  4
 LO BND  y  -1
 UP BND  y  1
QUADOBJ
 x[1]  x[1]  2
 x[1]  y  0.5
 y  y  1
ENDATA
"""

LP = """\
\\ a model
maximize
 profit: 3 x1 + 2 x2 - x3 + [ - x1^2 + 2 x1 * x2 - 4 x2 ^2 ] / 2 + 5
subject to
 most: x1 + x2 + x3 <= 10
 least: x1 - x3 >= -4
 weight: 2 x1 + 3 x3 >= -inf
bounds
 x1 <= 4
 -1 <= x2 <= 4
 x3 <= 3
end
"""

MODELS = {"power.mps": MPS, "profit.lp": LP}
TEXTS = {"two": TWO_LEVELS, "archives": FROM_ARCHIVES, "chain": CHAIN, "curve": CURVE}


def problem() -> tb.Problem:
    """The problem of the results."""
    A = np.arange(12.0).reshape(3, 4) % 5
    return tb.Problem(tb.SquaredNorm(), tb.LeastSquares(A, A.sum(axis=1) / 10), tb.L1Ball(1.0))


def lay_out(folder: Path) -> None:
    """Write all good files."""
    for name, text in TEXTS.items():
        limits = LIMITS if name != "chain" else "\n[limits]\nmax_time = 2.0\n"
        (folder / f"{name}.toml").write_text(text + limits)
    for name, text in MODELS.items():
        (folder / name).write_text(text)
    with open(folder / "data.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["a", "b", "c", "d", "y"])
        writer.writerows([[1.5, 2, 0, -1, 0.5], [0.25, 1e-3, 1, 4, 1], [3, "1e2", 7, 0, 2]])
    A = np.arange(12.0).reshape(3, 4) % 5
    np.savez(folder / "dense.npz", Q=np.eye(4), q=np.ones(4), n=np.arange(3))
    sparse.save_npz(folder / "sparse.npz", sparse.csr_array(A))
    tb.solve(problem()).prove(problem()).save(folder / "proof.json")
    for method in SOLVERS:
        result = tb.solve(problem(), method, max_iter=7, tol_upper=1e-12, callback=tb.Checkpoint(folder / "run.npz", 3))
        result.save(folder / f"result-{method}.npz")
        (folder / "run.npz").replace(folder / f"checkpoint-{method}.npz")
