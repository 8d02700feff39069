"""The references themselves: each value by a second route that shares nothing with the first."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

from known import classics
from known.bounds import Inaccurate, Region, whole
from known.cases import SETS
from known.terms import CONVEX, UPPERS, Term, linear
from problems import LOWERS, PLANTED, instance

KINDS = [(set_kind, lower_kind) for set_kind in SETS for lower_kind in PLANTED]


def over_the_set(reference) -> Region:
    return Region(whole(reference), reference.centre, np.zeros((0, reference.dim)), np.zeros(0))


@pytest.mark.parametrize("kind", SETS)
@pytest.mark.parametrize("seed", range(3))
def test_set_formulas_agree_with_the_conic_description(kind, seed):
    rng = np.random.default_rng(seed)
    case = SETS[kind](rng)
    reference = case.reference
    assert reference.excess(reference.centre) < 0
    for c in rng.normal(size=(2, reference.dim)):
        bounds = over_the_set(reference).minimise(linear(c)[0])
        assert bounds.upper - bounds.lower <= 1e-7  # the conic point against the naive support function
        s = case.domain.lmo(c)
        assert case.domain.contains(s)
        assert c @ s == pytest.approx(reference.minimum(c), abs=1e-9)


@pytest.mark.parametrize("kind", SETS)
@pytest.mark.parametrize("seed", range(3))
def test_the_planted_face_holds_the_minimisers(kind, seed):
    rng = np.random.default_rng(seed)
    case = SETS[kind](rng)
    face, reference = case.face, case.reference
    lowest = reference.minimum(face.normal)
    assert face.normal @ face.centre == pytest.approx(lowest, abs=1e-12)
    assert reference.excess(face.centre) <= 1e-12
    assert case.domain.contains(face.centre)
    # Route two: the lexicographic minimum of a random functional, with a small tilt instead of the face.
    c, tilt = rng.normal(size=reference.dim), 1e-4
    on_face = c @ face.base if face.inner is None else c @ face.base + face.inner.minimum(face.lift.T @ c)
    tilted = (reference.minimum(face.normal + tilt * c) - lowest) / tilt
    assert tilted <= on_face + 1e-9
    assert tilted >= on_face - 1e-2 * (1 + abs(on_face))


@pytest.mark.parametrize("kind", [*CONVEX, "covariance"])
def test_objectives_agree_with_their_twins(kind):
    rng = np.random.default_rng(0)
    term, objective = UPPERS[kind](rng, 5)
    check_twin(rng, term, objective)


@pytest.mark.parametrize("kind", LOWERS)
def test_lower_objectives_agree_with_their_twins(kind):
    rng = np.random.default_rng(1)
    lower = LOWERS[kind](rng, SETS["simplex"](rng))
    check_twin(rng, lower.g, lower.objective)


def check_twin(rng: np.random.Generator, term: Term, objective) -> None:
    x, step = rng.normal(size=objective.dim), 1e-6 * rng.normal(size=objective.dim)
    value, grad = objective.value_and_grad(x)
    assert value == pytest.approx(term.value(x), rel=1e-12, abs=1e-12)
    np.testing.assert_allclose(grad, term.grad(x), rtol=1e-10, atol=1e-12)
    slope = (term.value(x + step) - term.value(x - step)) / 2
    assert slope == pytest.approx(term.grad(x) @ step, rel=1e-6, abs=1e-12)
    if term.expr is not None:
        assert term.expr(cp.Constant(x)).value == pytest.approx(value, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize(("set_kind", "lower_kind"), KINDS[::2])
def test_planted_values_agree_with_a_plain_solve(set_kind, lower_kind):
    """g* by minimising g over Z; f* from below by f + weight (g - g*) over Z, blind to the plant."""
    seed = KINDS.index((set_kind, lower_kind))
    known = instance(seed, set_kind, lower_kind, CONVEX[seed % 4])
    rng = np.random.default_rng([seed, list(SETS).index(set_kind)])
    whole_set = over_the_set(SETS[set_kind](rng).reference)
    lowest = whole_set.minimise(known.g, accuracy=1e-6)
    assert lowest.lower - known.g_tol <= known.g_star <= lowest.upper + known.g_tol
    assert known.g.value(known.x_star) == pytest.approx(known.g_star, abs=1e-9)

    def penalised(weight: float) -> Term:
        return Term(
            lambda x: known.f.value(x) + weight * (known.g.value(x) - known.g_star),
            lambda x: known.f.grad(x) + weight * known.g.grad(x),
            lambda x: known.f.expr(x) + weight * (known.g.expr(x) - known.g_star),
        )

    scale = 1 + abs(known.f_star)
    missing = [known.f_star - whole_set.minimise(penalised(w), accuracy=1e-3).mid for w in (1e3, 1e4)]
    assert missing[1] >= -1e-3 * scale
    assert missing[1] <= max(missing[0] / 2, 2e-3 * scale)  # goes to 0 like 1 / weight


@pytest.mark.parametrize("set_kind", SETS)
def test_relaxed_values_decrease_with_the_slack(set_kind):
    tight, loose = (instance(7, set_kind, "least-squares", "squared-norm", slack) for slack in (0.01, 0.1))
    exact = instance(7, set_kind, "least-squares", "squared-norm")
    assert loose.f_star - loose.f_tol <= tight.f_star + tight.f_tol <= exact.f_star + exact.f_tol + tight.f_tol


def test_accuracy_is_measured_not_assumed():
    known = instance(0, "l1", "linear", "squared-norm")
    with pytest.raises(Inaccurate):
        known.solutions.minimise(known.f, accuracy=0.0)


def solve(objective: cp.Expression, constraints: list) -> float:
    return cp.Problem(cp.Minimize(objective), constraints).solve(solver=cp.CLARABEL)


@pytest.mark.parametrize("seed", range(3))
def test_classics_agree_with_a_conic_solve(seed):
    known = classics.knapsack(seed)
    x = cp.Variable(10)
    value = solve(cp.sum_squares(x - known.problem.upper.center) / 2, [x >= 0, x <= 1, cp.sum(x) == 1])
    assert value == pytest.approx(known.f_star, abs=1e-7)

    known = classics.min_norm(seed)
    lower = known.problem.lower
    x = cp.Variable(9)
    value = solve(cp.sum_squares(x) / 2, [lower.A @ x == lower.b])
    assert value == pytest.approx(known.f_star, abs=1e-7)


@pytest.mark.parametrize("r", [1, 2, 3, 4])
def test_holder_constants(r):
    known = classics.holder(5, r)
    problem, bound = known.problem, known.problem.error_bound
    rng = np.random.default_rng(0)
    assert problem.lower.value(known.x_star) == pytest.approx(known.g_star, abs=1e-12)
    top = known.x_star if r == 1 else None
    for x in rng.uniform(-1, 1, (200, 4)):
        gap = problem.lower.value(x) - known.g_star
        if r == 1:
            nearest = np.where(problem.lower.c > 0, -1.0, x)
        else:
            zero = np.array([_root(problem.lower, i) for i in range(4)]) if top is None else top
            nearest, top = np.minimum(x, zero), zero
        distance = np.linalg.norm(x - nearest)
        assert problem.lower.value(nearest) <= known.g_star + 1e-12
        assert distance <= bound.distance(gap) * (1 + 1e-9) + 1e-12
        assert np.linalg.norm(problem.upper.grad(nearest)) <= bound.gradient_bound * (1 + 1e-12)


def _root(g, i: int) -> float:
    """The largest t in [-1, 1] with g(t e_i - (others)) = 0, by bisection on g alone."""
    low, high = -1.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        x = np.full(4, -1.0)
        x[i] = middle
        low, high = (middle, high) if g.value(x) == 0 else (low, middle)
    return low


def test_hard_pair_values():
    long, short = classics.hard_pair(4)
    for known in (long, short):
        assert known.problem.lower.value(known.x_star) == 0
        assert known.problem.upper.value(known.x_star) == known.f_star
        assert known.problem.domain.contains(known.x_star)
    assert long.f_star - short.f_star == 2.0
