"""Which problem a state belongs to: digests of the data of both levels, of the set and of the slack.

Numbers are compared as they are, so the same data give the same fingerprint in any process. What is given by
functions cannot be compared: for that, values at a point of Z must agree.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from functools import cache, cached_property
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .objectives.base import Objective
from .objectives.matrix import DataMatrix
from .problem import Problem
from .sets.base import Domain

AGREE = 1e-10
"""Values of functions agree up to this, relative to the largest of them: other hardware may sum up otherwise."""

PLAIN = frozenset({bool, int, str})

BLOCK = 2**22  # bytes of an array that are looked at together


@dataclass(frozen=True)
class Fingerprint:
    """Digests of the parts of a problem, and values of what cannot be digested.

    Attributes
    ----------
    upper, lower, domain, rest : str
        Digests; ``rest`` is for the slack and the error bound.
    probes : tuple of float
        Values of functions at a point of Z; NaN where there is none.
    """

    upper: str
    lower: str
    domain: str
    rest: str
    probes: tuple[float, ...] = ()

    def difference(self, other: Fingerprint) -> str:
        """What differs, in words; empty where nothing does."""
        names = {"upper": "upper", "lower": "lower", "domain": "domain", "rest": "slack or error_bound"}
        found = [word for name, word in names.items() if getattr(self, name) != getattr(other, name)]
        if not found and not _agree(self.probes, other.probes):
            found = ["what the functions of the problem return"]
        return ", ".join(found)


def fingerprint(problem: Problem) -> Fingerprint:
    """The fingerprint of a problem: its data are read once; functions are called at one point of Z."""
    digest = _Digest()
    rest = (problem.slacks, problem.error_bound, problem.before)
    parts = {"upper": problem.upper, "lower": problem.lower, "domain": problem.domain, "rest": rest}
    texts: list[str] = []
    unseen: list[str] = []
    for name, part in parts.items():
        text, complete = digest.of(part)
        texts.append(text)
        if not complete:
            unseen.append(name)
    upper, lower, domain, last = texts
    return Fingerprint(upper, lower, domain, last, _probes(problem, unseen) if unseen else ())


class _Digest:
    """Digests of values; an array that occurs several times is read once."""

    def __init__(self) -> None:
        self._arrays: dict[int, bytes] = {}

    def of(self, value: Any) -> tuple[str, bool]:
        """The digest, and whether it says all there is to say."""
        self._complete = True
        self._hash = sha256()
        self._add(value)
        return self._hash.hexdigest()[:32], self._complete

    def _add(self, value: Any) -> None:
        add = self._hash.update
        kind = type(value)
        if kind is float:  # what most parts are made of comes first: it costs least to tell
            add(f"{value.hex()};".encode())
        elif value is None or kind in PLAIN:
            add(f"{value!r};".encode())
        elif isinstance(value, np.ndarray) and value.dtype != object:
            add(self._array(value))
        elif kind is tuple or kind is list:
            add(b"[")
            for item in value:
                self._add(item)
            add(b"]")
        elif isinstance(value, (Objective, Domain)):
            add(f"{type(value).__name__}(".encode())
            content = _content(value)
            if content is None:  # a class of the user's may keep counters and caches: its values must tell
                self._complete, content = False, [("dim", value.dim)]
            for name, item in content:
                add(f"{name}=".encode())
                self._add(item)
        elif isinstance(value, DataMatrix):
            self._add(value.raw)
        elif sparse.issparse(value):
            matrix: Any = value
            if matrix.format not in ("csr", "csc"):
                matrix = matrix.tocsr()
            self._add((matrix.format, matrix.shape, matrix.indptr, matrix.indices, matrix.data))
        elif isinstance(value, (float, np.floating)):
            add(f"{float(value).hex()};".encode())
        elif isinstance(value, (bool, int, str, np.generic, Enum)):
            add(f"{value!r};".encode())
        elif is_dataclass(value) and not isinstance(value, type):
            self._add(tuple(getattr(value, one.name) for one in fields(value)))
        elif isinstance(value, (tuple, list)):
            add(b"[")
            for item in value:
                self._add(item)
            add(b"]")
        elif isinstance(value, dict):
            self._add(tuple(value.items()))
        elif isinstance(value, (set, frozenset)):
            self._add(tuple(sorted(map(str, value))))
        else:  # a function, an operator, an object of the user's
            self._complete = False

    def _array(self, array: NDArray[Any]) -> bytes:
        if id(array) not in self._arrays:
            # indices may have 4 bytes or 8, and rows or columns come first, wherever the same numbers come from
            flat = array if array.ndim else array.reshape(1)
            kind = np.int64 if array.dtype.kind in "iu" else array.dtype
            own = sha256(f"{array.shape}{np.dtype(kind).str}".encode())
            rows = max(1, BLOCK // max(1, flat[:1].nbytes))
            for first in range(0, len(flat), rows):
                own.update(np.ascontiguousarray(flat[first : first + rows], dtype=kind).data)
            self._arrays[id(array)] = own.digest()
        return self._arrays[id(array)]


def _content(part: Objective | Domain) -> list[tuple[str, Any]] | None:
    """What an objective or a set is made of: what it names, or else all its attributes but those it derives."""
    if part.identity is not None:
        return [(name, getattr(part, name)) for name in part.identity]
    if type(part).__module__.partition(".")[0] != __name__.partition(".")[0]:
        return None
    derived = _derived(type(part))
    return sorted([(name, value) for name, value in vars(part).items() if name not in derived])


@cache
def _derived(cls: type) -> frozenset[str]:
    return frozenset(
        name for base in cls.__mro__ for name, value in vars(base).items() if isinstance(value, cached_property)
    )


def _probes(problem: Problem, unseen: list[str]) -> tuple[float, ...]:
    """Values and slopes of the parts that cannot be digested, at a point of Z: elsewhere a function may be undefined.

    The point is the middle of a few that the set gives, so that it has many nonzeros and all data count.
    """
    steps = np.arange(1.0, problem.dim + 1)
    direction = np.cos(steps)
    domain, lmo = problem.domain, "lmo" in problem.domain.oracles
    ends = (direction, -direction, np.sin(3 * steps), -np.sin(2 * steps))
    corners = [_tried(lambda end=end: domain.lmo(end) if lmo else domain.project(end)) for end in ends]  # type: ignore[misc]
    if any(corner is None for corner in corners):
        return (np.nan,)
    middle = sum(corners) / len(corners)
    probes: list[float] = []
    for name in unseen:
        part = getattr(problem, name)
        if name == "domain":
            probes += [float(direction @ corner) for corner in corners]
        else:
            found = _tried(lambda part=part: part.value_and_grad(middle))  # type: ignore[misc]
            probes += [np.nan, np.nan] if found is None else [float(found[0]), float(direction @ found[1])]
    return tuple(probes)


def _tried(compute: Callable[[], Any]) -> Any:
    """What it computes; None where it fails: a function of the user's that fails now must not end a run."""
    try:
        return compute()
    except Exception:
        return None


def _agree(first: tuple[float, ...], second: tuple[float, ...]) -> bool:
    if len(first) != len(second):
        return False
    a, b = np.array(first), np.array(second)
    both = np.isfinite(a) & np.isfinite(b)
    size = float(np.abs(np.concatenate([a[both], b[both]])).max(initial=0.0))
    return bool((np.abs(a[both] - b[both]) <= AGREE * size).all())
