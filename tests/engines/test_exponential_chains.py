"""Chains over exponential cones: margins and pairs against 60 digits, levels against closed forms."""

from __future__ import annotations

import numpy as np
import pytest

import tiebreak as tb
from tiebreak.engines.conic.solve import solve_conic
from tiebreak.numerics.exact import Exact
from tiebreak.numerics.unsymmetric_cones import Exponential

mp = pytest.importorskip("mpmath")

CONE = Exponential()


def excess(s: list, dual: bool):  # type: ignore[no-untyped-def, type-arg]
    """Positive inside the cone, or its dual, and zero on the boundary."""
    if dual:
        return s[1] - s[0] * (1 + mp.log(-s[2] / s[0]))
    return s[1] * mp.log(s[2] / s[1]) - s[0]


@pytest.mark.parametrize("dual", [False, True])
@pytest.mark.parametrize("off", [0.0, 1e-30, -1e-30, 1e-12, 0.3])
def test_margins_are_shown_to_the_digits_that_numbers_have(dual: bool, off: float) -> None:
    rng = np.random.default_rng(4)
    with mp.workdps(70):
        for _ in range(20):
            a, size = rng.uniform(-6, 6), 10.0 ** rng.uniform(-3, 3)
            e = mp.exp(a)
            ray = [-e, -e * (1 - mp.mpf(a)), mp.mpf(1)] if dual else [mp.mpf(a), mp.mpf(1), e]
            point = [size * one + off * size * mp.mpf(float(u)) for one, u in zip(ray, CONE.unit, strict=True)]
            s = Exact(np.array([int(mp.nint(one * mp.mpf(2) ** 200)) for one in point], dtype=object), 200)
            t = (CONE.dual_margin if dual else CONE.margin)(s)
            length = float(mp.sqrt(sum(one**2 for one in point)))
            known = 1e-40 * length if abs(off) < 1e-9 else 1e-13 * length  # bisection, where nothing is near zero
            assert abs(t - off * size) <= 1e-15 * abs(off * size) + known
            inside = [one - mp.mpf(t) * mp.mpf(float(u)) for one, u in zip(point, CONE.unit, strict=True)]
            assert excess(inside, dual) >= -(mp.mpf(2) ** -195)


def test_pairs_are_zeros_and_slopes_are_derivatives() -> None:
    a = 0.7
    s, z = 2.0 * np.array([a, 1.0, np.exp(a)]), 3.0 * np.array([-np.exp(a), (a - 1) * np.exp(a), 1.0])
    for pair in ((s, z), (s, 0 * z), (np.array([0.1, 1.0, 4.0]), 0 * z), (0 * s, np.array([-1.0, 5.0, 2.0]))):
        assert np.abs(CONE.circ(*map(Exact.of, pair)).double()).max() <= 1e-14
    for p, q in ((s + 0.1, z - 0.2), (0 * s, z)):
        in_s, in_z = CONE.slopes(p, q)
        for k, h in enumerate(1e-6 * np.eye(3)):
            if p.any():
                moved = CONE.circ(Exact.of(p + h), Exact.of(q)) - CONE.circ(Exact.of(p - h), Exact.of(q))
                assert np.allclose(moved.double() / 2e-6, in_s[:, k], atol=1e-6)
            moved = CONE.circ(Exact.of(p), Exact.of(q + h)) - CONE.circ(Exact.of(p), Exact.of(q - h))
            assert np.allclose(moved.double() / 2e-6, in_z[:, k], atol=1e-6)


@pytest.mark.parametrize(
    ("z", "left"),
    [([0.0, 0.0, 0.0], 3), ([-1.0, 1.0, 1.0], 0), ([-1.0, -1.0, 1.0], 1), ([0.0, 1.0, 1.0], 1), ([0.0, 1.0, 0.0], 2)],
)
def test_what_a_multiplier_leaves(z: list[float], left: int) -> None:
    part = CONE.part(np.array(z), 1e-9)
    assert sum(cone.size for cone in part.cones) == left
    if left in (1, 2):  # points of the face are in the cone, at no price
        for s in np.abs(np.random.default_rng(0).normal(size=(5, left))) @ part.T:
            assert abs(s @ z) <= 1e-12 and CONE.margin(Exact.of(s)) >= -1e-12
            assert np.abs(part.E @ s).max() <= 1e-12


