"""What goes wrong in a pass, as sentences: which chunk, what, and what to do."""

from __future__ import annotations

import re
from typing import Any

NAME = "tiebreak-chunks"


class ChunkError(RuntimeError):
    """A chunk could not be read, or the cluster that worked on it was lost; the message names the chunk."""


class Refused:
    """A chunk whose contents are no data: a result, so that nobody tries it again."""

    def __init__(self, error: Exception) -> None:
        self.error = error


def unreadable(number: int, where: str, error: BaseException) -> ChunkError:
    """In the task that could not read a chunk."""
    return ChunkError(
        f"chunk {number} ({where}) cannot be read: {type(error).__name__}: {error}; "
        "check that every worker can open it, then solve again"
    )


def translated(error: BaseException) -> ChunkError | None:
    """An error of dask or distributed as a sentence; None where it is something else."""
    kind = type(error).__name__
    if kind == "KilledWorker":
        chunks = chunks_of(getattr(error, "task", ""))
        return ChunkError(
            f"every worker that tried {chunks} died, of it or of a task beside it: most often a chunk needs more "
            "memory than a worker has; make the chunks smaller (rechunk, chunk_rows=) or give the workers more"
        )
    if kind in ("FutureCancelledError", "CancelledError", "CommClosedError"):
        return ChunkError(
            f"the cluster was lost in a pass over the data ({kind}: {error}); nothing is wrong with the data: connect "
            "to a cluster again, and solve again (from a Checkpoint, where there is one)"
        )
    return None


def chunks_of(key: Any) -> str:
    """The chunks that a task is for, by its key, in words."""
    found = re.search(NAME + r"-\w+-(\d+)-(\d+)-", str(key))
    if found is None:
        return "a task"
    first, last = int(found[1]), int(found[2])
    return f"chunk {first}" if first == last else f"the task of chunks {first} to {last}"
