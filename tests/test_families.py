"""The families of the benchmarks: their values by a second route that shares nothing with the first."""

from __future__ import annotations

import warnings
from decimal import Decimal

import cvxpy as cp
import numpy as np
import pytest

import families_columns
import reference
from decimals import chain, decimal_solve
from families import FAMILIES
from families_rows import KERNELS, incidence

SMALL = [(name, size) for name, family in FAMILIES.items() for size in family.small]


def minimum(objective, constraints) -> float:
    """As far as the solver gets: its values are compared, its status is not asked."""
    tight = {f"tol_{name}": 1e-11 for name in ("gap_abs", "gap_rel", "feas")}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return cp.Problem(cp.Minimize(objective), constraints).solve(solver=cp.CLARABEL, **tight)


def conic_set(domain, x):
    """The set once more, written for cvxpy."""
    match type(domain).__name__:
        case "L1Ball":
            return [cp.norm1(x) <= domain.radius]
        case "Simplex":
            return [cp.sum(x) == 1, x >= 0]
        case "Box":
            return [x >= domain.lower, x <= domain.upper]
        case "Birkhoff":
            n = domain.shape[0]
            return [incidence(n, n) @ x == 1, x >= 0]
        case "Polyhedron":
            A, low, high, lower, upper = domain._given
            equal, above = low == high, np.isinf(low)
            sides = [(x >= lower, lower), (x <= upper, upper)]
            rows = [A[equal] @ x == low[equal]] if equal.any() else []
            rows += [A[above] @ x <= high[above]] if above.any() else []
            return rows + [constraint for constraint, end in sides if np.isfinite(end).all()]
    raise AssertionError(f"no conic form of {domain!r}")


def conic(objective, x):
    """The objective once more, and what its minimisers have in common."""
    match type(objective).__name__:
        case "LeastSquares":
            image = objective.A @ x
            return 0.5 * objective.scale * cp.sum_squares(image - objective.b), image
        case "SquaredNorm":
            return 0.5 * cp.sum_squares(x - (0 if objective.center is None else objective.center)), x
        case "Linear":
            return objective.c @ x, objective.c @ x
        case "Logistic":
            image = objective.A @ x
            return cp.sum(cp.logistic(-cp.multiply(objective.y, image))) / objective.y.size, image
        case "Quadratic":
            return 0.5 * cp.quad_form(x, cp.psd_wrap(objective.Q)) + objective.q @ x, objective.Q @ x
    raise AssertionError(f"no conic form of {objective!r}")


@pytest.mark.parametrize(("name", "size"), SMALL)
@pytest.mark.parametrize("seed", range(2))
def test_values_agree_with_a_conic_cascade(name, size, seed):
    """Level after level by cvxpy, each minimiser's image held in the levels above."""
    known = FAMILIES[name].generate(seed, size)
    x = cp.Variable(known.levels[-1].dim)
    constraints = conic_set(known.domain, x)
    for objective, value, error in zip(known.levels, known.values, known.errors, strict=True):
        expression, image = conic(objective, x)
        assert error <= 1e-9 * (1 + abs(value))
        assert minimum(expression, constraints) == pytest.approx(value, rel=1e-5, abs=1e-5)
        held = np.asarray(image.value)
        constraints = [*constraints, cp.abs(image - held) <= 1e-9 * (1 + np.abs(held))]


@pytest.mark.parametrize(("name", "size"), [pair for pair in SMALL if pair[0] != "hierarchy"])
def test_the_upper_level_has_something_to_decide(name, size):
    """The largest value of a random functional over the lower solutions differs from its smallest."""
    known = FAMILIES[name].generate(0, size)
    x = cp.Variable(known.levels[-1].dim)
    constraints = conic_set(known.domain, x)
    expression, image = conic(known.levels[0], x)
    minimum(expression, constraints)
    held = np.asarray(image.value)
    constraints = [*constraints, cp.abs(image - held) <= 1e-9 * (1 + np.abs(held))]
    c = np.random.default_rng(0).normal(size=x.size)
    spread = -minimum(-c @ x, constraints) - minimum(c @ x, constraints)
    single = name in ("regression", "integral") or size[-1] == 0.03
    assert (spread > 1e-2) is not single


def test_minimum_norm_with_intercept_in_closed_form():
    known = FAMILIES["intercept"].generate(3, (6, 15, 1.0))
    A, b = known.levels[0].A[:, 1:], known.levels[0].b
    x = np.linalg.pinv(A - A.mean(axis=0)) @ (b - b.mean())
    assert known.g_star == pytest.approx(0.0, abs=1e-20)
    assert known.f_star == pytest.approx(0.5 * x @ x, rel=1e-12)


