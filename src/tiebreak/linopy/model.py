"""``solve`` and ``tradeoff`` for models of linopy, with answers in its own words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from linopy.constants import Result as ForLinopy
from linopy.constants import Solution
from linopy.constants import Status as InLinopysWords

from ..arrays import Vector, as_vector
from ..certificate import Level
from ..numerics.failures import EmptySet
from ..prices import first_duals
from ..problem import Problem
from ..result import Result, Status
from ..solve import solve as solve_problem
from ..tradeoff import Tradeoff
from ..tradeoff import tradeoff as tradeoff_of
from .translation import Translation, as_model

CONDITION = {
    Status.CONVERGED: "optimal",
    Status.MAX_ITER: "iteration_limit",
    Status.MAX_TIME: "time_limit",
    Status.STALLED: "imprecise",
    Status.NONFINITE: "internal_solver_error",
    Status.UNBOUNDED: "unbounded",
    Status.INFEASIBLE: "infeasible",
}
"""How a run ended, in linopy's words; all others are interrupts."""


@dataclass(frozen=True)
class Solved:
    """What was found; unpacks into linopy's own pair, ``status, condition``.

    Attributes
    ----------
    status, condition : str
        In linopy's words.
    levels : DataFrame or None
        One row for each objective: sense, value, and the bracket ``lower``, ``upper`` around its optimum among the
        solutions of those before; None where there is no answer.
    result : Result or None
        The certificate, where all objectives are minimised; its ``named`` has the variables by name.

    Examples
    --------
    >>> import linopy, tiebreak.linopy
    >>> model = linopy.Model()
    >>> a = model.add_variables(lower=1, upper=4, name="a")
    >>> model.add_objective(3 * a)
    >>> status, condition = tiebreak.linopy.solve(model)
    >>> status, condition
    ('ok', 'optimal')
    """

    status: str
    condition: str
    levels: pd.DataFrame | None
    result: Result | None = field(repr=False)

    def __iter__(self) -> Iterator[str]:
        return iter((self.status, self.condition))


@dataclass(frozen=True)
class Alternatives:
    """Near-optimal solutions of a model, each with a bracket.

    Attributes
    ----------
    table : DataFrame
        By slack: the cost, the value of the objective, the bracket around its least (greatest) value within that slack,
        and whether that is proved to the tolerances.
    solution : Dataset
        The variables, along the dimension ``slack``.
    curve : Tradeoff
        What ``tiebreak.tradeoff`` gives, where all objectives are minimised; ``curve.plot()`` draws it.

    Examples
    --------
    >>> import linopy, tiebreak.linopy
    >>> model = linopy.Model()
    >>> wind, gas = (model.add_variables(lower=0, name=name) for name in ("wind", "gas"))
    >>> served = model.add_constraints(wind + gas >= 10, name="served")
    >>> model.add_objective(4 * wind + 5 * gas)
    >>> found = tiebreak.linopy.tradeoff(model, wind, slacks=[2.0, 4.0])
    >>> found.table["value"].round(6).to_list()
    [8.0, 6.0]
    """

    table: pd.DataFrame
    solution: xr.Dataset = field(repr=False)
    curve: Tradeoff = field(repr=False)


def solve(
    model: Any,
    then: Sequence[tuple[Any, str]] = (),
    *,
    slack: float | Sequence[float] = 0.0,
    relative_slack: float | Sequence[float] = 0.0,
    method: Any = "auto",
    **options: Any,
) -> Solved:
    """Optimise the objective of a model, then further ones over its optima, each over those of all before it.

    Parameters
    ----------
    model : linopy.Model
        With continuous variables; its objective is the first level.
    then : sequence of (expression, sense)
        Linear or quadratic expressions (or variables) of the model, with "min" or "max".
    slack, relative_slack : float or sequence of float
        How far each level but the last may be from its optimum, as for ``tiebreak.lexicographic``.
    method, **options
        As for ``tiebreak.solve``: ``max_time``, tolerances, ``verbose``, ``callback``, and so on.

    Returns
    -------
    Solved
        ``status, condition`` in linopy's words, the table of levels, the certificate.

    Notes
    -----
    The model gets ``solution``, ``objective.value`` (of its own objective, at the answer) and ``dual``: the prices of
    that objective, as a solve of it alone gives them. Where there is no answer it keeps none.

    Examples
    --------
    Of all cheapest plans the one that uses the second unit least:

    >>> import linopy, tiebreak.linopy
    >>> model = linopy.Model()
    >>> a, b = (model.add_variables(lower=0, upper=4, name=name) for name in "ab")
    >>> served = model.add_constraints(a + b >= 6, name="served")
    >>> model.add_objective(3 * a + 3 * b)
    >>> solved = tiebreak.linopy.solve(model, then=[(b, "min")])
    >>> solved.levels
      sense  value  lower  upper
    1   min   18.0   18.0   18.0
    2   min    2.0    2.0    2.0
    >>> solved.result.named
    {'a': 4.0, 'b': 2.0}
    """
    as_model(model).reset_solution()
    model.objective._value = None
    try:
        translation = Translation.of(model, then, slack, relative_slack)
    except EmptySet:
        return _given_back(model, "infeasible", None, None)
    result = solve_problem(translation.problem, method, **options)
    condition = CONDITION.get(result.status, "user_interrupt")
    return _given_back(model, condition, translation, result)


