"""Objectives whose rows lie in chunks: the same losses, chunk by chunk, added up along a fixed tree.

A chunk's part is an objective of its own (``Linked``, of the chunk's rows), so that what is known of a loss is said
once. What goes out are points, and what comes back are values, gradients and what rounding may have done to them.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple
from weakref import ref

import numpy as np

from ..arrays import UNIT_ROUNDOFF, Vector, length
from ..numerics.spectrum import krylov_bound, largest_eigenvalue
from .base import Image, Objective
from .chunks import Chunks, NotFinite
from .linked import Linked
from .losses.base import Link, Loss
from .matrix import DataMatrix, gamma

REMEMBERED = 4  # points
GRAM_SIDE = 2000  # up to so many columns the smoothness is that of the Gram matrix


class Evaluated(NamedTuple):
    """An objective at a point: what the chunks add up to, errors upwards, and the norms of their data by number."""

    value: float
    grad: Vector
    value_error: float
    grad_error: float
    value_size: float
    grad_size: float
    norms: dict[int, float]

    def plus(self, other: Evaluated) -> Evaluated:
        """Of the chunks of both."""
        return Evaluated(
            self.value + other.value,
            self.grad + other.grad,
            self.value_error + other.value_error,
            self.grad_error + other.grad_error,
            self.value_size + other.value_size,
            self.grad_size + other.grad_size,
            {**self.norms, **other.norms},
        )


@dataclass(frozen=True)
class Recipe:
    """How a chunk's entries make its loss, ``make(target, weights)``; labels 0 and 1 become -1 and 1 with ``signs``."""

    make: Callable[..., Link]
    weighted: bool = False
    signs: bool = False

    def link(self, target: Vector, weights: Vector | None = None) -> Link:
        """That of a chunk."""
        target = 2 * target - 1 if self.signs else target
        return self.make(target, np.ones(target.size) if weights is None and self.weighted else weights)

    def local(self, A: Any, entries: tuple[Vector, ...], norm: float | None = None) -> Linked:
        """The chunk's objective."""
        data = DataMatrix.trusted(A)
        if norm is not None:
            data.frobenius = norm
        return Linked(data, self.link(*entries))


