"""One pass over chunks: tasks of neighbouring chunks, and a tree of merges that the chunk numbers alone fix.

The tree pairs neighbours, then neighbouring pairs, and so on. A task takes 2^g neighbours and goes through their part
of the tree by itself, so that how many chunks make a task changes no bit, nor does who works on it, or how often.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from math import isfinite
from typing import Any, NamedTuple

import dask

from ..numerics.deadline import check, remaining
from ..objectives.chunks import Kernel, Merge, NotFinite
from .blocks import Selected, as_rows, first_not_finite, read
from .errors import NAME, ChunkError, Refused, translated, unreadable

FAN_IN = 3  # levels of the tree in one task above the chunks
RETRIES = 3
PATIENCE, MOST_PATIENCE = 5.0, 60.0
"""Seconds until somebody looks whether a cluster has workers: the time limit, but at least and at most so many."""

logger = logging.getLogger("tiebreak")


class Column(NamedTuple):
    """One source beside others: its pieces by chunk, and what is expected of them."""

    pieces: Sequence[Any]
    dim: int | None
    name: str
    where: str
    selected: Selected | None = None
    prepare: Callable[[Any], Any] | None = None
    """What becomes of a chunk's rows; pure."""


class Part(NamedTuple):
    """What a task has found: the merged result, seconds spent on chunks, and how many there were."""

    result: Any
    seconds: float
    chunks: int


class Nothing:
    """The result of a chunk without rows."""


def work(kernel: Kernel, merge: Merge, first: int, columns: Sequence[Column]) -> Part:
    """Some neighbouring chunks in one task: a chunk at a time, merged as soon as the tree allows it."""
    began = time.perf_counter()
    stack: list[tuple[int, Any]] = []
    count = len(columns[0].pieces)
    for i in range(count):
        found = _one(kernel, first + i, [column._replace(pieces=column.pieces[i]) for column in columns])
        level = 0
        while stack and stack[-1][0] == level:
            found, level = _merged(merge, stack.pop()[1], found), level + 1
        stack.append((level, found))
    found = stack.pop()[1]
    while stack:
        found = _merged(merge, stack.pop()[1], found)
    return Part(found, time.perf_counter() - began, count)


def join(merge: Merge, parts: Sequence[Part]) -> Part:
    """The results of neighbouring tasks, along the same tree."""
    found = [part.result for part in parts]
    while len(found) > 1:
        pairs = [_merged(merge, *found[i : i + 2]) for i in range(0, len(found) - 1, 2)]
        found = pairs + found[2 * len(pairs) :]
    return Part(found[0], sum(part.seconds for part in parts), sum(part.chunks for part in parts))


def _one(kernel: Kernel, number: int, columns: Sequence[Column]) -> Any:
    blocks = []
    try:
        for column in columns:
            try:
                piece: Any = read(column.pieces)
            except TypeError as error:
                raise TypeError(f"{column.name}, chunk {number}: {error}") from None
            except Exception as error:
                where = getattr(column.pieces, "where", column.where)
                raise unreadable(number, where, error) from error
            if column.selected is not None:
                piece = column.selected.of(piece)
            blocks.append(as_rows(piece, column.dim, column.name, number))
        rows = [block.shape[0] for block in blocks]
        if len(set(rows)) > 1:
            listing = ", ".join(f"{column.name} has {n} rows" for column, n in zip(columns, rows, strict=True))
            raise ValueError(f"chunk {number}: {listing}; rechunk them alike")
        if not rows[0]:
            return Nothing
        blocks = [b if c.prepare is None else c.prepare(b) for b, c in zip(blocks, columns, strict=True)]
        return kernel(number, *blocks)
    except NotFinite:
        for column, block in zip(columns, blocks, strict=True):
            if (found := first_not_finite(block, column.name, number)) is not None:
                return Refused(found)
        return Refused(OverflowError(f"chunk {number}: numbers too large for double precision; scale the columns"))
    except (ValueError, TypeError) as error:
        return Refused(error)


