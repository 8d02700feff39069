"""What an extra is for, in a few lines that need it: python try_extra.py EXTRA, in an environment that has it."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np

import tiebreak as tb

SQUARE = tb.LeastSquares([[1.0, 1.0]], [1.0])
PROBLEM = tb.Problem(tb.SquaredNorm(), SQUARE, tb.L1Ball(2.0))


def fast() -> None:
    from tiebreak.kernels import wanted

    assert wanted()
    assert tb.solve(PROBLEM).success


def sklearn() -> None:
    from tiebreak.sklearn import MinNormRegressor

    assert np.allclose(MinNormRegressor(fit_intercept=False).fit([[1.0, 1.0]], [1.0]).coef_, 0.5)


def cvxpy() -> None:
    import cvxpy as cp

    from tiebreak.cvxpy import Lexicographic

    x = cp.Variable(2, nonneg=True)
    values = Lexicographic([cp.Minimize(cp.sum(x)), cp.Minimize(cp.sum_squares(x))], [cp.sum(x) >= 2]).solve()
    assert np.allclose(values, [2.0, 2.0])


def jax() -> None:
    import jax.numpy as jnp

    f = tb.from_jax(lambda x: jnp.sum(x**2) / 2, jnp.zeros(2), convex=True)
    assert tb.solve(tb.Problem(f, SQUARE, tb.L1Ball(2.0)), tol_upper=1e-3, tol_lower=1e-3).success


def torch() -> None:
    f = tb.from_torch(lambda x: (x**2).sum() / 2, device="cpu", convex=True)
    assert tb.solve(tb.Problem(f, SQUARE, tb.L1Ball(2.0)), tol_upper=1e-3, tol_lower=1e-3).success


def linopy() -> None:
    import linopy

    import tiebreak.linopy

    model = linopy.Model()
    x = model.add_variables(lower=0, upper=5, coords=[range(2)], name="x")
    model.add_constraints(x.sum() >= 2)
    model.add_objective(1 * x.sum())
    assert tiebreak.linopy.solve(model, then=[((x * x).sum(), "min")]).status == "ok"
    assert np.allclose(model.solution["x"].values, 1.0)


def cobra() -> None:
    from cobra.io import load_model

    import tiebreak.cobra

    assert tiebreak.cobra.lexicographic_fba(load_model("textbook")).unique


def dask() -> None:
    import dask.array as da

    import tiebreak.dask

    A = da.ones((10, 2), chunks=(5, 2))
    level = tb.LeastSquares(tiebreak.dask.chunked(A), np.ones(10))
    assert tb.solve(tb.Problem(tb.SquaredNorm(), level, tb.Box(-1, 1))).success


def cli() -> None:
    import rich

    assert rich


def plot() -> None:
    import matplotlib

    matplotlib.use("Agg")
    assert tb.solve(PROBLEM).plot() is not None


def report() -> None:
    from tiebreak.cli import main

    with tempfile.TemporaryDirectory() as folder:
        assert main(["reproduce", "toy", "--quick", "--out", folder]) == 0
        assert list(Path(folder).rglob("*.html"))


def data() -> None:
    import pooch

    assert pooch


def proof() -> None:
    chain = tb.Problem(tb.SquaredNorm(), tb.Linear([1.0, 1.0]), tb.Box(0, 1))
    assert tb.solve(chain).prove(chain)


if __name__ == "__main__":
    globals()[sys.argv[1]]()
    sys.stdout.write(f"tiebreak[{sys.argv[1]}]: passed\n")
