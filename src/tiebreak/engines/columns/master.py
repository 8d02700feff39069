"""The master problem over the vertices in use: minimise h(F'w) + <p, w> over weights w >= 0 with E'w = e.

Where h is quadratic, the loops of ``descent.py`` do all of it; other levels need Newton steps with a line search.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from ...arrays import Vector, length
from ...kernels.small_matrices import ratio
from ..interrupt import check
from . import compiled
from .atoms import OnAxes
from .descent import Candidates, newton
from .pseudo_inverse import pseudo_inverse
from .tableau import CHANGES, FACTORED, FREE, GAUGED, LATEST, RANK, Tableau, leave
from .vertices import LEAST, Vertices

LARGEST = 10_000_000  # entries of G, beyond which it is not kept
SHARED = ("n", "code", "where", "w", "E", "F", "p", "size")  # arrays of the tableau that belong to the vertices


def blank(capacity: int, rows: int, size: int) -> dict[str, np.ndarray]:
    """The arrays of a tableau that are its own, for so many vertices, columns of E and of F; nothing is in them yet."""
    rank = min(capacity, rows)
    numbers = {"basic": rank, "free": capacity, "place": capacity}
    floats: dict[str, tuple[int, ...]] = {"gradient": (capacity,), "P": (rank, rows), "EB": (rank, rows)}
    floats |= {"FB": (rank, size), "K": (capacity, size), "C": (capacity, rank)}
    floats |= {"H": (capacity, capacity), "L": (capacity, capacity)}
    integers = {name: np.empty(count, dtype=np.int64) for name, count in numbers.items()}
    return integers | {name: np.empty(shape) for name, shape in floats.items()}


class Master:
    """The weights of ``vertices``, their basis, and the steps that change them.

    Parameters
    ----------
    vertices : Vertices
        With weights that satisfy E'w = e.
    rank_tol : float
        A row of E counts as dependent if less than this part of it lies outside the span of the basic ones.
    """

    def __init__(self, vertices: Vertices, rank_tol: float) -> None:
        self.v, self.rank_tol = vertices, rank_tol
        self.level = vertices.level
        self.bend, self._value = 1.0, 0.0
        target = self.level.b if self.level.quadratic else np.zeros(self.level.size)
        rows = vertices.E.shape[1]
        gauge = np.empty((rows if target.size * rows <= LARGEST else 0, target.size))
        room = max(LEAST, 2 * vertices.count)
        vertices.reserve(room)
        own = blank(room, rows, target.size)
        self.t = Tableau(target=target, slope=np.empty(target.size), G=gauge, **own, **self._shared())
        self._choose_basis()

    def _shared(self) -> dict[str, Any]:
        return {name: getattr(self.v, name) for name in SHARED}

    @property
    def r(self) -> int:
        return int(self.t.n[RANK])

    @property
    def q(self) -> int:
        return int(self.t.n[FREE])

    @cached_property
    def sweeps(self) -> bool:
        """Whether all vertices can be priced by products with dense data, and the level is quadratic."""
        levels = [level for level in (self.v.fixed, self.level) if level is not None and level.data is not None]
        dense = all(level.data is not None and level.data.kind == "dense" for level in levels)
        return isinstance(self.v.atoms, OnAxes) and self.level.quadratic and dense

    def reserve(self, capacity: int) -> None:
        """Room for so many vertices."""
        v, t = self.v, self.t
        old = t.free.size
        if capacity <= old and v.atoms.total <= t.where.size:
            return
        capacity = max(capacity, old)
        v.reserve(capacity)
        own = blank(capacity, t.E.shape[1], t.target.size)
        for name, larger in own.items():
            smaller = getattr(t, name)
            larger[tuple(map(slice, smaller.shape))] = smaller  # only the leading part of it counts
        self.t = t._replace(**own, **self._shared())

    def _choose_basis(self) -> None:
        """Split the vertices in use into independent ones, the heaviest first, and the rest."""
        t, k = self.t, self.v.count
        order = np.argsort(-t.w[:k], kind="stable")
        r = min(k, t.E.shape[1])
        slots, others = order[:r], order[r:]
        rows = t.E[slots]
        P, apart = pseudo_inverse(rows)
        if (apart > self.rank_tol).all():  # as many as E has columns, or all of them, at once
            t.n[RANK], t.basic[:r], t.place[slots] = r, slots, np.arange(r)
            t.n[FREE], t.free[: k - r], t.place[others] = k - r, others, -1 - np.arange(k - r)
            t.EB[:r], t.FB[:r] = rows, t.F[slots]
            compiled.follow(t, P)
            return
        t.n[RANK] = t.n[FREE] = t.n[FACTORED] = t.n[GAUGED] = 0
        for slot in order:
            compiled.insert(t, int(slot), self.rank_tol)
        self._refresh()

    def _refresh(self) -> None:
        compiled.follow(self.t, pseudo_inverse(self.t.EB[: self.r])[0])

    # -- weights ------------------------------------------------------------------------------------------------

    def evaluate(self) -> Vector | None:
        """Value, slope, gradient with respect to the weights (afresh, never updated); h'' unless it is the identity."""
        t, k = self.t, self.v.count
        if self.level.quadratic:
            compiled.evaluate(t)
            return None
        self._value, slope, bend = self.level.at(self.image)
        assert bend is not None
        self.bend = float(bend.max())
        self._value += float(t.w[:k] @ t.p[:k])
        t.slope[:] = slope
        t.gradient[:k] = t.F[:k] @ slope + t.p[:k]
        return bend

    @property
    def image(self) -> Vector:
        return np.asarray(self.t.w[: self.v.count] @ self.t.F[: self.v.count])

    @property
    def value(self) -> float:
        """That of the level at the weights last evaluated."""
        if not self.level.quadratic:
            return self._value
        k = self.v.count
        return 0.5 * float(self.t.slope @ self.t.slope) + float(self.t.w[:k] @ self.t.p[:k])

    def refresh(self) -> None:
        """Compute afresh what is updated, and bring E'w back to e; nothing, if nothing has been updated."""
        if self.t.n[CHANGES]:
            self._refresh()

    def proceed(self, new: Candidates, settled: bool, full_steps: int, gap: float, most: int) -> int:
        """Minimise, and let the candidate enter, if there is one; how many did."""
        self.reserve(self._room(new.code.size))
        if self.level.quadratic:
            return int(compiled.rounds(self.t, new, settled, full_steps, gap, most, self.rank_tol))
        if not settled:
            self._search(full_steps, 0.0)
        if new.code.size:
            self.insert(new)
            self._search(full_steps, 0.0 if full_steps > 1 else 1e-3 * gap)
        return new.code.size

    def insert(self, new: Candidates) -> None:
        """Add vertices of weight 0, nothing else."""
        self.reserve(self._room(new.code.size))
        first = self.v.count
        self.v.add(new.code, np.zeros(new.code.size))
        for slot in range(first, self.v.count):
            compiled.insert(self.t, slot, self.rank_tol)

    def _room(self, more: int) -> int:
        """The capacity that so many more vertices need, doubled now and then."""
        needed, have = self.v.count + more, self.t.free.size
        return have if needed <= have else max(needed, 2 * have)

    def _search(self, full_steps: int, enough: float) -> None:
        """Newton steps for an h that is not quadratic."""
        t, taken, last = self.t, 0, np.inf
        for _ in range(100 + 4 * self.v.count):
            check()
            bend = self.evaluate()
            r, q, k = self.r, self.q, self.v.count
            assert bend is not None
            if q == 0 or t.n[CHANGES] >= 2 * LATEST:
                return
            t.H[:q, :q] = (t.K[:q] * bend) @ t.K[:q].T
            t.n[FACTORED] = 0
            free, basic = t.free[:q], t.basic[:r]
            reduced = t.gradient[free] - t.C[:q, :r] @ t.gradient[basic]
            dz = newton(t, reduced)
            promise = float(reduced @ dz)
            stalled = taken >= full_steps and promise > 0.25 * last and promise <= 1e-8 * abs(self.value)
            if taken and (promise <= enough or stalled):
                return
            step = np.zeros(k)
            step[free] = -dz
            step[basic] = dz @ t.C[:q, :r]
            length, slot = self._line_search(step, *ratio(t.w[:k], step), promise)
            t.w[:k] = np.maximum(t.w[:k] + length * step, 0.0)
            if slot < 0:
                taken, last = taken + 1, promise
            else:
                t.w[slot] = 0.0
                leave(t, slot)

    def _line_search(self, step: Vector, length: float, slot: int, promise: float) -> tuple[float, int]:
        """Armijo's rule; the bound counts as met only at full length."""
        t, k, at = self.t, self.v.count, self.level.at
        along, slant, image = step @ t.F[:k], float(step @ t.p[:k]), self.image
        base = at(image)[0]
        noise = 1e-15 * (abs(self.value) + abs(base))
        start = length
        while length > 1e-12 * start:
            rise = at(image + length * along)[0] - base + length * slant
            if rise <= -1e-4 * length * promise + noise:
                break
            length *= 0.5
        return length, slot if length == start else -1

    def settle(self, enough: float) -> float:
        """Compute afresh what was updated, and see to E'w = e; returns ||E'w - e|| / s0.

        Where the rank is in doubt, rows that count as dependent are not quite, and steps along them leave E'w = e. If
        it is more than ``enough``, all vertices bring it back, each moved in proportion to its weight.
        """
        self.refresh()
        v, k = self.v, self.v.count
        if (left := self._residual()) <= enough:
            return left
        for _ in range(3):
            root = np.sqrt(v.w[:k])
            step = np.linalg.lstsq((v.E[:k] * root[:, None]).T, self._missing(), rcond=1e-14)[0]
            v.w[:k] = np.maximum(v.w[:k] + root * step, 0)
        return self._residual()

    def _missing(self) -> Vector:
        """e - E'w."""
        v = self.v
        gap = -(v.w[: v.count] @ v.E[: v.count])
        gap[0] += v.s0
        return np.asarray(gap)

    def _residual(self) -> float:
        return length(self._missing()) / self.v.s0

    def multiplier(self) -> Vector:
        """The prices of the rows of E at the weights last evaluated."""
        y = np.empty(self.t.E.shape[1])
        compiled.write_prices(self.t, y)
        return y
