"""The bracket of the column engine against exact rational values: no tolerance hides rounding left out."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize

import tiebreak as tb
from tiebreak.engines.columns import evaluated as evaluation
from tiebreak.engines.columns.atoms import atoms_of
from tiebreak.engines.columns.bracket import Bracket
from tiebreak.engines.columns.evaluated import evaluated
from tiebreak.engines.columns.level import Smooth
from tiebreak.engines.columns.solve import _lower_level, _upper_level, solve_columns
from tiebreak.numerics import extended


def exact_least_norm(A: np.ndarray, b: np.ndarray) -> Fraction | None:
    """1/2 b'(AA')^-1 b for integer data, by elimination over the rationals; None if AA' is singular."""
    n = len(b)
    M = [[Fraction(int(value)) for value in row] for row in np.column_stack([A @ A.T, b])]
    for i in range(n):
        pivot = next((row for row in range(i, n) if M[row][i]), None)
        if pivot is None:
            return None
        M[i], M[pivot] = M[pivot], M[i]
        for row in range(n):
            if row != i:
                factor = M[row][i] / M[i][i]
                M[row] = [a - factor * c for a, c in zip(M[row], M[i], strict=True)]
    return sum((M[i][n] / M[i][i] * int(b[i]) for i in range(n)), Fraction(0)) / 2


def instances(count: int):
    """Fits of least norm, well inside the ball."""
    for seed in range(count):
        rng = np.random.default_rng(seed)
        n, d = int(rng.integers(1, 7)), int(rng.integers(8, 25))
        A, b = rng.integers(-3, 4, (n, d)) / 1.0, rng.integers(-9, 10, n) / 1.0
        exact = exact_least_norm(A, b)
        if exact is not None:
            size = np.abs(np.linalg.lstsq(A, b, rcond=None)[0]).sum()
            yield tb.Problem(tb.SquaredNorm(), tb.LeastSquares(A, b), tb.L1Ball(2 + 2 * size)), exact


def test_bracket_holds_the_exact_value() -> None:
    tried = 0
    for problem, exact in instances(40):
        answer = solve_columns(problem)
        assert Fraction(answer.f_lower) <= exact
        assert answer.f_upper == np.inf or exact <= Fraction(answer.f_upper)
        assert answer.f_upper - answer.f_lower <= 1e-11 * (1 + float(exact))
        assert Fraction(answer.g_lower) <= 0 <= Fraction(answer.g_upper)
        tried += 1
    assert tried >= 30


@pytest.mark.parametrize("max_steps", [2, 5, 13])
def test_bracket_of_a_run_cut_short(max_steps: int) -> None:
    """A point far from the answer has a wide bracket, not a wrong one."""
    for problem, exact in instances(15):
        answer = solve_columns(problem, max_steps=max_steps)
        assert Fraction(answer.f_lower) <= exact
        assert answer.f_upper == np.inf or exact <= Fraction(answer.f_upper)
        assert Fraction(answer.g_lower) <= 0 <= Fraction(answer.g_upper)
        assert problem.domain.contains(answer.x, 1e-12)


@pytest.mark.parametrize("lower_steps", [2, 3, 4, 6])
def test_bracket_around_a_wrong_image(lower_steps: int) -> None:
    """Level 1 is stopped early and level 2 solved for the image it left: only delta knows how wrong that is."""
    telling = 0
    for problem, exact in instances(20):
        lower, upper = Smooth(problem.lower.form, problem.dim), Smooth(problem.upper.form, problem.dim)
        solved = _lower_level(problem, lower, atoms_of(problem.domain, problem.dim), lower_steps)
        master, lam, _, _ = _upper_level(problem, lower, upper, solved, 1e-9, 1000)
        bracket = Bracket(problem, lower, upper, master, lam)
        assert Fraction(bracket.f_lower()) <= exact
        assert bracket.f_upper() == np.inf or exact <= Fraction(bracket.f_upper())
        telling += abs(bracket.f.value - float(exact)) > 1e-3
    assert telling > 0


def lower_bracket(problem: tb.Problem, steps: int) -> Bracket:
    """The bounds at the lower level's point after so many steps."""
    lower, upper = Smooth(problem.lower.form, problem.dim), Smooth(problem.upper.form, problem.dim)
    solved = _lower_level(problem, lower, atoms_of(problem.domain, problem.dim), steps)
    return Bracket(problem, lower, upper, *_upper_level(problem, lower, upper, solved, 1e-9, 1000)[:2])


@pytest.mark.parametrize("seed", range(12))
def test_values_that_lose_the_same_at_each_term(seed: int) -> None:
    """Long sums over next to no data: what rounding makes of g is more than what it makes of the slope."""
    rng = np.random.default_rng(seed)
    n, c = 60_000, float(rng.random()) + 1
    A, b = sparse.csr_array((np.full(2, 2.0**-60), ([0, 0], [0, 1])), shape=(n, 2)), np.full(n, c)
    bracket = lower_bracket(tb.Problem(tb.SquaredNorm(), tb.LeastSquares(A, b), tb.Simplex()), 4)
    exact = ((n - 1) * Fraction(c) ** 2 + (Fraction(c) - Fraction(1, 2**60)) ** 2) / 2
    assert Fraction(bracket.g_lower) <= exact <= Fraction(bracket.g_upper)


