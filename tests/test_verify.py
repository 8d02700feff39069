"""The second opinion: right results of every engine and set pass, planted mistakes do not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import pytest

import tiebreak as tb

N = 6


def _problems() -> Iterator[tuple[str, tb.Problem, str]]:
    rng = np.random.default_rng(5)
    A, b = rng.standard_normal((3, N)), rng.standard_normal(3)
    B, c = rng.standard_normal((8, N)), rng.standard_normal(8)
    ls, norm, val, lin = (
        tb.LeastSquares(A, b),
        tb.SquaredNorm(rng.random(N)),
        tb.LeastSquares(B, c),
        tb.Linear(b[0] + c[:N]),
    )
    rows = {"A_ub": rng.random((2, N)), "b_ub": [2.0, 3.0]}
    domains = {
        "l1": tb.L1Ball(2.0), "l2": tb.L2Ball(1.5), "box": tb.Box(-1, 1), "simplex": tb.Simplex(),
        "ksparse": tb.KSparse(2, 1.0), "columns": tb.Columns(tb.L2Ball(1.0), (2, 3)),
        "rows": tb.Polyhedron(**rows, bounds=(-1, 1)), "generous rows": tb.Polyhedron(**rows, bounds=(-1e9, 1e9)),
        "equal rows": tb.Polyhedron(A_eq=rng.random((1, N)), b_eq=[1.0], bounds=(0, 1e6)),
        "group": tb.GroupBall(np.arange(N) // 2, 2.0), "l3": tb.LpBall(3, 1.0),
        "product": tb.Product({"a": tb.L2Ball(1.0).with_dim(2), "b": tb.Simplex().with_dim(4)}),
        "oracles": tb.FromOracles(lmo=tb.Box(-1, 1).with_dim(N).lmo, diameter=2 * N**0.5, dim=N),
        "far box": tb.Box(1e6, 1e6 + 1), "nuclear": tb.NuclearBall((2, 3), 1.0),
    }  # fmt: skip
    for name, domain in domains.items():
        for f, g in ((norm, ls), (lin, ls), (val, lin), (ls, val)):
            yield name, tb.Problem(f, g, domain), "auto"
        yield name, tb.Problem(norm, ls, domain, slack=0.05), "auto"
        yield name, tb.Problem(val, 1e-6 * ls, domain), "cg-bio-anytime"
    logistic = tb.Logistic(B, c > 0)
    yield "logistic", tb.Problem(norm, logistic, tb.L1Ball(3.0)), "exact"
    yield "norms", tb.Problem(tb.L1Norm(), ls, tb.Box(-2, 2)), "auto"
    yield "norms", tb.Problem(val, ls + 0.1 * tb.L1Norm(), tb.L2Ball(1.0)), "apb-apg"
    yield "not convex", tb.Problem(tb.SquaredCovariance(B, c), ls, tb.L2Ball(1.0)), "auto"
    yield "no bound yet", tb.Problem(norm, tb.Linear(b[0] + c[:N]), tb.L2Ball(1.0)), "apdb"


CASES = list(_problems())
LIMITS = {"tol_upper": 1e-3, "tol_lower": 1e-3, "max_iter": 60}


@pytest.mark.parametrize("case", range(len(CASES)), ids=lambda i: f"{i}-{CASES[i][0]}")
def test_right_results_pass_and_wrong_ones_do_not(case):
    _, problem, method = CASES[case]
    result = tb.solve(problem, method, **LIMITS)
    assert result.verify(problem).complaints == ()
    for name, wrong in _planted(problem, result) if case % 3 == 0 else ():
        check = wrong.verify(problem)
        assert not check.ok, name
        assert check.complaints


def _claim(result: tb.Result, **changes: float) -> tb.Result:
    """The same with other claims, gaps in agreement with them."""
    c = replace(result.certificate, **changes)
    c = replace(c, lower_gap=result.g - c.g_lower, upper_gap=result.f - c.f_lower)
    levels = (tb.Level(result.g, c.g_lower, c.g_upper), tb.Level(result.f, c.f_lower, c.f_upper))
    return replace(result, certificate=c, levels=levels)


def _planted(problem: tb.Problem, result: tb.Result) -> Iterator[tuple[str, tb.Result]]:
    c, rng = result.certificate, np.random.default_rng(0)
    unit_f, unit_g = 0.1 * (1 + abs(result.f)), 0.1 * (1 + abs(result.g))
    yield "f", replace(result, f=result.f + unit_f)
    yield "f too small", replace(result, f=result.f - unit_f)
    yield "g", replace(result, g=result.g - unit_g)
    yield "x not finite", replace(result, x=result.x * np.nan)
    yield "x too short", replace(result, x=result.x[:-1])
    yield "g_lower", _claim(result, g_lower=result.g + unit_g, g_upper=max(c.g_upper, result.g + unit_g))
    yield "g crossed", _claim(result, g_lower=c.g_upper + unit_g)
    yield "f crossed", _claim(result, f_lower=result.f + 2 * unit_f, f_upper=result.f + unit_f)
    yield "nan", _claim(result, f_upper=np.nan)
    yield (
        "gap",
        replace(result, certificate=replace(c, upper_gap=c.upper_gap - unit_f if np.isfinite(c.upper_gap) else 0.0)),
    )
    yield "flag", replace(result, success=not result.success)
    if result.success and problem.upper.convex:
        yield "f_lower", _claim(result, f_lower=result.f + unit_f, f_upper=np.inf)
        yield "f_lower low", _claim(result, f_lower=result.f - unit_f)
        yield "f_upper", _claim(result, f_lower=result.f - 2 * unit_f, f_upper=result.f - unit_f)
        yield "g_lower low", _claim(result, g_lower=result.g - problem.slack - unit_g)
    center = problem.domain.lmo(np.ones(problem.dim))
    away = result.x + 10 * problem.domain.diameter * (rng.random(problem.dim) - 0.5)
    yield "outside", _moved(problem, result, away)
    if result.success and abs(problem.lower.value(center) - result.g) > problem.slack + unit_g:
        yield "another point of Z", _moved(problem, result, center)
        g = problem.lower.value(center)
        if g > result.g:
            yield (
                "a point that is forged to be optimal",
                _claim(
                    _moved(problem, result, center),
                    g_lower=g,
                    g_upper=g,
                    f_lower=problem.upper.value(center),
                    f_upper=np.inf,
                ),
            )


def _moved(problem: tb.Problem, result: tb.Result, x: np.ndarray) -> tb.Result:
    return _claim(replace(result, x=x, f=problem.upper.value(x), g=problem.lower.value(x)))


@pytest.mark.parametrize("bound", [1.0, 1e3, 1e6, 1e10])
def test_a_missed_row_is_seen_whatever_the_bounds(bound):
    Z = tb.Polyhedron(A_ub=[[1.0, 1.0]], b_ub=[1.0], bounds=(0, bound))
    problem = tb.Problem(tb.SquaredNorm(), tb.Linear([-1.0, -1.0]), Z)
    result = tb.solve(problem)
    assert result.verify(problem).ok
    for x in (np.array([0.8, 0.7]), np.array([0.5, 0.5 + 1e-5]), np.array([-1e-5, 1.0])):
        check = _moved(problem, result, x).verify(problem)
        assert not check.feasible and "x is not in the domain" in check.complaints


def test_infinite_bounds_are_no_contradiction():
    """A run that was stopped before anything was proved: g_lower = -inf and f_lower = -inf."""
    rng = np.random.default_rng(0)
    problem = tb.Problem(tb.Linear(rng.random(3)), tb.Linear(rng.random(3)), tb.L2Ball(1.0))
    result = tb.solve(problem, "cg-bio-anytime", max_iter=1)
    nothing = _claim(result, g_lower=-np.inf, f_lower=-np.inf, g_upper=np.inf, f_upper=np.inf)
    nothing = replace(nothing, success=False, status=tb.Status.MAX_ITER)
    assert nothing.verify(problem).complaints == ()
    assert not _claim(nothing, f_lower=np.inf).verify(problem).ok
    assert not _claim(nothing, g_lower=np.inf).verify(problem).ok


def test_the_error_of_a_linear_oracle_is_allowed_for():
    """An lmo that is off by 1e-3 and says so: what it misses is no proof against a right result."""

    class Rough(tb.Domain):
        dim = 2
        assumes = ""

        def __init__(self) -> None:
            self.box = tb.Box(-1, 1).with_dim(2)

        def lmo(self, c):
            return 0.999 * self.box.lmo(c)

        def lmo_bound(self, c, s):
            return self.box.lmo_bound(c, self.box.lmo(c))

        def project(self, x):
            return self.box.project(x)

        def contains(self, x, tol=1e-9):
            return self.box.contains(x, tol)

        @property
        def diameter(self):
            return self.box.diameter

    exact = tb.Problem(tb.SquaredNorm(), tb.Linear([1.0, 2.0]), tb.Box(-1, 1).with_dim(2))
    result = tb.solve(exact)
    assert result.g == pytest.approx(-3.0)
    assert result.verify(replace(exact, domain=Rough())).ok


def _chains() -> Iterator[tuple[list[tb.Objective], tb.Domain]]:
    rng = np.random.default_rng(1)
    for seed in range(4):
        n = 4 + seed
        Z = tb.Polyhedron(A_ub=rng.random((2, n)), b_ub=[1.0, 2.0], bounds=(0, 10.0 ** (2 * seed)))
        levels = [
            tb.Linear(-rng.integers(0, 2, n).astype(float)),
            tb.LeastSquares(rng.standard_normal((2, n)), rng.random(2)),
        ]
        yield [*levels, tb.SquaredNorm(dim=n)], Z
        yield levels, tb.Box(0, 1)


@pytest.mark.parametrize("case", range(8))
def test_chains(case):
    levels, Z = list(_chains())[case]
    problem = tb.Problem(levels[-1], levels[:-1], Z)
    chain = tb.solve(problem, tol_upper=1e-6, tol_lower=1e-6)
    assert chain.verify(problem).complaints == ()
    unit = 0.1 * (1 + abs(chain.levels[0].value))
    changes: list[Callable[[tb.Result], tb.Result]] = [
        lambda c: replace(c, x=c.x + 3.0),
        lambda c: replace(c, levels=(replace(c.levels[0], value=c.levels[0].value - unit), *c.levels[1:])),
        lambda c: replace(
            c, levels=(replace(c.levels[0], lower=c.levels[0].value + unit, upper=np.inf), *c.levels[1:])
        ),
        lambda c: replace(c, levels=(replace(c.levels[0], upper=c.levels[0].lower - unit), *c.levels[1:])),
        lambda c: replace(c, levels=(*c.levels[:-1], replace(c.levels[-1], lower=c.levels[-1].value + 1))),
        lambda c: replace(c, levels=(*c.levels[:-1], replace(c.levels[-1], lower=c.levels[-1].value - 1))),
    ]
    if chain.success:
        for change in changes:
            assert not change(chain).verify(problem).ok
    with pytest.raises(ValueError, match="levels"):
        chain.verify(tb.Problem(levels[0], [], Z))
