"""The theorems as an experiment: closed forms against a solver, bounds that a wrong run would cross."""

from __future__ import annotations

from pathlib import Path

import clarabel
import numpy as np
import pytest
from scipy import sparse

import tiebreak as tb
from tiebreak.lab.experiments import rates as problems
from tiebreak.lab.reproduce import growth, rates
from tiebreak.lab.reproduce.outcome import Outcome, Request
from tiebreak.lab.workshop import Workshop


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    return rates.run(Request(Workshop(Path(tmp_path_factory.mktemp("rates"))), size="quick"))


def test_no_bound_is_crossed(outcome: Outcome) -> None:
    assert [claim.sentence for claim in outcome.claims if claim.holds is False] == []
    assert len(outcome.claims) == 15


def test_every_panel_has_something_to_show(outcome: Outcome) -> None:
    assert len(outcome.panels) == 6
    for panel in outcome.panels:
        for curve in panel.curves:
            assert all(axis.shape == curve.y.shape for axis in curve.x.values())
        assert any(np.isfinite(curve.y).sum() > 3 for curve in panel.curves if curve.role == "run"), panel.name


def test_a_crossed_bound_is_told() -> None:
    assert rates.share(np.array([1.0, 3.0]), np.array([2.0, 2.0])) == 1.5
    assert rates.share(np.array([1e-9]), np.array([0.0])) == np.inf
    assert rates.share(np.array([1e-15, 1.0]), np.array([0.0, 2.0])) == 0.5


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


def test_promised_accuracy_inverts_the_theorem() -> None:
    known = problems.fair_slice(0)
    C_f, C_g = known.curvatures
    for two_sided in (False, True):
        eps_f, eps_g = growth._promised(known, 1000, two_sided)
        assert max(2 * C_f / 16 / eps_f**2, 2 * C_g / 16 / (eps_f * eps_g)) == pytest.approx(1000)


def test_exponent_of_a_power() -> None:
    k = np.arange(1, 1000)
    assert rates.exponent(k, 3.0 * k**-0.75) == pytest.approx(0.75)
