"""Chains of objectives: each is minimised over the minimisers of all before it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .objectives.base import Objective
from .problem import Problem
from .result import Result
from .sets.base import Domain
from .solve import solve


def lexicographic(
    levels: Sequence[Objective],
    domain: Domain | None = None,
    *,
    slack: float | Sequence[float] = 0.0,
    relative_slack: float | Sequence[float] = 0.0,
    names: Sequence[str] | None = None,
    **options: Any,
) -> Result:
    """Minimise the first objective over the domain, the second over its minimisers, the third over theirs, and so on.

    The same as ``solve(Problem(levels[-1], levels[:-1], domain, ...))``.

    Parameters
    ----------
    levels : sequence of objectives
        The most important first: any number of linear, quadratic and least-squares levels, with l1 norms or without,
        over Polyhedron, Box, Simplex, L1Ball, KSparse, Birkhoff and products of these; two levels, also whatever else
        ``solve`` takes.
    domain : set, optional
        Where; None is the whole space.
    slack, relative_slack : float or sequence of float
        How far each level but the last may be above its optimum, as for ``Problem``.
    names : sequence of str, optional
        Names of the variables.
    **options
        As for ``solve``: tolerances (``tol_upper`` for the last level, ``tol_lower`` for all before it), limits,
        callbacks, ``verbose``, and so on.

    Returns
    -------
    Result
        Its ``levels`` have a bracket for each objective.

    Examples
    --------
    Serve all demand, then as cheaply as possible, then as evenly as possible:

    >>> import tiebreak as tb
    >>> served, cost, spread = tb.Linear([-1.0, -1.0, -1.0]), tb.Linear([1.0, 1.0, 2.0]), tb.SquaredNorm(dim=3)
    >>> supply = tb.Polyhedron(A_ub=[[1.0, 1.0, 1.0]], b_ub=[2.0], bounds=(0, 2))
    >>> result = tb.lexicographic([served, cost, spread], supply)
    >>> result.x
    array([1., 1., 0.])
    >>> [level.value for level in result.levels]
    [-2.0, 2.0, 1.0]
    """
    where: object = domain
    if where is not None and not isinstance(where, Domain):
        what = "a set such as tiebreak.Polyhedron, or None for the whole space"
        raise TypeError(f"domain must be {what}, got {type(domain).__name__}")
    given = list(levels) if np.iterable(levels) else []
    if not given or not all(isinstance(level, Objective) for level in given):
        raise TypeError("levels must be one objective or more, such as tiebreak.Linear(c)")
    dims = {dim for dim in (*(level.dim for level in given), domain and domain.dim) if dim is not None}
    if len(dims) != 1:
        raise ValueError(f"levels and domain must have one number of variables, got {sorted(map(str, dims))}")
    problem = Problem(given[-1], given[:-1], domain, slack, relative_slack=relative_slack, names=names)
    return solve(problem, **options)