def test_the_gap_of_the_lower_level_is_none_too_small() -> None:
    """It says how far curvatures between the point and the solutions are to be bounded."""
    telling = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        A, y = rng.standard_normal((20, 6)), rng.choice([-1.0, 1.0], 20)
        problem = tb.Problem(tb.SquaredNorm(), tb.Logistic(A, y), tb.L1Ball(3.0).with_dim(6))
        parts = {"type": "ineq", "fun": lambda w: 3.0 - w.sum()}
        loss = problem.lower
        found = minimize(
            lambda w, loss=loss: loss.value(w[:6] - w[6:]), np.full(12, 0.1), bounds=[(0, 3)] * 12, constraints=[parts]
        )
        best = loss.value((found.x[:6] - found.x[6:]) * (1 - 1e-9))  # a point of the set: no less than the least
        bracket = lower_bracket(problem, 2)
        assert bracket.gap >= bracket.g.value - best
        telling += bracket.g.value - best > 1e-3
    assert telling > 3


@pytest.mark.parametrize("sharp", [False, True])
@pytest.mark.parametrize("wide", [True, False])
@pytest.mark.parametrize("form", [np.ascontiguousarray, np.asfortranarray, sparse.csr_array, sparse.csc_array])
def test_a_level_is_as_exact_as_it_says(form, wide: bool, sharp: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Value, gradient and image against rational arithmetic, where much cancels; also without a wide long double."""
    if not wide:
        monkeypatch.setattr(extended, "WIDE", False)
        for module in (extended, evaluation):
            monkeypatch.setattr(module, "UNIT", 2.0**-53)
    for seed in range(10):
        rng = np.random.default_rng(seed)
        n, d = int(rng.integers(1, 30)), int(rng.integers(1, 20))
        A = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-3, 4, (n, 1))
        x = np.where(rng.random(d) < 0.7, rng.normal(size=d), 0.0)
        b = A @ x + 1e-9 * rng.normal(size=n)
        objective = tb.LeastSquares(form(A), b)
        found = evaluated(objective, Smooth(objective.form, d), x, sharp)
        image = [sum((Fraction(a) * Fraction(c) for a, c in zip(row, x, strict=True)), Fraction(0)) for row in A]
        slope = [t - Fraction(c) for t, c in zip(image, b, strict=True)]
        grad = [sum((Fraction(A[i, j]) * slope[i] for i in range(n)), Fraction(0)) for j in range(d)]
        assert abs(Fraction(found.value) - sum(s * s for s in slope) / 2) <= Fraction(found.value_error)
        for one, error, exact in zip(found.grad, found.grad_error, grad, strict=True):
            assert abs(Fraction(one) - exact) <= Fraction(error)
        off = [float(Fraction(one) - exact) for one, exact in zip(found.image, image, strict=True)]
        assert np.linalg.norm(off) <= found.image_error
        if sharp:  # to the rounding of the result, but for the residual of b
            size = np.abs(A).T @ (np.abs(A) @ np.abs(x))
            assert np.all(found.grad_error <= (1e-18 if wide else 1e-15) * (n + d) * size + 4e-16 * np.abs(found.grad))


def near_the_face(seed: int, slack: float) -> tuple[tb.Problem, np.ndarray]:
    """Least squares over an l1 ball with one solution, by its optimality conditions; one more vertex almost ties."""
    rng = np.random.default_rng(seed)
    n, d, k = 120, 150, 40
    A = rng.normal(size=(n, d))
    signs = rng.choice([-1.0, 1.0], k)
    x = np.zeros(d)
    x[:k] = signs * rng.dirichlet(np.full(k, 5.0))
    slopes = rng.uniform(-0.8, 0.8, d)
    slopes[:k], slopes[k] = -signs, 1 - slack
    residual = np.linalg.lstsq(A[:, : n - 10].T, slopes[: n - 10], rcond=None)[0]
    for j in range(n - 10, d):  # shrink the columns that would do better than the support
        A[:, j] *= min(1.0, 0.8 / abs(A[:, j] @ residual))
    return tb.Problem(tb.SquaredNorm(), tb.LeastSquares(A, A @ x - residual), tb.L1Ball(1.0)), x


@pytest.mark.parametrize("slack", [1e-3, 1e-5, 1e-7, 1e-9, 1e-11])
def test_a_vertex_next_to_the_face_is_told_from_it(slack: float) -> None:
    """From the value alone, rounding hides that it is off the face; the slopes show it."""
    for seed in range(5):
        problem, x = near_the_face(seed, slack)
        answer = solve_columns(problem)
        assert answer.lower_unique and answer.well_posed
        assert answer.f_upper - answer.f_lower <= 1e-12
        assert abs(problem.upper.value(x) - problem.upper.value(answer.x)) <= 1e-9
