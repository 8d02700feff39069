"""A model of linopy as a problem of tiebreak, and multipliers back. Nothing is rounded on the way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import linopy
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..arrays import Vector
from ..certificate import Level
from ..engines.answer import Duals
from ..numerics.failures import EmptySet
from ..objectives import Linear, Objective
from ..objectives.simplest import simplest
from ..problem import Problem
from ..sets import Box, Domain, Polyhedron


@dataclass(frozen=True)
class Translation:
    """A problem, and how to read its answers as those of the model."""

    problem: Problem
    matrices: Any
    senses: tuple[str, ...]
    above: NDArray[np.intp]  # rows of the model that are inequalities of the problem, in its order
    equations: NDArray[np.intp]

    @classmethod
    def of(
        cls,
        model: Any,
        then: Sequence[tuple[Any, str]] = (),
        slack: float | Sequence[float] = 0.0,
        relative_slack: float | Sequence[float] = 0.0,
    ) -> Translation:
        """The problem of tiebreak; ``EmptySet`` where it is proved that no point satisfies the rows."""
        matrices = as_model(model).matrices
        _refuse(model, matrices)
        given = [(model.objective.expression, model.objective.sense), *_pairs(then)]
        levels = [_objective(model, expression, sense, k + 1) for k, (expression, sense) in enumerate(given)]
        equal = matrices.sense == "="
        above, equations = np.flatnonzero(~equal), np.flatnonzero(equal)
        names = _names(model)
        problem = Problem(
            levels[-1],
            levels[:-1],
            _domain(matrices, above, equations),
            slack if len(levels) > 1 else 0.0,
            relative_slack=relative_slack if len(levels) > 1 else 0.0,
            names=names,
        )
        return cls(problem, matrices, tuple(sense for _, sense in given), above, equations)

    def prices(self, duals: Duals) -> Vector:
        """By rows of the model: how the first objective, as written, changes with the right-hand side."""
        found = np.zeros(self.matrices.clabels.size)
        split = self.above.size
        found[self.above] = np.where(self.matrices.sense[self.above] == ">", -1.0, 1.0) * duals.rows[:split]
        found[self.equations] = duals.rows[split:]
        return (found if self.senses[0] == "min" else -found) + 0.0

    def as_written(self, levels: Sequence[Level]) -> list[Level]:
        """Levels of the problem, which are minimised, as those of the model."""
        return [one if sense == "min" else -one for one, sense in zip(levels, self.senses, strict=True)]


def problem_from(
    model: Any,
    then: Sequence[tuple[Any, str]] = (),
    *,
    slack: float | Sequence[float] = 0.0,
    relative_slack: float | Sequence[float] = 0.0,
) -> Problem:
    """The problem of tiebreak behind a model and further objectives, all of them minimised; see ``solve``."""
    return Translation.of(model, then, slack, relative_slack).problem


def as_model(model: Any) -> Any:
    """A model of linopy that has variables."""
    if not isinstance(model, linopy.Model):
        raise TypeError(f"model must be a linopy.Model, got {type(model).__name__}")
    if not len(model.variables):
        raise ValueError("the model has no variables")
    return model


def _refuse(model: Any, matrices: Any) -> None:
    """A sentence for what is not linear rows in continuous variables, or is not in the user's own units."""
    kinds = {"B": "binary", "I": "integer", "S": "semi-continuous"}
    whole = {
        f"{name} ({kinds[kind]})"
        for kind, group in zip("BIS", (model.binaries, model.integers, model.variables.semi_continuous), strict=True)
        for name in group
    }
    if whole:
        raise ValueError(
            f"variables that are not continuous: {', '.join(sorted(whole))}; tiebreak proves its answers by convexity: "
            "relax them to bounds, or fix them at the values of a first solve"
        )
    if len(model.indicator_constraints) or len(model.variables.sos):
        raise ValueError("indicator and SOS constraints are not convex: tiebreak takes linear constraints")
    rows = [one.scaling for one in model.constraints.data.values()] + [model.objective.scaling]
    if (matrices.var_scaling != 1).any() or any((np.asarray(one) != 1).any() for one in rows):
        raise ValueError("the model has scaling factors; tiebreak scales by itself: set them to 1")


