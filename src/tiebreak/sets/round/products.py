"""Products of round sets: cones beside each other, charts beside each other, growth that adds up."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice, pairwise

import numpy as np
import scipy.sparse as sp

from ...arrays import Matrix, Vector
from ...numerics.extended import Ext
from .description import Chart, Conic, Growth, Round

INNER = 1e-6
"""A block with more room than this around it, relative to its size, is tried as an interior one first."""

OTHERS = 3
"""So many other charts of each block are tried, one block at a time."""


class ProductRound(Round):
    """Blocks of x, each in a round set of its own."""

    def __init__(self, blocks: Sequence[tuple[Round, slice]]) -> None:
        self.blocks = tuple(blocks)
        self.size = max(block.size for block, _ in blocks)
        self.middle = np.concatenate([block.middle for block, _ in blocks])
        self.work = float(sum(block.work ** (1 / 3) for block, _ in blocks)) ** 3
        if any(block.hull is not None for block, _ in blocks):
            self.hull = _blocks([np.eye(b.middle.size) if b.hull is None else b.hull for b, _ in blocks])

    def conic(self) -> Conic:
        parts = [block.conic() for block, _ in self.blocks]
        M = sp.block_diag([part.M for part in parts], format="csc")
        A = sp.block_diag([part.A for part in parts], format="csc")
        origin, b = (np.concatenate([part[k] for part in parts]) for k in (1, 3))
        return Conic(M, origin, A, b, [cone for part in parts for cone in part.cones])

    def charts(self, x: Vector, c: Vector) -> Iterator[Chart]:
        lists = [list(islice(_candidates(block, x[own], c[own]), 1 + OTHERS)) for block, own in self.blocks]
        if not all(lists):
            return
        yield self._chart([several[0] for several in lists])
        for k, several in enumerate(lists):
            for other in several[1:]:
                yield self._chart([other if j == k else own[0] for j, own in enumerate(lists)])

    def inside(self, x: Vector) -> Chart:
        return self._chart([block.inside(x[own]) for block, own in self.blocks])

    def _chart(self, charts: list[Chart]) -> Chart:
        return ProductChart(charts, [own for _, own in self.blocks])

    def room(self, x: Vector) -> float:
        return min(block.room(x[own]) for block, own in self.blocks)


def _candidates(block: Round, x: Vector, c: Vector) -> Iterator[Chart]:
    inner = block.room(x) > INNER * block.size
    if inner:
        yield block.inside(x)
    yield from block.charts(x, c)
    if not inner:
        yield block.inside(x)


class ProductChart(Chart):
    """A chart for each block."""

    def __init__(self, charts: Sequence[Chart], places: Sequence[slice]) -> None:
        self.parts, self.places = tuple(charts), tuple(places)
        ends = np.cumsum([0, *(chart.start.size for chart in charts)])
        self.own = [slice(int(a), int(b)) for a, b in pairwise(ends)]
        counts = np.cumsum([0, *(chart.equations for chart in charts)])
        self.lams = [slice(int(a), int(b)) for a, b in pairwise(counts)]
        self.start = np.concatenate([chart.start for chart in charts])
        self.bounded = bool(counts[-1])

    @property
    def equations(self) -> int:
        return self.lams[-1].stop

    def _joined(self, of: Callable[[Chart, Ext], Ext], u: Ext) -> Ext:
        return np.concatenate([of(part, u[own]) for part, own in zip(self.parts, self.own, strict=True)])

    def point(self, u: Ext) -> Ext:
        return self._joined(lambda part, v: part.point(v), u)

    def pull(self, u: Ext, c: Ext) -> Ext:
        pulls = [
            part.pull(u[own], c[place]) for part, own, place in zip(self.parts, self.own, self.places, strict=True)
        ]
        return np.concatenate(pulls)

    def pulled(self, u: Ext, M: Matrix) -> Matrix:
        blocks = zip(self.parts, self.own, self.places, strict=True)
        return np.vstack([part.pulled(u[own], M[place]) for part, own, place in blocks])

    def jacobian(self, u: Ext) -> Matrix:
        return _blocks([part.jacobian(u[own]) for part, own in zip(self.parts, self.own, strict=True)])

    def idle(self, u: Ext) -> Matrix:
        return _blocks([part.idle(u[own]) for part, own in zip(self.parts, self.own, strict=True)])

    def normals(self, u: Ext) -> Ext:
        found = np.zeros((u.size, self.equations), dtype=np.longdouble)
        for part, own, lams in zip(self.parts, self.own, self.lams, strict=True):
            found[own, lams] = part.normals(u[own])
        return found

    def excess(self, u: Ext) -> Ext:
        return self._joined(lambda part, v: part.excess(v), u)

    def gauge_slopes(self, u: Ext) -> Matrix:
        return _blocks([part.gauge_slopes(u[own]) for part, own in zip(self.parts, self.own, strict=True)])

    def bend(self, u: Ext, c: Ext, lam: float) -> Matrix:
        return self.bends(u, c, np.full(self.equations, lam))

    def bends(self, u: Ext, c: Ext, lam: Vector) -> Matrix:
        blocks = zip(self.parts, self.own, self.places, self.lams, strict=True)
        return _blocks([part.bends(u[own], c[place], lam[lams]) for part, own, place, lams in blocks])

    def growth(self, u: Ext, c: Ext, c_error: float) -> Growth | None:
        """Gaps add up, so each block's is at most Q; blocks inside are faces of their own, with no growth at all."""
        grown = []
        for part, own, place in zip(self.parts, self.own, self.places, strict=True):
            one = part.growth(u[own], c[place], c_error)
            if one is None:
                return None
            grown.append(_as_face(one, place.stop - place.start))
        faces = [one.face for one in grown if one.face is not None]
        traces = [
            np.zeros((0, one.face.shape[1])) if one.trace is None else one.trace
            for one in grown
            if one.face is not None
        ]
        return Growth(
            residual=float(np.linalg.norm([one.residual for one in grown])) * (1 + 1e-14),
            shift=float(np.linalg.norm([one.shift for one in grown])) * (1 + 1e-14),
            root=float(np.linalg.norm([one.root for one in grown])) * (1 + 1e-14),
            linear=sum(one.linear for one in grown) * (1 + 1e-14),
            face=_blocks(faces),
            face_error=max(one.face_error for one in grown),
            trace=_blocks(traces),
            tilt=max(one.tilt for one in grown),
            steady=min(one.steady for one in grown),
        )

    def outside(self, u: Ext) -> float:
        away = [part.outside(u[own]) for part, own in zip(self.parts, self.own, strict=True)]
        return float(np.linalg.norm(away)) * (1 + 1e-14)


def _as_face(one: Growth, dim: int) -> Growth:
    """Growth with a face: where all directions bend, the face is a point; where none does, it is everything."""
    if one.bend is None:
        return one
    least = float(one.bend.min())
    if least > 0:
        root = float(1 / np.sqrt(least)) * (1 + 1e-14)
        return Growth(one.residual, one.shift, root=root, face=np.zeros((dim, 0)), steady=one.steady)
    return Growth(one.residual, one.shift, face=np.eye(dim))


def _blocks(parts: Sequence[Matrix]) -> Matrix:
    return np.asarray(sp.block_diag([sp.csr_array(part) for part in parts]).toarray())
