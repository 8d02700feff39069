"""The methods by name: those of the library, of installed packages, and of the user; each loaded when asked for."""

from __future__ import annotations

import difflib
import inspect
import logging
import re
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, Generic, TypeVar, get_args, get_origin

from .base import MethodInfo, Solver, State

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

logger = logging.getLogger("tiebreak")

METHODS = {
    "exact": "Exact",
    "cg-bio": "CGBiO",
    "cg-bio-anytime": "AnytimeCGBiO",
    "cg": "CG",
    "mng": "MNG",
    "big-sam": "BiGSAM",
    "ibig-sam": "IBiGSAM",
    "tseng": "Tseng",
    "a-irg": "AIRG",
    "dbgd": "DBGD",
    "apdb": "APDB",
    "tikhonov": "Tikhonov",
    "solodov": "Solodov",
    "cabot": "Cabot",
    "hsdm": "HSDM",
    "sam": "SAM",
    "ir-cg": "IRCG",
    "agm-bio": "AGMBiO",
    "pb-apg": "PBAPG",
    "apb-apg": "APBAPG",
    "fc-bio": "FCBiO",
    "bisec-bio": "BisecBiO",
    "bi-sg": "BiSG",
    "fbi-pg": "FBiPG",
    "r-apm": "RAPM",
    "bi-fista": "BiFISTA",
    "stabim": "StaBiM",
    "adabim": "AdaBiM",
    "sbcgi": "SBCGI",
    "sbcgf": "SBCGF",
    "ir-scg": "IRSCG",
    "ir-fscg": "IRFSCG",
    "bi-cs": "BiCS",
}
"""The class of each method of the library; its file has the method's name."""

ENTRY_POINTS = "tiebreak.methods"
"""The group of entry points in which other packages name their methods."""

ORACLES = frozenset(
    {"upper.grad", "lower.grad"}
    | {f"domain.{name}" for name in ("lmo", "lmo_cut", "project", "project_cut", "contains")}
)
"""What a method may need."""

C = TypeVar("C", bound=type[Solver[Any]])


class Registry(Mapping[str, type[Solver[Any]]]):
    """The classes of all methods, by the name of the method."""

    def __init__(self) -> None:
        self.added: dict[str, type[Solver[Any]]] = {}

    def __getitem__(self, name: str) -> type[Solver[Any]]:
        if name in METHODS:
            found: type[Solver[Any]] = getattr(import_module(f".{name.replace('-', '_')}", __package__), METHODS[name])
            return found
        return self.added[name] if name in self.added else _loaded(_installed()[name])

    def __contains__(self, name: object) -> bool:
        return name in METHODS or name in self.added or name in _installed()

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys([*METHODS, *self.added, *_installed()]))

    def __len__(self) -> int:
        return len(list(iter(self)))

    def usable(self) -> dict[str, type[Solver[Any]]]:
        """All of them; what another package cannot load is left out, with a warning."""
        found = {name: self[name] for name in (*METHODS, *self.added)}
        for name in [one for one in _installed() if one not in found]:
            try:
                found[name] = self[name]
            except Exception as error:  # whatever another package does when it is imported
                logger.warning("the method %r of another package is left out: %s", name, error)
        return found

    def add(self, cls: type[Solver[Any]]) -> None:
        """Add a class under the name in its ``info``; the same class, defined anew in a notebook, takes its place."""
        _check(cls)
        name = cls.info.name
        before = self.added.get(name)
        again = before is not None and (before.__module__, before.__qualname__) == (cls.__module__, cls.__qualname__)
        if name == "auto" or (name in self and not again):
            whose = "tiebreak" if name == "auto" or name in METHODS else "another method"
            raise ValueError(f"the name {name!r} is taken by {whose}: choose another info.name for {cls.__name__}")
        self.added[name] = cls


SOLVERS = Registry()
"""One for the whole process, as a name must mean the same to ``solve``, to a problem file and to a comparison."""


