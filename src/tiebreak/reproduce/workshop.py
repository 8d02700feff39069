"""Where the pieces of an experiment are made: each once, kept on disk, several at a time."""

from __future__ import annotations

import hashlib
import logging
import pickle
import re
import signal
import time
import zlib
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import cache
from multiprocessing import active_children
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from ..disk import write_whole

logger = logging.getLogger("tiebreak")

Made = dict[str, NDArray[Any]]
"""What a piece makes: named arrays (numbers become arrays of no dimension)."""


@dataclass(frozen=True)
class Piece:
    """A function of a module (no lambda) and its arguments: numbers, strings, arrays, dataclasses of such."""

    name: str
    make: Callable[..., Mapping[str, Any]]
    arguments: Mapping[str, Any] = field(default_factory=dict)

    def key(self) -> str:
        """What decides the result: the function, its arguments, the code of the library."""
        what = (self.make.__module__, self.make.__qualname__, sorted(self.arguments.items()), _code())
        return hashlib.sha256(pickle.dumps(what, protocol=5)).hexdigest()[:16]


@dataclass
class Workshop:
    """Makes pieces in ``folder``, ``jobs`` at a time; ``tell`` hears "done, all, name, seconds" after each."""

    folder: Path
    jobs: int = 1
    tell: Callable[[int, int, str, float], None] | None = None

    def make(self, pieces: Iterable[Piece]) -> dict[str, Made]:
        """Every piece by its name; those on disk are read, the others made and kept as soon as they are done."""
        pieces = list(pieces)
        names = [piece.name for piece in pieces]
        if len(set(names)) < len(names):
            raise ValueError(f"pieces must have different names, got {names}")
        self.folder.mkdir(parents=True, exist_ok=True)
        made = {piece.name: kept for piece in pieces if (kept := self._kept(piece)) is not None}
        todo = [piece for piece in pieces if piece.name not in made]
        done = len(made)
        for piece, result, seconds in self._work(todo):
            made[piece.name] = result
            done += 1
            if self.tell is not None:
                self.tell(done, len(pieces), piece.name, seconds)
        return {name: made[name] for name in names}

    def _work(self, todo: list[Piece]) -> Iterable[tuple[Piece, Made, float]]:
        if self.jobs == 1 or len(todo) < 2:
            for piece in todo:
                yield piece, *_make(piece, self._place(piece))
            return
        others = set(active_children())
        with ProcessPoolExecutor(self.jobs, initializer=_die_quietly) as pool:
            waiting: dict[Future[tuple[Made, float]], Piece] = {
                pool.submit(_make, piece, self._place(piece)): piece for piece in todo
            }
            try:
                for future in as_completed(waiting):
                    yield waiting[future], *future.result()
            except BaseException:
                for worker in set(active_children()) - others:  # what they were at is lost, what is kept is whole
                    worker.terminate()
                pool.shutdown(wait=False, cancel_futures=True)
                raise

    def _place(self, piece: Piece) -> Path:
        return self.folder / f"{re.sub(r'[^A-Za-z0-9.-]+', '-', piece.name)}-{piece.key()}.npz"

    def _kept(self, piece: Piece) -> Made | None:
        place = self._place(piece)
        if not place.exists():
            return None
        try:
            with place.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
                return dict(arrays)
        except (OSError, ValueError, EOFError, BadZipFile, zlib.error) as error:
            logger.warning("%s cannot be read (%s) and is made again", place.name, error)
            return None


@cache
def _code() -> str:
    """A digest of every source file of the library: what an older version made is not taken for this one's."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parents[1].rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _die_quietly() -> None:
    """Ctrl-C reaches the workers as well; only the parent has something to say about it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _one_thread() -> AbstractContextManager[Any]:
    """One BLAS thread, where threadpoolctl (which scikit-learn brings) is there to ask for it.

    The matrices of the experiments are small: threads that wait for each other cost many times what they compute.
    """
    try:
        from threadpoolctl import threadpool_limits
    except ImportError:
        return nullcontext()
    limit: AbstractContextManager[Any] = threadpool_limits(1)
    return limit


def _make(piece: Piece, place: Path) -> tuple[Made, float]:
    started = time.perf_counter()
    with _one_thread():
        result = {name: np.asarray(value) for name, value in piece.make(**piece.arguments).items()}
    for name, value in result.items():
        if value.dtype == object:
            raise TypeError(f"piece {piece.name!r} made {name!r}, which is neither numbers nor text")
    write_whole(place, lambda file: np.savez_compressed(file, allow_pickle=False, **result))
    return result, time.perf_counter() - started
