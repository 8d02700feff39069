"""Vector-Jacobian products of an answer: from derivatives in x to derivatives in the data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Vector, as_vector
from ..objectives.pull_back import Held, Refused, pulled_back, unsupported
from ..problem import Problem
from .chain import Chain, Step, chain_at
from .constraints import Array, NoDerivative

RIGID = (
    "level {k} leaves a choice at x that later levels decide: another {what} would decide it first, and x would jump"
)
FRAGILE = "the maps of level {k}, or of a level after it, have a rank that another A may change, and x would jump"


class Data(Mapping[str, Any]):
    """Derivatives by name; asking for one that does not exist raises NoDerivative with the reason."""

    def __init__(self, found: Mapping[str, Any]) -> None:
        self._found = dict(found)

    def __getitem__(self, name: str) -> Any:
        value = self._found[name]
        if isinstance(value, Refused):
            raise NoDerivative(f"no derivative with respect to {name}: {value.why}")
        return value

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)

    @property
    def refused(self) -> dict[str, str]:
        """What has no derivative, and why."""
        return {name: value.why for name, value in self._found.items() if isinstance(value, Refused)}

    def __repr__(self) -> str:
        return f"Data({', '.join(name + (' (refused)' if name in self.refused else '') for name in self)})"


@dataclass(frozen=True)
class Derivatives:
    """Derivatives of <dx, x*>.

    Attributes
    ----------
    levels : tuple of mappings
        For each level, by the names of its arguments: A, b, c, q, Q, center, weights, scale; those of the terms of a
        sum as "0.A", "1.c". What has no derivative raises when it is asked for, see ``refused``.
    domain : mapping
        By ends of the rows (``low``, ``high``: of a Polyhedron those of A_ub, then of A_eq; of an L1Ball or a Simplex
        the radius or the total) and bounds (``lower``, ``upper``), or ``radius`` of a Euclidean ball. Where both ends
        of a row are one, as in A_eq, its derivative is that of ``high``.
    x : array
        The answer the derivatives belong to, more exact than that of the result.
    """

    levels: tuple[Data, ...]
    domain: Data
    x: Vector


def vjp(problem: Problem, x: Vector, dx: ArrayLike) -> Derivatives:
    """Derivatives of <dx, x*>, x* the answer of the problem near x; raises NoDerivative where that has none."""
    v = as_vector(dx, "dx", problem.dim)
    if any(problem.slacks) or problem.relative_slack or any(problem.relative_slack_before):
        raise NoDerivative("derivatives are for problems without slack so far")
    for k, level in enumerate(problem.levels):
        if why := unsupported(level):
            raise NoDerivative(f"level {k + 1} has no derivatives: {why}")
    chain = chain_at(problem, x)
    ends, directions = _adjoint(chain, v)
    T, steps = chain.active.T, chain.steps
    found = []
    for j, (level, step) in enumerate(zip(problem.levels, steps, strict=True)):
        later = [Held(T @ directions[k], _held_by(chain, k, j)) for k in range(j + 1, len(steps))]
        rigid = "" if step.by_columns else RIGID.format(k=j + 1, what="slope")
        fragile = "" if all(map(_stable, steps[j:])) else FRAGILE.format(k=j + 1)
        found.append(Data(pulled_back(level, step.bent, chain.x, T @ directions[j], later, rigid, fragile)))
    return Derivatives(tuple(found), _ends(problem, chain, ends), chain.x)


def _stable(step: Step) -> bool:
    """Whether a small change of maps leaves the rank, and linear parts where they are."""
    return step.by_columns or (step.by_rows and not step.bent.straight)


def _adjoint(chain: Chain, v: Vector) -> tuple[Vector, list[Vector]]:
    """The multipliers l of the ends and the directions u_k: T'v = C'l + sum_k H_k u_k."""
    M, target = chain.matrix, chain.active.T.T @ v
    found: Vector = np.asarray(np.linalg.lstsq(M.T, target, rcond=None)[0], dtype=np.float64)
    off = float(np.linalg.norm(M.T @ found - target))
    if off > 1e-7 * (float(np.linalg.norm(v)) + 1e-300):
        raise NoDerivative(
            f"the equations for the derivative are too near to singular: their solution is off by {off:.1e}"
        )
    count, directions = len(chain.active.C), list[Vector]()
    ends = found[:count]
    for step in chain.steps:
        directions.append(step.Z @ found[count : count + step.Z.shape[1]])
        count += step.Z.shape[1]
    return ends, directions


def _held_by(chain: Chain, k: int, j: int) -> Vector:
    """w_kj: what level k pays for the maps of level j."""
    step, before = chain.steps[k], chain.steps[:k]
    if not step.Z.shape[1]:  # then nothing moves along this level
        return np.zeros(len(before[j].maps))
    M: Array = np.vstack([chain.active.C[step.held], *(one.maps for one in before)])
    paid = np.linalg.lstsq(M.T, -step.grad, rcond=1e-12)[0]
    start = len(step.held) + sum(len(one.maps) for one in before[:j])
    return np.asarray(paid[start : start + len(before[j].maps)])


def _ends(problem: Problem, chain: Chain, ends: Vector) -> Data:
    rows, labels = problem.domain.rows, chain.active.labels
    if rows is None:
        return Data({"radius": np.float64(ends.sum())} if problem.domain.euclidean_radius is not None else {})
    found = {name: np.zeros(getattr(rows, name).size) for name in ("low", "high", "lower", "upper")}
    for (name, i), value in zip(labels, ends, strict=True):
        if name:
            found[name][i] += value if name in ("high", "upper") else -value
    return Data(found)