def _pairs(then: Any) -> list[tuple[Any, str]]:
    found: list[tuple[Any, str]] = []
    if not np.iterable(then):
        raise TypeError(f'then must be a sequence of pairs (expression, "min" or "max"), got {type(then).__name__}')
    for k, one in enumerate(then):
        if not (isinstance(one, (tuple, list)) and len(one) == 2):
            raise TypeError(f'then[{k}] must be a pair (expression, "min" or "max"), got {type(one).__name__}')
        if one[1] not in ("min", "max"):
            raise ValueError(f'then[{k}]: the sense must be "min" or "max", got {one[1]!r}')
        found.append((one[0], one[1]))
    return found


def _objective(model: Any, expression: Any, sense: str, level: int) -> Objective:
    """What a level minimises: the expression, or minus it. linopy keeps terms; those of one variable are added up."""
    if isinstance(expression, linopy.Variable):
        expression = 1 * expression
    if not hasattr(expression, "flat") or not hasattr(expression, "const"):
        raise TypeError(f"level {level} must be an expression of linopy, got {type(expression).__name__}")
    if expression.model is not model:
        raise ValueError(f"level {level} is an expression of another model")
    terms, sign = expression.flat, 1.0 if sense == "min" else -1.0
    position, n = model.variables.label_index.label_to_pos, model.variables.label_index.n_active_vars
    coefficients = sign * terms.coeffs.to_numpy(dtype=float)
    constant = sign * float(np.nansum(np.asarray(expression.const)))
    if "vars" in terms:
        return Linear(_summed(terms.vars.to_numpy(), coefficients, position, n), constant)
    one, other = terms.vars1.to_numpy(), terms.vars2.to_numpy()
    single = (one == -1) | (other == -1)
    q = _summed(np.maximum(one, other)[single], coefficients[single], position, n)
    entries, at = coefficients[~single], (position[one[~single]], position[other[~single]])
    half = sp.coo_array((entries, at), shape=(n, n)).tocsr()
    Q = sp.csr_array(half + half.T)
    Q.eliminate_zeros()
    return _quadratic(Q, q, constant, f"level {level}", sense)


def _quadratic(Q: Any, q: Vector, constant: float, name: str, sense: str) -> Objective:
    found = simplest(Q, q, constant)
    if not found.convex:
        needed = "convex" if sense == "min" else "concave"
        raise ValueError(f"{name}: what is to be {sense}imised is not {needed}, and every bound rests on that")
    return found


def _summed(labels: Any, coefficients: Vector, position: Any, n: int) -> Vector:
    found = np.zeros(n)
    np.add.at(found, position[labels], coefficients)
    return found


def _domain(matrices: Any, above: NDArray[np.intp], equations: NDArray[np.intp]) -> Domain:
    """Rows and bounds; rows without variables hold or show that there is no point at all."""
    lower, upper = matrices.lb, matrices.ub
    if (lower > upper).any():
        raise EmptySet("a variable has bounds that contradict each other")
    if not above.size and not equations.size:
        return Box(lower, upper)
    A, b = sp.csr_array(matrices.A), matrices.b
    blank = np.diff(A.indptr) == 0
    signs = np.where(matrices.sense == ">", -1.0, 1.0)
    if (b * signs)[above][blank[above]].min(initial=0.0) < 0 or b[equations][blank[equations]].any():
        raise EmptySet("a constraint without variables does not hold")
    finite = above[np.isfinite(b[above])]
    if finite.size < above.size:
        raise ValueError("right-hand sides must be finite; model.constraints.sanitize_infinities() removes such rows")
    turned = sp.csr_array(A[above].multiply(signs[above][:, None])) if above.size else None
    return Polyhedron(
        turned,
        (b * signs)[above] if above.size else None,
        sp.csr_array(A[equations]) if equations.size else None,
        b[equations] if equations.size else None,
        bounds=np.column_stack([lower, upper]),  # type: ignore[arg-type]
    )


def _names(model: Any) -> list[str]:
    """``name[coordinates]``, in the order of the columns."""
    names: list[str] = []
    for name, one in model.variables.items():
        if not one.dims:
            names += [name] if one.labels.item() != -1 else []
            continue
        labels = one.labels.values.ravel()
        places = product(*(map(str, one.labels.indexes[dim]) for dim in one.dims))
        names += [f"{name}[{', '.join(at)}]" for at, label in zip(places, labels, strict=True) if label != -1]
    return names
