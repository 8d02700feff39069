"""What objectives know of data in chunks: one interface, whoever keeps the chunks (``tiebreak.dask`` does)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

Kernel = Callable[..., Any]
"""kernel(k, A_k, *vectors_k) -> a small result of chunk k; a pure function, which can be pickled."""

Merge = Callable[[Any, Any], Any]


class NotFinite(ArithmeticError):
    """A kernel's word for results that NaN or infinities in its chunk have spoiled."""


class VectorFacts(NamedTuple):
    """What one pass over numbers in chunks tells of them: counts by chunk, and the first five different values."""

    rows: tuple[int, ...]
    least: float
    largest: float
    total: float
    labels: tuple[float, ...]


class Chunks(ABC):
    """A matrix (or, with ``dim`` None, a vector) whose rows lie in chunks; only small results leave them."""

    chunk_count: int
    dim: int | None
    source: tuple[Any, ...]
    """What tells the data from others: paths and rows, keys of tasks, or arrays."""
    kept: dict[str, Any]
    """What objectives have computed of these data and would need again."""

    @abstractmethod
    def reduce(self, kernel: Kernel, merge: Merge, beside: Sequence[Chunks] = ()) -> Any:
        """The results of all chunks, merged along a tree that the chunk numbers fix."""

    @abstractmethod
    def aligned(self, values: Any, name: str) -> Chunks:
        """A vector with an entry a row, in the same chunks."""

    @property
    @abstractmethod
    def facts(self) -> VectorFacts:
        """Of a vector: found by one pass over it."""


def as_chunks(A: Any) -> Chunks | None:
    """Data in chunks, made of dask arrays where they are that; None for anything else."""
    if isinstance(A, Chunks):
        return A
    if hasattr(A, "__dask_graph__"):
        from ..dask import chunked

        return chunked(A)
    return None


def outer(values: Sequence[float]) -> tuple[float, ...]:
    """The first five different values, in order."""
    return tuple(np.unique(np.asarray(values, dtype=np.float64))[:5].tolist())
