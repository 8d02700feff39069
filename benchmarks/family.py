"""What an instance of a family is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import tiebreak as tb
from reference import Reference


@dataclass(frozen=True)
class Family:
    """An instance: objectives from the lowest level up, the set, the optimal values and their error bars."""

    name: str
    levels: tuple[tb.Objective, ...]
    domain: tb.Domain
    values: tuple[float, ...]
    errors: tuple[float, ...]
    note: str = ""

    @property
    def problem(self) -> tb.Problem:
        lower, upper = self.levels
        return tb.Problem(upper=upper, lower=lower, domain=self.domain)

    @property
    def g_star(self) -> float:
        return self.values[0]

    @property
    def f_star(self) -> float:
        return self.values[-1]

    @property
    def tol(self) -> float:
        """How far f_star may be off."""
        return self.errors[-1]


@dataclass(frozen=True)
class Generator:
    generate: Callable[[int, Any], Family]
    small: tuple[Any, ...]
    sizes: tuple[Any, ...]
    needs: str = ""  # an optional package


def two_levels(name: str, upper: tb.Objective, lower: tb.Objective, domain: tb.Domain, g: tuple[float, float],
               f: Reference | tuple[float, float], note: str = "") -> Family:  # fmt: skip
    value, error = (f.value, f.error) if isinstance(f, Reference) else f
    return Family(name, (lower, upper), domain, (g[0], value), (g[1], error), note)
