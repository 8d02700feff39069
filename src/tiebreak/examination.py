"""Looks at what a user wrote, before a run and before its success: a few answers for the witnesses to compare."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from .arrays import Vector
from .numerics.deadline import check
from .objectives import GradientError, check_gradient
from .objectives.base import Objective
from .problem import Problem
from .sets.base import Domain
from .usercode import OracleError
from .watch import Witnesses, watched

SHARES = (0.5, 0.1, 1e-2, 1e-4)
"""How far along a step a level is asked for its value: far for its bounds, near for its gradient."""

LOOSE = 1e-6
"""A point that is said to be this far outside, relative to the size of the set, is no matter of rounding."""


def by_user(problem: Problem) -> bool:
    """Whether any part of the problem is a function or a set that a user wrote."""
    return bool(problem.upper.claims or problem.lower.claims or problem.domain.by_user)


def examine(problem: Problem, witnesses: Witnesses, seed: int | None) -> None:
    """Before a run: corners of the set in a few directions, values and gradients there and between.

    Raises
    ------
    OracleError
        Where two of the answers contradict each other or what is claimed.
    """
    if not by_user(problem):
        return
    seen = watched(problem, Counter(), witnesses=witnesses)
    directions = np.random.default_rng(0 if seed is None else seed).standard_normal((3, problem.dim))
    with np.errstate(all="ignore"):
        corners = _corners(seen.domain, directions)
        middle = np.mean(corners[:3], axis=0)
        for name, level, given in (("upper", seen.upper, problem.upper), ("lower", seen.lower, problem.lower)):
            if not level.claims:
                continue
            try:
                check_gradient(given.smooth_part, middle)
            except GradientError as error:
                raise GradientError(f"{name}: {error}") from None
            for point in (middle, *corners[:3]):
                _tried(level.value_and_grad, point)
                _tried(partial(_check_form, name, given), point)


def confirm(problem: Problem, x: Vector, f_lower: float, g_lower: float) -> None:
    """Before success at x: whether the set has it, and whether a walk downhill from there meets a contradiction.

    ``problem`` is the watched one. A bound that rests on a claimed ``lower_bound`` alone gets a longer walk, as values
    below it are what would contradict it.

    Raises
    ------
    OracleError
        Where an answer contradicts another one, or what is claimed.
    """
    domain = problem.domain
    with np.errstate(all="ignore"):
        if domain.by_user:
            _check_inside(domain, x, "the answer of the run")
            if "project" in domain.oracles:
                domain.project(x)
        for name, level, bound in (("upper", problem.upper, f_lower), ("lower", problem.lower, g_lower)):
            if level.claims:
                _check_form(name, level, x)
                _walk(level, domain, x, 40 if bound == level.lower_bound else 4)


def _corners(domain: Domain, directions: Vector) -> list[Vector]:
    """Points of the set in these directions and against them, each held to the other oracles."""
    if "lmo" not in domain.oracles:
        return [domain.project(c) for c in (*directions, *-directions)]
    if not domain.by_user:
        return [domain.lmo(c) for c in directions]
    directions = np.concatenate([directions, -directions])
    corners = [domain.lmo(c) for c in directions]
    domain.lmo(directions[0])  # once more: its answer must not depend on what was asked before
    reach = max(float(np.linalg.norm(s)) for s in corners)
    middle = np.mean(corners, axis=0)
    _check_inside(domain, middle, "the mean of points of lmo")
    if "project" in domain.oracles:
        domain.project(middle)
    for c, s in zip(directions, corners, strict=True):
        beyond = s - c / float(np.linalg.norm(c)) * (reach or 1.0)
        if "project" in domain.oracles:
            domain.project(beyond)
            domain.project(s)
        if not domain.searches:
            _check_inside(domain, s + LOOSE * (middle - s), "a point of lmo")
            for outside in (s + 1e-3 * (beyond - s), s + 1e-4 * (s - middle)):
                domain.contains(outside)  # the witness objects to a yes
    return corners


def _check_inside(domain: Domain, x: Vector, origin: str) -> None:
    if not domain.searches and not domain.contains(x, LOOSE):
        raise OracleError(f"domain: contains says that {origin} is outside; check contains, lmo and project")


def _walk(level: Objective, domain: Domain, x: Vector, steps: int) -> None:
    """Conditional gradient steps with a coarse line search, each value and gradient seen by the witness."""
    for _ in range(steps):
        check()
        found = _tried(level.value_and_grad, x)
        if found is None:
            return
        value, c = found
        if "lmo" in domain.oracles:
            step = domain.lmo(c) - x
            if level.convex and 0 >= float(c @ step) >= level.lower_bound - value and steps > 4:
                return  # the tangent shows that nothing is below the bound
        else:
            step = domain.project(x - c / (float(np.linalg.norm(c)) or 1.0)) - x
        if not step.any():
            return
        values = [_tried(level.value, x + share * step) for share in SHARES]
        _tried(level.value_and_grad, x + SHARES[-1] * step)
        best = min((v, share) for v, share in zip([*values, value], [*SHARES, 0.0], strict=True) if v is not None)
        if best[1] == 0.0:
            return
        x = x + best[1] * step


def _check_form(name: str, level: Objective, x: Vector) -> None:
    """A class of a user's may give its form, on which exact methods work: it must be the value."""
    if level.form is None:
        return
    value, error = level.value_and_error(x)
    by_form = level.form.value(x)
    if abs(value - by_form) > 1e-9 * (abs(value) + abs(by_form)) + 4 * error:
        raise OracleError(
            f"{name}: its value at x is {value:.9g}, but its form gives {by_form:.9g}; correct one of them"
        )


def _tried(oracle: Callable[[Vector], Any], x: Vector) -> Any:
    """Its answer at x, or None where it is not defined there: only a run has to stay where it is."""
    try:
        return oracle(x)
    except OracleError:
        raise
    except (ArithmeticError, ValueError):
        return None
