"""Objectives as the column engine sees them: phi(x) = h(F x) + <p, x> with the second derivatives of h."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from ..arrays import UNIT_ROUNDOFF, Matrix, Vector, length
from ..kernels import compiled, flat
from ..objectives import Huber, LeastSquares, Linear, Logistic, Quadratic, SquaredNorm
from ..objectives.algebra import Multiple, Sum
from ..objectives.base import Objective
from ..objectives.matrix import DataMatrix
from .links import Link, huber_link, logistic_link

LEAST, MOST = 1e-140, 1e145  # sizes of images whose squares, and what becomes of them, are ordinary numbers
ROOT = 1e-14  # eigenvalues of Q below this part of the largest are zero
DENSE_ROOT = 2000  # a Quadratic of at most this many variables gets a factor of its Q


@dataclass(frozen=True)
class Part:
    """One term: h(A x), h = 1/2 ||t - target||^2 where ``link`` is None.

    Factors are taken into the data entry by entry, and roots of Q computed: ||A x|| may be off by ``inexact`` ||x||.
    """

    data: DataMatrix
    target: Vector
    link: Link | None
    inexact: float = 0.0


class Smooth:
    """phi(x) = h(F x) + <p, x>, with h = 1/2 ||t - b||^2 if ``quadratic``; for objectives that are supported.

    Quadratic terms come first and share one target b; other terms keep their links and rows. ``most`` is the largest
    curvature of h; ``own_rows`` says that F is the data as given, up to a factor. ``terms`` are those of the objective
    with their factors, and ||F x|| is off by at most ``inexact`` ||x|| from what it stands for (see ``Part``).
    """

    def __init__(self, objective: Objective, dim: int) -> None:
        self.dim = dim
        parts: list[Part] = []
        terms = flattened(objective)
        p = np.zeros(dim)
        for factor, term in terms:
            part = _part(factor, term, p)
            if part is not None:
                parts.append(part)
        parts.sort(key=lambda part: part.link is not None)
        self.p: Vector | None = p if p.any() else None
        self.data = _stacked([part.data for part in parts]) if parts else None
        self.size = 0 if self.data is None else self.data.shape[0]
        squares = [part.target for part in parts if part.link is None]
        self.b = squares[0] if len(squares) == 1 else np.concatenate([np.zeros(0), *squares])
        self.links: list[tuple[slice, Link]] = []
        start = self.b.size
        for part in parts:
            if part.link is not None:
                self.links.append((slice(start, start + part.data.shape[0]), part.link))
                start += part.data.shape[0]
        self.quadratic = not self.links
        self.inexact = sum(part.inexact for part in parts)
        self.terms = terms
        self.own_rows = not any(isinstance(term, Quadratic) for _, term in terms)
        self.most = max([1.0 if self.b.size else 0.0, *(link.most for _, link in self.links)])

    def image(self, x: Vector) -> Vector:
        """F x."""
        return np.zeros(0) if self.data is None else self.data.times(x)

    def at(self, t: Vector) -> tuple[float, Vector, Vector | None]:
        """h, h' and the diagonal of h'' (None for the identity) at t."""
        if self.quadratic:
            slope = t - self.b
            return 0.5 * float(slope @ slope), slope, None
        m = self.b.size
        slope, bend = np.empty(self.size), np.ones(self.size)
        slope[:m] = t[:m] - self.b
        value = 0.5 * float(slope[:m] @ slope[:m])
        for rows, link in self.links:
            part, slope[rows], bend[rows] = link.at(t[rows])
            value += part
        return value, slope, bend

    def pull(self, slope: Vector) -> Vector:
        """The gradient F'h' + p."""
        grad = np.zeros(self.dim) if self.data is None else self.data.transpose_times(slope)
        return grad if self.p is None else grad + self.p

    def near(self, t: Vector, gap: float) -> tuple[Vector, Vector]:
        """Bounds on h'' between t and every t' with h(t') <= h(t) + <h'(t), t' - t> + gap."""
        least, most = np.ones(self.size), np.ones(self.size)
        for rows, link in self.links:
            least[rows], most[rows] = link.near(t[rows], gap)
        return least, most

    @cached_property
    def push(self) -> float:
        """||h'(0)||."""
        return length(self.b if self.quadratic else self.at(np.zeros(self.size))[1])

    @cached_property
    def by_rows(self) -> np.ndarray:
        """F in C order, where it is dense."""
        assert self.data is not None
        return flat(self.data.raw)

    def kernel(self, name: str) -> Callable[..., Any] | None:
        """A compiled pass over dense data by rows."""
        assert self.data is not None
        dense = self.data.kind == "dense" and self.data.raw.flags.c_contiguous
        return compiled(name) if dense else None

    def times_with_sizes(self, x: Vector) -> tuple[Vector, Vector]:
        """F x and |F| |x|."""
        assert self.data is not None
        if self.data.kind == "sparse":
            return self.data.times(x), np.asarray(abs(self.data.raw) @ np.abs(x))
        support = np.flatnonzero(x)
        return self.data.times(x), np.asarray(np.abs(self.data.raw[:, support]) @ np.abs(x[support]))

    def sizes_pulled(self, v: Vector) -> Vector:
        """A bound on |F|'v, v >= 0: for dense data ||F_j|| ||v||, which takes no pass over them."""
        assert self.data is not None
        if self.data.kind == "sparse":
            return np.asarray(abs(self.data.raw).T @ v)
        return np.asarray(self.column_norms * (length(v) * (1 + 1e-10)))

    @property
    def column_norms(self) -> Vector:
        """||F_j||."""
        return np.zeros(self.dim) if self.data is None else self.data.column_norms


