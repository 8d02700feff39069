"""The pieces of the dictionary experiment: starts, runs, and the comparison with the authors' recorded run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...arrays import Vector
from ...problem import Problem
from ...sets import Product
from ..experiments.dictionary import (
    ATOMS,
    DELTA,
    NEW_POINTS,
    OLD_POINTS,
    generate,
    learn,
    problem_from,
    recovery,
    start,
)
from .dictionary_methods import A_IRG, BIG_SAM, CG_BIO, DBGD_, PLAIN_CG, method, task
from .record import Metric, record

KEYS = {CG_BIO: "cg_bio", PLAIN_CG: "cg", BIG_SAM: "big_sam", A_IRG: "a_irg", DBGD_: "dbgd"}
"""The methods of the recorded run, by their names in its file."""


@dataclass(frozen=True)
class Measures:
    """What is looked at: f and g - g(D_0), both per data point, and the share of true atoms that are found."""

    problem: Problem
    x0: Vector
    truth: Vector
    first_new: int

    def f(self, x: Vector) -> float:
        return self.problem.upper.value(x) / NEW_POINTS

    def gap(self, x: Vector) -> float:
        """By the change of D, as the difference of two values of g has lost its digits near the end."""
        g, step = self.problem.lower, x - self.x0
        return (float(g.grad(self.x0) @ step) + 0.5 * float(g.curvature_along(step, None) or 0.0)) / OLD_POINTS

    def recovery(self, x: Vector) -> float:
        return recovery(self.truth, self._atoms(x))

    def old(self, x: Vector) -> float:
        """Of the atoms that only the old data have."""
        return recovery(self.truth[:, : self.first_new], self._atoms(x))

    def new(self, x: Vector) -> float:
        """Of the atoms of the new data."""
        return recovery(self.truth[:, self.first_new :], self._atoms(x))

    def metrics(self) -> Mapping[str, Metric]:
        return {"error": self.f, "gap": self.gap, "recovery": self.recovery, "old": self.old, "new": self.new}

    def _atoms(self, x: Vector) -> NDArray[np.float64]:
        assert isinstance(self.problem.domain, Product)
        return self.problem.domain.split(x)["D"]


def learned(seed: int, steps: int, authors: bool) -> dict[str, Any]:
    """D_hat and X_hat for the old data of this seed."""
    found = learn(generate(seed, authors).A_old, seed=seed, steps=steps, tol=1e-10 if authors else 1e-6)
    return {"D_hat": found.D, "X_hat": found.X, "gap": found.gap, "steps": found.steps}


def instance(seed: int, authors: bool, D_hat: Vector, X_hat: Vector) -> Measures:
    """The problem and the start of one seed."""
    data = generate(seed, authors)
    problem = problem_from(data.A_old, X_hat, data.A_new, DELTA, ATOMS)
    return Measures(problem, start(problem, D_hat, seed=seed), data.truth, 29 if authors else 30)


def followed(
    name: str, updates: int, seed: int, authors: bool, D_hat: Vector, X_hat: Vector, seconds: float = inf
) -> dict[str, Any]:
    """One run of one method, until ``updates`` or ``seconds`` are used up: what is measured along the way."""
    at = instance(seed, authors, D_hat, X_hat)
    solver, own = method(name, authors), task(name, at.problem, at.x0)
    record(own, solver, x0=at.x0, updates=2)  # whatever is compiled or loaded is so before the clock runs
    return record(own, solver, x0=at.x0, updates=updates, metrics=at.metrics(), seconds=seconds)


def compared(folder: Path, name: str, updates: int) -> dict[str, Any]:
    """A method on the recorded instance: how far its iterates are from the recorded ones, and where both end."""
    with np.load(folder / "dictionary_reference.npz", allow_pickle=False) as file:
        theirs = dict(file)
    problem = problem_from(theirs["A_old"], theirs["X_hat"], theirs["A_new"], DELTA, ATOMS)
    domain, key = problem.domain, KEYS[name]
    assert isinstance(domain, Product)
    at = theirs[f"{key}_iters"]
    at = at[at <= updates]
    points = [domain.join({"D": theirs[f"{key}_D"][i], "X": theirs[f"{key}_X"][i]}) for i in range(at.size)]
    measures = Measures(problem, domain.join({"D": theirs["D0"], "X": theirs["X0"]}), theirs["Dstar"], 29)
    run = record(problem, method(name, True), x0=measures.x0, updates=int(at[-1]), at=at, keep_points=True)
    away = [np.abs(x - point).max() / np.abs(point).max() for x, point in zip(run["x"], points, strict=True)]
    ends = [[measures.f(x), measures.gap(x), measures.recovery(x)] for x in (run["x"][-1], points[-1])]
    return {"at": at, "away": away, "end": ends[0], "their_end": ends[1], "x": run["x"]}
