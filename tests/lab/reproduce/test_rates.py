"""The theorems as an experiment: closed forms against a solver, bounds that a wrong run would cross."""

from __future__ import annotations

from pathlib import Path

import clarabel
import numpy as np
import pytest
from scipy import sparse

import tiebreak as tb
from tiebreak.lab.experiments import rates as problems
from tiebreak.lab.experiments.corner import corner
from tiebreak.lab.reproduce import growth, rates
from tiebreak.lab.reproduce.outcome import Outcome, Request
from tiebreak.lab.reproduce.table_1 import exponent
from tiebreak.lab.reproduce.theorem_1 import share
from tiebreak.lab.workshop import Workshop


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    return rates.run(Request(Workshop(Path(tmp_path_factory.mktemp("rates"))), size="quick"))


def test_no_bound_is_crossed(outcome: Outcome) -> None:
    assert [claim.quote for claim in outcome.claims if claim.holds is not True] == []
    assert len(outcome.claims) == 24
    assert [one.holds for one in outcome.additions] == [True]


def test_every_panel_has_something_to_show(outcome: Outcome) -> None:
    assert len(outcome.panels) == 9
    for panel in outcome.panels:
        assert sum(curve.role == "run" for curve in panel.curves) <= 5  # few enough to tell apart
        for curve in panel.curves:
            assert all(axis.shape == curve.y.shape for axis in curve.x.values())
        assert any(np.isfinite(curve.y).sum() > 3 for curve in panel.curves if curve.role == "run"), panel.name


def test_a_crossed_bound_is_told() -> None:
    assert share(np.array([1.0, 3.0]), np.array([2.0, 2.0])) == 1.5
    assert share(np.array([1e-9]), np.array([0.0])) == np.inf
    assert share(np.array([1e-15, 1.0]), np.array([0.0, 2.0])) == 0.5
    late = {"eps_f": np.ones(2), "needed": np.array([1.0, np.inf]), "allowed": np.array([2.0, 9.0])}
    assert growth._within([late], "", "", "").holds is False


def nearest(p: np.ndarray, rows: np.ndarray, right: np.ndarray, low: float, high: float) -> float:
    """Half the squared distance from p to {rows x = right, low <= x <= high}, by an interior-point solver."""
    d = p.size
    A = sparse.csc_matrix(np.vstack([rows, np.eye(d), -np.eye(d)]))
    b = np.concatenate([right, np.full(d, high), np.full(d, -low)])
    cones = [clarabel.ZeroConeT(len(right)), clarabel.NonnegativeConeT(2 * d)]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    found = clarabel.DefaultSolver(sparse.eye(d, format="csc"), -p, A, b, cones, settings).solve()
    return 0.5 * float(np.sum((np.array(found.x) - p) ** 2))


@pytest.mark.parametrize("seed", range(3))
def test_closed_forms(seed: int) -> None:
    known = problems.slice_of_box(seed)
    p = -known.problem.upper.grad(np.zeros(20))
    assert known.f_star == pytest.approx(nearest(p, np.ones((1, 20)), np.ones(1), 0.0, 1.0), rel=1e-6)
    known = problems.face_of_box(seed)
    p, c = -known.problem.upper.grad(np.zeros(20)), known.problem.lower.grad(np.zeros(20))
    assert known.f_star == pytest.approx(nearest(p, np.eye(20)[c > 0], -np.ones(5), -1.0, 1.0), rel=1e-6)
    known = problems.smallest_solution(seed)
    A = known.problem.lower.A
    b = known.problem.lower.b
    assert known.f_star == pytest.approx(0.5 * np.linalg.norm(np.linalg.lstsq(A, b, rcond=None)[0]) ** 2, rel=1e-9)


@pytest.mark.parametrize("r", [1, 2, 3, 4])
def test_growth_is_as_claimed(r: int) -> None:
    """The error bound at random points of the box, X_g* being a box too."""
    for seed in range(3):
        known = problems.growth(seed, r)
        bound, g = known.problem.error_bound, known.problem.lower
        points = np.random.default_rng(0).uniform(-1, 1, (200, 4))
        rest = -np.ones(4)  # minimises g together with any point below the top
        top = np.array([_last_flat(g, known.g_star, i) for i in range(4)])
        assert g.value(rest) == pytest.approx(known.g_star, abs=1e-12)
        for x in points:
            distance = np.linalg.norm(np.maximum(x - top, 0))
            assert bound.alpha / r * distance**r <= g.value(x) - known.g_star + 1e-9


def _last_flat(g: tb.Objective, g_star: float, i: int) -> float:
    """The largest x_i with the other coordinates at -1 that still minimises g."""
    x = np.full(4, -1.0)
    low, high = -1.0, 1.0
    for _ in range(60):
        x[i] = (low + high) / 2
        low, high = (x[i], high) if g.value(x) <= g_star + 1e-14 else (low, x[i])
    return high if high == 1.0 else low


def test_accuracies_invert_what_is_promised() -> None:
    assert growth.accuracies(lambda eps: 10 / eps**2, [10, 1000]) == pytest.approx([1.0, 0.1])


@pytest.mark.parametrize("convex", [True, False])
@pytest.mark.parametrize("r", [1, 2, 3, 4])
def test_corners_are_as_claimed(r: int, convex: bool) -> None:
    """Growth, slopes, curvatures, optimal values and gaps of the family, on a grid of Z."""
    one = corner(3, r, convex)
    f, g, Z = one.problem.upper, one.problem.lower, one.problem.domain
    axes = [np.linspace(low, high, 21) for low, high in zip(Z.lower, Z.upper, strict=True)]
    grid = np.array(np.meshgrid(*axes)).reshape(3, -1).T
    np.testing.assert_allclose([g.value(x) for x in grid], np.abs(grid[:, 0]) ** r / r, atol=1e-12)
    values = np.array([f.value(x) for x in grid])
    assert one.f_least <= values.min() <= one.f_least + 1e-2
    face = grid.copy()
    face[:, 0] = 0
    on_face = np.array([f.value(x) for x in face])
    assert one.f_star - 1e-12 <= on_face.min() <= one.f_star + 1e-2
    slopes = np.array([f.grad(x) for x in face])
    assert np.linalg.norm(slopes, axis=1).max() == pytest.approx(one.steepest)
    x = grid[1234]
    assert one.gap(x) == pytest.approx(np.max((x - face) @ f.grad(x)))
    D = np.linalg.norm(Z.upper - Z.lower)
    assert one.curvatures == pytest.approx((D**2, (r - 1) * D**2))
    for eps in (1e-1, 1e-3):
        start = one.start(eps)
        assert Z.contains(start, 1e-12) and g.value(start) <= eps / 2 + 1e-12
        assert f.value(start) - one.f_least <= one.drop + 1e-12


def test_exponent_of_a_power() -> None:
    k = np.arange(1, 1000)
    assert exponent(k, 3.0 * k**-0.75) == pytest.approx(0.75)
