"""The last pass: values, gradients and the multiplier's products in the data, in extended precision, errors upwards.

Let x be a point of Z, g a sum of losses of rows a_i x with curvature h'' > 0, and for every solution s

    gap >= g(s) - g(x) - <grad g(x), s - x>;

since g(s) = g* <= g(x), max over Z of <grad g(x), x - s> is such a gap. With v_i = a_i (s - x) and
|h'''| <= M h'', each row adds at least h''_i phi(M |v_i|) / M^2 to that difference, phi(u) = e^-u + u - 1, which is at
least u^2/3 for u <= 1 and u/e for u >= 1 (for M = 0, h''_i v_i^2 / 2). So for any numbers y_i

    |sum y_i v_i| <= sqrt(sum y_i^2 / h''_i) sqrt(3 gap) + max(|y_i| / h''_i) e M gap

(sqrt(2 gap) and no second term for M = 0), and by convexity of f

    f* >= f(x) + min over Z of <grad f(x) + A'y, s - x> - that.

y = D A w is given by d numbers w; it is what the pass computes and rounds, so it has no error of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import e
from typing import Any, NamedTuple

import numpy as np

from ...arrays import UNIT_ROUNDOFF, Vector, length
from ...numerics.rows import LONG_ROUNDOFF
from ...numerics.slices import Sliced, Twice
from ...objectives.chunked import Evaluated
from ...objectives.chunks import NotFinite
from ...objectives.losses.base import LINK_UNITS, TINY
from ...objectives.matrix import gamma
from .frame import Frame, Shape
from .levels import RowTerm, self_concordance

AT_ONCE = 1024  # rows
NEAR = 1e-9  # of 1 + the size of x
MERGES = 64  # more than a tree has levels


class Shown(NamedTuple):
    """What a term's rows add up to at (x, w); of vectors the entrywise errors. Not yet multiplied by the scale."""

    value: Any
    value_error: float
    grad: Twice
    grad_error: Vector
    pulled: Twice  # A'y
    pulled_error: Vector
    weight: float  # sum of y^2 / h'', upwards
    steepest: float  # of the Hessian's largest eigenvalue within NEAR of x, upwards
    added_error: Vector  # the part of grad_error that is due to adding up
    image_square: float  # the rest of it is A'W^1/2 e, W the weights: of these e the square, upwards
    ratio: float  # largest |y| / h'', upwards
    norms: dict[int, float]
    shape: Shape | None = None  # of a level that has a frame

    def plus(self, other: Shown) -> Shown:
        """Of the rows of both."""
        sums = [one + more for one, more in zip(self[:10], other[:10], strict=True)]
        shape = None if self.shape is None or other.shape is None else self.shape.plus(other.shape)
        return Shown._make([*sums, max(self.ratio, other.ratio), {**self.norms, **other.norms}, shape])


@dataclass(frozen=True)
class Prove:
    """The kernel: for each of the terms on the same rows, at x and with its own w (zeros where it needs none)."""

    points: tuple[Any, ...]  # x and w as columns, for each term
    recipes: tuple[Any, ...]
    counts: tuple[int, ...]
    frames: tuple[Frame | None, ...]

    def __call__(self, k: int, A: Any, *entries: Vector) -> tuple[Shown, ...]:
        found, first = [], 0
        norm = length(A.data if hasattr(A, "indptr") else A) * (1 + 1e-8)
        if not np.isfinite(norm):
            raise NotFinite
        for X, recipe, count, frame in zip(self.points, self.recipes, self.counts, self.frames, strict=True):
            own = entries[first : first + count]
            loss = recipe.link(*own) if own else recipe.make()
            bend = loss.bend(np.asarray(A @ X[:, 0]), norm * NEAR * (1 + length(X[:, 0])))
            shown = _chunk(A, loss, X)._replace(norms={k: norm}, steepest=bend * norm * norm)
            if frame is not None:
                weights = getattr(loss, "weights", None)
                shown = shown._replace(shape=frame.shown(A, None if weights is None else np.sqrt(weights)))
            found.append(shown)
            first += count
        return tuple(found)


def merged(one: tuple[Shown, ...], other: tuple[Shown, ...]) -> tuple[Shown, ...]:
    """The merge of two neighbours."""
    return tuple(mine.plus(more) for mine, more in zip(one, other, strict=True))


