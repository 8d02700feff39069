"""Losses by their names, and in which units they and coefficients are measured."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays import Vector
from ..objectives import Huber, LeastSquares, Logistic, Objective, Poisson, SquaredHinge
from ..objectives.chunks import Chunks
from .data import Sample, stacked

REGRESSION = ("squared", "poisson", "huber")
CLASSIFICATION = ("squared_hinge", "logistic", "squared")


def loss_of(name: str, sample: Sample, intercept: bool, delta: float = 1.0) -> Objective:
    """The mean loss of a linear model on the rows; one of those that take any numbers as targets, or one for signs."""
    A, y, weights = sample.matrix(intercept), sample.y, sample.weights
    if name == "squared":
        return LeastSquares(A, y, scale=1 / sample.total, weights=weights)
    if isinstance(A, Chunks):
        of_chunks: dict[str, Any] = {"poisson": Poisson, "logistic": Logistic, "squared_hinge": SquaredHinge}
        found: Objective
        if name == "huber":
            found = 1 / sample.total * Huber(A, y, delta, weights=weights)
        else:
            found = of_chunks[name](A, y, weights)
        return found
    if name == "huber":
        shares = np.full(y.size, 1 / sample.total) if weights is None else weights / sample.total
        return Huber(A, y, delta, weights=shares)
    if name != "poisson":
        A, y, weights = _both_classes(A, y, weights)
    with_shares: dict[str, type[Any]] = {"poisson": Poisson, "logistic": Logistic, "squared_hinge": SquaredHinge}
    made: Objective = with_shares[name](A, y, weights)
    return made


def _both_classes(A: Any, y: Vector, weights: Vector | None) -> tuple[Any, Vector, Vector | None]:
    """Rows of one class alone, with a part of the first one turned round: minus the features, minus the class.

    The losses depend on the product of both only, so that nothing changes but the labels, of which two must occur.
    """
    if (y != y[0]).any():
        return A, y, weights
    weights = np.ones(y.size) if weights is None else weights.copy()
    weights[0] /= 2
    return stacked([A, -A[:1]]), np.append(y, -y[0]), np.append(weights, weights[0])


def check_loss(name: object, known: tuple[str, ...]) -> None:
    """One of the names."""
    if name not in known:
        raise ValueError(f"loss must be one of {', '.join(map(repr, known))}, got {name!r}")


def unit_of_loss(loss: Objective, variables: int) -> float:
    """The loss of the model that is zero: tolerances are parts of it."""
    return abs(loss.value(np.zeros(variables))) or 1.0


def unit_of_scores(name: str, sample: Sample) -> float:
    """The size of the scores that fit: that of the targets, or 1 where these are classes or exponents."""
    return sample.target_size if name in ("squared", "huber") else 1.0


def reach_of(name: str, sample: Sample, bound: float | None) -> float | None:
    """How far a feature may move scores; None for no limit, which is exact for squares alone."""
    return None if name == "squared" or bound is None else bound * unit_of_scores(name, sample)


def predicted(name: str, scores: Vector) -> Vector:
    """What a model with these scores predicts."""
    return np.exp(scores) if name == "poisson" else scores
