"""Objectives as the column engine sees them: phi(x) = h(F x) + <p, x> with the second derivatives of h."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy import sparse

from ...arrays import UNIT_ROUNDOFF, Matrix, Vector, length
from ...kernels import flat
from ...numerics.extended import Ext
from ...objectives.form import Form, Scale, Term
from ...objectives.losses.base import Loss
from ...objectives.matrix import DataMatrix
from .refuses import is_diagonal

LEAST, MOST = 1e-140, 1e145  # sizes of images whose squares, and what becomes of them, are ordinary numbers
ROOT = 1e-14  # eigenvalues of Q below this part of the largest are zero


class Part(NamedTuple):
    """One square 1/2 ||A x - target||^2.

    Factors are taken into the data entry by entry, and roots of Q computed: ||A x|| may be off by ``inexact`` ||x||.
    """

    data: DataMatrix
    target: Vector
    inexact: float = 0.0


class Link(NamedTuple):
    """scale * h of some rows."""

    rows: slice
    loss: Loss
    scale: float


class Smooth:
    """phi(x) = h(F x) + <p, x>, with h = 1/2 ||t - b||^2 if ``quadratic``; for objectives that are supported.

    Squares come first and share one target b; other losses keep their rows and factors. ``own_rows`` says that F is the
    data as given, up to a factor, ``own`` that phi is one loss of the data as given. ||F x|| is off by at most
    ``inexact`` ||x|| from what it stands for (see ``Part``).
    """

    def __init__(self, form: Form | None, dim: int) -> None:
        assert form is not None
        self.form, self.dim = form, dim
        squares = [_square(term, dim) for term in form.losses if term.loss.quadratic]
        squares += [part for bend in form.bends if (part := _root_part(bend.Q, float(bend.scale))) is not None]
        others = [term for term in form.losses if not term.loss.quadratic]
        p = np.zeros(dim)
        for c, scale in form.linear:
            p += float(scale) * c
        self.p: Vector | None = p if p.any() else None
        data = [part.data for part in squares] + [_data(term, dim) for term in others]
        self.data = _stacked(data) if data else None
        self.size = 0 if self.data is None else self.data.shape[0]
        self.b = squares[0].target if len(squares) == 1 else np.concatenate([np.zeros(0), *(s.target for s in squares)])
        self.links: list[Link] = []
        start = self.b.size
        for matrix, term in zip(data[len(squares) :], others, strict=True):
            self.links.append(Link(slice(start, start + matrix.shape[0]), term.loss, float(term.scale)))
            start += matrix.shape[0]
        self.quadratic = not self.links
        self.inexact = sum(part.inexact for part in squares)
        self.own_rows = not form.bends
        alone = len(form.losses) == 1 and not form.linear and not form.constant
        self.own = alone and form.losses[0].scale == 1 and form.losses[0].data is not None
        self.own = self.own and not (self.quadratic and form.losses[0].loss.weights is not None)

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
        for rows, loss, scale in self.links:
            own = t[rows]
            part, steep = loss.value_and_slope(own)
            np.multiply(steep, scale, out=slope[rows])
            np.multiply(loss.curvature(own), scale, out=bend[rows])
            value += scale * part
        return value, slope, bend

    def pull(self, slope: Vector) -> Vector:
        """The gradient F'h' + p."""
        grad = np.zeros(self.dim) if self.data is None else self.data.transpose_times(slope)
        return grad if self.p is None else grad + self.p

    def near(self, t: Vector, gap: float) -> tuple[Vector, Vector]:
        """Bounds on h'' between t and every t' with h(t') <= h(t) + <h'(t), t' - t> + gap."""
        least, most = np.ones(self.size), np.ones(self.size)
        for rows, loss, scale in self.links:
            low, high = loss.near(t[rows], gap / scale)
            least[rows], most[rows] = scale * low, scale * high
        return least, most

    def bend(self, t: Vector, radius: float) -> float:
        """A bound on h'' within this distance of t."""
        bends = [link.scale * link.loss.bend(t[link.rows], radius) for link in self.links]
        return max([1.0 if self.b.size else 0.0, *bends])

    def sizes(self, t: Vector, value: float, slope: Vector) -> tuple[float, Vector]:
        """The sums of the absolute values of what is added up to h and h' at t."""
        steep = np.abs(slope)
        for rows, loss, scale in self.links:
            if (sizes := loss.sizes(t[rows])) is not None:
                value += 2 * scale * sizes[0]  # what the others add is larger than the whole by no more than one of it
                steep[rows] = scale * sizes[1]
        return value, steep

    @cached_property
    def push(self) -> float:
        """||h'(0)||."""
        return length(self.b if self.quadratic else self.at(np.zeros(self.size))[1])

    @cached_property
    def by_rows(self) -> np.ndarray:
        """F in C order, where it is dense."""
        assert self.data is not None
        return flat(self.data.raw)

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


def _data(term: Term, dim: int) -> DataMatrix:
    return DataMatrix.trusted(sparse.eye_array(dim, format="csc")) if term.data is None else term.data


def _square(term: Term, dim: int) -> Part:
    data, target, weights = _data(term, dim), term.loss.target, term.loss.weights
    part = Part(data, np.zeros(data.shape[0]) if target is None else target)
    return _scaled(part, term.scale if weights is None else term.scale * weights)


def _root_part(Q: Matrix, scale: float) -> Part | None:
    """scale/2 x'Qx as a square; None where Q is zero."""
    root, off = _root(Q)
    if root.shape[0] == 0:
        return None
    return _scaled(Part(DataMatrix.trusted(root), np.zeros(root.shape[0]), off), Scale(scale))


def _scaled(part: Part, scale: Scale | Ext) -> Part:
    """The part times a factor, one for all rows or one a row, by its root: rounded thrice (factor, root, product)."""
    data, target, off = part
    root = np.sqrt(np.asarray(scale, dtype=np.float64))
    if (root == 1).all():
        return part
    if root.ndim == 0:
        rows = root * data.raw
    else:
        rows = sparse.diags_array(root) @ data.raw if data.kind == "sparse" else root[:, None] * data.raw
    scaled = DataMatrix.trusted(rows)
    return Part(scaled, root * target, float(root.max()) * off + 3 * UNIT_ROUNDOFF * scaled.frobenius)


def _root(Q: Matrix) -> tuple[Matrix, float]:
    """F with F'F = Q, for a positive semidefinite Q, and how far off ||F x|| may be, relative to ||x||.

    V L V' = Q + E gives F = L^(1/2) V'. As F x = L^(-1/2) V'(Q + E) x, with the kept part of L, it is longer than with
    the exact root by at most |E| / sqrt(least L) times ||x||, and a factor of 1 + |E| / least L.
    """
    if is_diagonal(Q):
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
