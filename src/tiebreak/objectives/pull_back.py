"""Derivatives with respect to the data of an objective: what its gradient at a fixed x makes of a change of the data.

For a direction u, the derivatives of -<u, grad f(x)> with respect to the data, and of -<F u_k, w_k> for every pair
(u_k, w_k), where F has the rows of the data that later levels hold with multipliers w_k.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arrays import Vector
from .base import Objective
from .form import Form, Term
from .linear import Linear, SquaredNorm
from .linked import Linked
from .losses.huber import Huber
from .losses.square import LeastSquares
from .quadratic import Quadratic

Array = NDArray[np.float64]
KINK = 1e-7
"""A prediction nearer than this (relative) to where the second derivative of its loss jumps has no derivative."""


class Refused(NamedTuple):
    """Why there is no derivative with respect to one part of the data."""

    why: str


class Held(NamedTuple):
    """A later level's direction, and its multipliers for the curved rows of this level."""

    direction: Vector
    multipliers: Vector


@dataclass(frozen=True)
class Bent:
    """A level near x: gradient, Hessian, and the rows that are constant on its minimisers.

    Attributes
    ----------
    grad, hessian
        Those at x.
    maps : array
        The rows of the data whose losses bend at x (of a quadratic: all rows of Q).
    places : list
        For each loss: its slice of ``maps`` and which of its rows they are; then the slices of the quadratics.
    straight : bool
        Whether some part of it is linear and not zero: a linear term, a quadratic, the straight part of a loss.
    size : float
        The size of what the gradient is added up from.
    """

    grad: Vector
    hessian: Array
    maps: Array
    places: list[tuple[slice, NDArray[np.intp]]]
    bends: list[slice]
    straight: bool
    size: float


def unsupported(objective: Objective) -> str:
    """Why the objective has no derivatives with respect to its data; empty where it has."""
    form = objective.form
    if form is None:
        return f"{objective.formless or type(objective).__name__} says nothing of its data"
    if any(norm.groups is not None for norm in form.norms):
        return "norms of groups have none yet"
    if any(piece.data.kind == "operator" for piece in form.pieces):
        return "the data are a LinearOperator, not a matrix"
    if not form.matrices:
        return "the data are a LinearOperator, not a matrix"
    if not all(term.loss.separable for term in form.losses):
        return "the second derivative of its loss is not diagonal"
    if not form.convex:
        return "it is not convex"
    return ""


def bent_at(form: Form, x: Vector) -> Bent:
    """The level near x; raises ValueError where a loss has a kink in its slope there."""
    grad, hessian = np.zeros(x.size), np.zeros((x.size, x.size))
    maps: list[Array] = []
    places: list[tuple[slice, NDArray[np.intp]]] = []
    bends: list[slice] = []
    straight, count, size = False, 0, 0.0
    for term in form.losses:
        F, t, slope, bend, scale = _evaluated(term, x)
        if (term.loss.room(t) <= KINK * (1 + np.abs(t))).any():
            raise ValueError(f"x has no derivative: a term of {term.loss.name} is where its second derivative jumps")
        grad += scale * (F.T @ slope)
        hessian += scale * (F.T @ (bend[:, None] * F))
        size += scale * float(np.linalg.norm(np.abs(F).T @ (np.abs(slope) + bend * np.abs(t))))
        curved = np.flatnonzero(bend > 0)
        straight = straight or bool((slope[bend <= 0] != 0).any())
        maps.append(F[curved])
        places.append((slice(count, count + curved.size), curved))
        count += curved.size
    for one in form.bends:
        Q = _dense(one.Q)
        grad += float(one.scale) * (Q @ x)
        hessian += float(one.scale) * Q
        size += float(one.scale) * float(np.linalg.norm(np.abs(Q) @ np.abs(x)))
        maps.append(Q)
        bends.append(slice(count, count + x.size))
        count += x.size
    for c, factor in form.linear:
        grad += float(factor) * c
        size += float(factor) * float(np.linalg.norm(c))
        straight = straight or bool(np.any(c))
    stacked = np.concatenate(maps) if maps else np.zeros((0, x.size))
    return Bent(grad, hessian, stacked, places, bends, straight or bool(form.bends), size)


def pulled_back(
    objective: Objective, bent: Bent, x: Vector, u: Vector, held: Sequence[Held], rigid: str, fragile: str
) -> dict[str, Any]:
    """The derivatives by the names of the arguments, those of the terms of a sum after their number.

    ``rigid`` says why linear parts cannot change, ``fragile`` why the maps cannot; empty where they can.
    """
    found: dict[str, Any] = {}
    parts = objective.parts
    losses, bends = iter(bent.places), iter(bent.bends)
    for i, (factor, part) in enumerate(parts):
        if part.norms or part.pieces:  # which are costs and rows in further variables
            continue
        if isinstance(part, Linear):
            own: dict[str, Any] = {"c": Refused(rigid) if rigid else -factor * u}
        elif isinstance(part, Quadratic):
            own = _of_quadratic(factor, next(bends), x, u, held, rigid)
        elif isinstance(part, SquaredNorm):
            next(losses)
            own = _of_norm(part, factor, x, u)
        elif isinstance(part, Linked):
            own = _of_linked(part, factor, next(losses), x, u, held, rigid, fragile)
        else:
            raise ValueError(f"the data of {type(part).__name__} have no derivatives yet")
        found |= {part_name(parts, i, name): value for name, value in own.items()}
    return found


