"""The door to COBRApy: flux balance analysis with further levels, so that the fluxes are unique, with a proof.

>>> from cobra import Metabolite, Model, Reaction
>>> import tiebreak.cobra
>>> model, a, b = Model("two ways"), Metabolite("a"), Metabolite("b")
>>> uptake, one, other, growth = (Reaction(name, upper_bound=10) for name in ("uptake", "one", "other", "growth"))
>>> uptake.add_metabolites({a: 1}), one.add_metabolites({a: -1, b: 1}), other.add_metabolites({a: -1, b: 1})
(None, None, None)
>>> growth.add_metabolites({b: -1})
>>> model.add_reactions([uptake, one, other, growth])
>>> model.objective = "growth"
>>> tiebreak.cobra.lexicographic_fba(model).fluxes.to_dict()
{'uptake': 10.0, 'one': 5.0, 'other': 5.0, 'growth': 10.0}
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

try:
    import pandas as pd
    from cobra import Model, Solution
    from cobra.exceptions import OPTLANG_TO_EXCEPTIONS_DICT, OptimizationError
    from cobra.util.array import create_stoichiometric_matrix
except ImportError as error:
    raise ImportError("tiebreak.cobra needs COBRApy: pip install 'tiebreak[cobra]'") from error

from .arrays import Vector, as_scalar
from .numerics.failures import EmptySet
from .objectives import Linear, Objective, SquaredNorm
from .prices import first_duals
from .problem import Problem
from .result import Result, Status
from .sets import Polyhedron
from .solve import solve

__all__ = ["LexicographicSolution", "lexicographic_fba", "problem_from"]

Index = NDArray[np.intp]

LEVELS = ("growth", "total_flux", "l2")

STATUS = {
    Status.CONVERGED: "optimal",
    Status.UNBOUNDED: "unbounded",
    Status.INFEASIBLE: "infeasible",
    Status.MAX_TIME: "time_limit",
    Status.MAX_ITER: "iteration_limit",
    Status.STALLED: "numeric",
    Status.NONFINITE: "numeric",
}
"""How a run ended, in the words of COBRApy and optlang; all others are "aborted"."""


class LexicographicSolution(Solution):  # type: ignore[misc]
    """A ``cobra.Solution`` that knows its levels.

    Attributes
    ----------
    objective_value : float
        Of the model's own objective (growth) at these fluxes, whatever the other levels are.
    levels : DataFrame
        One row for each level: its value, and the bracket ``lower``, ``upper`` around its optimum among the solutions
        of those before; growth as the model has it, the others minimised.
    unique : True or None
        True where no other fluxes are optimal in all levels; None where that is not known.
    result : Result
        The certificate, where all levels are minimised; in forward and reverse fluxes where total flux is a level.

    Examples
    --------
    >>> from cobra import Metabolite, Model, Reaction
    >>> import tiebreak.cobra
    >>> model, a = Model("one way"), Metabolite("a")
    >>> uptake, growth = Reaction("uptake", upper_bound=10), Reaction("growth", upper_bound=10)
    >>> uptake.add_metabolites({a: 1}), growth.add_metabolites({a: -2})
    (None, None)
    >>> model.add_reactions([uptake, growth])
    >>> model.objective = "growth"
    >>> solution = tiebreak.cobra.lexicographic_fba(model, ["growth", "l2"])
    >>> solution.objective_value, solution.unique
    (5.0, True)
    """

    def __init__(self, levels: pd.DataFrame, unique: bool | None, result: Result, **cobras: Any) -> None:
        super().__init__(**cobras)
        self.levels, self.unique, self.result = levels, unique, result


def lexicographic_fba(
    model: Any,
    levels: Sequence[str | Mapping[Any, float]] = LEVELS,
    fraction_of_optimum: float = 1.0,
    **options: Any,
) -> LexicographicSolution:
    """Flux balance analysis, then further levels over its optima: with "l2" last the fluxes are unique.

    Parameters
    ----------
    model : cobra.Model
        It is left as it is.
    levels : sequence
        The first is "growth", the model's own objective, in its own direction. Then "total_flux" (the sum of absolute
        fluxes, as in pFBA), "l2" (the sum of their squares), or reactions with coefficients,
        ``{"EX_ac_e": 1.0}``, of which the weighted sum is minimised.
    fraction_of_optimum : float
        The part of the optimal growth that must be kept.
    **options
        As for ``tiebreak.solve``: ``max_time``, tolerances, and so on.

    Returns
    -------
    LexicographicSolution
        A ``cobra.Solution`` with ``levels``, ``unique`` and ``result``. Its shadow prices are those of growth.

    Raises
    ------
    cobra.exceptions.Infeasible, cobra.exceptions.Unbounded
        As COBRApy's own analyses do.

    Examples
    --------
    >>> from cobra import Metabolite, Model, Reaction
    >>> import tiebreak.cobra
    >>> model, a = Model("one way"), Metabolite("a")
    >>> uptake, growth = Reaction("uptake", upper_bound=10), Reaction("growth", upper_bound=10)
    >>> uptake.add_metabolites({a: 1}), growth.add_metabolites({a: -2})
    (None, None)
    >>> model.add_reactions([uptake, growth])
    >>> model.objective = "growth"
    >>> tiebreak.cobra.lexicographic_fba(model, ["growth", "l2"]).fluxes.to_dict()
    {'uptake': 10.0, 'growth': 5.0}
    """
    try:
        problem = problem_from(model, levels, fraction_of_optimum)
        result = solve(problem, **options)
    except EmptySet as error:
        raise _failed("infeasible") from error
    status = STATUS.get(result.status, "aborted")
    if status in ("infeasible", "unbounded") or not np.isfinite(result.x).all():
        raise _failed(status)
    maximised = model.objective_direction == "max"
    rows = [(one.value, one.lower, one.upper) for one in result.levels]
    if maximised:
        value, lower, upper = rows[0]
        rows[0] = (0.0 - value, 0.0 - upper, 0.0 - lower)
    names = [one if isinstance(one, str) else _told(one) for one in levels]
    strictly = "l2" in levels or result.certificate.lower_unique is True
    return LexicographicSolution(
        levels=pd.DataFrame(rows, index=names, columns=["value", "lower", "upper"]),
        unique=True if result.success and strictly else None,
        result=result,
        objective_value=rows[0][0],
        status=status,
        fluxes=pd.Series(_fluxes(model, result.x), index=[one.id for one in model.reactions], name="fluxes"),
        shadow_prices=_shadow_prices(model, problem, result, -1.0 if maximised else 1.0),
    )


def problem_from(
    model: Any, levels: Sequence[str | Mapping[Any, float]] = LEVELS, fraction_of_optimum: float = 1.0
) -> Problem:
    """The problem of tiebreak behind a model, all levels minimised; see ``lexicographic_fba``."""
    if not isinstance(model, Model):
        raise TypeError(f"model must be a cobra.Model, got {type(model).__name__}")
    if not isinstance(levels, Sequence) or isinstance(levels, str) or not levels or levels[0] != "growth":
        raise ValueError('levels must begin with "growth", such as ["growth", "total_flux", "l2"]')
    if not 0 < as_scalar(fraction_of_optimum, "fraction_of_optimum") <= 1:
        raise ValueError(f"fraction_of_optimum must be above 0 and at most 1, got {fraction_of_optimum!r}")
    if len(levels) == 1 and fraction_of_optimum < 1:
        raise ValueError("fraction_of_optimum leaves room for a second level, and there is none")
    _refuse(model)
    S = sp.csr_array(create_stoichiometric_matrix(model, array_type="lil"))
    low, high = np.array([one.bounds for one in model.reactions], dtype=float).T
    names = [one.id for one in model.reactions]
    if "total_flux" in levels:
        back = _reversible(model)
        S = sp.csr_array(sp.hstack([S, -S[:, back]]))
        low, high = _split(low, -high, back), _split(high, -low, back)
        names += [f"{names[j]} (reverse)" for j in back]
    else:
        back = np.zeros(0, dtype=np.intp)
    objectives = [_level(model, one, k + 1, back) for k, one in enumerate(levels)]
    domain = Polyhedron(A_eq=S, b_eq=np.zeros(S.shape[0]), bounds=np.column_stack([low, high]))  # type: ignore[arg-type]
    loss = [1.0 - fraction_of_optimum] + [0.0] * (len(levels) - 2)
    lost = 0.0 if len(levels) == 1 or fraction_of_optimum == 1 else loss
    return Problem(objectives[-1], objectives[:-1], domain, relative_slack=lost, names=names)


def _reversible(model: Any) -> Index:
    """Reactions that get a reverse flux of their own where total flux is a level: it is linear in both.

    That changes no level: least total flux and least squares have no flux in both directions at once, and the others
    depend on the difference alone.
    """
    return np.flatnonzero([one.lower_bound < 0 for one in model.reactions])


def _split(forward: Vector, reverse: Vector, back: Index) -> Vector:
    """Ends of forward fluxes, which are not negative where there is a reverse one, and of those."""
    own = forward.copy()
    own[back] = np.maximum(own[back], 0.0)
    return np.append(own, np.maximum(reverse[back], 0.0))


def _fluxes(model: Any, x: Vector) -> Vector:
    """Forward minus reverse fluxes, where there are such."""
    n = len(model.reactions)
    found = x[:n].copy()
    if x.size > n:
        found[_reversible(model)] -= x[n:]
    return found


def _refuse(model: Any) -> None:
    """A sentence for what is more than reactions, metabolites and bounds."""
    if not len(model.reactions):
        raise ValueError("the model has no reactions")
    further = len(model.constraints) - len(model.metabolites), len(model.variables) - 2 * len(model.reactions)
    if any(further):
        raise ValueError(
            f"the model has {further[0]} further constraints and {further[1]} further variables: lexicographic_fba "
            "takes reactions, metabolites and bounds; remove_cons_vars removes them, bounds of reactions say much of it"
        )
    if not model.objective.is_Linear:
        raise ValueError("the objective of the model is not linear; growth must be a weighted sum of fluxes")


def _level(model: Any, level: str | Mapping[Any, float], number: int, back: Index) -> Objective:
    """What a level minimises, in fluxes, and in reverse ones of the reactions ``back``."""
    n = len(model.reactions)
    if level == "total_flux":
        return Linear(np.ones(n + back.size))
    if level == "l2":
        return SquaredNorm(weights=np.full(n + back.size, 2.0))
    c = np.zeros(n)
    if level == "growth":
        c = _growth(model) * (-1.0 if model.objective_direction == "max" else 1.0)
    elif isinstance(level, Mapping) and level:
        for reaction, coefficient in level.items():
            name = getattr(reaction, "id", reaction)
            if name not in model.reactions:
                raise ValueError(f"level {number} names a reaction {name!r}, which the model does not have")
            c[model.reactions.index(name)] += as_scalar(coefficient, f"the coefficient of {name} in level {number}")
    else:
        raise ValueError(f'level {number} must be "total_flux", "l2" or reactions with coefficients, got {level!r}')
    return Linear(np.append(c, -c[back]))


def _growth(model: Any) -> Vector:
    """Coefficients of the objective by reactions; each is in the solver as forward minus reverse flux."""
    coefficients = model.objective.get_linear_coefficients(model.variables)
    pairs = [(coefficients[one.forward_variable], coefficients[one.reverse_variable]) for one in model.reactions]
    forward, reverse = np.array(pairs, dtype=float).T
    if (forward != -reverse).any():
        raise ValueError("the objective of the model treats forward and reverse fluxes apart: it is not linear in them")
    if not forward.any():
        raise ValueError("the model has no objective: set model.objective")
    return np.asarray(forward)


def _shadow_prices(model: Any, problem: Problem, result: Result, sign: float) -> pd.Series | None:
    """By metabolites: how growth changes with the right-hand side of the balance, as COBRApy has it."""
    duals = first_duals(problem, result) if result.success else None
    if duals is None or duals.rows.size != len(model.metabolites):
        return None
    index = [one.id for one in model.metabolites]
    return pd.Series(sign * duals.rows + 0.0, index=index, name="shadow_prices")


def _failed(status: str) -> Exception:
    found: Exception = OPTLANG_TO_EXCEPTIONS_DICT.get(status, OptimizationError)(f"no answer: the model is {status}")
    return found


def _told(level: Mapping[Any, float]) -> str:
    return " + ".join(f"{value:g} {getattr(one, 'id', one)}" for one, value in level.items())
