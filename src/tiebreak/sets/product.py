"""Products of sets, with their blocks by name."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from math import fsum, prod
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import UNIT_ROUNDOFF, Vector, as_count, as_real_array
from .base import Cut, Domain
from .boundary.description import Boundary, joined
from .cuts.dual import checked, cut_by_dual
from .outside import length_of
from .round.products import ProductRound
from .rows import ByRows, stacked

Shape: TypeAlias = int | tuple[int, ...]


class Product(Domain):
    """The product of named sets: x holds one block after the other, each flattened row by row.

    Parameters
    ----------
    blocks : mapping from str to Domain or (Domain, shape)
        The sets in the order of their blocks in x. A set that exists in every dimension needs the shape of
        its block, which is then one point of the set.

    Attributes
    ----------
    names : tuple of str
        The names of the blocks, in order.
    shapes : dict
        Their shapes.

    Notes
    -----
    A cut ties all blocks together by one multiplier. Blocks on which c is zero do not enter: they are solved
    once. A single block that is left solves its own cut; several are solved through the one-dimensional dual.

    Examples
    --------
    >>> import numpy as np
    >>> from tiebreak.sets.l1 import L1Ball
    >>> from tiebreak.sets.simplex import Simplex
    >>> Z = Product({"w": (L1Ball(1.0), (2, 2)), "p": (Simplex(), 3)})
    >>> x = Z.lmo(np.array([1.0, 0.0, -3.0, 0.0, 0.0, 5.0, -1.0]))
    >>> Z.split(x)["w"]
    array([[0., 0.],
           [1., 0.]])
    >>> Z.join({"w": np.zeros((2, 2)), "p": [0.0, 0.0, 1.0]})
    array([0., 0., 0., 0., 0., 0., 1.])
    """

    identity = ("_domains", "shapes")

    def __init__(self, blocks: Mapping[str, Domain | tuple[Domain, Shape]]) -> None:
        if not isinstance(blocks, Mapping) or not blocks:
            raise TypeError(f"blocks must map names to sets, as in {{'x': Simplex(), ...}}, got {blocks!r}")
        self._domains: dict[str, Domain] = {}
        self.shapes: dict[str, tuple[int, ...]] = {}
        for name, entry in blocks.items():
            self._domains[name], self.shapes[name] = _block(name, entry)
        self.names = tuple(self._domains)
        ends = np.cumsum([prod(shape) for shape in self.shapes.values()])
        starts = [0, *ends[:-1].tolist()]
        self._slices = {name: slice(i, int(j)) for name, i, j in zip(self.names, starts, ends, strict=True)}
        self.dim = int(ends[-1])
        domains = self._domains.values()
        self.assumes = "; ".join(dict.fromkeys(domain.assumes for domain in domains if domain.assumes))
        self.by_user = any(domain.by_user for domain in domains)
        self.searches = any(domain.searches for domain in domains)
        self.oracles = frozenset.intersection(*(domain.oracles for domain in domains))

    def __repr__(self) -> str:
        parts = (f"{name!r}: ({self._domains[name]!r}, {self.shapes[name]})" for name in self.names)
        return f"Product({{{', '.join(parts)}}})"

    def split(self, x: Vector) -> dict[str, NDArray[np.float64]]:
        """The blocks of x, as views of it in their shapes."""
        x = self._check(x, "x")
        return {name: x[self._slices[name]].reshape(self.shapes[name]) for name in self.names}

    def join(self, blocks: Mapping[str, ArrayLike]) -> Vector:
        """The point x with the given blocks: the inverse of ``split``."""
        if not isinstance(blocks, Mapping) or set(blocks) != set(self.names):
            raise ValueError(f"blocks must have the names {list(self.names)}, got {blocks!r}")
        parts = []
        for name in self.names:
            part = as_real_array(blocks[name], f"blocks[{name!r}]")
            if part.shape != self.shapes[name]:
                raise ValueError(f"blocks[{name!r}] must have shape {self.shapes[name]}, got shape {part.shape}")
            parts.append(part.ravel())
        return np.concatenate(parts)

    def factor(self, name: str) -> Domain:
        """The set of the block of that name."""
        if name not in self._domains:
            raise ValueError(f"there is no block {name!r}; the blocks are {list(self.names)}")
        return self._domains[name]

    def lmo(self, c: Vector) -> Vector:
        parts = self._cut_up(self._check(c, "c"))
        return np.concatenate([domain.lmo(part) for domain, part in parts])

    def lmo_bound(self, c: Vector, s: Vector) -> float:
        pairs = zip(self._cut_up(c), self._cut_up(s), strict=True)
        bounds = [domain.lmo_bound(part, point) for (domain, part), (_, point) in pairs]
        return fsum(bounds) - UNIT_ROUNDOFF * fsum(abs(bound) for bound in bounds)

    def lmo_cut(self, a: Vector, c: Vector, b: float, *, warm: float = 0.0) -> Cut:
        a, c, b = checked(self, a, c, b)
        tied = [name for name in self.names if c[self._slices[name]].any()]
        if len(tied) == len(self.names) > 1 or not tied:
            return cut_by_dual(self, a, c, b, warm)
        point = np.empty(a.size)
        for name in set(self.names).difference(tied):
            point[self._slices[name]] = self._domains[name].lmo(a[self._slices[name]])
        if len(tied) == 1:
            where = self._slices[tied[0]]
            return complete_cut(self._domains[tied[0]].lmo_cut(a[where], c[where], b, warm=warm), where, point)
        inside = np.zeros(a.size, dtype=bool)
        for name in tied:
            inside[self._slices[name]] = True
        rest = Product({name: (self._domains[name], self.shapes[name]) for name in tied})
        return complete_cut(rest.lmo_cut(a[inside], c[inside], b, warm=warm), inside, point)

    def some_point(self) -> Vector:
        return np.concatenate([domain.some_point() for domain, _ in self.parts])

    def project(self, x: Vector) -> Vector:
        parts = self._cut_up(self._check(x, "x"))
        return np.concatenate([domain.project(part) for domain, part in parts])

    def contains(self, x: Vector, tol: float = 1e-9) -> bool:
        return all(domain.contains(part, tol) for domain, part in self._cut_up(self._check(x, "x")))

    def distance_outside(self, x: Vector) -> float:
        away = [domain.distance_outside(part) for domain, part in self._cut_up(self._check(x, "x"))]
        return length_of(np.array(away))

    @property
    def diameter(self) -> float:
        return float(np.sqrt(sum(domain.diameter**2 for domain in self._domains.values())))

    @cached_property
    def bounded(self) -> bool:  # type: ignore[override]
        return all(domain.bounded for domain in self._domains.values())

    @cached_property
    def parts(self) -> tuple[tuple[Domain, slice], ...]:  # type: ignore[override]
        return tuple((self._domains[name], self._slices[name]) for name in self.names)

    @cached_property
    def rows(self) -> ByRows | None:
        rows = [own for domain, _ in self.parts if (own := domain.rows) is not None]
        return stacked(rows) if len(rows) == len(self.parts) else None

    @cached_property
    def round(self) -> ProductRound | None:
        blocks = [(own, where) for domain, where in self.parts if (own := domain.round_block) is not None]
        curved = any(domain.round is not None for domain, _ in self.parts)
        return ProductRound(blocks) if curved and len(blocks) == len(self.parts) else None

    def boundary(self, x: Vector) -> Boundary | None:
        if self.rows is not None:
            return super().boundary(x)
        parts = [domain.boundary(x[where]) for domain, where in self.parts]
        known = [(name, part) for name, part in zip(self.names, parts, strict=True) if part is not None]
        return joined(known) if len(known) == len(parts) else None

    @property
    def outer_box(self) -> tuple[Vector, Vector]:
        lower, upper = zip(*(domain.outer_box for domain, _ in self.parts), strict=True)
        return np.concatenate(lower), np.concatenate(upper)

    def signs(self, dim: int) -> Vector:
        return np.concatenate([domain.signs(domain.dim or 0) for domain, _ in self.parts])

    @property
    def shrinks(self) -> bool:
        return all(domain.shrinks for domain, _ in self.parts)

    def largest(self, size: Vector) -> float:
        most = [domain.largest(part) for domain, part in self._cut_up(size)]
        return fsum(most) * (1 + UNIT_ROUNDOFF)

    def _cut_up(self, x: Vector) -> list[tuple[Domain, Vector]]:
        return [(domain, x[where]) for domain, where in self.parts]


def complete_cut(cut: Cut, inside: slice | NDArray[np.bool_], point: Vector) -> Cut:
    """The cut of a product, from that of the factors at the positions ``inside`` and a point of the others."""
    point = point.copy()
    point[inside] = cut.point
    return Cut(point, cut.multiplier, cut.gap, cut.status)


def _block(name: Any, entry: Any) -> tuple[Domain, tuple[int, ...]]:
    if not isinstance(name, str):
        raise TypeError(f"the names of blocks must be strings, got {name!r}")
    domain, given = entry if isinstance(entry, tuple) and len(entry) == 2 else (entry, None)
    if not isinstance(domain, Domain):
        raise TypeError(f"blocks[{name!r}] must be a set or a pair (set, shape), got {entry!r}")
    if given is None:
        if domain.dim is None:
            raise ValueError(
                f"blocks[{name!r}] needs a shape: {domain!r} exists in every dimension; give ({domain!r}, shape)"
            )
        return domain, getattr(domain, "shape", (domain.dim,))
    sizes = given if isinstance(given, tuple) else (given,)
    shape = tuple(as_count(size, f"the shape of blocks[{name!r}]") for size in sizes)
    if domain.dim is not None and prod(shape) != domain.dim:
        raise ValueError(
            f"blocks[{name!r}] has shape {shape} with {prod(shape)} entries, but {domain!r} has {domain.dim}"
        )
    return domain.with_dim(prod(shape)), shape
