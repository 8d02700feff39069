"""The bracket of the column engine at weights that are not the answer's: wide, never wrong. The truth is rational."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import tiebreak as tb
from auditing import random_parts as parts
from auditing.recipes import Case, recipe, value
from auditing.truth import NoTruth, Truth, truth_of
from fractional import gained
from tiebreak.engines.columns.atoms import atoms_of
from tiebreak.engines.columns.bracket import Bracket
from tiebreak.engines.columns.level import Smooth
from tiebreak.engines.columns.solve import _lower_level, _upper_level, solve_columns

LOWERS = [parts.linear, parts.least_squares, parts.quadratic, parts.total, parts.logistic]
UPPERS = [parts.linear, parts.least_squares, parts.squared_norm, parts.quadratic]


def problem(seed: int) -> tuple[tb.Problem, Truth]:
    rng = np.random.default_rng(seed)
    while True:
        domain, point, n = parts.some_set(rng, ["Simplex", "L1Ball", "KSparse", "Box"])
        lower = parts.some_objective(rng, n, point, LOWERS)
        upper = parts.some_objective(rng, n, point, UPPERS)
        try:
            truth = truth_of(Case("sets", (lower, upper), domain, n))
        except NoTruth:
            continue
        return tb.Problem(upper.build(), lower.build(), domain.build()), truth


def holds(low: float, high: float, star: tuple[Fraction, Fraction], what: str) -> None:
    assert low == -np.inf or Fraction(low) <= star[1], f"{what} begins {float(Fraction(low) - star[1]):.3g} too high"
    assert high == np.inf or Fraction(high) >= star[0], f"{what} ends {float(star[0] - Fraction(high)):.3g} too low"


@pytest.mark.parametrize("seed", range(40))
def test_answers(seed: int) -> None:
    made, truth = problem(seed)
    answer = solve_columns(made)
    holds(answer.g_lower, answer.g_upper, truth.values[0], "g")
    holds(answer.f_lower, answer.f_upper, truth.values[1], "f")
    assert answer.lower_unique in (None, truth.unique)
    assert not (answer.upper_constant and truth.constant is False)


@pytest.mark.parametrize("share", [0.0, 1e-10, 1e-5, 0.1])
@pytest.mark.parametrize("sharp", [False, True])
@pytest.mark.parametrize("seed", range(25))
def test_brackets_at_other_weights(seed: int, sharp: bool, share: float) -> None:
    """Weights of the upper level moved towards others of the same vertices: x leaves the lower solutions."""
    made, truth = problem(1000 + seed)
    rng = np.random.default_rng(seed)
    lower, upper = Smooth(made.lower.form, made.dim), Smooth(made.upper.form, made.dim)
    solved = _lower_level(made, lower, atoms_of(made.domain, made.dim), 1000)
    master, lam, _, _ = _upper_level(made, lower, upper, solved, 1e-9, 1000)
    v = master.v
    v.w[: v.count] = (1 - share) * v.w[: v.count] + share * rng.dirichlet(np.ones(v.count))
    for price in (lam, 0.0, 10 * lam + 1):
        found = Bracket(made, lower, upper, master, price, sharp=sharp)
        holds(found.g_lower, found.g_upper, truth.values[0], "g")
        holds(found.f_lower(), np.inf, truth.values[1], "f")
    holds(-np.inf, found.f_upper(), truth.values[1], "f")


@pytest.mark.parametrize("share", [0.0, 0.3, 0.9, 1.0])
@pytest.mark.parametrize("reach", [2.0, 8.0, 30.0])
@pytest.mark.parametrize("kind", ["Linear", "LeastSquares"])
def test_a_flat_loss_far_from_its_minimiser(kind: str, reach: float, share: float) -> None:
    """Separable classes: the loss falls up to the end of the set, where it is flat, and is judged where it is not.

    The curvature between the two is what counts; that at the point would put the minimiser too near.
    """
    loss = recipe("Logistic", A=np.array([[1.0, 0.0], [-1.0, 0.0]]), y=np.array([1.0, -1.0]))
    upper = recipe("Linear", c=np.array([-1.0, 0.0]))
    if kind == "LeastSquares":
        upper = recipe("LeastSquares", A=np.array([[-1.0, 0.0]]), b=np.array([40.0]))
    made = tb.Problem(upper.build(), loss.build(), tb.Simplex(reach))
    end = [Fraction(reach), Fraction(0)]
    lower, above = Smooth(made.lower.form, 2), Smooth(made.upper.form, 2)
    solved = _lower_level(made, lower, atoms_of(made.domain, 2), 1)  # from the first vertex on, and no further
    master, lam, _, _ = _upper_level(made, lower, above, solved, 1e-9, 1000)
    v = master.v
    if v.count == 2:
        v.w[:2] = (1 - share) * v.w[:2] + share * np.array([0.5, 0.5])
    for price in (lam, 0.0, 1.0):
        found = Bracket(made, lower, above, master, price)
        holds(found.g_lower, found.g_upper, value(loss, end), "g")
        holds(found.f_lower(), found.f_upper(), value(upper, end), "f")


@pytest.mark.parametrize("which", ["lower", "upper"])
def test_values_that_come_out_too_high(which: str) -> None:
    """A level whose value is a sum that gains by rounding: what it gains is given away."""
    b = max((np.sqrt(gained(3000, 2**k)) for k in range(8)), key=lambda b: float(b @ b) - math.fsum(b * b))
    A = np.zeros((b.size, 2))
    A[-1] = 2.0**-40, 2.0**-41
    rough = recipe("LeastSquares", A=A, b=b)
    plain = recipe("LeastSquares", A=np.array([[1.0, 2.0]]), b=np.ones(1))
    levels = (rough, plain) if which == "lower" else (plain, rough)
    truth = truth_of(Case("sets", levels, recipe("Simplex", total=1.0), 2))
    answer = solve_columns(tb.Problem(levels[1].build(), levels[0].build(), tb.Simplex(1.0)))
    holds(answer.g_lower, answer.g_upper, truth.values[0], "g")
    holds(answer.f_lower, answer.f_upper, truth.values[1], "f")
