"""The optimality conditions of all levels at once, at an answer that is unique and strictly complementary.

With C the gradients of the active constraints, F_j the rows that are constant on the minimisers of level j, and Z_k a
basis of the directions in which constraints held by levels up to k and F_j, j < k, do not change, x is the solution of

    c(x) = 0,    Z_k' grad f_k(x) = 0 for every level k,

where grad f_k(x) + C'y_k + sum over j < k of F_j'w_kj = 0 has the multipliers. A change of data moves these equations
by dc and p_k = d(grad f_k) + dC'y_k + sum_j dF_j'w_kj, so that with v = C'l + sum_k H_k u_k, u_k in the range of Z_k
and H_k the Hessian of level k together with that of <y_k, c>,

    <v, dx> = -<l, dc> - sum_k <u_k, p_k>.

A constraint that is curved is taken only where the level that holds it leaves no choice of what it depends on: then
nothing later asks how its face turns.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..arrays import Vector
from ..objectives.base import Objective
from ..objectives.pull_back import Bent, bent_at
from ..sets.boundary.description import Array
from .constraints import Active, NoDerivative

ZERO, STRICT = 1e-9, 1e-6
"""Relative to what they are added up from, multipliers below the first count as zero, above the second as positive."""
SMALL, LARGE = 1e-12, 1e-8
"""The same for singular values; what lies between hangs on rounding."""
STEPS = 6
"""Newton steps at most that make x as exact as double precision allows."""
FIRST = 1e-5
"""How small a multiplier of zero has to be before these steps."""


@dataclass(frozen=True)
class Step:
    """One level: itself near x, its directions Z, its multipliers, and how the rank of its maps along Z could change.

    ``own`` are the rows that its minimisers agree on: its maps, and what curved constraints that it holds depend on.
    """

    bent: Bent
    own: Array
    maps: int
    hessian: Array
    grad: Vector
    Z: Array
    held: NDArray[np.intp]
    prices: Vector
    paid: Vector
    by_columns: bool
    by_rows: bool
    straight: bool


@dataclass(frozen=True)
class Chain:
    """All levels at x = T X."""

    active: Active
    C: Array
    off: Vector
    places: list[slice]
    numbers: tuple[int, ...]
    steps: tuple[Step, ...]
    unique: bool

    @property
    def x(self) -> Vector:
        """The answer."""
        return self.active.x

    @property
    def matrix(self) -> Array:
        """The derivative of all equations: of the constraints, then of each level."""
        return np.vstack([self.C, *(step.Z.T @ step.hessian for step in self.steps)])

    def residual(self) -> Vector:
        """What the equations are off by."""
        return np.concatenate([self.off, *(-step.Z.T @ step.grad for step in self.steps)])

    def adjoint(self, v: Vector) -> tuple[Vector, list[Vector]]:
        """The multipliers l of the constraints and the directions u_k: v = C'l + sum_k H_k u_k."""
        M = self.matrix
        found: Vector = np.asarray(np.linalg.lstsq(M.T, v, rcond=None)[0], dtype=np.float64)
        off = float(np.linalg.norm(M.T @ found - v))
        if off > 1e-7 * (float(np.linalg.norm(v)) + 1e-300):
            raise NoDerivative(
                f"the equations for the derivative are too near to singular: their solution is off by {off:.1e}"
            )
        count, directions = len(self.C), list[Vector]()
        for step in self.steps:
            directions.append(step.Z @ found[count : count + step.Z.shape[1]])
            count += step.Z.shape[1]
        return found[: len(self.C)], directions


@dataclass(frozen=True)
class Rule:
    """What a chain has to be: ``unique`` with all active constraints held, which may be by one ``side``."""

    unique: bool = True
    side: str = ""


