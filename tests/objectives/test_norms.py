"""Norms as objectives: values and subgradients against definitions, the prox against brute force, and the algebra."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tiebreak as tb
from tiebreak.arrays import same_groups
from tiebreak.objectives import Norm, Zero

L = np.longdouble
GROUPS = [[0, 3], [1], [2, 4, 5]]


def l1_twin(x: np.ndarray, weights: object) -> np.longdouble:
    return sum((L(w) * abs(L(xi)) for w, xi in zip(np.broadcast_to(weights, x.shape), x, strict=True)), L(0))


def group_twin(x: np.ndarray, weights: object) -> np.longdouble:
    pairs = zip(np.broadcast_to(weights, (3,)), GROUPS, strict=True)
    return sum((L(w) * np.sqrt((L(x[group]) ** 2).sum()) for w, group in pairs), L(0))


CASES = [
    pytest.param(tb.L1Norm(), l1_twin, 1.0, id="l1"),
    pytest.param(tb.L1Norm([1.0, 0.0, 2.5, 3.0, 0.1, 1e6]), l1_twin, [1.0, 0.0, 2.5, 3.0, 0.1, 1e6], id="weighted l1"),
    pytest.param(tb.GroupNorm(GROUPS), group_twin, 1.0, id="groups"),
    pytest.param(
        tb.GroupNorm([0, 1, 2, 0, 2, 2], [2.0, 0.0, 1e-3]), group_twin, [2.0, 0.0, 1e-3], id="weighted groups"
    ),
]
POINTS = [
    np.array([1.0, -2.0, 0.5, 3.0, -1.0, 2.0]),
    np.array([0.0, -2.0, 0.0, 0.0, 0.0, 1e-9]),
    np.zeros(6),
    1e-200 * np.array([1.0, -2.0, 0.5, 3.0, -1.0, 2.0]),
    1e150 * np.array([1.0, -2.0, 0.5, 3.0, -1.0, 2.0]),
]


@pytest.mark.parametrize(("norm", "twin", "weights"), CASES)
@pytest.mark.parametrize("x", POINTS)
def test_value_is_the_definition_within_its_rounding(norm: Norm, twin, weights, x: np.ndarray) -> None:
    exact = twin(x, weights)
    assert abs(L(norm.value(x)) - exact) <= norm.rounding(x)[0] <= 1e-13 * float(exact)
    assert norm.value(x) == norm.value_and_grad(x)[0]


@pytest.mark.parametrize(("norm", "twin", "weights"), CASES)
def test_grad_is_a_subgradient_everywhere(norm: Norm, twin, weights) -> None:
    """norm(y) >= norm(x) + <s, y - x>; for a norm that is <s, x> = norm(x) and <s, y> <= norm(y)."""
    others = [*POINTS[:3], *np.random.default_rng(0).standard_normal((20, 6)), *np.eye(6), *-np.eye(6)]
    for x in POINTS:
        s = norm.grad(x)
        assert np.isfinite(s).all()
        assert s @ x == pytest.approx(norm.value(x), rel=1e-13)
        assert all(s @ y <= norm.value(y) * (1 + 1e-13) for y in others)
        assert np.linalg.norm(s) <= norm.steepest(6) * (1 + 1e-15)
    assert norm.grad(np.zeros(6)).tolist() == [0.0] * 6


@pytest.mark.parametrize(("norm", "twin", "weights"), CASES)
@pytest.mark.parametrize("step", [1e-3, 0.7, 40.0])
def test_prox_beats_every_point_around_it(norm: Norm, twin, weights, step: float) -> None:
    rng = np.random.default_rng(1)
    for v in [POINTS[0], POINTS[1], POINTS[2], 5 * rng.standard_normal(6)]:
        p = norm.prox(v, step)

        def objective(x: np.ndarray, v=v) -> np.longdouble:
            return L(step) * twin(x, weights) + ((L(x) - L(v)) ** 2).sum() / 2

        best, slack = objective(p), 1e-14 * (1 + float(objective(v)))
        moves = np.vstack([np.eye(6), -np.eye(6), rng.standard_normal((30, 6)), v - p, -p])
        for size in (1.0, 1e-2, 1e-5):
            assert all(objective(p + size * move) >= best - slack for move in moves)


@pytest.mark.parametrize(("norm", "twin", "weights"), CASES)
def test_support_is_the_nearest_linear_function_below(norm: Norm, twin, weights) -> None:
    """Moreau: what the prox takes away is the projection onto the dual ball, checked by its definition."""
    rng = np.random.default_rng(2)
    for c in [3 * rng.standard_normal(6), POINTS[1], np.zeros(6)]:
        y = norm.support(c)
        others = [*rng.standard_normal((50, 6)), *np.eye(6), c, -c]
        assert all(y @ s <= norm.value(s) * (1 + 1e-12) + 1e-12 for s in others)
        assert (y + c) @ y == pytest.approx(-norm.value(y + c), rel=1e-12, abs=1e-12)  # <c + y, -y> = norm(c + y)


@settings(deadline=None, max_examples=60)
@given(st.lists(st.floats(-1e3, 1e3), min_size=6, max_size=6), st.floats(1e-3, 1e3))
def test_soft_threshold_minimises_one_variable_at_a_time(v: list[float], step: float) -> None:
    """A twin with no formula: the minimiser over a breakpoint and two stationary points."""
    p = tb.L1Norm().prox(np.array(v), step)
    for vi, pi in zip(v, p, strict=True):
        candidates = [0.0] + [vi - step] * (vi - step > 0) + [vi + step] * (vi + step < 0)
        assert pi == min(candidates, key=lambda x: step * abs(x) + (x - vi) ** 2 / 2)


@pytest.mark.parametrize(("norm", "twin", "weights"), CASES)
def test_conformance_alone_and_in_sums(norm: Norm, twin, weights) -> None:
    data = np.random.default_rng(3).standard_normal((4, 6))
    for objective in (norm, 2.5 * norm, tb.LeastSquares(data, np.ones(4)) + norm, 3 * (tb.SquaredNorm() + norm)):
        assert tb.testing.check_objective(objective, dim=6) > 80


def test_algebra_keeps_norms_apart() -> None:
    smooth = tb.LeastSquares(np.eye(3), np.ones(3))
    f = 2 * (smooth + tb.L1Norm() + 3 * tb.GroupNorm([0, 0, 1]))
    x = np.array([1.0, -2.0, 0.0])
    assert not f.differentiable and f.convex and f.smoothness is None and f.lower_bound == 0.0 and not f.quadratic
    assert [type(norm).__name__ for norm in f.norms] == ["L1Norm", "GroupNorm"]
    assert [norm.value(x) for norm in f.norms] == pytest.approx([6.0, 6 * np.sqrt(5)])
    assert f.smooth_part.differentiable and f.smooth_part.value(x) == 2 * smooth.value(x)
    assert f.value(x) == pytest.approx(f.smooth_part.value(x) + sum(norm.value(x) for norm in f.norms))
    assert f.smooth_part.smoothness == pytest.approx(2.0)
    both = tb.L1Norm() + tb.L1Norm([0.0, 1.0])
    assert isinstance(both.smooth_part, Zero) and both.dim == both.smooth_part.dim == 2
    assert smooth.smooth_part is smooth and smooth.differentiable and smooth.norms == ()
    assert (smooth + tb.L1Norm()).smooth_part is smooth
    with pytest.raises(ValueError, match="one dimension"):
        smooth + tb.L1Norm([1.0, 1.0])


@pytest.mark.parametrize(
    ("make", "error", "says"),
    [
        (lambda: tb.L1Norm(-1.0), ValueError, "weights must not be negative"),
        (lambda: tb.L1Norm(0.0), ValueError, "not all zero"),
        (lambda: tb.L1Norm([1.0, -1.0]), ValueError, "weights must not be negative"),
        (lambda: tb.L1Norm([1.0, np.nan]), ValueError, "weights holds NaN"),
        (lambda: tb.L1Norm([1.0, 1.0], dim=3), ValueError, "weights has length 2, expected 3"),
        (lambda: tb.L1Norm([[1.0]]), ValueError, "weights must be a 1-D array"),
        (lambda: tb.L1Norm(dim=0), ValueError, "dim must be"),
        (lambda: tb.L1Norm("a"), TypeError, "weights must hold real numbers"),
        (lambda: tb.GroupNorm([[0], [2]]), ValueError, "exactly once"),
        (lambda: tb.GroupNorm([]), ValueError, "groups is empty"),
        (lambda: tb.GroupNorm([[0, 1], [2]], [1.0]), ValueError, "weights has length 1, expected 2"),
        (lambda: tb.GroupNorm([[0, 1], [2]], [1.0, -1.0]), ValueError, "weights must not be negative"),
        (lambda: -1.0 * tb.L1Norm(), ValueError, "factor of an objective must be positive"),
        (lambda: tb.L1Norm(dim=2).value([1.0]), ValueError, "x must be 1-D of length 2"),
        (lambda: tb.GroupNorm([0, 1]).prox([1.0]), ValueError, "x must be 1-D of length 2"),
    ],
)
def test_bad_input(make, error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        make()


def test_a_kink_that_is_not_named_fails_the_conformance_check() -> None:
    class Hidden(tb.Objective):
        convex, differentiable, dim = True, False, 2

        def value_and_grad(self, x: np.ndarray) -> tuple[float, np.ndarray]:
            return float(np.abs(x).sum()), np.sign(x)

    with pytest.raises(AssertionError, match="smooth_part plus its norms"):
        tb.testing.check_objective(Hidden())


def test_what_norms_say_of_themselves() -> None:
    entries, groups = tb.L1Norm([1.0, 2.0]), tb.GroupNorm([[0, 2], [1]])
    assert entries.groups is None and groups.groups is not None
    assert same_groups(groups.groups, np.array([5, 3, 5])) and not same_groups(groups.groups, np.array([0, 1, 2]))
    assert entries.form.norms == (entries,)
    assert entries.form.scaled(3.0).norms[0].weights.tolist() == [3.0, 6.0]
    assert entries.smooth_part.form.losses == entries.smooth_part.form.linear == ()
