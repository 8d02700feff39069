"""Sets written by their rows: chains of any length and products, against the sets' own oracles and a conic solver."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

import tiebreak as tb
from tiebreak.engines import choose_engine
from tiebreak.sets.epigraph import signed_parts

DIM = 9
WEIGHTS = np.linspace(0.5, 2.0, DIM)


def product() -> tb.Product:
    return tb.Product({"ball": (tb.L1Ball(1.5), 4), "box": tb.Box(-1.0, 2.0, 2), "part": (tb.Simplex(2.0), 3)})


def doubly_stochastic(x: cp.Variable) -> list[Any]:
    X = cp.reshape(x, (3, 3), order="C")
    return [x >= 0, cp.sum(X, axis=0) == 1, cp.sum(X, axis=1) == 1]


SETS: dict[str, tuple[tb.sets.Domain, Callable[[cp.Variable], list[Any]]]] = {
    "l1": (tb.L1Ball(2.0), lambda x: [cp.norm1(x) <= 2]),
    "weighted l1": (tb.L1Ball(2.0, WEIGHTS), lambda x: [cp.norm1(cp.multiply(WEIGHTS, x)) <= 2]),
    "k-sparse": (tb.KSparse(3, 0.5), lambda x: [cp.norm1(x) <= 1.5, cp.norm_inf(x) <= 0.5]),
    "simplex": (tb.Simplex(1.5), lambda x: [x >= 0, cp.sum(x) == 1.5]),
    "Birkhoff": (tb.Birkhoff(3), doubly_stochastic),
    "product": (
        product(),
        lambda x: [cp.norm1(x[:4]) <= 1.5, x[4:6] >= -1, x[4:6] <= 2, x[6:] >= 0, cp.sum(x[6:]) == 2],
    ),
    "columns in l1 balls": (
        tb.Columns(tb.L1Ball(1.5), (3, 3)),
        lambda x: [cp.norm1(x[j::3]) <= 1.5 for j in range(3)],
    ),
    "columns in simplices": (
        tb.Columns(tb.Simplex(1.5), (3, 3)),
        lambda x: [x >= 0, *(cp.sum(x[j::3]) == 1.5 for j in range(3))],
    ),
}
"""Each with its constraints as a modelling language writes them."""


def inside(domain: tb.sets.Domain, rng: np.random.Generator) -> np.ndarray:
    """A mix of vertices."""
    corners = np.array([domain.lmo(rng.normal(size=DIM)) for _ in range(6)])
    return np.asarray(rng.dirichlet(np.ones(6)) @ corners)


def optimum(goal: Any, constraints: list[Any]) -> float:
    """To about 1e-8: near the bottom of its arithmetic the solver warns that it is not sure of more."""
    options = {"tol_gap_abs": 1e-11, "tol_gap_rel": 1e-11, "tol_feas": 1e-11}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return float(cp.Problem(cp.Minimize(goal), constraints).solve(solver="CLARABEL", **options))


@pytest.mark.parametrize("name", SETS)
def test_rows_have_the_linear_minima_of_the_set(name: str) -> None:
    domain = SETS[name][0].with_dim(DIM)
    rows = domain.rows
    extent = np.maximum(*map(np.abs, domain.outer_box))
    lifted = signed_parts(domain, rows.absolute)
    rng = np.random.default_rng(3)
    for _ in range(20):
        c = np.round(rng.normal(size=DIM), 1)  # with ties
        parts = lifted.lmo(np.append(c, -c[rows.absolute]))
        x = parts[:DIM]
        x[rows.absolute] -= parts[DIM:]
        assert domain.contains(x, 1e-9)
        assert c @ x == pytest.approx(c @ domain.lmo(c), abs=1e-9)
        assert np.all(np.abs(x) <= extent + 1e-9)


def test_sets_without_rows() -> None:
    assert tb.L2Ball(1.0).with_dim(2).rows is None
    assert tb.Product({"a": (tb.L2Ball(1.0), 2), "b": tb.Box(0, 1, 2)}).rows is None
    assert tb.L1Ball(1.0).rows is None  # of no number of variables yet
    with pytest.raises(ValueError, match=r"chain has no exact method: .*L2Ball.* is not a polyhedron"):
        tb.lexicographic([tb.Linear([1.0, 2.0])] * 3, tb.L2Ball(1.0))


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("seed", range(3))
def test_chains_of_three_and_four_levels(name: str, seed: int) -> None:
    domain, constraints = SETS[name]
    rng = np.random.default_rng(seed)
    A, c, B = rng.normal(size=(2, DIM)), rng.normal(size=DIM), rng.normal(size=(1, DIM))
    z = inside(domain.with_dim(DIM), rng)
    b, y = A @ z, B @ z
    levels = [tb.LeastSquares(A, b), tb.LeastSquares(B, y), tb.Linear(c), tb.SquaredNorm(dim=DIM)]
    x = cp.Variable(DIM)
    kept = [*constraints(x), A @ x == b, B @ x == y]
    third = optimum(c @ x, kept)
    # over a polytope a large multiple of a linear level outweighs what comes after it (Mangasarian and Meyer 1979)
    optimum(1e3 * c @ x + 0.5 * cp.sum_squares(x), kept)
    assert c @ x.value == pytest.approx(third, abs=1e-7)
    fourth = 0.5 * float(x.value @ x.value)
    chain = tb.lexicographic(levels, domain)
    assert chain.success
    assert domain.with_dim(DIM).contains(chain.x, 1e-9)
    for level, value, tol in zip(chain.levels, (0.0, 0.0, third, fourth), (1e-9, 1e-9, 1e-6, 1e-4), strict=True):
        assert level.value == pytest.approx(value, abs=tol)
        assert level.lower - tol <= value <= level.upper + tol
    assert [level.value for level in tb.lexicographic(levels[:3], domain).levels] == pytest.approx(
        [level.value for level in chain.levels[:3]], abs=1e-9
    )


@pytest.mark.parametrize("seed", range(4))
def test_products_have_an_exact_method(seed: int) -> None:
    """Also with an l1 ball among their factors, with a slack, and with an l1 norm."""
    domain, constraints = SETS["product"]
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(4, DIM))
    b = A @ inside(domain, rng) + (seed % 2) * rng.normal(size=4)
    problem = tb.Problem(tb.SquaredNorm(dim=DIM), tb.LeastSquares(A, b), domain)
    result = tb.solve(problem, tol_upper=1e-8, tol_lower=1e-8)
    assert result.method == "exact"
    assert result.success
    x = cp.Variable(DIM)
    fit = 0.5 * cp.sum_squares(A @ x - b)
    g_star = optimum(fit, constraints(x))
    f_star = optimum(0.5 * cp.sum_squares(x), [*constraints(x), A @ x == A @ x.value])
    assert result.g == pytest.approx(g_star, abs=1e-8)
    assert result.f == pytest.approx(f_star, abs=1e-5)
    assert result.certificate.f_lower <= result.f <= result.certificate.f_upper
    assert set(result.blocks) == {"ball", "box", "part"}

    relaxed = tb.solve(problem.with_slack(0.1), tol_upper=1e-7, tol_lower=1e-7)
    assert relaxed.method == "exact"
    assert relaxed.success
    value = optimum(0.5 * cp.sum_squares(x), [*constraints(x), fit <= g_star + 0.1])
    assert relaxed.f == pytest.approx(value, abs=1e-6)

    sparse = tb.solve(tb.Problem(tb.L1Norm(), tb.LeastSquares(A, b), domain), tol_upper=1e-8, tol_lower=1e-8)
    assert sparse.success
    least = optimum(cp.norm1(x), [*constraints(x), A @ x == A @ result.x])
    assert sparse.f == pytest.approx(least, abs=1e-5)


def test_products_that_have_none() -> None:
    domain = product()
    opaque = tb.Function(lambda x: float(x @ x), lambda x: 2 * x, dim=DIM, convex=True)
    assert "Function" in choose_engine(tb.Problem(tb.SquaredNorm(dim=DIM), opaque, domain)).why_not
    round_part = tb.Product({"a": (tb.L2Ball(1.0), 4), "b": (tb.L1Ball(1.0), 5)})
    assert "polytope" in choose_engine(tb.Problem(tb.SquaredNorm(dim=DIM), tb.Linear(np.ones(DIM)), round_part)).why_not


def test_a_simplex_goes_by_rows_where_columns_do_not_apply(monkeypatch: pytest.MonkeyPatch) -> None:
    """Factorising a large Q takes too long; a linear and a quadratic level have rows."""
    monkeypatch.setattr("tiebreak.engines.columns.refuses.DENSE_ROOT", 5)
    F = np.random.default_rng(0).normal(size=(3, DIM))
    cost = np.r_[np.zeros(4), np.ones(DIM - 4)]  # the first four are free to share
    problem = tb.Problem(tb.Quadratic(F.T @ F, np.zeros(DIM)), tb.Linear(cost), tb.Simplex())
    result = tb.solve(problem, tol_upper=1e-7, tol_lower=1e-7)
    assert result.method == "exact"
    assert result.success
    x = cp.Variable(DIM)
    f_star = optimum(0.5 * cp.sum_squares(F @ x), [x >= 0, cp.sum(x) == 1, x[4:] == 0])
    assert result.f == pytest.approx(f_star, abs=1e-6)
    assert tb.plan(problem).engine == "rows" and "factorising" in tb.plan(problem).refusals["columns"]
    loose = tb.solve(problem.with_slack(0.01), tol_upper=1e-7, tol_lower=1e-7)
    f_loose = optimum(0.5 * cp.sum_squares(F @ x), [x >= 0, cp.sum(x) == 1, cost @ x <= 0.01])
    assert loose.success and loose.method == "exact" and loose.f == pytest.approx(f_loose, abs=1e-6)
