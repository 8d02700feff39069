"""The noun: a matrix whose rows lie in chunks, with one verb, ``reduce``."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..arrays import as_vector
from ..objectives.chunks import Chunks, Kernel, Merge, NotFinite, VectorFacts, outer
from . import passes
from .blocks import Selected, Signs, WithOnes
from .passes import Column

logger = logging.getLogger("tiebreak")

SCHEDULERS = ("threads", "processes", "synchronous")
TASK_SECONDS = 0.5  # a task of less is mostly the scheduler's work
FIRST_BYTES = 2**28  # of a task in the first pass of its kind, before anything is measured
HELD_BYTES = 2**29  # of blocks that a task is given, and holds, all at once


@dataclass(frozen=True)
class Pass:
    """A pass over the data as it went: ``ChunkedMatrix.passes`` has them all.

    Attributes
    ----------
    kind : str
        What was computed.
    seconds : float
        From beginning to end.
    working : float
        Seconds that tasks spent on chunks, added up over all of them.
    tasks : int
        So many.
    """

    kind: str
    seconds: float
    working: float
    tasks: int


class ChunkedMatrix(Chunks):
    """A matrix (or vector) whose rows lie in chunks: on disk, or on the workers of a cluster.

    Made by ``tiebreak.dask.chunked``, ``from_memmap``, ``from_zarr``, ``from_parquet`` and ``from_frame``. Objectives
    take it for A and for their vectors. The rows never leave their chunks: all that is ever asked is ``reduce``.

    Attributes
    ----------
    shape : tuple
        Rows (None where they are not counted yet) and, of a matrix, columns.
    passes : list of Pass
        Those made so far.
    """

    def __init__(
        self, pieces: Sequence[Any], dim: int | None, rows: Sequence[int] | None, name: str, *, where: str = "",
        scheduler: str | None = None, selected: Selected | None = None, origin: Any = None, prepare: Any = None,
    ) -> None:  # fmt: skip
        if scheduler is not None and scheduler not in SCHEDULERS:
            raise ValueError(f"scheduler must be one of {', '.join(SCHEDULERS)}, or None, got {scheduler!r}")
        self.pieces, self.dim, self.name, self.where = tuple(pieces), dim, name, where or name
        self.rows = None if rows is None else tuple(int(n) for n in rows)
        self.scheduler, self.selected, self.origin, self.prepare = scheduler, selected, origin, prepare
        self.chunk_count = len(self.pieces)
        self.source = (tuple(getattr(piece, "key", piece) for piece in self.pieces), dim, selected, prepare)
        self.kept: dict[str, Any] = {}
        self.passes: list[Pass] = []
        self._pace: dict[str, float] = {}
        if not self.pieces or (self.rows is not None and not sum(self.rows)) or dim == 0:
            raise ValueError(f"{name} is empty: shape {self.shape}")

    @property
    def shape(self) -> tuple[int | None, ...]:
        n = None if self.rows is None else sum(self.rows)
        return (n,) if self.dim is None else (n, self.dim)

    def __repr__(self) -> str:
        size = " x ".join("?" if one is None else str(one) for one in self.shape)
        return f"ChunkedMatrix({size} in {self.chunk_count} chunks, {self.name})"

    def __array__(self, *given: Any, **options: Any) -> Any:
        raise TypeError(f"{self!r} is never pulled into memory as a whole; read its source with NumPy where it fits")

    def reduce(self, kernel: Kernel, merge: Merge, beside: Sequence[Chunks] = ()) -> Any:
        """The results of all chunks, merged along a tree that the chunk numbers fix.

        Parameters
        ----------
        kernel : callable
            ``kernel(k, rows, *entries)`` gets the number of a chunk, its rows and those of what is ``beside``; pure.
        merge : callable
            ``merge(one, other)`` of the results of two neighbours; pure.
        beside : sequence of ChunkedMatrix
            Vectors in the same chunks.

        Examples
        --------
        >>> import numpy as np, tiebreak.dask
        >>> A = tiebreak.dask.chunked(np.ones((5, 2)), chunk_rows=2)
        >>> A.reduce(lambda k, rows: rows.sum(axis=0), lambda one, other: one + other)
        array([5., 5.])
        """
        kind = type(kernel).__name__
        columns = [one.column for one in (self, *beside)]  # type: ignore[attr-defined]
        began = time.perf_counter()
        part, tasks = passes.run(kernel, merge, columns, self._level(kind), self.scheduler)
        made = Pass(kind, time.perf_counter() - began, part.seconds, tasks)
        self.passes.append(made)
        self._pace[kind] = part.seconds / part.chunks
        logger.info("pass %d over %s: %s, %.2g s, %d tasks", len(self.passes), self.name, kind, made.seconds, tasks)
        return part.result

    def _level(self, kind: str) -> int:
        """How often the number of chunks a task is doubled, so that it has enough to do; it changes no bit."""
        size = self._chunk_bytes
        pace = self._pace.get(kind)
        most = FIRST_BYTES / size if pace is None else TASK_SECONDS / max(pace, 1e-9)
        if not hasattr(self.pieces[0], "read"):
            most = min(most, HELD_BYTES / size)
        upward = np.ceil if pace is not None else np.floor
        return int(np.clip(upward(np.log2(max(most, 1.0))), 0, np.ceil(np.log2(self.chunk_count))))

    @property
    def _chunk_bytes(self) -> float:
        rows = FIRST_BYTES if self.rows is None else max(self.rows)  # uncounted ones are taken to be large
        return 8.0 * max(rows, 1) * (self.dim or 1)

    @property
    def column(self) -> Column:
        """What passes are given of it."""
        given = self.dim if self.dim is None else self.dim - (self.prepare == WithOnes())
        return Column(self.pieces, given, self.name, self.where, self.selected, self.prepare)

    def with_ones(self) -> ChunkedMatrix:
        """The same rows with a last column of ones."""
        assert self.dim is not None
        return self._prepared(WithOnes(), self.dim + 1)

    def signs(self, second: float) -> ChunkedMatrix:
        """Labels as 1 and -1."""
        return self._prepared(Signs(second), None)

    def _prepared(self, prepare: Any, dim: int | None) -> ChunkedMatrix:
        return ChunkedMatrix(
            self.pieces, dim, self.rows, self.name, where=self.where, scheduler=self.scheduler, selected=self.selected,
            origin=self.origin, prepare=prepare,
        )  # fmt: skip

    # -- vectors beside it ---------------------------------------------------------------------------------------

    def aligned(self, values: Any, name: str) -> Chunks:
        """A vector with an entry a row, in the same chunks: one in chunks itself, or one that is in memory."""
        from .sources import chunked, cut

        if hasattr(values, "__dask_graph__"):
            values = chunked(values, scheduler=self.scheduler)
        if not isinstance(values, ChunkedMatrix):
            return cut(as_vector(values, name, self._counted(name)), self, name)
        if values.dim is not None:
            raise ValueError(f"{name} must be a 1-D array, got shape {values.shape}")
        given, own = values.rows, self.rows
        if own is not None and given is not None and sum(own) != sum(given):
            raise ValueError(f"{name} has {sum(given)} rows, A has {sum(own)}")
        if own is not None and given is not None and own != given:
            return cut(values.origin, self, name, values.prepare)
        if values.chunk_count != self.chunk_count:
            raise ValueError(
                f"{name} has {values.chunk_count} chunks and A has {self.chunk_count}, of unknown lengths; take both "
                "from one frame with tiebreak.dask.from_frame, or count them with compute_chunk_sizes() and rechunk"
            )
        return values._named(name)

    def _named(self, name: str) -> ChunkedMatrix:
        same = ChunkedMatrix(
            self.pieces, self.dim, self.rows, name, where=self.where, scheduler=self.scheduler, selected=self.selected,
            origin=self.origin, prepare=self.prepare,
        )  # fmt: skip
        same.kept, same.passes = self.kept, self.passes
        return same

    def _counted(self, name: str) -> int:
        if self.rows is None:
            raise ValueError(
                f"the rows of A are not counted, so {name} in memory cannot be cut to its chunks; "
                "count them with compute_chunk_sizes(), or give both from one frame with tiebreak.dask.from_frame"
            )
        return sum(self.rows)

    @property
    def facts(self) -> VectorFacts:
        """Of a vector: found by one pass over it, the first time."""
        if "facts" not in self.kept:
            found = self.reduce(Entries(), _both)
            rows = tuple(found.rows.get(k, 0) for k in range(self.chunk_count))
            self.kept["facts"] = VectorFacts(rows, found.least, found.largest, found.total, found.labels)
        return self.kept["facts"]  # type: ignore[no-any-return]


class _Found(NamedTuple):
    rows: dict[int, int]
    least: float
    largest: float
    total: float
    labels: tuple[float, ...]


class Entries:
    """The kernel of ``facts``."""

    def __call__(self, k: int, values: Any) -> _Found:
        if not np.isfinite(values).all():
            raise NotFinite
        return _Found({k: values.size}, float(values.min()), float(values.max()), float(values.sum()), outer(values))


def _both(one: _Found, other: _Found) -> _Found:
    return _Found(
        {**one.rows, **other.rows},
        min(one.least, other.least),
        max(one.largest, other.largest),
        one.total + other.total,
        outer([*one.labels, *other.labels]),
    )
