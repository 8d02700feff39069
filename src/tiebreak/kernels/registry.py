"""The one boundary between Python and compiled code: what is compiled, when, and what that costs.

Two decorators and a class. ``twin`` gives a function on NumPy the loops that compiled code runs in its place; ``loop``
marks a function that compiled code runs as it is; both leave the function alone, and neither imports numba. A
``Kernel`` is what the rest of the library calls: it runs the function as it stands, or compiled with all it calls.

It runs compiled from the first call where the machine code is on disk. Where it is not, compiling takes longer than
most solves: the function runs as it stands until that has taken twice as long as compiling would, and is compiled
then. The time that compiling takes is no part of ``clock``, by which time limits are measured.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable
from importlib.util import find_spec
from math import inf
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])

SUMS = frozenset({"nsz", "reassoc", "contract"})
"""Freedom to take sums in any order, several terms at a time."""

FUSED = frozenset({"contract"})
"""Freedom to round a product and a sum once."""

PATIENCE = 2.0
"""How many times as long as compiling takes kernels run uncompiled first. What has taken so long will take as long
again, as far as one can tell, and compiled code is about twice as fast or more: then it pays. A run that ends right
after is half as long again as it would have been, and none is worse."""

HAS_NUMBA = find_spec("numba") is not None

logger = logging.getLogger("tiebreak")


class Registry:
    """What the decorators have seen, the kernels there are, and the seconds spent on numba's import and compiling."""

    def __init__(self) -> None:
        self.sources: dict[Callable[..., Any], tuple[Callable[..., Any], frozenset[str]]] = {}
        self.kernels: list[Kernel] = []
        self.seconds = 0.0
        self.allowed = False


REGISTRY = Registry()


def clock() -> float:
    """Seconds, as ``time.perf_counter``, that stand still while numba is imported and while kernels are compiled."""
    return time.perf_counter() - REGISTRY.seconds


def kernels() -> tuple[Kernel, ...]:
    """All that have been defined."""
    return tuple(REGISTRY.kernels)


def twins() -> dict[Callable[..., Any], Callable[..., Any]]:
    """The functions that stand twice, and their forms in loops."""
    return {plain: function for plain, (function, _) in REGISTRY.sources.items() if function is not plain}


def twin(plain: Callable[..., Any], freedom: frozenset[str] = frozenset()) -> Callable[[F], F]:
    """Compiled code runs the decorated function where its source calls ``plain``.

    ``freedom`` names what the compiler may do with floating-point numbers beyond the standard.

    Examples
    --------
    >>> def total(x):
    ...     return x.sum()
    >>> @twin(total, SUMS)
    ... def _total(x):
    ...     s = 0.0
    ...     for i in range(x.size):
    ...         s += x[i]
    ...     return s
    """

    def decorate(function: F) -> F:
        REGISTRY.sources[plain] = function, freedom
        return function

    return decorate


def loop(freedom: frozenset[str] = frozenset()) -> Callable[[F], F]:
    """Compiled code may call the decorated function, which is compiled as it is."""

    def decorate(function: F) -> F:
        return twin(function, freedom)(function)

    return decorate


class Group:
    """Kernels that serve the same work.

    Parameters
    ----------
    what : str
        Their name in messages.
    seconds : float
        What compiling them takes, about; ``PATIENCE`` times that they run uncompiled where they are not on disk.
    """

    def __init__(self, what: str, seconds: float) -> None:
        self.what, self.seconds = what, seconds
        self.spent = 0.0
        self._told: set[str] = set()

    @property
    def worth(self) -> bool:
        """Whether to compile."""
        return REGISTRY.allowed or self.spent >= PATIENCE * self.seconds

    def allow(self) -> None:
        """Compile from now on: what calls them knows that there is much to do."""
        self.spent = inf

    def tell(self, message: str) -> None:
        """Log a message, once."""
        if message not in self._told:
            self._told.add(message)
            logger.info(message, self.what, self.seconds)


class Kernel:
    """A function that Python calls, compiled with all that it calls where numba is there.

    It may take arrays and named tuples, but returns numbers and plain tuples of numbers only: see ``tiebreak.kernels``.

    Parameters
    ----------
    plain : callable
        The function as it runs uncompiled; its twin, where it has one, is what is compiled.
    group : Group
        The work it serves.
    """

    def __init__(self, plain: Callable[..., Any], group: Group) -> None:
        self.plain, self.group = plain, group
        self.built, self.seconds = 0, 0.0  # how often it was compiled by this process, not loaded; what that took
        self._fast: Callable[..., Any] | None = None
        self._refused = False
        REGISTRY.kernels.append(self)

    @property
    def name(self) -> str:
        return self.plain.__name__

    def __call__(self, *arguments: Any) -> Any:
        if not wanted():
            return self.plain(*arguments)
        if not self._refused or self.group.worth:
            try:
                return (self._load() if self._fast is None else self._fast)(*arguments)
            except NotCompiled:
                self._refused = True
        began = time.perf_counter()
        try:
            return self.plain(*arguments)
        finally:
            self.group.spent += time.perf_counter() - began

    def compiled(self, *arguments: Any) -> Any:
        """The answer of compiled code; ``NotCompiled`` where there is none and it is not yet worth compiling."""
        if not wanted() or (self._refused and not self.group.worth):
            raise NotCompiled
        try:
            return (self._load() if self._fast is None else self._fast)(*arguments)
        except NotCompiled:
            self._refused = True
            raise

    def ready(self) -> Callable[..., Any]:
        """The compiled function itself, for who calls it in microseconds; it compiles at its first call."""
        return self._load() if self._fast is None else self._fast

    def _load(self) -> Callable[..., Any]:
        began = time.perf_counter()
        from .compilation import BOUNDARY  # imports numba

        self._fast = BOUNDARY.dispatcher(self)
        REGISTRY.seconds += time.perf_counter() - began
        return self._fast

    @property
    def signatures(self) -> int:
        """For how many kinds of arguments there is machine code."""
        return 0 if self._fast is None else len(self._fast.signatures)  # type: ignore[attr-defined]


class NotCompiled(Exception):
    """There is no machine code, and it is not worth the time to make it."""


def wanted() -> bool:
    """Whether there is numba, and the environment variable ``TIEBREAK_NO_NUMBA`` does not forbid it."""
    return HAS_NUMBA and not os.environ.get("TIEBREAK_NO_NUMBA")


def allow_all() -> None:
    """Compile whatever is called from now on, however little work it is for."""
    REGISTRY.allowed = True