def chain_at(levels: Mapping[int, Objective], active: Active, x: Vector, rule: Rule) -> Chain:
    """The chain at the answer near x, made exact by Newton steps; raises NoDerivative where there is none."""
    try:
        chain = _Looking(levels, FIRST, rule).at(active)
        for _ in range(STEPS):
            step = np.linalg.lstsq(chain.matrix, chain.residual(), rcond=SMALL)[0]
            moved = replace(chain.active, X=chain.active.X + step)
            if moved.outside() > 0:
                raise NoDerivative("the answer is not confirmed: with its constraints held, it leaves the set")
            chain = _Looking(levels, FIRST, rule).at(moved)
            if np.abs(step).max(initial=0.0) <= 1e-14 * (1 + np.abs(moved.X).max(initial=0.0)):
                break
        chain = _Looking(levels, ZERO, rule).at(chain.active)
    except NoDerivative:
        raise
    except ValueError as error:
        raise NoDerivative(str(error)) from None
    if np.abs(chain.x - x).max(initial=0.0) > 1e-4 * (1 + np.abs(x).max(initial=0.0)):
        raise NoDerivative("the answer is not confirmed: the conditions of all levels hold only at some distance")
    return chain


class _Looking:
    """One look at all levels; ``loose`` is how small a multiplier of zero has to be."""

    def __init__(self, levels: Mapping[int, Objective], loose: float, rule: Rule) -> None:
        self.levels, self.loose, self.rule = levels, max(loose, ZERO), rule

    def at(self, active: Active) -> Chain:
        """The chain, with the constraints that some level holds."""
        self.active = active
        self.C, off, self.places = active.gradients()
        self.held = np.flatnonzero(np.append(active.equal, np.zeros(len(self.C) - active.equal.size, dtype=bool)))
        self.before, steps = np.zeros((0, active.X.size)), list[Step]()
        for k, level in self.levels.items():
            steps.append(self._step(k, level))
            self.before = np.vstack([self.before, steps[-1].own])
        unique = not null_space(np.vstack([self.C[self.held], self.before])).shape[1]
        if self.rule.unique and not unique:
            raise NoDerivative("the answer is not unique: the last level does not decide between all that is left")
        touching = np.setdiff1d(np.arange(len(self.C)), self.held)
        if touching.size and self.rule.side == "free" and self.rule.unique:
            return _Looking(self.levels, self.loose, self.rule).at(_without(active, touching, self.places))
        if touching.size and self.rule.unique:
            raise NoDerivative(
                "strict complementarity is not proved: a constraint is active that no level pushes against, so that x "
                "has one derivative on each side at most (side='held' is that of changes of data after which such "
                "constraints still hold x, side='free' of those after which x leaves them)"
            )
        return Chain(active, self.C, off, self.places, tuple(self.levels), tuple(steps), unique)

    def _step(self, k: int, level: Objective) -> Step:
        T, C, X, active = self.active.T, self.C, self.active.X, self.active
        assert level.form is not None
        bent, costs = bent_at(level.form, active.x), active.costs[k]
        grad, maps, hessian = T.T @ bent.grad + costs, bent.maps @ T, T.T @ bent.hessian @ T
        size = (bent.size + float(np.linalg.norm(costs))) or 1.0
        Z = null_space(np.vstack([C[self.held], self.before]))
        prices = self._hold(Z, grad, size, k)
        own = [maps]
        for one, place in zip(active.curved, self.places, strict=True):
            if prices[place].any():
                hessian = hessian + one.bend(X, prices[place])
                own.append(one.P)
        rows = np.vstack(own)
        Z = null_space(np.vstack([C[self.held], self.before]))
        after = _left(Z, hessian) if len(own) > 1 or self.rule.side == "held" else Z
        if any(np.linalg.norm(one @ after) > LARGE * np.linalg.norm(one) for one in own[1:]):
            raise NoDerivative(
                f"a curved constraint is held by level {k + 1}, which leaves a choice that later levels decide: its "
                "face may turn, and there are no derivatives for that"
            )
        if self.rule.side == "held" and self._hold_touching(after):
            Z = null_space(np.vstack([C[self.held], self.before]))
        rank = _rank(rows @ Z) if Z.size else 0
        M = np.vstack([C[self.held], self.before])
        paid: Vector = np.zeros(len(M))
        if Z.shape[1] and len(M):
            paid = np.asarray(np.linalg.lstsq(M.T, -grad, rcond=SMALL)[0])
        full = np.zeros(len(C))
        full[self.held] = paid[: self.held.size]
        straight = bent.straight or bool(costs.any())
        return Step(bent, rows, len(maps), hessian, grad, Z, self.held, full, paid[self.held.size :],
                    rank == Z.shape[1], rank == len(rows), straight)  # fmt: skip

    def _hold(self, Z: Array, grad: Vector, size: float, k: int) -> Vector:
        """The multipliers of level k for what is not held yet, with Z'(grad + C'y) = 0; what is positive is held."""
        free, prices = np.setdiff1d(np.arange(len(self.C)), self.held), np.zeros(len(self.C))
        if not Z.shape[1]:
            return prices
        C, slope = self.C[free], Z.T @ grad
        along = C @ Z
        if len(C) and _rank(along) < len(C):
            raise NoDerivative(
                f"the active constraints depend on each other at level {k + 1}: their multipliers are not unique, "
                "so that strict complementarity is not proved"
            )
        y = np.linalg.lstsq(along.T, -slope, rcond=None)[0] if len(C) else np.zeros(0)
        off = float(np.linalg.norm(slope + along.T @ y))
        if off > self.loose * size:
            raise NoDerivative(
                f"the answer is not confirmed: level {k + 1} could still be improved, by its gradient ({off:.1e})"
            )
        prices[free] = y
        share = np.zeros(len(self.C))
        share[free] = y * np.linalg.norm(C, axis=1) / size
        rows, found = free[free < len(self.active.rows)], list[int]()
        found += [i for i in rows if self._positive(share[i], abs(share[i]), k)]
        for one, place in zip(self.active.curved, self.places, strict=True):
            if np.isin(place.start, free) and self._positive(
                one.margin(share[place]), float(np.linalg.norm(share[place])), k
            ):
                found += range(place.start, place.stop)
        self.held = np.sort(np.concatenate([self.held, np.array(found, dtype=np.intp)]))
        prices[np.setdiff1d(free, found)] = 0.0
        return prices

    def _positive(self, margin: float, size: float, k: int) -> bool:
        """Whether multipliers with this margin hold their constraint; False where they are zero."""
        if size <= self.loose:
            return False
        if margin < -self.loose:
            raise NoDerivative(f"the answer is not confirmed: level {k + 1} would leave a constraint")
        if margin < max(STRICT, self.loose):
            raise NoDerivative(
                f"strict complementarity is not proved: a multiplier of level {k + 1} is too near to zero"
            )
        return True

    def _hold_touching(self, after: Array) -> bool:
        """Hold what no level pushes against, but this one decides; whether there is such a thing."""
        free = np.setdiff1d(np.arange(len(self.active.rows)), self.held)
        decided = [i for i in free if np.linalg.norm(self.C[i] @ after) <= LARGE * np.linalg.norm(self.C[i])]
        self.held = np.sort(np.concatenate([self.held, np.array(decided, dtype=np.intp)]))
        return bool(decided)