def part_name(parts: Sequence[Any], i: int, name: str) -> str:
    """Of data of the i-th term of a sum; of the objective itself, where it is not one."""
    return name if len(parts) == 1 else f"{i}.{name}"


def values_pulled(objective: Objective, x: Vector) -> dict[str, Any]:
    """The derivatives of the value at a fixed x, but for norms and pieces, by the same names."""
    found: dict[str, Any] = {}
    parts = objective.parts
    for i, (factor, part) in enumerate(parts):
        if part.norms or part.pieces:
            continue
        if isinstance(part, Linear):
            own: dict[str, Any] = {"c": factor * x}
        elif isinstance(part, Quadratic):
            own = {"Q": factor / 2 * np.outer(x, x), "q": factor * x}
        elif isinstance(part, SquaredNorm):
            off = x - (0.0 if part.center is None else part.center)
            weights = np.ones(x.size) if part.weights is None else part.weights
            own = {"center": -factor * weights * off, "weights": factor / 2 * off**2}
        elif isinstance(part, Linked):
            own = _values_of_linked(part, factor, x)
        else:
            raise ValueError(f"the data of {type(part).__name__} have no derivatives yet")
        found |= {part_name(parts, i, name): value for name, value in own.items()}
    return found


def _values_of_linked(part: Linked, factor: float, x: Vector) -> dict[str, Any]:
    t, scale = _dense(part.data.raw) @ x, factor * part.scale
    value, slope = part.link.value_and_slope(t)
    found: dict[str, Any] = {"A": scale * np.outer(slope, x)}
    if isinstance(part, (LeastSquares, Huber)):
        found["b"] = -scale * slope
        if isinstance(part, LeastSquares):
            found["scale"] = np.float64(factor * value)
        weights: Vector | None = getattr(part, "weights", None)
        w = np.ones(t.size) if weights is None else weights
        rows = [part.link.rows(np.array([i])).value(t[[i]]) for i in range(t.size)]  # type: ignore[attr-defined]
        found["weights"] = scale * np.divide(rows, w, out=np.zeros(t.size), where=w > 0)
    return found


def _of_quadratic(
    factor: float, place: slice, x: Vector, u: Vector, held: Sequence[Held], rigid: str
) -> dict[str, Any]:
    if rigid:
        return {"Q": Refused(rigid), "q": Refused(rigid)}
    full = -factor * np.outer(u, x) - _outer(held, place, x.size)
    return {"Q": (full + full.T) / 2, "q": -factor * u}


def _of_norm(part: SquaredNorm, factor: float, x: Vector, u: Vector) -> dict[str, Any]:
    center = np.zeros(x.size) if part.center is None else part.center
    weights = np.ones(x.size) if part.weights is None else part.weights
    off = Refused("a weight of zero becomes positive, and x may jump") if not weights.all() else None
    return {"center": factor * weights * u, "weights": off or -factor * u * (x - center)}


def _of_linked(
    part: Linked,
    factor: float,
    where: tuple[slice, NDArray[np.intp]],
    x: Vector,
    u: Vector,
    held: Sequence[Held],
    rigid: str,
    fragile: str,
) -> dict[str, Any]:
    scale, loss = factor * part.scale, part.link
    A = _dense(part.data.raw)
    t, along = A @ x, A @ u
    slope = loss.value_and_slope(t)[1]
    bend = np.asarray(loss.curvature(t), dtype=np.float64)  # type: ignore[attr-defined]
    weights: Vector | None = getattr(part, "weights", None)
    kept = np.arange(t.size) if weights is None else np.flatnonzero(weights)
    place, curved = where
    dA = -scale * (np.outer(slope, u) + np.outer(bend * along, x))
    dA[kept[curved]] -= _outer(held, place, curved.size)
    found: dict[str, Any] = {"A": Refused(fragile) if fragile else dA}
    if not isinstance(part, (LeastSquares, Huber)):
        return found
    found["b"] = scale * bend * along
    if isinstance(part, LeastSquares):
        found["scale"] = np.float64(-factor * float(along @ slope))
    w = np.ones(t.size) if weights is None else weights
    if not w.all():
        found["weights"] = Refused("a weight of zero becomes positive, and x may jump")
    elif rigid and (slope[bend <= 0] != 0).any():
        found["weights"] = Refused(rigid)
    else:
        found["weights"] = -scale * along * slope / w
    return found


def _evaluated(term: Term, x: Vector) -> tuple[Array, Vector, Vector, Vector, float]:
    F = np.eye(x.size) if term.data is None else _dense(term.data.raw)
    t = F @ x
    slope = term.loss.value_and_slope(t)[1]
    return F, t, slope, np.asarray(term.loss.curvature(t), dtype=np.float64), float(term.scale)


def _outer(held: Sequence[Held], place: slice, rows: int) -> Array:
    """The sum of w_k u_k' over what is held."""
    none = np.zeros((rows, held[0].direction.size if held else 1))
    return sum((np.outer(one.multipliers[place], one.direction) for one in held), none)


def _dense(A: Any) -> Array:
    return np.asarray(A.toarray() if hasattr(A, "toarray") else A, dtype=np.float64)
