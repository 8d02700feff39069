"""Where column generation goes wrong if nothing is done about it: one test a pitfall."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from bilevel_references import interpolation, upper_value
from scipy.optimize import linprog
from test_columns import check, half_square, random_data

import tiebreak as tb
from tiebreak.engines.columns import descent
from tiebreak.engines.columns.solve import solve_columns
from tiebreak.kernels.small_factors import factorise


def least_squares(A, b, B, y, domain) -> tb.Problem:
    return tb.Problem(tb.LeastSquares(B, y), tb.LeastSquares(A, b), domain)


def ended_early(answer) -> bool:
    return any("limit of the arithmetic" in note for note in answer.notes)


def test_p1_upper_level_interpolates() -> None:
    """f* = 0 with more freedom than f has rows: its reduced Hessian is singular."""
    A, b, B, _, R = interpolation(25, 60, 20, 2.0, seed=2)
    spread = np.zeros(60)
    spread[:] = np.linalg.lstsq(A, b, rcond=None)[0]
    problem = least_squares(A, b, B, B @ spread, tb.L1Ball(max(R, 1.05 * np.abs(spread).sum())))
    answer = solve_columns(problem)
    assert problem.upper.value(answer.x) <= 1e-20
    assert answer.f_upper <= 1e-12 and answer.well_posed and not ended_early(answer)


def test_p2_linear_upper_level() -> None:
    """No curvature at all: portfolio of least risk, then largest return."""
    rng = np.random.default_rng(0)
    returns, mean = 0.1 * rng.normal(size=(20, 80)), rng.normal(size=80)
    problem = tb.Problem(tb.Linear(-mean), tb.LeastSquares(returns, np.zeros(20)), tb.Simplex())
    rows, values = np.vstack([returns, np.ones(80)]), np.append(np.zeros(20), 1.0)
    check(problem, solve_columns(problem), linprog(-mean, A_eq=rows, b_eq=values, bounds=(0, None)).fun)


def test_p3_zero_optimum_ends() -> None:
    """A tolerance relative to f is never met where f* = 0."""
    rng = np.random.default_rng(1)
    A, B = rng.normal(size=(40, 150)), rng.normal(size=(30, 150))
    inside = rng.uniform(-0.5, 0.5, 150)
    problem = least_squares(A, A @ inside, B, B @ inside, tb.Box(-1, 1))
    answer = solve_columns(problem)
    assert problem.upper.value(answer.x) <= 1e-18
    assert answer.steps <= 1000 and not ended_early(answer)


@pytest.mark.parametrize("kind", ["duplicated A and B", "f = g"])
def test_p4_noise_ends(kind: str) -> None:
    """Duplicates of both levels keep offering vertices whose gain is noise."""
    for seed in range(60):
        A, b, B, y = random_data(kind, np.random.default_rng([seed, 4]))
        answer = solve_columns(least_squares(A, b, B, y, tb.L1Ball(1.0)))
        assert answer.steps <= 20 * sum(A.shape)


def test_p5_noise_of_the_lower_level_times_its_price() -> None:
    """On an active face the price of the lower level multiplies the noise of its gap."""
    rng = np.random.default_rng(2)
    for _ in range(5):
        A, B = rng.normal(size=(25, 100)), rng.normal(size=(20, 100))
        problem = least_squares(A, 10 * rng.normal(size=25), B, 3 * rng.normal(size=20), tb.KSparse(5, 1.0))
        answer = solve_columns(problem)
        assert answer.steps <= 200
        assert answer.width <= 1e-9 and answer.well_posed


@pytest.mark.parametrize("eps", [1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12])
def test_p6_near_duplicates(eps: float) -> None:
    """f* = 1 for every eps > 0 and 0 for eps = 0: a bracket that leaves out 1 must not call itself exact."""
    A, b = np.array([[1.0, 1.0], [0.0, eps]]), np.array([2.0, 0.0])
    problem = tb.Problem(tb.SquaredNorm([0.0, 1.0]), tb.LeastSquares(A, b), tb.Simplex())
    answer = solve_columns(problem)
    near = abs(problem.upper.value(answer.x) - 1) <= 1e-6
    assert near or not answer.well_posed
    assert answer.f_lower <= 1 + 1e-9
    if not near:
        assert answer.f_upper >= 1 or answer.assumes
        assert any("slack" in note for note in answer.notes)


def test_p6_near_duplicates_are_harmless_where_the_rows_have_full_rank() -> None:
    rng = np.random.default_rng(3)
    A = rng.normal(size=(10, 30))
    A = np.hstack([A, A + 1e-9 * rng.normal(size=A.shape)])
    b, B, y = rng.normal(size=10), rng.normal(size=(8, 60)), rng.normal(size=8)
    problem = least_squares(A, b, B, y, tb.L1Ball(3.0))
    answer = solve_columns(problem)
    assert answer.well_posed
    check(problem, answer, upper_value(half_square(B, y), A, b, problem.domain))


@pytest.mark.parametrize("n", [8, 12, 15])
def test_p7_decaying_spectrum(n: int) -> None:
    """Singular values 10^-k: the rank is the model. No claim to be exact, and A x = t* all the same."""
    rng = np.random.default_rng(n)
    U, W = np.linalg.qr(rng.normal(size=(n, n)))[0], np.linalg.qr(rng.normal(size=(40, 40)))[0]
    A = (U * 10.0 ** -np.arange(n)) @ W[:n]
    problem = least_squares(A, A @ (0.1 * rng.normal(size=40)), np.eye(40), rng.normal(size=40), tb.L1Ball(8.0))
    answer = solve_columns(problem)
    assert not answer.well_posed
    assert problem.lower.value(answer.x) <= 1e-14
    assert any("slack" in note for note in answer.notes)


def test_p8_degenerate_start() -> None:
    """Level 1 ends at the planted sparse point, so that most basic weights start at zero."""
    A, b, B, y, R = interpolation(60, 200, 40, 1.2)
    problem = least_squares(A, b, B, y, tb.L1Ball(R))
    check(problem, solve_columns(problem), upper_value(half_square(B, y), A, b, problem.domain))


@pytest.mark.parametrize("excess", [0.0, 1e-12])
def test_p9_radius_equal_to_the_least_norm(excess: float) -> None:
    """One feasible point, no interior: long runs of zero steps, and an end."""
    for seed in range(4):
        A, b, B, y, R = interpolation(25, 60, 20, 1.0, seed)
        sparsest = linprog(np.ones(120), A_eq=np.hstack([A, -A]), b_eq=b, bounds=(0, None)).x
        problem = least_squares(A, b, B, y, tb.L1Ball(R * (1 + excess)))
        answer = solve_columns(problem)
        f = problem.upper.value(sparsest[:60] - sparsest[60:])
        assert abs(problem.upper.value(answer.x) - f) <= 1e-6 * (1 + f)
        assert answer.f_lower <= f + 1e-6 * (1 + f)
        assert answer.steps <= 1000


def test_p10_weights_a_rounding_error_below_zero() -> None:
    for seed in range(30):
        rng = np.random.default_rng(seed)
        A, b, B, y = random_data("gauss", rng)
        A, B = np.hstack([A, A + 1e-11 * rng.normal(size=A.shape)]), np.hstack([B, rng.normal(size=B.shape)])
        problem = least_squares(A, b, B, y, tb.L1Ball(1.0))
        answer = solve_columns(problem)
        assert np.isfinite(answer.x).all()
        assert problem.domain.contains(answer.x, 1e-12)
        assert answer.f_lower <= problem.upper.value(answer.x)


@pytest.mark.parametrize("entry", [-5e-32, -5e-23, 0.0])
@pytest.mark.parametrize("slope", [0.0, 1e-20])
def test_a_curvature_that_is_rounding_below_zero_ends(entry: float, slope: float, monkeypatch) -> None:
    """The ridge was a part of it, so negative, and grew to -inf."""
    tries = iter(range(400))
    monkeypatch.setattr(descent, "factorise", lambda *given: next(tries) >= 0 and factorise(*given))
    T = SimpleNamespace(n=np.zeros(16, dtype=np.intp), H=np.array([[entry]]), L=np.zeros((1, 1)))
    T.n[descent.FREE] = 1
    assert np.isfinite(descent.newton(T, np.array([slope]))).all()


def test_a_curvature_that_is_no_number_ends(monkeypatch) -> None:
    monkeypatch.setattr(descent, "factorise", lambda *given: False)
    T = SimpleNamespace(n=np.zeros(16, dtype=np.intp), H=np.array([[np.nan]]), L=np.zeros((1, 1)))
    T.n[descent.FREE] = 1
    assert descent.newton(T, np.ones(1)) == 0