def tradeoff(
    model: Any,
    objective: Any,
    sense: str = "min",
    *,
    relative_slacks: Sequence[float] | None = None,
    slacks: Sequence[float] | None = None,
    **options: Any,
) -> Alternatives:
    """The best of another objective among solutions that cost a little more: near-optimal alternatives, proved.

    Parameters
    ----------
    model : linopy.Model
        Its objective is the cost; the model itself is left as it is.
    objective : expression
        What is to be optimised instead, within the slack.
    sense : "min" or "max"
        Which way.
    relative_slacks : sequence of float, optional
        What may be lost, as parts of the optimal cost: 0.05 for 5 %.
    slacks : sequence of float, optional
        The same in the units of the cost. With neither, ten values that ``tiebreak.tradeoff`` chooses.
    **options
        As for ``tiebreak.tradeoff``.

    Examples
    --------
    >>> import linopy, tiebreak.linopy
    >>> model = linopy.Model()
    >>> wind, gas = (model.add_variables(lower=0, name=name) for name in ("wind", "gas"))
    >>> served = model.add_constraints(wind + gas >= 10, name="served")
    >>> model.add_objective(4 * wind + 5 * gas)
    >>> found = tiebreak.linopy.tradeoff(model, wind, relative_slacks=[0.05, 0.1])
    >>> found.solution["wind"].round(6).values
    array([8., 6.])
    """
    if slacks is not None and relative_slacks is not None:
        raise ValueError("give slacks or relative_slacks, not both")
    translation = Translation.of(model, [(objective, sense)])
    problem = translation.problem
    if relative_slacks is not None:
        slacks = _in_units_of_cost(problem, relative_slacks)
    curve = tradeoff_of(problem, slacks, **options)
    rows = []
    for k, result in enumerate(curve.results):
        bracket = Level(float(curve.f[k]), float(curve.f_lower[k]), float(curve.f_upper[k]))
        cost, other = translation.as_written([result.levels[0], bracket])
        rows.append((cost.value, other.value, other.lower, other.upper, result.success))
    slack = pd.Index(curve.slacks, name="slack")
    table = pd.DataFrame(rows, index=slack, columns=["cost", "value", "lower", "upper", "proved"])
    points = [_dataset(model, translation.matrices.vlabels, result.x) for result in curve.results]
    return Alternatives(table, xr.concat(points, dim=slack), curve)


def _in_units_of_cost(problem: Problem, parts: Sequence[float]) -> list[float]:
    """Parts of the optimal cost; of its bracket the end nearer to zero, so that no part is exceeded."""
    shares = as_vector(parts, "relative_slacks")
    if (shares < 0).any():
        raise ValueError(f"relative_slacks must not be negative, got {shares.min():g}")
    cost = solve_problem(Problem(problem.lower, [], problem.domain)).certificate
    least = 0.0 if cost.f_lower <= 0 <= cost.f_upper else min(abs(cost.f_lower), abs(cost.f_upper))
    if not (np.isfinite(least) and least > 0):
        raise ValueError("the optimal cost is zero or not known, so that parts of it say nothing: give slacks instead")
    return [share * least for share in shares.tolist()]


def _given_back(model: Any, condition: str, translation: Translation | None, result: Result | None) -> Solved:
    """Hand the answer to linopy: it knows where values and prices belong."""
    status = InLinopysWords.from_termination_condition(condition)
    found, levels = None, None
    if translation is not None and result is not None and status.is_ok and np.isfinite(result.x).all():
        duals = first_duals(translation.problem, result) if result.success else None
        own = translation.as_written(result.levels)
        prices = np.array([]) if duals is None else translation.prices(duals)
        labels = translation.matrices.vlabels, translation.matrices.clabels
        found = Solution(
            _by_label(result.x, labels[0], model._xCounter),
            _by_label(prices, labels[1], model._cCounter) if prices.size else prices,
            own[0].value,
        )
        rows = [(sense, one.value, one.lower, one.upper) for sense, one in zip(translation.senses, own, strict=True)]
        levels = pd.DataFrame(rows, index=range(1, len(rows) + 1), columns=["sense", "value", "lower", "upper"])
    status.legacy_status = "no point satisfies the constraints" if result is None else result.message
    model.assign_result(ForLinopy(status, found, solver_name="tiebreak"))
    return Solved(str(status.status.value), str(status.termination_condition.value), levels, result)


def _by_label(values: Vector, labels: Any, count: int) -> Vector:
    """Values where linopy looks for them; NaN for labels that a mask leaves out."""
    found = np.full(count, np.nan)
    found[labels] = values
    return found


def _dataset(model: Any, labels: Any, x: Vector) -> xr.Dataset:
    """x by the variables of the model."""
    values = np.append(_by_label(x, labels, model._xCounter), np.nan)  # label -1: left out by a mask
    return xr.Dataset(
        {name: (one.dims, values[one.labels.values], one.coords) for name, one in model.variables.items()}
    )
