"""The settings in which each method is run: its defaults, and three other values of its main parameter.

The main parameter of a method that needs a tolerance is that tolerance (in units of the gaps at the start; 1e-4 by
default), for others the one their theory leaves open. A method without parameters has its defaults only.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ...methods import SOLVERS, Solver
from ...problem import Problem
from ...steps import Adaptive, Harmonic, InverseSqrt
from .families import Family

TOLERANCE = 1e-4

Unit = Callable[[Problem], float]


def _plain(_: Problem) -> float:
    return 1.0


def _smoothness(problem: Problem) -> tuple[float, float]:
    """L_f and L_g; 1 for a linear level, where any positive number will do."""
    return problem.upper.smoothness or 1.0, problem.lower.smoothness or 1.0


def _balance(problem: Problem) -> float:
    upper, lower = _smoothness(problem)
    return lower / upper


def _inverse_balance(problem: Problem) -> float:
    return 1 / _balance(problem)


def _both(problem: Problem) -> float:
    return 1 / sum(_smoothness(problem))


GRID: dict[str, tuple[str, tuple[Any, ...], Unit]] = {
    "cg-bio": ("tol_lower", (1e-2, 1e-3, 1e-6), _plain),
    "cg-bio-anytime": ("step", (Adaptive(), Harmonic(2, 12), InverseSqrt(0.1)), _plain),
    "mng": ("M", (0.5, 2.0, 4.0), lambda problem: _smoothness(problem)[1]),
    "big-sam": ("gamma", (1.0, 10.0, 100.0), _plain),
    "ibig-sam": ("gamma", (1.0, 10.0, 100.0), _plain),
    "tseng": ("sigma", (0.1, 10.0, 100.0), _inverse_balance),
    "a-irg": ("eta0", (0.001, 0.01, 1.0), _balance),
    "dbgd": ("step", (0.01, 0.1, 1.0), _both),
    "apdb": ("tol_lower", (1e-2, 1e-3, 1e-6), _plain),
    "tikhonov": ("sigma", (1e-2, 1e-4, 1e-5), _balance),
    "solodov": ("sigma0", (0.01, 0.1, 10.0), _balance),
    "cabot": ("eps0", (0.01, 0.1, 10.0), _balance),
    "hsdm": ("eta_f", (0.1, 10.0, 100.0), lambda problem: 1 / _smoothness(problem)[0]),
    "sam": ("power", (0.5, 0.9, 1.0), _plain),
    "ir-cg": ("p", (0.25, 0.75, 0.9), _plain),
    "pb-apg": ("gamma", (1e3, 1e4, 1e6), _inverse_balance),
    "apb-apg": ("growth", (5.0, 10.0, 100.0), _plain),
    "fc-bio": ("tol_lower", (1e-2, 1e-3, 1e-6), _plain),
    "bisec-bio": ("tol_lower", (1e-2, 1e-3, 1e-6), _plain),
    "bi-sg": ("exponent", (0.55, 0.75, 0.85), _plain),
    "fbi-pg": ("gamma", (1.2, 1.8, 2.0), _plain),
    "r-apm": ("eta", (1e-2, 1e-3, 1e-4), _balance),
    "bi-fista": ("delta", (1.1, 1.3, 1.9), _plain),
    "sbcgi": ("tol_lower", (1e-2, 1e-3, 1e-6), _plain),
    "sbcgf": ("tol_lower", (1e-2, 1e-3, 1e-6), _plain),
    "ir-scg": ("p", (0.1, 0.35, 0.45), _plain),
    "ir-fscg": ("p", (0.25, 0.75, 0.9), _plain),
}
"""For each method with a main parameter: its name, three values beside the default, and their unit."""


FIND_THEIR_START = ("cg-bio",)
"""Methods for which a given start is a near-optimal one, which the common start is not."""


def labels(method: str) -> list[str]:
    """The settings of a method in words; the first is "default"."""
    if method not in GRID:
        return ["default"]
    name, values, _ = GRID[method]
    return ["default", *(f"{name}={value:g}" if isinstance(value, float) else f"{name}={value}" for value in values)]


def solver_for(method: str, setting: str, family: Family) -> Solver[Any]:
    """The method in that setting, with the tolerances for this family filled in."""
    made = SOLVERS[method]()
    tolerance = TOLERANCE
    if setting != "default":
        name, values, unit = GRID[method]
        value = values[labels(method).index(setting) - 1]
        if name == "tol_lower":
            tolerance = value
        else:
            made = replace(made, **{name: value * unit(family.problem) if isinstance(value, float) else value})
    f_unit, g_unit = family.units
    wanted = {"tol_upper": tolerance * f_unit, "tol_lower": tolerance * g_unit, "seed": 0}
    return replace(made, **{name: value for name, value in wanted.items() if getattr(made, name, 0) is None})
