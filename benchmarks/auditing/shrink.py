"""A failing case made small: fewer levels, variables, rows and digits, as long as it fails in the same way."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from .recipes import Case, Recipe
from .truth import is_polyhedral

ROWS = (("A", "b"), ("A_ub", "b_ub"), ("A_eq", "b_eq"))
BY_COLUMN = {"A", "A_ub", "A_eq", "Q"}
BY_VARIABLE = {"c", "center", "q", "lower", "upper", "weights", "bounds"}
DIGITS = (3, 8, 20)


def shrunk(case: Case, fails: Callable[[Case], bool], trials: int = 150) -> Case:
    """Greedy: the first smaller case that still fails is taken, until none does or the trials are used up."""
    if case.planted is not None:
        return case  # other data would have another answer
    progress = True
    while progress and trials > 0:
        progress = False
        for candidate in smaller(case):
            trials -= 1
            if fails(candidate):
                case, progress = candidate, True
                break
            if trials <= 0:
                break
    return case


def smaller(case: Case) -> Iterator[Case]:
    """Every case that is one step smaller, the largest steps first."""
    if len(case.levels) > 2:
        for k in range(len(case.levels)):
            yield case.changed(levels=case.levels[:k] + case.levels[k + 1 :])
    if case.domain.kind not in ("Product", "Birkhoff") and is_polyhedral(case.domain):
        for j in range(case.dim if case.dim > 1 else 0):
            yield _without_variable(case, j)
    for k, level in enumerate(case.levels):
        for simpler in _simpler(level):
            yield case.changed(levels=(*case.levels[:k], simpler, *case.levels[k + 1 :]))
    for simpler in _simpler(case.domain):
        yield case.changed(domain=simpler)


def _without_variable(case: Case, j: int) -> Case:
    levels = tuple(_map(level, lambda one: _cut(one, j)) for level in case.levels)
    units = case.units[:j] + case.units[j + 1 :]
    return case.changed(levels=levels, domain=_cut(case.domain, j), dim=case.dim - 1, units=units)


def _map(objective: Recipe, change: Callable[[Recipe], Recipe]) -> Recipe:
    if objective.kind == "+":
        return replace(objective, args={"parts": [_map(part, change) for part in objective.args["parts"]]})
    if objective.kind == "*":
        return replace(objective, args={**objective.args, "part": _map(objective.args["part"], change)})
    return change(objective)


def _cut(one: Recipe, j: int) -> Recipe:
    args = dict(one.args)
    for name, entry in one.args.items():
        if name == "bounds":
            args[name] = entry[:j] + entry[j + 1 :]
        elif name in BY_COLUMN:
            args[name] = np.delete(entry, j, axis=1)
            if name == "Q":
                args[name] = np.delete(args[name], j, axis=0)
        elif name in BY_VARIABLE and np.ndim(entry) == 1:
            args[name] = np.delete(entry, j)
    return Recipe(one.kind, args)


def _simpler(one: Recipe) -> Iterator[Recipe]:
    """Fewer parts, fewer rows, rounder numbers."""
    if one.kind == "+":
        parts = one.args["parts"]
        yield from parts
        for k, part in enumerate(parts):
            for simpler in _simpler(part):
                yield Recipe("+", {"parts": [*parts[:k], simpler, *parts[k + 1 :]]})
        return
    if one.kind == "*":
        yield one.args["part"]
        for simpler in _simpler(one.args["part"]):
            yield Recipe("*", {**one.args, "part": simpler})
        return
    if one.kind in ("Product", "Logistic"):
        return
    for A, b in ROWS:
        if A in one.args:
            for i in range(len(one.args[b]) if len(one.args[b]) > 1 else 0):
                yield _with(one, {A: np.delete(one.args[A], i, axis=0), b: np.delete(one.args[b], i)})
            if one.kind == "Polyhedron":
                yield Recipe(one.kind, {name: entry for name, entry in one.args.items() if name not in (A, b)})
    for name, entry in one.args.items():
        if name not in ("k", "n", "bounds"):
            yield from (_with(one, {name: rounder}) for rounder in _rounder(entry))
    for name in ("c", "scale"):
        if name in one.args and one.kind != "Linear":
            yield Recipe(one.kind, {key: entry for key, entry in one.args.items() if key != name})


def _with(one: Recipe, changes: dict[str, Any]) -> Recipe:
    return Recipe(one.kind, {**one.args, **changes})


def _rounder(entry: Any) -> Iterator[Any]:
    array = np.asarray(entry, dtype=float)
    for bits in DIGITS:
        mantissa, exponent = np.frexp(array)
        rounded = np.ldexp(np.round(mantissa * 2.0**bits), exponent - bits)
        if not np.array_equal(rounded, array):
            yield rounded if array.ndim else float(rounded)
    if array.ndim == 1 and np.count_nonzero(array) > 1:
        for i in np.flatnonzero(array):
            yield np.where(np.arange(array.size) == i, 0.0, array)