class ChunkedSum(Objective):
    """A loss over data in chunks: what ``LeastSquares``, ``Logistic``, ``Poisson`` and others are made of such data.

    Nothing is computed when it is made. Points that were evaluated last are remembered, and levels on the same data
    that are asked at the same points are answered in one pass.

    Parameters
    ----------
    name : str
        That of the loss.
    A : Chunks
        The data.
    target : array or Chunks
        An entry a row.
    weights : array or Chunks or None
        An entry a row.
    recipe : Recipe
        The loss of a chunk.
    scale : float
        A factor.
    mean : bool
        Whether the weights are to sum to 1.
    """

    identity = ("content",)

    def __init__(
        self,
        name: str,
        A: Chunks,
        target: Any,
        weights: Any,
        recipe: Recipe,
        *,
        scale: float = 1.0,
        mean: bool = False,
        named: str = "b",
        least: float = -np.inf,
    ) -> None:
        if A.dim is None:
            raise ValueError("A must be a 2-D matrix, and is a vector in chunks")
        self.name, self.A, self.dim, self.recipe = name, A, A.dim, recipe
        self.target = A.aligned(target, named)
        self.weights = None if weights is None else A.aligned(weights, "weights")
        self.factor, self.mean, self.named, self.least = scale, mean, named, least
        sample = recipe.link(np.ones(1))
        self.convex, self.quadratic = isinstance(sample, Loss), isinstance(sample, Loss) and sample.quadratic
        bound = sample.lower_bound if name != "Poisson" else -np.inf
        self.lower_bound = 0.0 if bound == 0 else -np.inf
        self._points: OrderedDict[bytes, Evaluated] = OrderedDict()

    def __repr__(self) -> str:
        return f"{self.name} of {self.A!r}"

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_points": OrderedDict()}

    @property
    def chunked(self) -> ChunkedSum | None:
        return self if self.convex else None

    @property
    def content(self) -> tuple[Any, ...]:
        """What tells it from another one of its kind: where its data come from, not the data."""
        make = self.recipe.make
        data = tuple(one.source for one in (self.A, *self.beside))
        return self.name, self.factor, self.mean, getattr(make, "args", ()), data

    # -- what the vectors are ------------------------------------------------------------------------------------

    @property
    def beside(self) -> tuple[Chunks, ...]:
        """The vectors beside A."""
        return (self.target,) if self.weights is None else (self.target, self.weights)

    @cached_property
    def own(self) -> Recipe:
        """The recipe, with what one pass over the vectors has found; bad labels, counts and weights end here."""
        found, name = self.target.facts, self.named
        if self.weights is not None:
            given = self.weights.facts
            if given.least < 0:
                raise ValueError(
                    f"weights must not be negative, got {given.least:g}; a row with weight 0 does not count"
                )
            if not given.largest:
                raise ValueError("weights are all zero; at least one row must count")
        if found.least < self.least:
            raise ValueError(f"{name} must not be negative: it holds counts, or rates, and has {found.least:g}")
        if not self.recipe.signs:
            return self.recipe
        if found.labels not in ((-1.0, 1.0), (0.0, 1.0)):
            listing = ", ".join(f"{one:g}" for one in found.labels) + (", ..." if len(found.labels) > 4 else "")
            raise ValueError(f"{name} must hold two classes, labelled -1 and 1 or 0 and 1; it holds {listing}")
        return replace(self.recipe, signs=found.labels == (0.0, 1.0))

    @cached_property
    def scale(self) -> float:
        """The factor, divided by the sum of the weights where it is a mean."""
        if not self.mean:
            return self.factor
        return self.factor / (sum(self.target.facts.rows) if self.weights is None else self.weights.facts.total)

    @property
    def exact_scale(self) -> tuple[np.longdouble, float]:
        """The same in extended precision, and what that may be off by, relative."""
        factor = np.longdouble(self.factor)
        if not self.mean:
            return factor, 0.0
        if self.weights is None:
            return factor / np.longdouble(sum(self.target.facts.rows)), float(np.finfo(np.longdouble).eps)
        return factor / np.longdouble(self.weights.facts.total), self.scale_error

    @property
    def scale_error(self) -> float:
        """Relative: of the sum of the weights, and two roundings."""
        return (
            (4 if self.weights is None else sum(self.weights.facts.rows) + 4) * UNIT_ROUNDOFF
            if self.mean
            else (2 * UNIT_ROUNDOFF)
        )

    # -- evaluation ----------------------------------------------------------------------------------------------

    def evaluated(self, x: Vector) -> Evaluated:
        """Everything at a point: remembered, or by a pass that also answers who was asked at the last point with it."""
        x = self._point(x)
        key = x.tobytes()
        asked = self.A.kept.setdefault("asked", Asked())
        others = asked.at(key, self)
        if key not in self._points:
            readers = [self, *(one for one in others if one is not self and key not in one._points)]
            found = self.A.reduce(Evaluate(x, tuple(_Reader.of(one, k, readers) for k, one in enumerate(readers))),
                                  _added, [one for reader in readers for one in reader.beside])  # fmt: skip
            for reader, result in zip(readers, found, strict=True):
                reader.A.kept.setdefault("norms", result.norms)
                reader.remember(key, result)
        return self._points[key]

    def remember(self, key: bytes, found: Evaluated) -> None:
        """What chunks have added up to at a point, times the scale, errors with it."""
        c, count = self.scale, self.A.chunk_count
        tree = gamma(int(np.ceil(np.log2(count + 1)))) + self.scale_error
        self._points[key] = Evaluated(
            c * found.value,
            c * found.grad,
            1.01 * c * (found.value_error + tree * found.value_size),
            1.01 * c * (found.grad_error + tree * found.grad_size),
            c * found.value_size,
            c * found.grad_size,
            found.norms,
        )
        while len(self._points) > REMEMBERED:
            self._points.popitem(last=False)

    def value_and_grad(self, x: Vector) -> tuple[float, Vector]:
        found = self.evaluated(x)
        return found.value, found.grad.copy()

    def value(self, x: Vector) -> float:
        return self.evaluated(x).value

    def rounding(self, x: Vector) -> tuple[float, float]:
        found = self.evaluated(x)
        return found.value_error, found.grad_error

    # -- curvature -----------------------------------------------------------------------------------------------

    @cached_property
    def smoothness(self) -> float | None:
        """lambda_max(A' diag(D) A), D the bound on the curvature of the loss: by one pass for the Gram matrix.

        Of more than 2000 columns by Lanczos steps, each a pass, up to a probability of 1e-12.
        """
        if not np.isfinite(np.max(self.own.link(np.ones(1)).most)):
            return None
        if self.dim is not None and self.dim <= GRAM_SIDE:
            gram, size = self.A.reduce(Gram(self.own), _summed, self.beside)
            return self.scale * float(largest_eigenvalue(gram) + gamma(self._terms) * size)
        return self.scale * krylov_bound(
            lambda v: self.A.reduce(Bent(self.own, None, v), _plus, self.beside), self.dim or 1
        )

    @property
    def _terms(self) -> int:
        return max(self.target.facts.rows) + self.A.chunk_count

    def curvature_along(self, direction: Vector, image: Image) -> float | None:
        if not self.quadratic:
            return None
        bent: Vector = self.A.reduce(Bent(self.own, None, direction), _plus, self.beside)
        return self.scale * float(direction @ bent)

    def hessian_times(self, x: Vector, direction: Vector) -> Vector | None:
        if not self.convex:
            return None
        return self.scale * np.asarray(self.A.reduce(Bent(self.own, self._point(x), direction), _plus, self.beside))

    def curvature_within(self, x: Vector, radius: float) -> float | None:
        if self.smoothness is not None:
            return self.smoothness
        sizes = self.evaluated(x).norms.values()
        size = float(np.sqrt(sum(one * one for one in sizes))) * (1 + 1e-8)
        return (
            self.scale
            * float(self.A.reduce(Steepest(self.own, self._point(x), size * radius), max, self.beside))
            * size**2
        )


