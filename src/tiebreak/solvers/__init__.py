"""Every method, by name. A method's file is loaded when the method is first asked for."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import fields
from importlib import import_module
from typing import TYPE_CHECKING, Any, Generic, get_args, get_origin

from .base import MethodInfo, Solver, State

if TYPE_CHECKING:
    from .a_irg import AIRG
    from .adabim import AdaBiM
    from .agm_bio import AGMBiO
    from .apb_apg import APBAPG
    from .apdb import APDB
    from .bi_fista import BiFISTA
    from .bi_sg import BiSG
    from .big_sam import BiGSAM
    from .bisec_bio import BisecBiO
    from .cabot import Cabot
    from .cg import CG
    from .cg_bio import CGBiO
    from .dbgd import DBGD
    from .exact import Exact
    from .fbi_pg import FBiPG
    from .fc_bio import FCBiO
    from .hsdm import HSDM
    from .ibig_sam import IBiGSAM
    from .ir_cg import IRCG
    from .mng import MNG
    from .pb_apg import PBAPG
    from .r_apm import RAPM
    from .sam import SAM
    from .sbcgf import SBCGF
    from .sbcgi import SBCGI
    from .solodov import Solodov
    from .stabim import StaBiM
    from .tikhonov import Tikhonov
    from .tseng import Tseng

METHODS = {
    "exact": "Exact",
    "cg-bio": "CGBiO",
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
}
"""The class of each method; its file has the method's name."""


class _Solvers(Mapping[str, type[Solver[Any]]]):
    """The classes of all methods, by the name of the method."""

    def __getitem__(self, name: str) -> type[Solver[Any]]:
        found: type[Solver[Any]] = getattr(import_module(f".{name.replace('-', '_')}", __name__), METHODS[name])
        return found

    def __contains__(self, name: object) -> bool:
        return name in METHODS

    def __iter__(self) -> Iterator[str]:
        return iter(METHODS)

    def __len__(self) -> int:
        return len(METHODS)


SOLVERS = _Solvers()


def __getattr__(name: str) -> Any:
    for method, cls in METHODS.items():
        if cls == name:
            return SOLVERS[method]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def named(name: str) -> Solver[Any]:
    """The method of that name with its default parameters; other packages add theirs as ``tiebreak.solvers``."""
    if name in SOLVERS:
        return SOLVERS[name]()
    from importlib.metadata import entry_points

    others = {point.name: point for point in entry_points(group="tiebreak.solvers")}
    if name in others:
        made = others[name].load()()
        if not isinstance(made, Solver):
            raise TypeError(f"the entry point {name!r} of another package is not a tiebreak solver")
        return made
    known = ["auto", *SOLVERS, *others]
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.4)
    hint = f"did you mean {near[0]!r}? " if near else ""
    raise ValueError(f"unknown method {name!r}; {hint}available: {', '.join(known)}")


def state_class(method: str) -> type[State]:
    """The class of the states of a method: of this library, or of one whose class has been loaded already."""
    cls = SOLVERS[method] if method in SOLVERS else _loaded(method)
    for base in cls.__mro__:
        for one in getattr(base, "__orig_bases__", ()):
            found = get_args(one)
            if get_origin(one) is not Generic and found and isinstance(found[0], type) and issubclass(found[0], State):
                return found[0]
    raise ValueError(f"the method {method!r} does not say what its states are: declare it as Solver[ItsState]")


def _loaded(method: str) -> type[Solver[Any]]:
    """The class of that method among all that have been defined, wherever they are from."""
    waiting = list(Solver.__subclasses__())
    while waiting:
        one = waiting.pop()
        if getattr(getattr(one, "info", None), "name", None) == method:
            return one
        waiting += one.__subclasses__()
    raise ValueError(f"the method {method!r} is not known here: import the package that has it first")


class MethodTable(list[MethodInfo]):
    """The methods as a list of rows; printed as a table."""

    def __repr__(self) -> str:
        columns = [one.name for one in fields(MethodInfo)]
        rows = [columns] + [[str(getattr(info, name)) for name in columns] for info in self]
        widths = [max(len(row[i]) for row in rows) for i in range(len(columns))]
        return "\n".join("  ".join(text.ljust(w) for text, w in zip(row, widths, strict=True)) for row in rows)


def methods() -> MethodTable:
    """The methods this version has: name, reference, year, assumptions, rates, oracle, anytime or not.

    Examples
    --------
    >>> import tiebreak as tb
    >>> [info.name for info in tb.methods()][:4]
    ['exact', 'cg-bio', 'cg', 'mng']
    """
    return MethodTable(cls.info for cls in SOLVERS.values())


__all__ = [
    "AIRG",
    "APBAPG",
    "APDB",
    "CG",
    "DBGD",
    "HSDM",
    "IRCG",
    "MNG",
    "PBAPG",
    "RAPM",
    "SAM",
    "SBCGF",
    "SBCGI",
    "SOLVERS",
    "AGMBiO",
    "AdaBiM",
    "BiFISTA",
    "BiGSAM",
    "BiSG",
    "BisecBiO",
    "CGBiO",
    "Cabot",
    "Exact",
    "FBiPG",
    "FCBiO",
    "IBiGSAM",
    "MethodInfo",
    "MethodTable",
    "Solodov",
    "Solver",
    "StaBiM",
    "State",
    "Tikhonov",
    "Tseng",
    "methods",
    "named",
    "state_class",
]
