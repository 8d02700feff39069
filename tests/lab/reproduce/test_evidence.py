"""The rule by which claims are decided: the interval against the binomial distribution, and what decides nothing."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from tiebreak.lab.reproduce.evidence import CONFIDENCE, SEEDS, Evidence, interval, less


@pytest.mark.parametrize("n", [6, 10, 11, 25, 100])
def test_the_interval_holds_the_median_that_often(n: int) -> None:
    """Of n draws the k-th smallest and largest enclose the median with chance 1 - 2 P(fewer than k heads)."""
    low, high = interval(np.random.default_rng(n).permutation(n))
    assert low + high == n - 1  # as far from either end
    outside = 2 * binom.cdf(low, n, 0.5)
    assert outside <= 1 - CONFIDENCE < 2 * binom.cdf(low + 1, n, 0.5)


def test_what_is_usually_so() -> None:
    assert Evidence((1.0,) * 9 + (-5.0,)).holds is True
    assert Evidence((-1.0,) * 9 + (5.0,)).holds is False
    assert Evidence((1.0,) * 8 + (-1.0,) * 2).holds is None
    assert Evidence((1.0,) * (SEEDS - 1)).holds is Evidence((-1.0,) * (SEEDS - 1)).holds is None


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("kind", ["usually", "always", "sometimes"])
def test_a_stand_in_decides_nothing_in_either_direction(sign: float, kind: str) -> None:
    evidence = Evidence((sign,) * 20, kind, ("the data are a stand-in",))
    assert evidence.holds is None and evidence.why == "the data are a stand-in"


def test_theorems_and_examples() -> None:
    assert Evidence((0.0, 1.0), "always").holds is True and Evidence((-1e-9, 1.0), "always").holds is False
    assert Evidence((-1.0, 1e-9), "sometimes").holds is True
    assert Evidence((-1.0, -1.0), "sometimes").holds is None  # elsewhere it may be so
    for kind in ("usually", "always", "sometimes"):
        assert Evidence((), kind).holds is None
        assert Evidence((float("nan"), *(1.0,) * 20), kind).holds is None


def test_less_is_fair_to_both_sides() -> None:
    for ours, theirs in ((1.0, 2.0), (-3.0, 1e-9), (0.0, float("inf")), (5.0, 5.0)):
        assert less(ours, theirs) == -less(theirs, ours) and (less(ours, theirs) > 0) == (ours < theirs)
    assert less(float("inf"), float("inf")) == 0.0