class Asked:
    """Which objectives on the same data were asked at the last point, and at the one before."""

    def __init__(self) -> None:
        self._key = b""
        self._now: list[ref[ChunkedSum]] = []
        self._before: list[ref[ChunkedSum]] = []

    def __reduce__(self) -> tuple[Any, ...]:
        return Asked, ()

    def at(self, key: bytes, objective: ChunkedSum) -> list[ChunkedSum]:
        """Note that an objective is asked here; those that were asked at the point before."""
        if key != self._key:
            self._key, self._before, self._now = key, self._now, []
        if objective not in self._alive(self._now):
            self._now.append(ref(objective))
        return self._alive(self._before)

    @staticmethod
    def _alive(those: list[ref[ChunkedSum]]) -> list[ChunkedSum]:
        return [one for kept in those if (one := kept()) is not None]


# -- kernels: pure functions of a chunk ------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Reader:
    """An objective in a pass: its recipe, and which of the entries are its own."""

    recipe: Recipe
    first: int
    count: int
    norms: dict[int, float] = field(default_factory=dict)

    @classmethod
    def of(cls, objective: ChunkedSum, k: int, readers: list[ChunkedSum]) -> _Reader:
        """The k-th of those that are read for."""
        first = sum(len(one.beside) for one in readers[:k])
        return cls(objective.own, first, len(objective.beside), objective.A.kept.get("norms", {}))


@dataclass(frozen=True)
class Evaluate:
    """Values, gradients and their errors at a point, for several objectives on the same rows."""

    x: Vector
    readers: tuple[_Reader, ...]

    def __call__(self, k: int, A: Any, *entries: Vector) -> tuple[Evaluated, ...]:
        norm = self.readers[0].norms.get(k)
        if norm is None:
            norm = length(A.data if hasattr(A, "indptr") else A) * (1 + 1e-8)
            if not np.isfinite(norm):
                raise NotFinite
        return tuple(self._one(k, A, entries[one.first : one.first + one.count], one, norm) for one in self.readers)

    def _one(self, k: int, A: Any, entries: tuple[Vector, ...], reader: _Reader, norm: float) -> Evaluated:
        local = reader.recipe.local(A, entries, norm)
        t = local.image(self.x)
        value, grad = local.value_and_grad_at(self.x, t)
        _, value_error, grad_error = local._rounding_at(self.x, t)
        return Evaluated(value, grad, value_error, grad_error, abs(value), length(grad), {k: norm})


def _added(one: tuple[Evaluated, ...], other: tuple[Evaluated, ...]) -> tuple[Evaluated, ...]:
    return tuple(left.plus(right) for left, right in zip(one, other, strict=True))


@dataclass(frozen=True)
class Gram:
    """A' diag(D) A with the bound D on the curvature, and its trace: for steps, not for answers."""

    recipe: Recipe

    def __call__(self, k: int, A: Any, *entries: Vector) -> tuple[Any, float]:
        most = np.broadcast_to(self.recipe.link(*entries).most, (A.shape[0],))
        gram = A.T @ (A.multiply(most[:, None]).tocsr() if hasattr(A, "indptr") else most[:, None] * A)
        gram = gram.toarray() if hasattr(gram, "toarray") else gram
        if not np.isfinite(gram).all():
            raise NotFinite
        return gram, float(np.trace(gram))


def _summed(one: tuple[Any, float], other: tuple[Any, float]) -> tuple[Any, float]:
    return one[0] + other[0], one[1] + other[1]


@dataclass(frozen=True)
class Bent:
    """A' diag(h''(A x)) A v; without x, with the bound on h'' in its place."""

    recipe: Recipe
    x: Vector | None
    v: Vector

    def __call__(self, k: int, A: Any, *entries: Vector) -> Vector:
        link: Any = self.recipe.link(*entries)
        bend = link.most if self.x is None else link.curvature(A @ self.x)
        return np.asarray(A.T @ (bend * (A @ self.v)))


def _plus(one: Any, other: Any) -> Any:
    return one + other


@dataclass(frozen=True)
class Steepest:
    """The most curvature of a row's loss within so far of its prediction."""

    recipe: Recipe
    x: Vector
    reach: float

    def __call__(self, k: int, A: Any, *entries: Vector) -> float:
        return self.recipe.link(*entries).bend(A @ self.x, self.reach)
