"""Rows and columns as scikit-learn users give them, as matrices of a problem."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..arrays import Vector
from ..objectives import L1Norm, Objective, SquaredNorm
from ..sets import Box, Domain

INTERCEPT = "intercept"


def is_sparse(X: object) -> bool:
    """Whether a matrix is one of SciPy's sparse ones."""
    return bool(sp.issparse(X))


def stacked(parts: Sequence[Any]) -> Any:
    """Matrices below each other."""
    return sp.vstack(parts, format="csr") if is_sparse(parts[0]) else np.vstack(parts)


@dataclass(frozen=True)
class Sample:
    """Rows with their targets and weights; rows of weight zero are left out, as if they had not been given.

    Attributes
    ----------
    X : array or sparse matrix, n x d
        The features.
    y : array of length n
        The targets; of a classifier, -1 and 1.
    weights : array of length n or None
        Positive.
    """

    X: Any
    y: Vector
    weights: Vector | None = None

    @classmethod
    def of(cls, X: Any, y: Vector, weights: Vector | None) -> Sample:
        """Without rows of weight zero."""
        if weights is None or (weights > 0).all():
            return cls(X, y, weights)
        return cls(X, y, weights).rows(np.flatnonzero(weights))

    def rows(self, chosen: Any) -> Sample:
        """Some of the rows."""
        return Sample(self.X[chosen], self.y[chosen], None if self.weights is None else self.weights[chosen])

    def and_also(self, other: Sample) -> Sample:
        """The rows of both."""
        weights = None
        if self.weights is not None or other.weights is not None:
            weights = np.concatenate([np.ones(s.y.size) if s.weights is None else s.weights for s in (self, other)])
        return Sample(stacked([self.X, other.X]), np.concatenate([self.y, other.y]), weights)

    @property
    def shares(self) -> Vector:
        """The weights, summing to 1."""
        return np.full(self.y.size, 1 / self.y.size) if self.weights is None else self.weights / self.weights.sum()

    @property
    def total(self) -> float:
        """The sum of the weights; without weights, the number of rows."""
        return float(self.y.size) if self.weights is None else float(self.weights.sum())

    def matrix(self, intercept: bool) -> Any:
        """The features, with a last column of ones for the intercept."""
        if not intercept:
            return self.X
        ones = np.ones((self.y.size, 1))
        return sp.hstack([self.X, sp.csr_array(ones)], format="csr") if is_sparse(self.X) else np.hstack([self.X, ones])

    @property
    def sizes(self) -> Vector:
        """The root mean square of each feature; 1 where it is zero."""
        squares = self.X.multiply(self.X).mean(axis=0) if is_sparse(self.X) else np.square(self.X).mean(axis=0)
        found: Vector = np.sqrt(np.asarray(squares, dtype=np.float64).ravel())
        return np.where(found > 0, found, 1.0)

    @property
    def target_size(self) -> float:
        """The root mean square of the targets; 1 where it is zero."""
        return float(np.sqrt(np.mean(self.y * self.y))) or 1.0

    @property
    def scale(self) -> float:
        """The root mean square of all features: what a coefficient is multiplied by."""
        return float(np.sqrt(np.mean(self.sizes**2)))


def least_norm(norm: str, features: int, intercept: bool, penalize_intercept: bool) -> Objective:
    """The size of a model: half the squared Euclidean norm, or the sum of absolute values, of its coefficients."""
    if norm not in ("l2", "l1"):
        raise ValueError(f'norm must be "l2" or "l1", got {norm!r}')
    weights = np.ones(features + intercept)
    if intercept and not penalize_intercept:
        weights[-1] = 0.0
    return SquaredNorm(weights=weights) if norm == "l2" else L1Norm(weights)


def domain_of(sample: Sample, intercept: bool, reach: float | None, positive: bool = False) -> Domain | None:
    """Where coefficients may be: anywhere (None), or none of them negative beside an intercept that is free.

    With a reach no feature moves scores by more than that, its size being its root mean square; the intercept may
    outweigh all of them.
    """
    if reach is None and not positive:
        return None
    features = sample.X.shape[1]
    ends = np.full(features + intercept, np.inf if reach is None else (1 + features) * reach)
    if reach is not None:
        ends[:features] = reach / sample.sizes
    lower = -ends
    if positive:
        lower[:features] = 0.0
    return Box(lower, ends)


def names_of(estimator: Any, features: int, intercept: bool) -> Sequence[str] | None:
    """The names of the features, where they have some, and one for the intercept that none of them has."""
    given = getattr(estimator, "feature_names_in_", None)
    if given is None or len(set(given)) < features:
        return None
    names = [str(name) for name in given]
    free = INTERCEPT
    while free in names:
        free += "_"
    return [*names, free] if intercept else names
