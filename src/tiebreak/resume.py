"""Where a run starts: at a point, or where another run of the same problem and method stood."""

from __future__ import annotations

import os
import warnings
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .arrays import Vector, as_vector
from .engines.answer import Duals
from .fingerprint import fingerprint
from .methods import Solver, State
from .methods.shared.lower_level import LowerRun
from .origin import Origin
from .points import Point
from .problem import Problem
from .result import Result

Method = str | Solver[Any]
Start = ArrayLike | Result | State | str | Path | None

INSIDE = 1e-9
"""A start is taken as it is, and an answer counts as in Z, when it is outside by no more than this (relative)."""

OF_THE_RUN = ("tol_upper", "tol_lower", "seed")
"""Parameters of methods that a run may change without being another run."""


def taken_up(
    x0: Start, method: Method, seed: int | None
) -> tuple[ArrayLike | Result | State | None, Method, int | None]:
    """The start, read where it is a file; with the method and the seed of a state, where none is asked for."""
    if isinstance(x0, (str, os.PathLike)):
        from .storage import load_state

        x0 = load_state(x0)
    if not isinstance(x0, State):
        return x0, method, seed
    if x0.origin is None:
        raise ValueError(
            "x0 is a State that does not say which problem it belongs to: give result.state, a file that save or "
            "Checkpoint has written, or its x for a start from there"
        )
    chosen = x0.origin.method if isinstance(method, str) and method == "auto" else method
    return x0, chosen, x0.origin.seed if seed is None else seed


def origin_of(problem: Problem, solver: Solver[Any], seed: int | None) -> Origin:
    """What the states of this run are marked with."""
    own = (one.name for one in fields(solver) if one.repr and one.name not in OF_THE_RUN)
    parameters = ", ".join(f"{name}={getattr(solver, name)!r}" for name in own)
    return Origin(fingerprint(problem), solver.info.name, parameters, seed)


def first_state(problem: Problem, solver: Solver[Any], state: State, origin: Origin) -> State:
    """The state to go on from, marked with this run; refused where it is not of this problem and this method."""
    before = state.origin
    assert before is not None  # ``taken_up`` has seen to it
    if difference := before.problem.difference(origin.problem):
        raise ValueError(
            f"x0 is a state of another problem (different: {difference}), and what it knows would be wrong here; "
            "give its x for a start from there"
        )
    if before.method != origin.method:
        raise ValueError(
            f"x0 is a state of the method {before.method!r}, which {origin.method!r} cannot go on from; name that "
            "method, or give its x for a start from there"
        )
    if before.parameters != origin.parameters:
        warnings.warn(
            f"the state is from {before.method!r} with {before.parameters}; it goes on with {origin.parameters}",
            UserWarning,
            stacklevel=4,
        )
    _Shapes(problem).check(state, solver.start(problem, None))
    return replace(state, finished=False, origin=origin)


def starting_point(problem: Problem, x0: ArrayLike | Result | None) -> Vector | None:
    """x0 as a point of Z."""
    if x0 is None:
        return None
    x = as_vector(x0.x if isinstance(x0, Result) else x0, "x0", problem.dim)
    if problem.domain.contains(x, INSIDE):
        return x.copy()
    if "project" not in problem.domain.oracles:
        raise ValueError("x0 lies outside the domain, which has no projection: give a point inside")
    warnings.warn("x0 lies outside the domain; its projection is used", UserWarning, stacklevel=4)
    return problem.domain.project(x).copy()


class _Shapes:
    """Holds the arrays of a state to those of a fresh one: a file may say anything, and compiled code believes it."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem

    def check(self, state: State, fresh: State) -> None:
        """ValueError where an array of the state has another shape than it should."""
        if state.k < 0 or not np.isfinite(state.x).all():
            raise ValueError("the state has a negative k, or an x that is not finite: the file is damaged")
        self._images = [_shapes(level.image(fresh.x)) for level in (self.problem.upper, self.problem.lower)]
        self._compare(state, fresh, "state")

    def _compare(self, value: Any, fresh: Any, where: str) -> None:
        if value is None and isinstance(fresh, Point):
            raise ValueError(f"{where} is missing: the file is damaged")
        if isinstance(value, np.ndarray) and not np.isfinite(value).all() and _finite(fresh):
            raise ValueError(f"{where} is not finite: the file is damaged")
        if isinstance(value, Duals):  # one number for each row of the set, which are read by nobody who believes them
            self._fit((value.rows.ndim, value.columns.ndim), (1, 1), where)
        elif isinstance(value, np.ndarray):
            wanted = fresh.shape if isinstance(fresh, np.ndarray) else (self.problem.dim,)
            self._fit(value.shape, value.shape if wanted == (0,) else wanted, where)  # empty: not known at the start
        elif isinstance(value, Point):
            both = self._images if len(value.images) == 2 else self._images[:1]
            images = list(map(_shapes, fresh.images)) if isinstance(fresh, Point) else both
            self._compare(value.x, fresh.x if isinstance(fresh, Point) else None, f"{where}.x")
            self._fit(list(map(_shapes, value.images)), images, f"{where}.images")
        elif isinstance(value, LowerRun) and not isinstance(fresh, LowerRun):
            self._fit(list(map(_shapes, value.point.images)), self._images[1:], f"{where}.point.images")
            self._compare(value.point.x, None, f"{where}.point.x")
        elif isinstance(value, tuple) and not hasattr(value, "_fields"):
            if fresh == ():  # what a method keeps only while it runs, it checks itself
                return
            others = fresh if isinstance(fresh, tuple) else (None,) * len(value)
            self._fit((len(value),), (len(others),), where)
            for i, (one, other) in enumerate(zip(value, others, strict=True)):
                self._compare(one, other, f"{where}[{i}]")
        elif is_dataclass(value) or hasattr(value, "_fields"):
            names = [one.name for one in fields(value)] if is_dataclass(value) else value._fields
            for name in names:
                self._compare(getattr(value, name), getattr(fresh, name, None), f"{where}.{name}")

    def _fit(self, found: Any, wanted: Any, where: str) -> None:
        if found != wanted:
            raise ValueError(f"{where} has the shape {found}, not {wanted}: the file is damaged")


def _finite(fresh: Any) -> bool:
    """Whether an array of a state should be finite: where it is not at the start, the method means something by it."""
    return not isinstance(fresh, np.ndarray) or bool(np.isfinite(fresh).all())


def _shapes(image: Any) -> Any:
    """The shapes of an image, which may be one array, several, or None; of anything else, and of NaN, its text."""
    if isinstance(image, tuple):
        return tuple(map(_shapes, image))
    if isinstance(image, np.ndarray):
        return image.shape if np.isfinite(image).all() else "not finite"
    return image if image is None else str(image)[:20]