def test_decimals_see_the_data_as_they_are():
    # Rows (1, 1) and (1, 1 + 2^-52): in exact arithmetic the minimiser is unique, whatever double precision says.
    F = np.array([[1.0, 1.0], [1.0, 1.0 + 2.0**-52]])
    box = {"low": np.full(2, -10.0), "high": np.full(2, 10.0)}
    y = np.array([1.0, 1.0 + 2.0**-52])
    g, f = chain([reference.level(2, F, y, **box), reference.level(2, np.eye(2), 0.0, **box)])
    assert g.value <= 1e-99  # far below what double precision can tell from zero
    np.testing.assert_allclose(f.x, [0.0, 1.0], atol=1e-50)
    # With two equal rows the minimisers are a line, and the shortest is in the middle.
    g, f = chain([reference.level(2, F[[0, 0]], 1.0, **box), reference.level(2, np.eye(2), 0.0, **box)])
    np.testing.assert_allclose(f.x, [0.5, 0.5], rtol=1e-15)


@pytest.mark.parametrize("seed", range(6))
def test_three_routes_to_one_level(seed):
    rng = np.random.default_rng(seed)
    d = 12
    task = reference.level(d, rng.normal(size=(5, d)), 5 * rng.normal(size=5), rng.normal(size=d),
                           np.ones((1, d)), [1.0], 0.0, 0.4)  # fmt: skip
    clarabel = reference.judge(task, *reference.clarabel_point(task))
    piqp = reference.judge(task, *reference.piqp_point(task))
    exact = decimal_solve(task, clarabel).reference
    for one in (clarabel, piqp):
        assert one.error <= 1e-7
        assert abs(one.value - exact.value) <= one.error + 1e-12


def test_a_poor_guess_does_not_change_the_decimal_answer():
    A, x = KERNELS["baart"](8)
    task = reference.level(8, A, A @ x + 0.1, low=np.zeros(8), high=np.full(8, 10.0))
    good = decimal_solve(task, reference.judge(task, *reference.clarabel_point(task))).reference
    poor = decimal_solve(task, reference.judge(task, np.full(8, 5.0), np.zeros(0))).reference
    assert poor.value == pytest.approx(good.value, rel=1e-14)


def test_contradicting_equations_are_noticed():
    task = reference.level(2, np.eye(2), 0.0, A=np.ones((2, 2)), b=[1.0, 2.0], low=-9.0, high=9.0)
    with pytest.raises(reference.Inaccurate):
        decimal_solve(task, reference.judge(task, np.zeros(2), np.zeros(2)))


@pytest.mark.parametrize("kind", KERNELS)
def test_integral_equations_are_discretised_right(kind):
    n = 64
    A, x = KERNELS[kind](n)
    s = (np.arange(n) + 0.5) / n
    exact = {
        "baart": lambda: 2 * np.sinh(s * np.pi / 2) / (s * np.pi / 2),
        "foxgood": lambda: ((1 + s**2) ** 1.5 - s**3) / 3,
        "phillips": lambda: _phillips_right_side(n),
    }[kind]()
    np.testing.assert_allclose(A @ x, exact, atol=2e-3 * np.abs(exact).max())


def _phillips_right_side(n: int) -> np.ndarray:
    h = 12 / n
    s = -6 + h * (np.arange(n) + 0.5)
    size = np.abs(s)
    middle = (6 - size) * (1 + 0.5 * np.cos(s * np.pi / 3)) + 9 / (2 * np.pi) * np.sin(size * np.pi / 3)
    return middle * np.sqrt(h)


def test_shared_weights_against_a_search():
    for total in (-1.3, 0.0, 0.7):
        for center in np.random.default_rng(0).normal(size=(5, 2)):
            found = families_columns._share(center, total)
            grid = total * np.linspace(0, 1, 2001)[:, None] * [1, -1] + [0, total]
            best = np.min(np.sum((grid - center) ** 2, axis=1))
            assert found.sum() == pytest.approx(total)
            assert np.sum((found - center) ** 2) == pytest.approx(best, abs=1e-6)


def test_page_views_are_counts_scaled_by_column():
    views = families_columns.page_views(1, 50, 7)
    assert views.shape == (50, 7)
    assert (views.max(axis=0) == 1.0).all()
    assert (views >= 0).all()


def test_elimination_solves_in_decimals():
    from decimals import _eliminate

    system = [[Decimal(0), Decimal(2), Decimal(4)], [Decimal(3), Decimal(1), Decimal(5)]]
    assert _eliminate(system) == [Decimal(1), Decimal(2)]
