"""A level as losses of rows, in chunks or in memory, and what is left of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ...arrays import Vector
from ...numerics.rows import LONG_ROUNDOFF
from ...objectives.algebra import Sum
from ...objectives.base import Objective
from ...objectives.chunked import ChunkedSum, Recipe
from ...objectives.chunks import Chunks, Kernel, Merge
from ...objectives.losses.base import Loss
from ...objectives.matrix import DataMatrix


class InMemory:
    """Rows of this machine as one chunk, so that they go the same way."""

    def __init__(self, data: DataMatrix | None, dim: int) -> None:
        self.rows = np.eye(dim) if data is None else data.raw

    def reduce(self, kernel: Kernel, merge: Merge, beside: Sequence[Chunks] = ()) -> Any:
        """The result of the only chunk."""
        return kernel(0, self.rows)


class RowTerm(NamedTuple):
    """scale * h(A x): where the rows are, and how a chunk's loss is made; ``source`` remembers points it is told of.

    ``exact`` is the scale in extended precision, off by no more than the relative ``exact_error``.
    """

    A: Chunks | InMemory
    beside: tuple[Chunks, ...]
    recipe: Recipe
    exact: np.longdouble
    exact_error: float
    source: ChunkedSum | None = None

    @property
    def scale(self) -> float:
        """In double precision."""
        return float(self.exact)


@dataclass(frozen=True)
class RowLevel:
    """A level: losses of rows, and the rest in memory, if there is one."""

    terms: tuple[RowTerm, ...]
    rest: Objective | None

    @classmethod
    def of(cls, level: Objective, dim: int, whole: bool = False) -> RowLevel:
        """The losses in chunks as terms; those in memory as well where the level is to be terms as a ``whole``."""
        terms, rest = [], []
        for factor, part in level.parts:
            if part.chunked is not None:
                own = part.chunked
                scale, error = own.exact_scale
                scale, rounded = _times(factor, scale)
                terms.append(RowTerm(own.A, own.beside, own.own, scale, error + rounded, own))
            elif whole:
                assert part.form is not None
                for loss, data, scale in part.form.losses:
                    fixed = Recipe(partial(_always, loss))
                    terms.append(RowTerm(InMemory(data, dim), (), fixed, *_times(factor, scale)))
            else:
                rest.append(part if factor == 1 else factor * part)
        return cls(tuple(terms), Sum(*rest) if rest else None)

    @property
    def quadratic(self) -> bool:
        """Whether its losses of rows are."""
        return all(_sample(term).quadratic for term in self.terms)


def self_concordance(term: RowTerm) -> float:
    """That of the term's loss; inf where its curvature jumps or nothing is known."""
    loss = _sample(term)
    return loss.self_concordance if loss.strictly_convex and loss.separable else np.inf


def _sample(term: RowTerm) -> Loss:
    loss: Any = term.recipe.link(*[np.ones(1)] * len(term.beside)) if term.beside else term.recipe.make()
    assert isinstance(loss, Loss)
    return loss


def _times(factor: float, scale: np.longdouble) -> tuple[np.longdouble, float]:
    """The product, and its relative rounding: none with a power of two."""
    exact = 0.5 in (float(np.frexp(factor)[0]), float(np.frexp(scale)[0]))
    return np.longdouble(factor) * scale, 0.0 if exact else LONG_ROUNDOFF


def _always(loss: Loss, *nothing: Vector | None) -> Loss:
    return loss
