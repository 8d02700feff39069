"""CVXPY's own canonicalisation, made once for all levels, and its way back to variables and dual values.

All levels are one problem for CVXPY, that of their sum with nonnegative weights: its rows are the same for all weights,
and the weights of level k alone give the P, q and constant of that level. Where the objectives have parameters, weights
that are parameters too would not be DPP: then there is one problem for each level, with weights 0 and 1 and the same
rows. Either way CVXPY keeps what it has made, and new values of parameters need no second canonicalisation.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import cvxpy as cp
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..arrays import Matrix, Vector
from ..result import Result

BEYOND = {"p3d": "power", "pnd": "power"}
"""What CVXPY calls the cones over which no level is proved here, and what they are called in words."""


class Curve(NamedTuple):
    """1/2 x'Px + <q, x> + constant; P is None where it is zero."""

    P: Matrix | None
    q: Vector
    constant: float


@dataclass(frozen=True)
class Standard:
    """Levels over {x : A x + s = b}: of s the first ``equalities`` are zero, the next ``inequalities`` not negative.

    ``curved`` are the cones of those that are left, as ``tiebreak.Cone`` writes them.
    """

    A: Matrix
    b: Vector
    equalities: int
    inequalities: int
    curved: tuple[tuple[str, int], ...]
    levels: tuple[Curve, ...]
    names: tuple[str, ...]
    further: NDArray[np.bool_]  # which columns CVXPY has introduced


class Found(NamedTuple):
    """What CVXPY expects of Clarabel."""

    status: str
    x: Vector | None = None
    z: Vector | None = None
    solve_time: float = 0.0
    iterations: int = 0
    obj_val: float = 0.0