def check_scale(level: Smooth, name: str, reach: float) -> None:
    """Refuse data whose squares overflow or vanish, over a set whose points have entries up to ``reach``."""
    sizes = [0.0]
    if level.data is not None:
        entries = level.data.raw.data if level.data.kind == "sparse" else level.data.raw
        sizes.append(float(max(entries.max(initial=0.0), -entries.min(initial=0.0))) * reach)
        sizes.append(float(np.abs(level.b).max(initial=0.0)))
    if level.p is not None:
        sizes.append(float(np.abs(level.p).max()) * reach)
    size = max(sizes)
    if size != 0 and not LEAST <= size <= MOST:
        raise ValueError(
            f"{name}: over this domain its terms are of size {size:.0e}, and squares of that are beyond double "
            "precision; measure the data or the variables in other units"
        )


def strictly_convex(objective: Objective) -> bool:
    """Whether h is, for a supported objective."""
    return all(term.strictly_convex for _, term in flattened(objective) if isinstance(term, (Logistic, Huber)))


def why_unsupported(objective: Objective) -> str:
    """Empty if the objective has the form h(Fx) + <p, x> with a known h'', else why not."""
    for _, term in flattened(objective):
        if isinstance(term, (LeastSquares, Logistic, Huber)):
            if not (sparse.issparse(term.A) or isinstance(term.A, np.ndarray)):
                return "the columns of a LinearOperator are not at hand; give the matrix itself"
        elif isinstance(term, Quadratic):
            if term.Q.shape[0] > DENSE_ROOT and not _is_diagonal(term.Q):
                return f"factorising Q takes too long for {term.Q.shape[0]} variables"
        elif not isinstance(term, (Linear, SquaredNorm)):
            return f"second derivatives of {type(term).__name__} are not known"
    return ""


def flattened(objective: Objective) -> list[tuple[float, Objective]]:
    """The terms of sums and multiples with their factors."""
    if isinstance(objective, Sum):
        return [pair for term in objective.terms for pair in flattened(term)]
    if isinstance(objective, Multiple):
        return [(objective.factor * factor, term) for factor, term in flattened(objective.inner)]
    return [(1.0, objective)]


def _part(factor: float, term: Objective, p: Vector) -> Part | None:
    """One term as a part; what is linear in it is added to p."""
    if isinstance(term, Linear):
        p += factor * term.c
        return None
    if isinstance(term, SquaredNorm):
        centre = np.zeros(p.size) if term.center is None else term.center
        return _least_squares(DataMatrix.trusted(sparse.eye_array(p.size, format="csc")), centre, factor)
    if isinstance(term, LeastSquares):
        return _least_squares(term.data, term.b, factor * term.scale)
    if isinstance(term, Quadratic):
        p += factor * term.q
        root, off = _root(term.Q)
        if root.shape[0] == 0:
            return None
        return _least_squares(DataMatrix.trusted(root), np.zeros(root.shape[0]), factor, off)
    if isinstance(term, Logistic):
        return Part(term.data, np.zeros(0), logistic_link(term, factor))
    assert isinstance(term, Huber)
    return Part(term.data, np.zeros(0), huber_link(term, factor))


def _least_squares(data: DataMatrix, b: Vector, scale: float, off: float = 0.0) -> Part:
    root = float(np.sqrt(scale))
    if root == 1:
        return Part(data, b, None, off)
    return Part(DataMatrix.trusted(root * data.raw), root * b, None, root * (off + 2 * UNIT_ROUNDOFF * data.frobenius))


def _is_diagonal(Q: Matrix) -> bool:
    return hasattr(Q, "tocsc") and abs(Q - sparse.diags_array(Q.diagonal())).max() == 0


def _root(Q: Matrix) -> tuple[Matrix, float]:
    """F with F'F = Q, for a positive semidefinite Q, and how far off ||F x|| may be, relative to ||x||.

    V L V' = Q + E gives F = L^(1/2) V'. As F x = L^(-1/2) V'(Q + E) x, with the kept part of L, it is longer than with
    the exact root by at most |E| / sqrt(least L) times ||x||, and a factor of 1 + |E| / least L.
    """
    if _is_diagonal(Q):
        root = np.sqrt(np.maximum(Q.diagonal(), 0))
        return sparse.diags_array(root, format="csc"), 2 * UNIT_ROUNDOFF * float(root.max(initial=0.0))
    Q = Q.toarray() if hasattr(Q, "tocsc") else Q
    values, vectors = np.linalg.eigh(Q)
    keep = values > ROOT * max(float(values[-1]), 0.0)
    if not keep.any():
        return np.zeros((0, values.size)), 0.0
    kept = values[keep]
    off = 16 * values.size * UNIT_ROUNDOFF * float(kept[-1]) / float(np.sqrt(kept[0]))
    return np.ascontiguousarray((vectors[:, keep] * np.sqrt(kept)).T), off


def _stacked(parts: list[DataMatrix]) -> DataMatrix:
    if len(parts) == 1:
        return parts[0]
    matrices = [part.raw for part in parts]
    if all(isinstance(A, np.ndarray) for A in matrices):
        return DataMatrix.trusted(np.vstack(matrices))
    return DataMatrix.trusted(sparse.csc_array(sparse.vstack([sparse.csc_array(A) for A in matrices])))
