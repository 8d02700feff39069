"""Measured rates: bounds that no iterate exceeds, slopes, and the stored table."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tiebreak.lab.comparison import rates
from tiebreak.lab.comparison.rates import CLAIMS, Claim, Measured, measure, rows_from_json, rows_to_json
from tiebreak.methods import METHODS

STORED = rows_from_json((Path(__file__).parents[3] / "docs" / "rates.json").read_text())
BOUNDED = [claim for claim in CLAIMS if claim.bound is not None]


@pytest.mark.parametrize("claim", BOUNDED, ids=lambda claim: f"{claim.method}-{claim.level}-{claim.place[-12:]}")
def test_no_iterate_exceeds_the_bound_of_its_theorem(claim: Claim) -> None:
    assert measure(replace(claim, updates=200)).worst <= 1


def test_a_bound_that_is_exceeded_is_seen() -> None:
    claim = next(claim for claim in BOUNDED if claim.method == "cg-bio-anytime")
    tight = replace(claim, updates=200, bound=lambda p, k: 0.1 * claim.bound(p, k))
    assert measure(tight).worst > 1


def test_slope_of_a_power() -> None:
    k = np.geomspace(1, 1000, 60)
    assert rates._slope(k, 3 * k**-1.5, 100, 1000) == pytest.approx(-1.5)


@pytest.mark.parametrize(
    ("slope", "worst", "holds"), [(-1.0, None, True), (-0.9, None, False), (-0.5, 0.9, True), (-0.5, 1.1, False)]
)
def test_what_counts_as_holding(slope: float, worst: float | None, holds: bool) -> None:
    assert Measured("m", "lower", "O(1/k)", 1.0, "", 100, slope, slope, worst).holds is holds


def test_fast_claims_measured_again() -> None:
    """The slopes of conditional gradient on a simplex, where k steps know k + 1 vertices."""
    for claim in CLAIMS:
        if claim.method in ("cg", "cg-bio-anytime") and claim.level == "upper":
            assert -1.3 < measure(replace(claim, updates=500)).slope < -0.95


def test_the_stored_table_is_complete_and_nothing_in_it_is_worse_than_its_theorem() -> None:
    assert [(row.method, row.level, row.place) for row in STORED] == [(c.method, c.level, c.place) for c in CLAIMS]
    assert all(row.holds for row in STORED), [row for row in STORED if not row.holds]
    assert {row.method for row in STORED} <= set(METHODS)
    assert rows_from_json(rows_to_json(STORED)) == STORED
