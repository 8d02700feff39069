"""Over-parameterised regression: among the models that fit the training data best, the one that validates best.

Example 1 of the CG-BiO paper. Its data are the daily visits of 1068 Wikipedia articles over 731 days: one day is to be
predicted from the others. Without that file a generated table of the same shape takes its place, and says so. The
diabetes data (442 patients) are small, real and at hand: with all products of up to three of their 10 measurements
there are 285 features for 265 training rows or fewer.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ...arrays import Vector
from ...objectives import LeastSquares
from ...problem import Problem
from ...sets import L1Ball
from .diabetes import load_diabetes, products

PAGES, DAYS = 1068, 731


@dataclass(frozen=True)
class Samples:
    """Features, a target, and which rows serve for what."""

    A: Vector
    b: Vector
    train: NDArray[np.intp]
    validation: NDArray[np.intp]
    test: NDArray[np.intp]
    source: str
    real: bool

    def problem(self, radius: float = 1.0, rows: int | None = None) -> Problem:
        """Half the squared training error (over the first ``rows`` training rows) below, the validation error above."""
        train = self.train[:rows]
        return Problem(
            upper=LeastSquares(self.A[self.validation], self.b[self.validation]),
            lower=LeastSquares(self.A[train], self.b[train]),
            domain=L1Ball(radius),
        )

    def test_error(self) -> LeastSquares:
        """Half the squared error over the test rows."""
        return LeastSquares(self.A[self.test], self.b[self.test])


def stand_in(seed: int = 0) -> Samples:
    """Generated page visits in the shape of the paper's data.

    Examples
    --------
    >>> samples = stand_in()
    >>> samples.A.shape, len(samples.train), len(samples.validation), len(samples.test)
    ((1068, 730), 641, 213, 214)
    """
    source = "a generated stand-in for the Wikipedia data (1068 x 731 page visits; no real data)"
    return from_visits(page_visits(seed), source, seed, real=False)


def wikipedia(path: Path, seed: int = 0) -> Samples:
    """The paper's data, from the JSON file; a random day is the target, as in the paper, which does not say which."""
    return from_visits(read_visits(path), f"Wikipedia Math Essential ({path.name})", seed, real=True)


def from_visits(visits: Vector, source: str, seed: int, *, real: bool) -> Samples:
    """One day from all others, each day divided by its largest number; 60 % of the pages train, 20 % validate."""
    rng = np.random.default_rng(seed)
    largest = np.abs(visits).max(axis=0)
    scaled = visits / np.where(largest > 0, largest, 1.0)
    target = int(rng.integers(scaled.shape[1]))
    order = rng.permutation(len(scaled))
    first, second = round(0.6 * len(order)), round(0.8 * len(order))
    A, b = np.delete(scaled, target, axis=1), scaled[:, target]
    return Samples(A, b, order[:first], order[first:second], order[second:], source, real)


def page_visits(seed: int = 0, pages: int = PAGES, days: int = DAYS) -> Vector:
    """Daily visits of pages: Poisson counts around popularity, week, year and trend, with slow noise and spikes.

    Examples
    --------
    >>> page_visits(pages=3, days=5).shape
    (3, 5)
    """
    rng = np.random.default_rng(seed)
    day = np.arange(days)
    popularity = rng.lognormal(3.0, 1.5, (pages, 1))
    week = 1 + rng.uniform(0, 0.4, (pages, 1)) * np.cos(2 * np.pi * (day / 7 + 0.1 * rng.random((pages, 1))))
    year = 1 + rng.uniform(0, 0.5, (pages, 1)) * np.cos(2 * np.pi * (day / 365.25 + rng.random((pages, 1))))
    trend = np.exp(rng.normal(0, 0.3, (pages, 1)) * day / days)
    shocks, noise = rng.normal(0, 0.15, (pages, days)), np.zeros((pages, days))
    for t in range(1, days):
        noise[:, t] = 0.8 * noise[:, t - 1] + shocks[:, t]
    spikes = np.where(rng.random((pages, days)) < 0.003, rng.lognormal(1.5, 0.5, (pages, days)), 1.0)
    return rng.poisson(popularity * week * year * trend * np.exp(noise) * spikes).astype(float)


def read_visits(path: Path) -> Vector:
    """Pages x days from the JSON file of the Wikipedia data: time_periods, and "0", "1", ..., each with a list y."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise ValueError(f"{path} is not a JSON file: {error}") from None
    periods = content.get("time_periods") if isinstance(content, dict) else None
    if not isinstance(periods, int) or periods < 2:
        raise ValueError(f"{path} must hold an object with the key time_periods, a number of days above 1")
    days = []
    for day in range(periods):
        entry = content.get(str(day))
        if not isinstance(entry, dict) or not isinstance(entry.get("y"), list):
            raise ValueError(f"{path}: key {str(day)!r} must hold an object with a list y of visits")
        days.append(entry["y"])
    lengths = sorted({len(day) for day in days})
    if len(lengths) > 1 or lengths[0] < 5:
        raise ValueError(f"{path}: every y must hold the visits of the same 5 pages or more; there are {lengths}")
    try:
        visits = np.array(days, dtype=np.float64).T
    except (TypeError, ValueError):
        raise ValueError(f"{path}: the lists y must hold numbers only") from None
    if not np.isfinite(visits).all():
        raise ValueError(f"{path}: the lists y must hold finite numbers only")
    return visits


def diabetes_samples(rows: int = 265, seed: int = 0) -> Samples:
    """The diabetes data with cubic features, scaled to zero mean and unit variance over the first training rows.

    Examples
    --------
    >>> samples = diabetes_samples()
    >>> samples.A.shape, len(samples.train), len(samples.validation), len(samples.test)
    ((442, 285), 265, 89, 88)
    """
    data = load_diabetes()
    features, _ = products(data.X, data.names, 3)
    order = np.random.default_rng(seed).permutation(len(features))
    train = order[:rows]
    center, spread = features[train].mean(axis=0), features[train].std(axis=0)
    A = (features - center) / np.where(spread > 0, spread, 1.0)
    b = (data.progression - data.progression[train].mean()) / data.progression[train].std()
    source = "the diabetes data with cubic features"
    return Samples(A, b, train, order[265:354], order[354:], source, real=True)


def diabetes(radius: float = 1.0, rows: int = 265, seed: int = 0) -> Problem:
    """The training error below, the validation error above, over an l1 ball.

    Features and target are scaled to zero mean and unit variance over the training rows, and both errors are means.
    With all 265 training rows and a small radius the training error decides alone; with 60 rows and a radius of 20
    many models fit exactly, and the validation error chooses among them.

    Examples
    --------
    >>> problem = diabetes()
    >>> problem.lower.A.shape
    (265, 285)
    """
    samples = diabetes_samples(rows, seed)
    A, b, train, validation = samples.A, samples.b, samples.train, samples.validation
    return Problem(
        upper=LeastSquares(A[validation], b[validation], scale=1 / len(validation)),
        lower=LeastSquares(A[train], b[train], scale=1 / len(train)),
        domain=L1Ball(radius),
    )