def _chunk(A: Any, loss: Any, X: Any) -> Shown:
    total: Shown | None = None
    blocks = -(-A.shape[0] // AT_ONCE)
    for first in range(0, A.shape[0], AT_ONCE):
        part = slice(first, first + AT_ONCE)
        rows = A[part].toarray() if hasattr(A, "toarray") else A[part]
        own = loss.rows(np.arange(*part.indices(A.shape[0]))) if blocks > 1 else loss
        found = _block(np.asarray(rows), own, X, long_gamma(AT_ONCE + blocks + MERGES))
        total = found if total is None else total.plus(found)
    assert total is not None
    return total


def long_gamma(terms: int) -> float:
    """The relative error of a sum of so many products in extended precision."""
    return (terms + 8) * LONG_ROUNDOFF / (1 - (terms + 8) * LONG_ROUNDOFF)


def _block(rows: Any, loss: Any, X: Any, sums: float) -> Shown:
    sliced, size = Sliced(rows), np.abs(rows)
    t, off = sliced.times(X[:, 0].astype(np.longdouble))
    near = np.asarray(t, dtype=np.float64)
    most, least = _curvature(loss, near, off + 2 * UNIT_ROUNDOFF * np.abs(near))
    value, slope, value_size, slope_size = _terms(loss, t)
    units = LINK_UNITS * LONG_ROUNDOFF
    slope_error = np.asarray(units * slope_size, dtype=np.float64) + most * off
    value_error = np.asarray(units * value_size + np.abs(slope) * off, dtype=np.float64) + most * off * off
    high = 1 + 8 * gamma(rows.shape[0] + rows.shape[1])
    grad, added_error = sliced.transpose_times(slope)
    y = np.zeros(near.size) if not X[:, 1].any() else loss.curvature(near) * (rows @ X[:, 1])
    pulled, pulled_error = (
        sliced.transpose_times(y.astype(np.longdouble)) if y.any() else (Twice.zeros(size.shape[1]), 0.0)
    )
    pull = np.abs(y)
    with np.errstate(divide="ignore"):
        ratio = np.divide(pull, least, out=np.zeros(y.size), where=pull > 0) * (1 + 4 * UNIT_ROUNDOFF)
        in_image = np.divide(slope_error, np.sqrt(least), out=np.zeros(y.size), where=slope_error > 0)
    return Shown(
        value.sum(),
        high * float((value_error + sums * np.abs(np.asarray(value, dtype=np.float64))).sum()),
        grad,
        high * (size.T @ slope_error) + added_error,
        pulled,
        pulled_error + np.zeros(size.shape[1]),
        high * float(pull @ ratio),
        0.0,
        added_error,
        high * float(in_image @ in_image),
        float(ratio.max(initial=0.0)),
        {},
    )


def _terms(loss: Any, t: Any) -> tuple[Any, Any, Any, Any]:
    """Values and slopes row by row in extended precision, and the sizes of what they are sums of."""
    if not loss.quadratic:
        found = loss.terms(t)
        return found.value, found.slope, found.value_size, found.slope_size
    residual = t if loss.target is None else t - loss.target
    slope = residual if loss.weights is None else loss.weights * residual
    value = slope * residual / 2
    return value, slope, value, np.abs(slope)


def _curvature(loss: Any, t: Vector, off: Vector) -> tuple[Vector, Vector]:
    """Bounds on h'' within so far of t, from above and below."""
    here, M = loss.curvature(t), loss.self_concordance
    if M == 0 and loss.quadratic:
        return here, here
    units = 1 + 2 * LINK_UNITS * UNIT_ROUNDOFF
    if not np.isfinite(M) or not loss.strictly_convex:
        return np.broadcast_to(loss.most, t.shape), np.zeros(t.size)
    swing = np.exp(M * off) * units
    return here * swing + TINY, here / swing


class Level(NamedTuple):
    """A level's terms at x: its value and gradient with errors, and of its multiplier the rest of the bound."""

    value: Any
    value_error: float
    slope: Twice
    grad_error: Vector
    pull: Twice
    pulled_error: Vector
    weight: float
    steepest: float
    added_error: Vector
    image_square: float
    ratio: float
    shapes: tuple[tuple[float, Shape], ...] = ()

    @property
    def grad(self) -> Any:
        """In extended precision, whose rounding ``grad_error`` covers."""
        return self.slope.high

    @property
    def pulled(self) -> Any:
        """A'y, likewise."""
        return self.pull.high


def show(
    groups: Sequence[Sequence[RowTerm]], x: Vector, ws: Sequence[Vector], frames: Sequence[Frame | None] | None = None
) -> list[Level]:
    """The levels of these terms, by one pass over each matrix that they share."""
    flat = [(term, w) for terms, w in zip(groups, ws, strict=True) for term in terms]
    of = [frame for terms, frame in zip(groups, frames or [None] * len(groups), strict=True) for _ in terms]
    results: dict[int, Shown] = {}
    for A in {id(term.A): term.A for term, _ in flat}.values():
        here = [i for i, (term, _) in enumerate(flat) if term.A is A]
        kernel = Prove(
            tuple(np.stack([x, flat[i][1]], axis=1) for i in here),
            tuple(flat[i][0].recipe for i in here),
            tuple(len(flat[i][0].beside) for i in here),
            tuple(of[i] for i in here),
        )
        shown = A.reduce(kernel, merged, [one for i in here for one in flat[i][0].beside])
        results.update(zip(here, shown, strict=True))
    found, at = [], 0
    for terms in groups:
        found.append(_level(terms, [results[at + i] for i in range(len(terms))], x))
        at += len(terms)
    return found


def _level(terms: Sequence[RowTerm], shown: Sequence[Shown], x: Vector) -> Level:
    zero = np.zeros(x.size)
    total = Level(np.longdouble(0), 0.0, Twice.zeros(x.size), zero, Twice.zeros(x.size), zero, 0.0, 0.0, zero, 0.0, 0.0)
    for term, one in zip(terms, shown, strict=True):
        total = _plus(total, _scaled(term, one))
        if term.source is not None:
            _remember(term.source, x, one)
    shapes = tuple((float(t.scale), one.shape) for t, one in zip(terms, shown, strict=True) if one.shape is not None)
    return total._replace(shapes=shapes)


def _scaled(term: RowTerm, one: Shown) -> Level:
    """A term's rows times its scale: the multiplier of the scaled term is c y, its curvature c h''."""
    c, share = term.exact, term.exact_error
    up, off = 1.01 * float(c), 2 * LONG_ROUNDOFF + share
    grad, pulled = (np.abs(np.asarray(each.high, dtype=np.float64)) for each in (one.grad, one.pulled))
    return Level(
        c * one.value,
        up * (one.value_error + off * abs(float(one.value))),
        one.grad.times(c),
        up * (one.grad_error + off * grad),
        one.pulled.times(c),
        up * (one.pulled_error + 2 * LONG_ROUNDOFF * pulled),
        float(c) * one.weight * (1 + 1.01 * share + 8 * UNIT_ROUNDOFF),
        up * one.steepest,
        up * (one.added_error + (share + LONG_ROUNDOFF**2) * grad),
        up * one.image_square,
        one.ratio * (1 + 1.01 * share + 4 * UNIT_ROUNDOFF),
    )


def _plus(one: Level, other: Level) -> Level:
    sums = [mine + more for mine, more in zip(one[:10], other[:10], strict=True)]
    return Level._make([*sums, max(one.ratio, other.ratio), ()])


def _remember(source: Any, x: Vector, one: Shown) -> None:
    """Whoever evaluates the objective at x again need not read the data again."""
    grad = np.asarray(one.grad.high, dtype=np.float64)
    error = length(one.grad_error) + UNIT_ROUNDOFF * length(grad)
    value = float(one.value)
    value_error = one.value_error + UNIT_ROUNDOFF * abs(value)
    source.remember(x.tobytes(), Evaluated(value, grad, value_error, error, abs(value), length(grad), one.norms))


def held(level: Level, terms: Sequence[RowTerm], gap: float) -> float:
    """A bound on |<y, A (s - x)>| for all solutions s, as above."""
    root, straight = _share(level, terms)
    return float(root * np.sqrt(gap) + straight * gap) * (1 + 1e-12)


def sharper(level: Level, terms: Sequence[RowTerm], drop: float) -> float:
    """The gap again, from y with max over Z of <grad g + A'y, x - s> <= drop: gap <= drop + |<y, A (s - x)>|."""
    root, straight = _share(level, terms)
    if not straight < 0.5 or not np.isfinite(root):
        return np.inf
    left = 1 - straight
    return float(((root + np.sqrt(root * root + 4 * left * drop)) / (2 * left)) ** 2) * (1 + 1e-12)


def _share(level: Level, terms: Sequence[RowTerm]) -> tuple[float, float]:
    """a and b with |<y, A (s - x)>| <= a sqrt(gap) + b gap."""
    M = max(self_concordance(term) for term in terms)
    if not np.isfinite(M):
        return (np.inf, np.inf) if level.weight else (0.0, 0.0)
    return float(np.sqrt(level.weight * (2 if M == 0 else 3))), e * M * level.ratio
