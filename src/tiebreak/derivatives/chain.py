"""The optimality conditions of all levels at once, at an answer that is unique and strictly complementary.

With C the active rows that some level holds, F_j the rows of level j that are constant on its minimisers, and Z_k a
basis of the directions in which C (as far as levels up to k hold it) and F_j, j < k, do not change, x is the solution
of

    C x = ends,    Z_k' grad f_k(x) = 0 for every level k,

where grad f_k(x) + C'y_k + sum over j < k of F_j'w_kj = 0 has the multipliers. A change of data moves these equations
by p_k = d(grad f_k) + sum_j (dF_j)'w_kj, so that with v = C'l + sum_k H_k u_k, u_k in the range of Z_k,

    <v, dx> = <l, d ends> - sum_k <u_k, p_k>.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..arrays import Vector
from ..objectives.pull_back import Bent, bent_at
from ..problem import Problem
from .constraints import Active, Array, NoDerivative, active_at

ZERO, STRICT = 1e-9, 1e-6
"""Relative to what they are added up from, multipliers below the first count as zero, above the second as positive."""
SMALL, LARGE = 1e-12, 1e-8
"""The same for singular values; what lies between hangs on rounding."""
STEPS = 4
"""Newton steps at most that make x as exact as double precision allows."""


@dataclass(frozen=True)
class Step:
    """One level: itself near x, its directions Z, and how the rank of its maps along Z could change."""

    bent: Bent
    maps: Array
    hessian: Array
    grad: Vector
    Z: Array
    held: NDArray[np.intp]
    by_columns: bool
    by_rows: bool


@dataclass(frozen=True)
class Chain:
    """All levels at x = T X."""

    active: Active
    steps: tuple[Step, ...]

    @property
    def x(self) -> Vector:
        """The answer."""
        return self.active.T @ self.active.X

    @property
    def matrix(self) -> Array:
        """The derivative of all equations: of the rows, then of each level."""
        return np.vstack([self.active.C, *(step.Z.T @ step.hessian for step in self.steps)])

    def residual(self) -> Vector:
        """What the equations are off by."""
        a = self.active
        rows = a.ends - a.C @ a.X
        return np.concatenate([rows, *(-step.Z.T @ step.grad for step in self.steps)])


def chain_at(problem: Problem, x: Vector) -> Chain:
    """The chain at the answer near x, made exact by Newton steps; raises NoDerivative where there is none."""
    active = active_at(problem.domain, np.asarray(x, dtype=np.float64))
    chain = _confirmed(problem, active, loose=1e-5)
    for _ in range(STEPS):
        step = np.linalg.lstsq(chain.matrix, chain.residual(), rcond=SMALL)[0]
        X = chain.active.X + step
        moved = replace(active, X=X)
        if active.radius:
            moved = replace(moved, C=X[None] / np.linalg.norm(X))
        if moved.outside(X) > 0:
            raise NoDerivative("the answer is not confirmed: with its constraints held, it leaves the set")
        chain = _confirmed(problem, moved, loose=1e-5)
        if np.abs(step).max(initial=0.0) <= 1e-14 * (1 + np.abs(X).max(initial=0.0)):
            break
    chain = _confirmed(problem, chain.active, loose=ZERO)
    if np.abs(chain.x - x).max(initial=0.0) > 1e-4 * (1 + np.abs(x).max(initial=0.0)):
        raise NoDerivative("the answer is not confirmed: the conditions of all levels hold only at some distance")
    return chain


def _confirmed(problem: Problem, active: Active, loose: float) -> Chain:
    """All levels, with their rows held; ``loose`` is how small a multiplier of zero has to be."""
    T, C, X = active.T, active.C, active.X
    held = np.flatnonzero(active.equal)
    maps, steps = np.zeros((0, X.size)), list[Step]()
    for k, level in enumerate(problem.levels):
        assert level.form is not None
        try:
            bent = bent_at(level.form, T @ X)
        except ValueError as error:
            raise NoDerivative(str(error)) from None
        grad, own, hessian = T.T @ bent.grad, bent.maps @ T, T.T @ bent.hessian @ T
        before = np.vstack([C[held], maps])
        free = np.setdiff1d(np.arange(len(C)), held)
        Z = null_space(before)
        positive, y = _multipliers(C[free], Z, grad, bent.size, k, max(loose, ZERO))
        held = np.sort(np.concatenate([held, free[positive]]))
        Z = null_space(np.vstack([C[held], maps]))
        if active.radius and positive.any():  # the ball bends, and so does the Lagrangian of this level
            hessian = hessian + float(y[positive][0]) / float(np.linalg.norm(X)) * np.eye(X.size)
            own = np.vstack([own, np.eye(X.size)])
        rank = _rank(own @ Z) if Z.size else 0
        steps.append(Step(bent, bent.maps @ T, hessian, grad, Z, held, rank == Z.shape[1], rank == len(own)))
        maps = np.vstack([maps, own])
    if null_space(np.vstack([C[held], maps])).shape[1]:
        raise NoDerivative("the answer is not unique: the last level does not decide between all that is left")
    if held.size < len(C):
        raise NoDerivative(
            "strict complementarity is not proved: a constraint is active that no level pushes against, "
            "so that x has one derivative on each side at most"
        )
    return Chain(active, tuple(steps))


def _multipliers(
    C: Array, Z: Array, grad: Vector, size: float, k: int, loose: float
) -> tuple[NDArray[np.bool_], Vector]:
    """Which of the free rows level k holds, and all multipliers: Z'(grad + C'y) = 0."""
    if not Z.shape[1]:
        return np.zeros(len(C), dtype=bool), np.zeros(len(C))
    size = size or 1.0
    along, slope = C @ Z, Z.T @ grad
    if len(C) and _rank(along) < len(C):
        raise NoDerivative(
            f"the active constraints depend on each other at level {k + 1}: their multipliers are not unique, "
            "so that strict complementarity is not proved"
        )
    y = np.linalg.lstsq(along.T, -slope, rcond=None)[0] if len(C) else np.zeros(0)
    off = float(np.linalg.norm(slope + along.T @ y))
    if off > loose * size:
        raise NoDerivative(
            f"the answer is not confirmed: level {k + 1} could still be improved, by its gradient ({off:.1e})"
        )
    share = y * np.linalg.norm(C, axis=1) / size
    if (share < -loose).any():
        raise NoDerivative(f"the answer is not confirmed: level {k + 1} would leave a constraint")
    if ((share > loose) & (share < max(STRICT, loose))).any():
        raise NoDerivative(f"strict complementarity is not proved: a multiplier of level {k + 1} is too near to zero")
    return np.asarray(share >= max(STRICT, loose)), np.asarray(y, dtype=np.float64)


def null_space(M: Array) -> Array:
    """An orthonormal basis of the directions that M does not see, rows counted by direction alone."""
    n = M.shape[1]
    if not len(M):
        return np.eye(n)
    _, values, rows = np.linalg.svd(_unit_rows(M))
    return np.asarray(rows[_count(values) :].T)


def _rank(M: Array) -> int:
    return _count(np.asarray(np.linalg.svd(M, compute_uv=False), dtype=np.float64)) if M.size else 0


def _count(values: Vector) -> int:
    top = float(values.max(initial=0.0))
    if ((values > SMALL * top) & (values < LARGE * top)).any():
        raise NoDerivative("a rank hangs on rounding, and with it whether the answer is unique")
    return int((values >= LARGE * top).sum()) if top > 0 else 0


def _unit_rows(M: Array) -> Array:
    sizes = np.linalg.norm(M, axis=1)
    return np.asarray(M[sizes > 0] / sizes[sizes > 0, None]) if (sizes > 0).any() else M[:1]