def _merged(merge: Merge, one: Any, other: Any) -> Any:
    if isinstance(one, Refused) or other is Nothing:
        return one
    if isinstance(other, Refused) or one is Nothing:
        return other
    return merge(one, other)


def run(kernel: Kernel, merge: Merge, columns: Sequence[Column], level: int, scheduler: str | None) -> tuple[Part, int]:
    """The whole pass with 2^level chunks a task; the result, and how many tasks there were."""
    check()
    count, title = len(columns[0].pieces), type(kernel).__name__.lower()
    token = dask.base.tokenize(time.time_ns(), title)[:12]
    shared = dask.delayed(_Pair(kernel, merge), pure=False, traverse=False)
    parts = []
    for first in range(0, count, 2**level):
        last = min(first + 2**level, count)
        some = [column._replace(pieces=list(column.pieces[first:last])) for column in columns]
        key = f"{NAME}-{title}-{first}-{last - 1}-{token}"
        parts.append(dask.delayed(_work, pure=False)(shared, first, some, dask_key_name=key))
    tasks = len(parts)
    while len(parts) > 1:
        groups = [parts[i : i + 2**FAN_IN] for i in range(0, len(parts), 2**FAN_IN)]
        parts = [dask.delayed(_join, pure=False)(shared, group) for group in groups]
    return _computed(parts[0], scheduler, columns), tasks


class _Pair(NamedTuple):
    kernel: Kernel
    merge: Merge


def _work(pair: _Pair, first: int, columns: Sequence[Column]) -> Part:
    return work(*pair, first, columns)


def _join(pair: _Pair, parts: Sequence[Part]) -> Part:
    return join(pair.merge, parts)


def _computed(root: Any, scheduler: str | None, columns: Sequence[Column]) -> Part:
    try:
        if on_cluster(scheduler):
            part = _by_client(dask.base.get_scheduler(scheduler=scheduler).__self__, root)
        else:
            (part,) = dask.compute(root, scheduler=scheduler)
    except Exception as error:
        if isinstance(error, ChunkError) or (named := translated(error) or _upstream(columns, error)) is None:
            raise
        raise named from error
    if isinstance(part.result, Refused):
        raise part.result.error
    if part.result is Nothing:
        raise ValueError(f"{columns[0].name} holds no rows")
    return part


def _by_client(client: Any, root: Any) -> Part:
    """The pass by a client of distributed: with workers it goes on to its end, without any it waits for a while."""
    limited, future = isfinite(remaining()), client.compute(root, retries=RETRIES)
    wait, looks_without = min(max(remaining(), PATIENCE), MOST_PATIENCE), 0
    while True:
        try:
            found: Part = future.result(timeout=wait)
            return found
        except TimeoutError:
            if future.done():  # a task's own error
                raise
        looks_without = 0 if client.scheduler_info()["workers"] else looks_without + 1
        if looks_without >= 2 and limited and not remaining():
            future.cancel()
            raise ChunkError(
                "the cluster has no workers, and a pass over the data has waited for one until max_time was over; "
                "start some, and solve again"
            )
        if looks_without == 2:
            logger.warning("a pass over the data waits: the cluster has no workers")
        wait = PATIENCE


def on_cluster(scheduler: str | None) -> bool:
    """Whether a pass would run on a cluster of distributed."""
    get = dask.base.get_scheduler(scheduler=scheduler)
    return get is not None and hasattr(getattr(get, "__self__", None), "scheduler_info")


def _upstream(columns: Sequence[Column], error: Exception) -> ChunkError | None:
    """Which chunk the tasks before ours fail at, where they do: asked one after the other, and only after an error."""
    for column in columns:
        for number, piece in enumerate(column.pieces):
            if not dask.is_dask_collection(piece):
                continue
            try:
                dask.compute(dask.delayed(_height)(piece), scheduler="synchronous")
            except Exception as again:
                return unreadable(number, column.where, again)
    return None


def _height(block: Any) -> int:
    return len(block)