def register(method: C) -> C:
    """Make a method of one's own available by name: in ``solve``, ``iterate``, problem files, comparisons, the table.

    Parameters
    ----------
    method : class
        A subclass of ``Solver`` with ``info``, whose name must be free, and ``needs``. All parameters have defaults.

    Returns
    -------
    class
        The same class, so that ``@tiebreak.register`` may stand above its definition.

    Notes
    -----
    It lasts as long as the process. A package adds its methods for good by entry points of the group
    ``tiebreak.methods``. ``tiebreak.testing.check_solver`` tries whether a method does what the loop relies on.

    Examples
    --------
    >>> from dataclasses import replace
    >>> import tiebreak as tb
    >>> class Lazy(tb.CG):
    ...     info = replace(tb.CG.info, name="lazy")
    >>> tb.register(Lazy).__name__
    'Lazy'
    >>> problem = tb.Problem(tb.SquaredNorm(), tb.LeastSquares([[1.0, 1.0]], [1.0]), tb.L1Ball(2.0))
    >>> tb.solve(problem, "lazy", max_iter=3).method
    'lazy'
    >>> del SOLVERS.added["lazy"]  # an example leaves nothing behind
    """
    SOLVERS.add(method)
    return method


def named(name: str) -> Solver[Any]:
    """The method of that name with its default parameters."""
    if name in SOLVERS:
        return SOLVERS[name]()
    known = ["auto", *SOLVERS]
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.4)
    hint = f"did you mean {near[0]!r}? " if near else ""
    raise ValueError(f"unknown method {name!r}; {hint}available: {', '.join(known)}")


def state_class(method: str) -> type[State]:
    """The class of the states of a method: of a registered one, or of one whose class has been defined already."""
    cls = SOLVERS[method] if method in SOLVERS else _defined(method)
    for base in cls.__mro__:
        for one in getattr(base, "__orig_bases__", ()):
            found = get_args(one)
            if get_origin(one) is not Generic and found and isinstance(found[0], type) and issubclass(found[0], State):
                return found[0]
    raise ValueError(f"the method {method!r} does not say what its states are: declare it as Solver[ItsState]")


def _defined(method: str) -> type[Solver[Any]]:
    """The class of that method among all that have been defined, wherever they are from."""
    waiting = list(Solver.__subclasses__())
    while waiting:
        one = waiting.pop()
        if getattr(getattr(one, "info", None), "name", None) == method:
            return one
        waiting += one.__subclasses__()
    raise ValueError(f"the method {method!r} is not known here: import the package that has it first")


def _installed() -> dict[str, EntryPoint]:
    """What other packages offer; their names come after those of the library, which they cannot change."""
    from importlib.metadata import entry_points  # slow to import, and seldom asked for

    return {point.name: point for point in entry_points(group=ENTRY_POINTS)}


def _loaded(point: EntryPoint) -> type[Solver[Any]]:
    cls = point.load()
    if not (isinstance(cls, type) and issubclass(cls, Solver)):
        raise TypeError(f"the entry point {point.name!r} of another package is not a tiebreak solver")
    _check(cls)
    return cls


def _check(cls: object) -> None:
    """Whether it is the class of a method that can be made by name."""
    if isinstance(cls, Solver):
        raise TypeError(f"a method is registered by its class, {type(cls).__name__}, not by an instance of it")
    if not (isinstance(cls, type) and issubclass(cls, Solver)):
        raise TypeError(f"a method must be a subclass of tiebreak.Solver, got {cls!r}")
    what = cls.__name__
    if missing := sorted(cls.__abstractmethods__):
        raise TypeError(f"{what} lacks {' and '.join(missing)}")
    info, needs = getattr(cls, "info", None), getattr(cls, "needs", None)
    if not isinstance(info, MethodInfo):
        raise TypeError(f"{what} lacks info, its row of the table: a tiebreak.methods.MethodInfo")
    if not isinstance(info.name, str) or not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", info.name):
        raise ValueError(f"info.name of {what} must be lower-case letters, digits and hyphens, got {info.name!r}")
    if not isinstance(needs, frozenset) or needs - ORACLES:
        raise ValueError(f"needs of {what} must be a frozenset of {', '.join(sorted(ORACLES))}, got {needs!r}")
    if cls.works_on_data and needs:
        raise ValueError(f"{what} works on the data and so calls no oracles, but needs {', '.join(sorted(needs))}")
    required = [
        one.name
        for one in inspect.signature(cls).parameters.values()
        if one.default is one.empty and one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)
    ]
    if required:
        raise TypeError(f"{what} is made by name, so all its parameters need defaults: {', '.join(required)}")
