"""The search for the maximum of a concave function, on functions whose maximum is known."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tiebreak.numerics.concave import LARGEST, MOST, maximise_concave


def search(function: Callable[[float], float], guesses: list[float], enough: float) -> tuple[float, float, int]:
    calls: list[float] = []

    def value(t: float) -> float:
        calls.append(t)
        return function(t)

    best, t = maximise_concave(value, guesses, lambda _: enough)
    assert best == function(t) and len(calls) == len(set(calls)) <= MOST and min(calls) >= 0
    return best, t, len(calls)


PEAKS = {
    "kink": (lambda t: min(t, 6 - 2 * t), 2.0, 2.0),
    "far kink": (lambda t: 5 - abs(t - 1e6) * 1e-3, 1e6, 5.0),
    "parabola": (lambda t: 10 - (t - 7) ** 2, 7.0, 10.0),
    "logarithm": (lambda t: float(np.log1p(t) - t / 1e4), 1e4 - 1, float(np.log(1e4) - (1e4 - 1) / 1e4)),
    "plateau": (lambda t: min(t, 3.0, 50 - t), 3.0, 3.0),
    "falling": (lambda t: -t, 0.0, 0.0),
    "falling from a kink at zero": (lambda t: 1 - 1e3 * t, 0.0, 1.0),
}


@pytest.mark.parametrize("name", PEAKS)
@pytest.mark.parametrize("off", [1.0, 1.3, 0.02, 1e4, None])
def test_peaks(name: str, off: float | None) -> None:
    function, peak, most = PEAKS[name]
    best, _, calls = search(function, [] if off is None else [(peak or 1.0) * off], 1e-4 * (1 + abs(most)))
    assert most - 1e-4 * (1 + abs(most)) <= best <= most
    assert calls <= 25


@pytest.mark.parametrize("seed", range(20))
def test_random_minima_of_lines(seed: int) -> None:
    """What is promised at the end, that no more than ``enough`` is left to gain, on piecewise linear functions."""
    rng = np.random.default_rng(seed)
    slopes, offsets = np.append(rng.normal(size=30) * 10 ** rng.uniform(-2, 2, 30), -1.0), rng.normal(size=31)
    corners = (offsets[:, None] - offsets) / np.where(slopes == slopes[:, None], np.inf, slopes - slopes[:, None])
    grid = np.append(corners[corners > 0], 0.0)
    most = (offsets + slopes * grid[:, None]).min(axis=1).max()
    best, _, _ = search(lambda t: float((offsets + slopes * t).min()), [float(10 ** rng.uniform(-3, 3))], 1e-6)
    assert most - 1e-6 <= best <= most + 1e-12


def test_a_function_that_only_grows_and_one_that_is_noise() -> None:
    assert search(lambda t: -1 / (1 + t), [1.0], 1e-12)[1] >= 1e6
    assert search(lambda t: t, [1.0], 1e-12)[1] >= LARGEST
    noise = np.random.default_rng(0)
    assert search(lambda t: 1.0, [1.0, 2.0], 0.0)[0] == 1.0
    best, _ = maximise_concave(lambda t: 1e-16 * float(noise.normal()), [1.0], lambda _: 0.0)
    assert np.isfinite(best)
