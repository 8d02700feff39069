"""What a problem file may name: every public objective, set and step rule that can be made from plain data.

Nothing is listed here by name: a class that ``tiebreak`` exports can be written in a file at once.
"""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable
from dataclasses import is_dataclass
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any

from .. import objectives, sets, steps
from ..objectives import LossOf, Multiple, Objective, Sum
from ..sets import Domain
from ..steps import StepRule

KINDS: dict[type, tuple[str, ModuleType]] = {
    Objective: ("objective", objectives),
    Domain: ("set", sets),
    StepRule: ("step rule", steps),
}
"""The base classes of what a table with ``type`` can make, what to call them, and the module that exports them."""

WRITTEN_OTHERWISE = {Sum, Multiple, LossOf}  # as terms and weight; in Python
LIBRARY = __name__.partition(".")[0]


@cache
def classes(base: Any) -> dict[str, type]:
    """The classes of a kind that plain data can make, by name."""
    module = KINDS[base][1]
    public = (
        vars(steps) if module is steps else [name for name in import_module(LIBRARY).__all__ if name in module.__all__]
    )
    found = {name: getattr(module, name) for name in public}
    return {name: cls for name, cls in found.items() if inspect.isclass(cls) and _plain(cls, base)}


def _plain(cls: Any, base: type) -> bool:
    if not issubclass(cls, base) or inspect.isabstract(cls) or cls is base or cls in WRITTEN_OTHERWISE:
        return False
    hints = [hint for _, hint in parameters(cls).values()]
    return not any(Callable in parts(hint) for hint in hints)


@cache
def parameters(function: Any) -> dict[str, tuple[bool, Any]]:
    """The named parameters of a class or function: whether one is required, and its type."""
    # a dataclass may inherit fields from another module, where their types have other names
    plain_class = inspect.isclass(function) and not is_dataclass(function)
    hints = typing.get_type_hints(function.__init__ if plain_class else function)
    return {
        name: (parameter.default is parameter.empty, hints.get(name, Any))
        for name, parameter in inspect.signature(function).parameters.items()
    }


def parts(hint: Any) -> set[Any]:
    """A type with all that it is made of: those of ``float | None`` are the union, float and NoneType."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Literal:
        return {hint}
    found = {hint} if origin is None else {origin}
    for argument in arguments:
        if not isinstance(argument, list) and argument is not Ellipsis:
            found |= parts(argument)
    return found
