"""Multinomial logistic regression by differences of scores, in which its second derivatives are a sum of squares.

With p the probabilities of a row, <d, (diag(p) - pp') d> is the sum of p_k p_l (d_k - d_l)^2 over all pairs of classes.
So differences are to this loss what predictions are to others: each pair has a second derivative of its own, its rows
are data as they are stored, and all minimisers agree on them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ...arrays import Matrix, Vector
from ...numerics.extended import Ext
from .base import LINK_UNITS, Loss, Terms


def differences(y: NDArray[np.intp], classes: int) -> Matrix:
    """From scores, row by row, to the differences of all pairs: first those to the class that a row is of."""
    n, (first, second) = y.size, np.triu_indices(classes, 1)
    order = np.argsort(np.arange(classes) != y[:, None], axis=1, kind="stable")  # y comes first
    start = classes * np.arange(n)[:, None]
    columns = np.stack([start + order[:, second], start + order[:, first]], axis=-1).ravel()
    signs = np.tile([1.0, -1.0], n * first.size)
    return sp.csr_array((signs, columns, np.arange(0, signs.size + 1, 2)), shape=(n * first.size, n * classes))


class _Parts(NamedTuple):
    """Row by row, in the precision of the scores: the loss, and of all classes, the right one first, ..."""

    value: Any
    p: Any  # their probabilities
    gaps: Any  # the largest score less their own


@dataclass(frozen=True, eq=False)
class SoftmaxPairsLoss(Loss):
    """h(s) = sum_i w_i log(1 + sum_k exp(s_ik)), s_ik the K - 1 differences of a row's scores to that of its class.

    The differences between others follow from these; h does not look at them, but they have second derivatives:
    ``curvature`` are those c with <d, h'' d> = sum_j c_j d_j^2 for all steps d of differences.
    """

    weights: Vector
    classes: int

    lower_bound = 0.0
    separable = False
    self_concordance = 1.0
    by_terms = True

    @property
    def name(self) -> str:
        return "Softmax"

    @property
    def group(self) -> int:
        return self.classes * (self.classes - 1) // 2

    @cached_property
    def most(self) -> Vector:  # type: ignore[override]
        """w / 4, as p_k p_l is at most 1/4."""
        return np.repeat(self.weights / 4, self.group)

    def value_and_slope(self, t: Vector) -> tuple[float, Vector]:
        value, p, _ = self._parts(t)
        return float(self.weights @ value), self._slope(self.weights[:, None] * p)

    def terms(self, t: Ext) -> Terms:
        # Powers of rounded differences are off by these, relative to themselves; so is p_k, by its own and their mean.
        # A value whose largest score is not that of its class is log 2 or more.
        value, p, gaps = self._parts(t)
        more = 1 + 2 * self.classes / LINK_UNITS
        rounded = 1 + (gaps + (p * gaps).sum(axis=1, keepdims=True)) / LINK_UNITS
        value, slope = self.weights * value, self.weights[:, None] * p
        return Terms(value, self._slope(slope), more * value, self._slope(more * rounded * slope))

    def curvature(self, t: Vector) -> Vector:
        p = self._parts(t).p
        first, second = np.triu_indices(self.classes, 1)
        return np.asarray((self.weights[:, None] * p[:, first] * p[:, second]).ravel())

    def least_of_group(self, t: Vector) -> Vector:
        # With m the most likely class, any difference d_k - d_l has (d_k - d_l)^2 <= 2 (d_k - d_m)^2 + 2 (d_l - d_m)^2.
        p = self._parts(t).p
        least = self.weights * p.min(axis=1) * p.max(axis=1) / 2
        return np.repeat(least, self.group)

    @property
    def far_slopes(self) -> tuple[Vector, Vector]:
        above = np.zeros((self.weights.size, self.group))
        above[:, : self.classes - 1] = self.weights[:, None]
        return np.zeros(above.size), above.ravel()

    def rows(self, index: NDArray[np.intp]) -> Self:
        """Of whole groups."""
        own: Any = self
        return replace(own, weights=self.weights[index[:: self.group] // self.group])  # type: ignore[no-any-return]

    def _parts(self, t: Any) -> _Parts:
        scores = t.reshape(-1, self.group)[:, : self.classes - 1]
        scores = np.hstack([np.zeros((len(scores), 1), t.dtype), scores])
        rows, first = np.arange(len(scores)), scores.argmax(axis=1)
        largest = scores[rows, first]
        gaps = largest[:, None] - scores
        powers = np.exp(-gaps)
        powers[rows, first] = 0.0
        others = powers.sum(axis=1)
        powers[rows, first] = 1.0
        return _Parts(largest + np.log1p(others), powers / (1 + others)[:, None], gaps)

    def _slope(self, p: Any) -> Any:
        slope = np.zeros((len(p), self.group), p.dtype)
        slope[:, : self.classes - 1] = p[:, 1:]
        return slope.ravel()
