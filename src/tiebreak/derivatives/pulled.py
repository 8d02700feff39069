"""Vector-Jacobian products of an answer: from derivatives in x to derivatives in the data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Vector, as_vector
from ..objectives.pull_back import Refused, unsupported
from ..problem import Problem
from .constraints import NoDerivative
from .found import Found
from .slack import Stages

SIDES = ("", "held", "free")


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
        sum as "0.A", "1.c"; and ``slack`` or ``relative_slack``, where it has one. What has no derivative raises when
        it is asked for, see ``refused``.
    domain : mapping
        By ends of the rows (``low``, ``high``: of a Polyhedron those of A_ub, then of A_eq; of an L1Ball or a Simplex
        the radius or the total), bounds (``lower``, ``upper``) and the rows themselves (``A``); or ``radius``,
        ``center``, ``trace``, of a Cone ``b``. Where both ends of a row are one, as in A_eq, its derivative is that of
        ``high``, and of two equal bounds that of ``upper``. Those of the blocks of a product with round sets have the
        name of the block in front.
    x : array
        The answer the derivatives belong to, more exact than that of the result.
    """

    levels: tuple[Data, ...]
    domain: Data
    x: Vector


def vjp(problem: Problem, x: Vector, dx: ArrayLike, side: str = "") -> Derivatives:
    """Derivatives of <dx, x*>, x* the answer of the problem near x; raises NoDerivative where that has none."""
    v = as_vector(dx, "dx", problem.dim)
    if side not in SIDES:
        raise ValueError(f"side must be 'held' or 'free', or empty, got {side!r}")
    for k, level in enumerate(problem.levels):
        if why := unsupported(level):
            raise NoDerivative(f"level {k + 1} has no derivatives: {why}")
    stages = Stages(problem, side)
    chain = stages.answer(np.asarray(x, dtype=np.float64))
    found = Found(stages)
    found.add_answer(chain, chain.active.T.T @ v)
    return Derivatives(tuple(map(Data, found.levels)), Data(found.domain), chain.x)
