"""Names of a package that are imported when they are first asked for: a solve loads what it uses."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazily(package: str, names: Mapping[str, tuple[str, ...]]) -> tuple[Callable[[str], Any], list[str]]:
    """``__getattr__`` and ``__all__`` of a package whose modules have these names, by module.

    Examples
    --------
    >>> find, names = lazily("tiebreak.sets", {"box": ("Box",), "l2": ("L2Ball",)})
    >>> find("L2Ball"), names
    (<class 'tiebreak.sets.l2.L2Ball'>, ['Box', 'L2Ball'])
    """
    places = {name: module for module, own in names.items() for name in own}

    def find(name: str) -> Any:
        if name not in places:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        found = getattr(import_module(f".{places[name]}", package), name)
        setattr(sys.modules[package], name, found)  # so that it is not asked again
        return found

    return find, sorted(places)
