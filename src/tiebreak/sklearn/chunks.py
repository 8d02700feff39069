"""Rows in chunks for the estimators: dask arrays and frames, and what ``tiebreak.dask`` reads from files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..arrays import Vector
from ..objectives.chunks import Chunks, NotFinite
from .data import Sample


def in_chunks(X: Any) -> bool:
    """Whether rows lie in chunks."""
    return isinstance(X, Chunks) or hasattr(X, "__dask_graph__")


def head_of(X: Any) -> Any:
    """No row of it, with its names."""
    return X._meta if hasattr(X, "_meta") else X


def as_rows(X: Any, y: Any, weights: Any) -> tuple[Any, Any, Any]:
    """Features, targets and weights as chunked matrices with the same chunks."""
    from ..dask import ChunkedMatrix, chunked

    if hasattr(X, "partitions") and hasattr(X, "columns"):
        beside = [one for one in (y, weights) if hasattr(one, "to_dask_array")]
        if any(one.npartitions != X.npartitions for one in beside):  # read apart from each other: lengths are counted
            return as_rows(*(_counted(one) for one in (X, y, weights)))
    given: ChunkedMatrix = X if isinstance(X, ChunkedMatrix) else chunked(_plain(X))
    if given.dim is None:
        raise ValueError("X must be a matrix, and is a vector in chunks")
    return given, given.aligned(_plain(y), "y"), None if weights is None else given.aligned(_plain(weights), "weights")


def _counted(given: Any) -> Any:
    return given.to_dask_array(lengths=True) if hasattr(given, "to_dask_array") else given


def _plain(given: Any) -> Any:
    """Frames and series as arrays of numbers, partition by partition."""
    return given.to_dask_array() if hasattr(given, "to_dask_array") else given


@dataclass(frozen=True)
class ChunkedSample(Sample):
    """Rows in chunks: what is asked of them costs a pass, the first time."""

    def rows(self, chosen: Any) -> Sample:
        raise TypeError("rows in chunks are not picked one by one: give the rows to choose by as X_val and y_val")

    def and_also(self, other: Sample) -> Sample:
        raise TypeError("rows in chunks are not put below others")

    @cached_property
    def total(self) -> float:
        given: Any = self.y if self.weights is None else self.weights
        return float(sum(given.facts.rows) if self.weights is None else given.facts.total)

    def matrix(self, intercept: bool) -> Any:
        return self.X.with_ones() if intercept else self.X

    @cached_property
    def sizes(self) -> Vector:
        return _root_mean_squares(self.X)

    @cached_property
    def target_size(self) -> float:
        return float(_root_mean_squares(self.y)[0])


def _root_mean_squares(given: Any) -> Vector:
    squares, count = given.reduce(Squares(), _added)
    found: Vector = np.sqrt(squares / count)
    return np.where(found > 0, found, 1.0)


class Squares:
    """The sums of the squares of columns, and the number of rows."""

    def __call__(self, k: int, rows: Any) -> tuple[Vector, int]:
        square = rows.multiply(rows).sum(axis=0) if hasattr(rows, "multiply") else np.square(rows).sum(axis=0)
        found = np.asarray(square, dtype=np.float64).ravel()
        if not np.isfinite(found).all():
            raise NotFinite
        return found, int(rows.shape[0])


def _added(one: tuple[Vector, int], other: tuple[Vector, int]) -> tuple[Vector, int]:
    return one[0] + other[0], one[1] + other[1]


def over_blocks(function: Callable[[Any], Any], X: Any, dtype: Any, columns: int = 0) -> Any:
    """What a model says of each block, as a dask array: nothing is computed yet."""
    import dask
    import dask.array as da

    if isinstance(X, Chunks):
        raise TypeError("predictions are made of arrays and frames: give the dask array or the frame itself")
    tail = (columns,) if columns else ()
    framed = hasattr(X, "columns")
    heights = [np.nan] * X.npartitions if framed else X.chunks[0]
    blocks = X.to_delayed() if framed else X.rechunk({1: -1}).to_delayed().ravel()
    applied = dask.delayed(_Applied(function, np.zeros((0, *tail), dtype)))
    found = [da.from_delayed(applied(block), (n, *tail), dtype) for block, n in zip(blocks, heights, strict=True)]
    return da.concatenate(found, allow_unknown_chunksizes=True)


@dataclass(frozen=True)
class _Applied:
    """A function of the rows of a block; of none, ``nothing``."""

    function: Callable[[Any], Any]
    nothing: Any

    def __call__(self, block: Any) -> Any:
        return self.function(block) if len(block) else self.nothing
