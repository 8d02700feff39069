"""Levels and domains of ``peers_suite.py``, each said twice: as tiebreak's and as CVXPY's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import tiebreak as tb


@dataclass(frozen=True)
class Level:
    """An objective in both languages, and what holds at all of its minimisers once one of them is known.

    ``after(x, at)`` are CVXPY's constraints of the next stage, ``at`` being the minimiser of this one.
    """

    own: Callable[[], tb.Objective]
    peer: Callable[[Any], Any]
    after: Callable[[Any, np.ndarray], list[Any]]


@dataclass(frozen=True)
class Set:
    """A domain in both languages; ``own`` returns None for the whole space."""

    own: Callable[[], tb.Domain | None]
    peer: Callable[[Any], list[Any]]


@dataclass(frozen=True)
class Case:
    """A problem of the suite: levels, the most important first."""

    family: str
    size: str
    dim: int
    levels: tuple[Level, ...]
    domain: Set
    seconds: float = field(default=60.0)

    def solve(self) -> tb.Result:
        levels = [level.own() for level in self.levels]
        domain = self.domain.own()
        options = {"max_time": self.seconds, "tol_upper": 1e-6, "tol_lower": 1e-6}
        if len(levels) == 2:
            return tb.solve(tb.Problem(levels[1], levels[0], domain), "exact", **options)
        return tb.lexicographic(levels, domain, max_time=self.seconds)

    def solve_by_peer(self, tolerance: float | None = None) -> np.ndarray | None:
        """CVXPY and Clarabel, a stage a level; the user knows the fitting second stage.

        Clarabel's own tolerances, unless another one is given for all of them.
        """
        import warnings

        import cvxpy as cp

        names = () if tolerance is None else ("tol_gap_abs", "tol_gap_rel", "tol_feas")
        asked = dict.fromkeys(names, tolerance)
        x = cp.Variable(self.dim)
        rows = self.domain.peer(x)
        for level in self.levels:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    cp.Problem(cp.Minimize(level.peer(x)), rows).solve(
                        solver="CLARABEL", max_threads=1, time_limit=self.seconds, **asked
                    )
                except cp.SolverError:
                    return None
            if x.value is None:
                return None
            at = np.array(x.value)
            rows = rows + level.after(x, at)
        return at


# -- levels -----------------------------------------------------------------------------------------------------------


def least_squares(A: Any, b: np.ndarray) -> Level:
    def peer(x: Any) -> Any:
        import cvxpy as cp

        return 0.5 * cp.sum_squares(A @ x - b)

    return Level(lambda: tb.LeastSquares(A, b), peer, lambda x, at: [A @ x == A @ at])


def squared_norm(dim: int) -> Level:
    def peer(x: Any) -> Any:
        import cvxpy as cp

        return 0.5 * cp.sum_squares(x)

    return Level(lambda: tb.SquaredNorm(dim=dim), peer, lambda x, at: [x == at])


def linear(c: np.ndarray) -> Level:
    return Level(lambda: tb.Linear(c), lambda x: c @ x, lambda x, at: [c @ x <= c @ at])


def l1_norm() -> Level:
    def peer(x: Any) -> Any:
        import cvxpy as cp

        return cp.norm1(x)

    return Level(lambda: tb.L1Norm(), peer, lambda x, at: [peer(x) <= np.abs(at).sum()])


def lasso(A: Any, b: np.ndarray, weight: float) -> Level:
    squares, norm = least_squares(A, b), l1_norm()
    return Level(
        lambda: squares.own() + weight * norm.own(),
        lambda x: squares.peer(x) + weight * norm.peer(x),
        lambda x, at: [*squares.after(x, at), *norm.after(x, at)],
    )


def logistic(A: Any, y: np.ndarray) -> Level:
    def peer(x: Any) -> Any:
        import cvxpy as cp

        return cp.sum(cp.logistic(-cp.multiply(y, A @ x))) / y.size

    return Level(lambda: tb.Logistic(A, y), peer, lambda x, at: [A @ x == A @ at])


def huber(A: Any, b: np.ndarray, delta: float) -> Level:
    def peer(x: Any) -> Any:
        import cvxpy as cp

        return 0.5 * cp.sum(cp.huber(A @ x - b, delta))

    def after(x: Any, at: np.ndarray) -> list[Any]:
        left = A @ at - b
        inside, above, below = np.abs(left) <= delta, left > delta, left < -delta
        return [A[inside] @ x == A[inside] @ at, A[above] @ x >= b[above] + delta, A[below] @ x <= b[below] - delta]

    return Level(lambda: tb.Huber(A, b, delta), peer, after)


def poisson(A: Any, y: np.ndarray) -> Level:
    def peer(x: Any) -> Any:
        import cvxpy as cp

        return cp.sum(cp.exp(A @ x) - cp.multiply(y, A @ x)) / y.size

    def own() -> tb.Objective:
        if not hasattr(tb, "Poisson"):
            raise NotImplementedError("there is no Poisson loss")
        return tb.Poisson(A, y)

    return Level(own, peer, lambda x, at: [A @ x == A @ at])


# -- domains ----------------------------------------------------------------------------------------------------------


def box(end: float) -> Set:
    return Set(lambda: tb.Box(-end, end), lambda x: [x >= -end, x <= end])


def l1_ball(radius: float) -> Set:
    def peer(x: Any) -> list[Any]:
        import cvxpy as cp

        return [cp.norm1(x) <= radius]

    return Set(lambda: tb.L1Ball(radius), peer)


def space() -> Set:
    return Set(lambda: None, lambda x: [])


def simplex() -> Set:
    def peer(x: Any) -> list[Any]:
        import cvxpy as cp

        return [x >= 0, cp.sum(x) == 1]

    return Set(lambda: tb.Simplex(), peer)


def polyhedron(A_ub: Any = None, b_ub: Any = None, A_eq: Any = None, b_eq: Any = None, bounds: Any = (0, None)) -> Set:
    def peer(x: Any) -> list[Any]:
        rows = [] if A_ub is None else [A_ub @ x <= b_ub]
        rows += [] if A_eq is None else [A_eq @ x == b_eq]
        low, high = (bounds,) * 2 if bounds is None else zip(*bounds, strict=True) if len(bounds) > 2 else bounds
        if low is not None:
            rows.append(x >= np.asarray(low, dtype=float))
        if high is not None:
            rows.append(x <= np.asarray(high, dtype=float))
        return rows

    return Set(lambda: tb.Polyhedron(A_ub=A_ub, b_ub=b_ub, A_eq=A_eq, b_eq=b_eq, bounds=bounds), peer)