class Canonical:
    """The problem as CVXPY sees it, with what it keeps from one canonicalisation to the next."""

    def __init__(self, objectives: Sequence[Any], constraints: Sequence[Any]) -> None:
        self.objectives = tuple(objectives)
        minimised = [one.args[0] if one.NAME == "minimize" else -one.args[0] for one in self.objectives]
        count = len(minimised)
        self.weights: Any = None
        if any(one.parameters() for one in minimised):
            weights = [[float(k == one) for k in range(count)] for one in range(count)]
        else:
            self.weights = cp.Parameter(count, nonneg=True, name="weights of the levels", value=np.eye(count)[0])
            weights = [self.weights]
        self.problems = [
            cp.Problem(cp.Minimize(sum(one[k] * minimised[k] for k in range(count))), list(constraints))
            for one in weights
        ]
        self._way_back: Any = None
        self.compile_time = 0.0

    @property
    def problem(self) -> Any:
        """The one whose variables and constraints get the answer."""
        return self.problems[0]

    def check(self) -> None:
        """Raise what CVXPY raises where levels and constraints are none for a convex solver."""
        for k, one in enumerate(self.objectives):
            if not one.is_dcp():
                raise cp.error.DCPError(f"level {k + 1} does not follow DCP rules, {_curvature(one)}: {one}")
        if not self.problem.variables():
            raise ValueError("neither objectives nor constraints have a variable: there is nothing to choose")
        attributes = {one.name(): one.attributes for one in self.problem.variables()}
        integer = [name for name, own in attributes.items() if own["integer"] or own["boolean"]]
        if integer:
            raise cp.error.SolverError(
                f"integer variables ({', '.join(integer)}): tiebreak proves its answers by convexity and takes "
                "continuous variables only; relax them to bounds, or solve the levels by hand with a MIP solver"
            )
        if missing := [one.name() for one in self.problem.parameters() if one.value is None]:
            raise cp.error.ParameterError(
                f"parameters without a value: {', '.join(missing)}; give them one before solve"
            )

    def standard(self) -> Standard:
        """Rows and levels at the present values of the parameters."""
        self.check()
        self.compile_time = 0.0
        levels, first = [], None
        for k in range(len(self.objectives)):
            problem = self.problems[0 if self.weights is not None else k]
            if self.weights is not None:
                self.weights.value = np.eye(len(self.objectives))[k]
            data, chain, inverse = problem.get_problem_data(cp.CLARABEL, solver_opts={})
            self.compile_time += problem.compilation_time
            if first is None:
                first, self._way_back = data, (chain, inverse)
                self._refuse_cones(data["dims"])
            elif not _same_rows(data, first):
                raise RuntimeError("CVXPY has made other rows of the same constraints; please report this problem")
            P = data.get("P")
            if P is not None:
                P = sp.csr_array(P)
                P.eliminate_zeros()
            levels.append(Curve(P if P is not None and P.nnz else None, data["c"], float(inverse[-1]["offset"])))
        assert first is not None
        A = sp.csr_array(first["A"])
        A.eliminate_zeros()
        variables = first["param_prob"].variables
        given = {one.name() for one in self.problem.variables()}
        columns = first["param_prob"].var_id_to_col
        further = np.ones(A.shape[1], dtype=bool)
        for one in variables:
            further[columns[one.id] : columns[one.id] + one.size] = one.name() not in given
        names = _names(variables, columns, A.shape[1])
        dims = first["dims"]
        curved = (
            *(("second-order", size) for size in dims.soc),
            *(("semidefinite", order) for order in dims.psd),
            *[("exponential", 3)] * dims.exp,
        )
        return Standard(A, first["b"], dims.zero, dims.nonneg, curved, tuple(levels), names, further)

    def unpack(self, status: str, result: Result | None, x: Vector | None, z: Vector | None) -> None:
        """Give values to the variables and constraints, by CVXPY's own way back; none where there is no answer."""
        names = {own: name for name, own in type(self._way_back[0].solver).STATUS_MAP.items()}
        if result is not None and x is not None:
            found = Found(names[status], x, z, result.time, result.nit)
        else:
            found = Found(names[status if status == cp.UNBOUNDED else cp.INFEASIBLE])
        with warnings.catch_warnings():  # CVXPY would advise another solver
            warnings.filterwarnings("ignore", "Solution may be inaccurate")
            self.problem.unpack_results(found, *self._way_back)

    def _refuse_cones(self, dims: Any) -> None:
        """A sentence where rows are not all there is."""
        if kinds := _beyond(dims):
            parts = [(f"level {k + 1}", cp.Problem(one)) for k, one in enumerate(self.objectives)]
            parts += [
                (f"constraint {i} ({one})", cp.Problem(cp.Minimize(0), [one]))
                for i, one in enumerate(self.problem.constraints)
            ]
            needs = [name for name, one in parts if _beyond(one.get_problem_data(cp.CLARABEL)[0]["dims"])]
            raise cp.error.SolverError(
                f"{', '.join(needs)} needs {' and '.join(kinds)} cones, over which nothing is proved here yet; "
                "with approx=True, as is the default of power, pnorm and geo_mean, CVXPY writes them by second-order "
                "cones, which tiebreak.cvxpy takes"
            )


def _curvature(objective: Any) -> str:
    """What is wrong with an objective, in a few words."""
    to, needed = ("minimised", "convex") if objective.NAME == "minimize" else ("maximised", "concave")
    return f"what is {to} must be {needed}, not {objective.args[0].curvature.lower()}"


def _beyond(dims: Any) -> list[str]:
    """The cones of a canonical problem over which nothing is proved."""
    return sorted({word for name, word in BEYOND.items() if np.any(getattr(dims, name, 0))})


def _same_rows(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether both have the same A and b."""
    if one["A"].shape != other["A"].shape or (one["b"] != other["b"]).any():
        return False
    return bool((one["A"] != other["A"]).nnz == 0)


def _names(variables: Sequence[Any], columns: dict[int, int], count: int) -> tuple[str, ...]:
    """A name for each column: that of the variable, with its indices."""
    names = [f"column {j}" for j in range(count)]
    seen: set[str] = set()
    for variable in variables:
        name, start = variable.name(), columns[variable.id]
        name = name if name not in seen else f"{name}#{variable.id}"
        seen.add(name)
        if variable.ndim == 0:
            names[start] = name
            continue
        index = np.unravel_index(np.arange(variable.size), variable.shape, order="F")
        for j, where in enumerate(zip(*index, strict=True)):
            names[start + j] = f"{name}[{', '.join(map(str, where))}]"
    return tuple(names)