def exponentials(F: np.ndarray, more: list[tuple[np.ndarray, float]] = ()) -> tb.Cone:  # type: ignore[assignment]
    """x and t with t >= exp(F x), entry by entry, and rows <a, x> <= b."""
    m, n = F.shape
    A, b, cones = [], [], []
    for a, end in more:
        A.append(np.append(a, np.zeros(m)))
        b.append(end)
    if more:
        cones.append(("nonnegative", len(more)))
    for i in range(m):
        A += [np.append(-F[i], np.zeros(m)), np.zeros(n + m), np.append(np.zeros(n), -np.eye(m)[i])]
        b += [0.0, 1.0, 0.0]
        cones.append(("exponential", 3))
    return tb.Cone(np.array(A), b, cones)


@pytest.mark.parametrize("seed", range(6))
def test_least_norm_among_minimisers_of_sums_of_exponentials(seed: int) -> None:
    """sum w exp(f x) - w p f x is least where exp(f x) = p; of these x the nearest to a point.

    All data are multiples of 1/16 that are multiplied without rounding: else the first level would fall for ever.
    """
    rng = np.random.default_rng(seed)
    m, n = 2 + seed % 2, 5
    F, center = (np.round(16 * rng.normal(size=size)) / 16 for size in ((m, n), n))
    w, p = (np.ceil(16 * rng.uniform(0.2, 4, m)) / 16 for _ in range(2))
    lower = tb.Linear(np.append(-(w * p) @ F, w))
    upper = tb.SquaredNorm(np.append(center, np.zeros(m)), weights=np.append(np.ones(n), np.zeros(m)))
    result = tb.solve(tb.Problem(upper, lower, exponentials(F)))
    with mp.workdps(40):
        G, c, away = mp.matrix(F.tolist()), mp.matrix(center.tolist()), mp.matrix([mp.log(one) for one in p.tolist()])
        away = away - G * c
        prices = mp.lu_solve(G * G.T, away)
        f = (away.T * prices)[0] / 2
        x = c + G.T * prices
        g = mp.fdot(w.tolist(), p.tolist()) + mp.fdot(lower.c[:n].tolist(), list(x))
    assert result.success
    assert result.certificate.g_lower - 1e-12 <= float(g) <= result.certificate.g_upper + 1e-12
    assert result.certificate.g_upper - result.certificate.g_lower <= 1e-12 * (1 + abs(float(g)))
    assert result.certificate.f_lower - 1e-13 * float(f) <= float(f) <= result.certificate.f_upper
    assert float(f) - result.certificate.f_lower <= 1e-6 * (1 + float(f))
    assert result.f == pytest.approx(float(f), rel=1e-12)


def test_entropy_among_cheapest_plans_where_some_entries_are_zero() -> None:
    """Level 1 holds two entries at zero, so that their cones have no inside any more."""
    n = 4
    # t_i <= -x_i log x_i: (t_i, x_i, 1) in the cone
    A, b, cones = [np.append(np.ones(n), np.zeros(n))], [1.0], [("zero", 1), ("nonnegative", n)]
    for i in range(n):
        A.append(np.append(-np.eye(n)[i], np.zeros(n)))
        b.append(0.0)
    for i in range(n):
        A += [np.append(np.zeros(n), -np.eye(n)[i]), np.append(-np.eye(n)[i], np.zeros(n)), np.zeros(2 * n)]
        b += [0.0, 0.0, 1.0]
        cones.append(("exponential", 3))
    levels = [tb.Linear([1.0, 1.0, 2.0, 2.0, 0, 0, 0, 0]), tb.Linear([0.0] * n + [-1.0] * n)]
    answers = solve_conic(levels, tb.Cone(np.array(A), b, cones))
    assert np.allclose(answers[-1].x[:n], [0.5, 0.5, 0, 0], atol=1e-12)
    assert answers[0].f_lower <= 1 <= answers[0].f_upper and answers[0].f_upper - answers[0].f_lower < 1e-8
    assert answers[1].f_lower <= -np.log(2) + 1e-15 and -np.log(2) - answers[1].f_lower < 1e-6


def test_a_minimum_that_is_never_attained_is_no_success() -> None:
    domain = exponentials(np.array([[1.0, 0.0]]))
    result = tb.solve(tb.Problem(tb.SquaredNorm(dim=3), tb.Linear([0.0, 0.0, 1.0]), domain), "exact")
    assert not result.success
    assert any("never attained" in note for note in result.notes)
