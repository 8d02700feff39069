"""``Lexicographic``: objectives of CVXPY, each minimised over the minimisers of those before it."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import cvxpy as cp
import numpy as np
from cvxpy.constraints.constraint import Constraint

from ..arrays import Vector, as_count
from ..certificate import Level
from ..numerics.failures import EmptySet
from ..prices import first_duals
from ..problem import Problem
from ..result import Result, Status
from ..solve import solve
from ..tradeoff import Tradeoff, tradeoff
from .canonical import Canonical
from .translation import Translation

STATUS = {
    Status.CONVERGED: cp.OPTIMAL,
    Status.STALLED: cp.OPTIMAL_INACCURATE,
    Status.NONFINITE: cp.SOLVER_ERROR,
    Status.UNBOUNDED: cp.UNBOUNDED,
    Status.INFEASIBLE: cp.INFEASIBLE,
}
"""How a run ended, in CVXPY's words; all others are limits."""

CVXPYS = ("solver", "warm_start", "gp", "qcp", "requires_grad", "enforce_dpp", "ignore_dpp", "canon_backend")
"""Arguments of ``cp.Problem.solve`` that have no meaning here."""


class Lexicographic:
    """Objectives in CVXPY's terms, the most important first: each is optimised over the optima of those before it.

    Parameters
    ----------
    objectives : sequence of cp.Minimize and cp.Maximize
        All that DCP allows: linear, piecewise linear (``norm1``, ``max``, ``abs``, ...) and quadratic ones
        (``sum_squares``, ``quad_form``), norms, eigenvalues, exponentials and logarithms, in any mix.
    constraints : sequence of constraints
        The same.
    slack, relative_slack : float or sequence of float
        How far each level but the last may be from its optimum, as for ``tiebreak.lexicographic``.

    Attributes
    ----------
    status : str or None
        In CVXPY's words: optimal, infeasible, unbounded, optimal_inaccurate (not proved to the tolerances), user_limit.
    values : tuple of float or None
        Of all objectives at the answer, as you wrote them; None where there is no answer.
    levels : tuple of Level or None
        The same with a bracket around the optimum of each, maximised where it is to be maximised.
    result : Result or None
        The certificate, in the variables of the canonical problem, where all objectives are minimised.

    Notes
    -----
    ``solve`` gives values to variables, and to constraints the dual values of the first level: its prices, as a solve
    of that level alone would. Values of parameters may be changed between solves, without a second canonicalisation.

    Examples
    --------
    Of all cheapest plans the one that is used most evenly:

    >>> import cvxpy as cp
    >>> from tiebreak.cvxpy import Lexicographic
    >>> x, demand = cp.Variable(3, nonneg=True), cp.Parameter(value=6.0)
    >>> served = cp.sum(x) >= demand
    >>> p = Lexicographic([cp.Minimize(x[0] + x[1] + 2 * x[2]), cp.Minimize(cp.sum_squares(x))], [served, x <= 4])
    >>> p.solve(), p.status
    ((6.0, 18.0), 'optimal')
    >>> x.value, float(served.dual_value)
    (array([3., 3., 0.]), 1.0)
    >>> demand.value = 8.5
    >>> p.solve()
    (9.0, 32.25)
    """

    def __init__(
        self,
        objectives: Sequence[Any],
        constraints: Sequence[Any] | None = None,
        *,
        slack: float | Sequence[float] = 0.0,
        relative_slack: float | Sequence[float] = 0.0,
    ) -> None:
        self.objectives = tuple(objectives) if isinstance(objectives, (list, tuple)) else (objectives,)
        for k, one in enumerate(self.objectives):
            if not isinstance(one, (cp.Minimize, cp.Maximize)):
                raise TypeError(
                    f"objectives[{k}] must be cp.Minimize(...) or cp.Maximize(...), got {type(one).__name__}"
                )
        if not self.objectives:
            raise ValueError("objectives must be one objective or more, such as cp.Minimize(cost)")
        if constraints is not None and not isinstance(constraints, (list, tuple)):
            raise TypeError(
                f"constraints must be a list of constraints, such as [x >= 0], got {type(constraints).__name__}"
            )
        self.constraints = list(constraints or [])
        for k, one in enumerate(self.constraints):
            if not isinstance(one, (Constraint, bool, np.bool_)):
                raise TypeError(f"constraints[{k}] must be a constraint, such as x >= 0, got {type(one).__name__}")
        self.slack, self.relative_slack = slack, relative_slack
        self._canonical = Canonical(self.objectives, self.constraints)
        self._translation: Translation | None = None
        self._multipliers: list[Vector | None] = []  # by levels
        self._found: tuple[str, Result | None, Vector | None, Vector | None] | None = None
        self.status: str | None = None
        self.values: tuple[float, ...] | None = None
        self.levels: tuple[Level, ...] | None = None
        self.result: Result | None = None

    def variables(self) -> list[Any]:
        """Those of objectives and constraints."""
        return list(self._canonical.problem.variables())

    def parameters(self) -> list[Any]:
        """Those of objectives and constraints."""
        return [one for one in self._canonical.problem.parameters() if one is not self._canonical.weights]

    @property
    def compile_time(self) -> float:
        """Seconds that CVXPY needed for the rows and levels of the last solve."""
        return self._canonical.compile_time

    @property
    def problem(self) -> Problem:
        """The canonical problem at the present values of the parameters."""
        return self._translated().problem

    def solve(self, method: Any = "auto", **options: Any) -> tuple[float, ...] | None:
        """Solve all levels, and give values to variables and constraints.

        Parameters
        ----------
        method
            As for ``tiebreak.solve``.
        **options
            Those of ``tiebreak.solve``: ``max_time``, tolerances, ``verbose``, ``callback``, and so on.

        Returns
        -------
        tuple of float or None
            ``values``.
        """
        if unknown := [name for name in options if name in CVXPYS]:
            raise TypeError(
                f"solve has no argument {unknown[0]!r}, as tiebreak solves the levels itself; it takes the options of "
                "tiebreak.solve, such as max_time, tol_upper, tol_lower, verbose"
            )
        self.status = self.result = self.levels = self.values = None
        self._multipliers = []
        try:
            translation = self._translated()
        except EmptySet:
            return self._answer(cp.INFEASIBLE)
        method = translation.method if method == "auto" else method
        self.result = result = _in_own_variables(solve(translation.problem, method, **options), translation)
        status = STATUS.get(result.status, cp.USER_LIMIT)
        present = status in (cp.OPTIMAL, cp.OPTIMAL_INACCURATE, cp.USER_LIMIT) and bool(np.isfinite(result.x).all())
        both = zip(result.levels, self.objectives, strict=True)
        self.levels = tuple(level if isinstance(one, cp.Minimize) else -level for level, one in both)
        if not present:
            return self._answer(cp.SOLVER_ERROR if status == cp.OPTIMAL_INACCURATE else status)
        if status == cp.OPTIMAL:
            duals = [first_duals(translation.problem, result), *(level.duals for level in result.levels[1:])]
            self._multipliers = [None if one is None else translation.multipliers(one) for one in duals]
        else:
            warnings.warn(f"Solution may be inaccurate. {result.message}", UserWarning, stacklevel=2)
        first = self._multipliers[0] if self._multipliers else None
        return self._answer(status, result, translation.residuals.point(result.x), first)

    def dual_values(self, level: int = 1) -> list[Any]:
        """The prices of a level: multipliers of the constraints, in their order.

        Those of a later level belong to its optimality conditions together with multipliers of what the levels before
        keep, which are not given: a constraint that is also held by an earlier level may share its price with that,
        and its own may be negative.

        Parameters
        ----------
        level : int
            1 for the first, whose prices ``solve`` gives to the constraints.

        Returns
        -------
        list
            As ``dual_value`` of the constraints; None where the engine has none, or nothing is solved and proved.

        Examples
        --------
        One more unit of demand costs 1, and takes 6 of the sum of squares:

        >>> import cvxpy as cp
        >>> from tiebreak.cvxpy import Lexicographic
        >>> x = cp.Variable(3, nonneg=True)
        >>> p = Lexicographic([cp.Minimize(x[0] + x[1] + 2 * x[2]), cp.Minimize(cp.sum_squares(x))], [cp.sum(x) >= 6])
        >>> _ = p.solve()
        >>> [float(p.dual_values(level)[0]) for level in (1, 2)]
        [1.0, 6.0]
        """
        if not 1 <= as_count(level, "level") <= len(self.objectives):
            raise ValueError(f"level must be from 1 to {len(self.objectives)}, got {level}")
        z = self._multipliers[level - 1] if self._multipliers else None
        if z is None or self._found is None:
            return [None] * len(self.constraints)
        status, result, x, first = self._found
        self._canonical.unpack(status, result, x, z)
        found = [one.dual_value for one in self.constraints]
        self._canonical.unpack(status, result, x, first)
        return found

    def tradeoff(self, slacks: Sequence[float] | None = None, **options: Any) -> Tradeoff:
        """What loss in the last level but one buys in the last: ``tiebreak.tradeoff`` (where objectives are minimised).

        Variables keep their values.
        """
        translation = self._translated()
        return tradeoff(translation.problem, slacks, **{"method": translation.method, **options})

    def _translated(self) -> Translation:
        """The problem of tiebreak, made anew where parameters may have changed."""
        if self._translation is None or self.parameters():
            standard = self._canonical.standard()
            self._translation = Translation.of(standard, self.slack, self.relative_slack)
        return self._translation

    def _answer(
        self, status: str, result: Result | None = None, x: Vector | None = None, z: Vector | None = None
    ) -> tuple[float, ...] | None:
        """Hand the answer to CVXPY: it knows what it has made of variables and constraints."""
        self._canonical.unpack(status, result, x, z)
        self._found = (status, result, x, z)
        self.status = status
        if x is not None:
            self.values = tuple(float(one.value) for one in self.objectives)
        return self.values

    def __repr__(self) -> str:
        levels = ", ".join(str(one) for one in self.objectives)
        return f"Lexicographic([{levels}], {len(self.constraints)} constraints)"


def _in_own_variables(result: Result, translation: Translation) -> Result:
    """Columns that CVXPY has introduced may be free where the variables are not."""
    certificate = result.certificate
    if certificate.lower_unique is False and translation.further:
        return replace(result, certificate=replace(certificate, lower_unique=None))
    return result


def problem_from(upper: Any, lower: Any, constraints: Sequence[Any] = (), **options: Any) -> Problem:
    """The problem of tiebreak behind objectives of CVXPY: see ``tiebreak.Problem.from_cvxpy``."""
    given = [*(lower if isinstance(lower, (list, tuple)) else [lower]), upper]
    objectives = [one.objective if isinstance(one, cp.Problem) else one for one in given]
    held = [held for one in given if isinstance(one, cp.Problem) for held in one.constraints]
    return Lexicographic(objectives, [*held, *constraints], **options).problem
