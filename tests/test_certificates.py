"""Every bound that a run reports, at every iterate, against values found without the library."""

from __future__ import annotations

from dataclasses import replace

import pytest

import tiebreak as tb
from known import classics
from known.soundness import METHODS, Tally, check_run, sweep

INSTANCES = 60
BATCHES = 6  # so that the sweep can be shared among processes


@pytest.mark.parametrize("batch", range(BATCHES))
def test_all_bounds_hold_at_all_iterates(batch):
    tally, dropped = Tally(), []
    for *_, known in sweep(INSTANCES // BATCHES, 1000 * batch, dropped):
        for method in METHODS:
            check_run(tally, known, method, max_iter=25, tol_upper=1e-6, tol_lower=1e-6)
    assert not tally.violations, "\n".join(tally.violations[:10])
    assert tally.checked > 1000
    assert len(dropped) <= 2, dropped


@pytest.mark.parametrize("method", METHODS, ids=lambda m: m if isinstance(m, str) else m.info.name)
def test_bounds_hold_for_the_classics(method):
    tally = Tally()
    family = [classics.toy(), *classics.hard_pair(5), classics.knapsack(0), classics.min_norm(0)]
    family += [classics.holder(0, r) for r in (1, 2, 3, 4)]
    for known in family:
        check_run(tally, known, method, max_iter=200, tol_upper=1e-8, tol_lower=1e-8)
    assert not tally.violations, "\n".join(tally.violations[:10])


@pytest.mark.parametrize("scale", [1e-8, 1e-4, 1e4, 1e8])
def test_bounds_hold_for_badly_scaled_objectives(scale):
    """Scaling f and g in opposite directions scales f*, g* and nothing else."""
    tally = Tally()
    for *_, known in sweep(4, 77, []):
        if not known.problem.upper.convex:
            continue
        problem = tb.Problem(
            scale * known.problem.upper,
            (1 / scale) * known.problem.lower,
            known.problem.domain,
            slack=known.problem.slack / scale,
        )
        bounds = []
        tb.solve(
            problem,
            "cg-bio-anytime",
            max_iter=30,
            callback=tb.Every(1, lambda e, bounds=bounds: bounds.append(e.certificate)),
        )
        for c in bounds:
            tally.expect(c.f_lower / scale <= known.f_star + known.f_tol, f"{known.note}: f_lower")
            tally.expect(c.f_upper / scale >= known.f_star - known.f_tol, f"{known.note}: f_upper")
            tally.expect(c.g_lower * scale <= known.g_star + known.g_tol, f"{known.note}: g_lower")
            tally.expect(c.g_upper * scale >= known.g_star - known.g_tol, f"{known.note}: g_upper")
    assert tally.checked
    assert not tally.violations, "\n".join(tally.violations[:10])


def test_a_wrong_reference_is_noticed():
    """The checks can fail: shifted values of g* and f* are refuted by the bounds of a converged run."""
    known = classics.knapsack(1)
    for wrong in (
        replace(known, g_star=known.g_star - 0.1),
        replace(known, g_star=known.g_star + 0.1),
        replace(known, f_star=known.f_star - 0.1),
    ):
        tally = Tally()
        check_run(tally, wrong, "cg-bio-anytime", max_iter=2000, tol_upper=1e-3, tol_lower=1e-3)
        assert tally.violations
