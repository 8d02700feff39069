"""Where the pieces of an experiment or of a comparison are made: each once, kept on disk, several at a time."""

from __future__ import annotations

import hashlib
import logging
import pickle
import re
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from ..disk import write_whole
from .processes import in_processes

logger = logging.getLogger("tiebreak")

Made = dict[str, NDArray[Any]]
"""What a piece makes: named arrays (numbers become arrays of no dimension)."""


@dataclass(frozen=True)
class Piece:
    """A function of a module (no lambda) and its arguments: numbers, strings, arrays, dataclasses of such.

    ``code`` stands for the code that decides the result; default: that of the whole library.
    """

    name: str
    make: Callable[..., Mapping[str, Any]]
    arguments: Mapping[str, Any] = field(default_factory=dict)
    code: str | None = None

    def key(self) -> str:
        """What decides the result: the function, its arguments, the code."""
        code = _code() if self.code is None else self.code
        what = (self.make.__module__, self.make.__qualname__, sorted(self.arguments.items()), code)
        return hashlib.sha256(pickle.dumps(what, protocol=5)).hexdigest()[:16]


class _Order(NamedTuple):
    """A piece, and where it is to be kept."""

    piece: Piece
    place: Path


@dataclass
class Workshop:
    """Makes pieces in ``folder``, ``jobs`` at a time; ``tell`` hears "done, all, name, seconds" after each.

    ``apart``: never in this process, even one at a time. ``begin`` is what other processes start with.
    """

    folder: Path
    jobs: int = 1
    tell: Callable[[int, int, str, float], None] | None = None
    apart: bool = False
    begin: Callable[[], None] | None = None

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

    def missing(self, pieces: Iterable[Piece]) -> list[Piece]:
        """Those that are not on disk."""
        return [piece for piece in pieces if not self._place(piece).exists()]

    def _work(self, todo: list[Piece]) -> Iterator[tuple[Piece, Made, float]]:
        orders = [_Order(piece, self._place(piece)) for piece in todo]
        if self.apart or (self.jobs > 1 and len(todo) > 1):
            for order, (made, seconds) in in_processes(_make, orders, self.jobs, self.begin):
                yield order.piece, made, seconds
            return
        for order in orders:
            yield order.piece, *_make(order)

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


def _make(order: _Order) -> tuple[Made, float]:
    piece, place = order
    started = time.perf_counter()
    with _one_thread():
        result = {name: np.asarray(value) for name, value in piece.make(**piece.arguments).items()}
    for name, value in result.items():
        if value.dtype == object:
            raise TypeError(f"piece {piece.name!r} made {name!r}, which is neither numbers nor text")
    write_whole(place, lambda file: np.savez_compressed(file, allow_pickle=False, **result))
    return result, time.perf_counter() - started