def _without(active: Active, touching: NDArray[np.intp], places: list[slice]) -> Active:
    """Without constraints that hold nothing."""
    kept = np.setdiff1d(np.arange(len(active.rows)), touching)
    return replace(
        active,
        rows=active.rows[kept],
        ends=active.ends[kept],
        equal=active.equal[kept],
        sources=[active.sources[i] for i in kept],
        curved=tuple(one for one, place in zip(active.curved, places, strict=True) if place.start not in touching),
    )


def null_space(M: Array) -> Array:
    """An orthonormal basis of the directions that M does not see, rows counted by direction alone."""
    n = M.shape[1]
    if not len(M):
        return np.eye(n)
    _, values, rows = np.linalg.svd(_unit_rows(M))
    return np.asarray(rows[_count(values) :].T)


def _left(Z: Array, hessian: Array) -> Array:
    """The directions of Z in which a level with this Hessian is flat."""
    top = float(np.linalg.norm(hessian, 2)) if hessian.any() else 0.0
    if not top or not Z.shape[1]:
        return Z
    values, vectors = np.linalg.eigh(Z.T @ hessian @ Z)
    if ((values > SMALL * top) & (values < LARGE * top)).any():
        raise NoDerivative("a rank hangs on rounding, and with it whether the answer is unique")
    return np.asarray(Z @ vectors[:, values < LARGE * top])


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
