"""Two checks of the paper's details: its formula for the subproblem, and the constant step of its Theorem 2."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...arrays import Vector
from ...methods.cg_bio import CGBiO
from ...problem import Problem
from ...sets import Columns, L2Ball, Product
from ...steps import Constant
from ..experiments.dictionary import ATOMS, DELTA, NEW_POINTS, OLD_POINTS
from .dictionary_methods import CG_BIO, NEVER, method
from .dictionary_runs import instance
from .record import record


def printed_formula(seed: int, authors: bool, D_hat: Vector, X_hat: Vector, updates: int = 20) -> dict[str, Any]:
    """The D block of one subproblem, at its multiplier: by the oracle, and by the formula that the paper prints.

    The paper has Pi_Z(grad f + lam grad g); a minimiser over balls is minus that, scaled to the sphere.
    """
    at = instance(seed, authors, D_hat, X_hat)
    problem, x0 = at.problem, at.x0
    x = record(problem, method(CG_BIO), x0=x0, updates=updates)["x"]
    assert isinstance(problem.domain, Product)
    a, (g, c) = problem.upper.grad(x), problem.lower.value_and_grad(x)
    bound = float(c @ x) + problem.lower.value(x0) - g
    cut = problem.domain.lmo_cut(a, c, bound)
    balls, in_D = Columns(L2Ball(1.0), (len(D_hat), ATOMS)), slice(0, len(D_hat) * ATOMS)
    a, c = a[in_D], c[in_D]
    printed, ours = balls.project(a + cut.multiplier * c), cut.point[in_D]
    reach = np.abs(float(c @ balls.lmo(c))) + abs(bound)
    return {
        "multiplier": cut.multiplier,
        "ours": [float(a @ ours), (float(c @ ours) - bound) / reach],
        "printed": [float(a @ printed), (float(c @ printed) - bound) / reach],
    }


def levels(seed: int, authors: bool, D_hat: Vector, X_hat: Vector) -> dict[str, Any]:
    """How much g changes with the new atoms, and how far f bends upwards between two points of Z, per data point."""
    at = instance(seed, authors, D_hat, X_hat)
    problem, domain = at.problem, at.problem.domain
    assert isinstance(domain, Product)
    rng = np.random.default_rng(seed)
    other = domain.lmo(rng.standard_normal(at.x0.size))
    moved = at.x0.copy()
    new = slice(D_hat.shape[1], None)
    domain.split(moved)["D"][:, new] = domain.split(other)["D"][:, new]
    # Opposite signs of both blocks have the same product, so the same f; halfway between them is 0, which fits nothing.
    point = at.x0.copy()
    D, X = domain.split(point).values()
    X[...] = 1e-2 * D.T @ problem.upper.data  # type: ignore[attr-defined]
    X *= np.minimum(1, DELTA / np.maximum(np.abs(X).sum(axis=0), DELTA))
    f, g = problem.upper, problem.lower
    bent = f.value(0 * point) - (f.value(point) + f.value(-point)) / 2
    return {"moved": abs(g.value(moved) - g.value(at.x0)) / OLD_POINTS, "bent": bent / NEW_POINTS}


def theorem_2_run(seed: int, authors: bool, D_hat: Vector, X_hat: Vector, updates: int = 200) -> dict[str, Any]:
    """CG-BiO with the constant step of Theorem 2 for tolerances of 1e-4 of both errors per data point."""
    at = instance(seed, authors, D_hat, X_hat)
    problem, x0 = at.problem, at.x0
    L_f, L_g, diameter = upper_smoothness(problem), problem.lower.smoothness, problem.domain.diameter
    assert L_g is not None
    step = min(1.0, *(1e-4 * n / (L * diameter**2) for n, L in ((NEW_POINTS, L_f), (OLD_POINTS, L_g))))
    solver = CGBiO(Constant(step), tol_upper=NEVER, tol_lower=NEVER)
    run = record(problem, solver, x0=x0, updates=updates)
    return {"step": step, "f": run["f"][[0, -1]] / NEW_POINTS, "updates": updates}


def upper_smoothness(problem: Problem) -> float:
    """A Lipschitz constant of grad f over Z.

    Along (E, Y) the second derivative is ||E X + D Y||^2 - 2 <A - D X, E Y>. In spectral norms of D, X and A - D X it
    is at most (||X||^2 + ||D||^2 + ||A - D X||) (||E||^2 + ||Y||^2), and over Z ||D|| <= sqrt(atoms),
    ||X|| <= delta sqrt(n), ||A - D X|| <= ||A|| + ||D|| ||X||.
    """
    domain = problem.domain
    assert isinstance(domain, Product)
    D, X = np.sqrt(domain.shapes["D"][1]), DELTA * np.sqrt(domain.shapes["X"][1])
    A = float(np.linalg.norm(problem.upper.data, 2))  # type: ignore[attr-defined]
    return float(D**2 + X**2 + A + D * X)
