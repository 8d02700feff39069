"""Both levels by a conic solver, the upper one in equality form: minimise f over Z with A x = t*."""

from __future__ import annotations

import warnings

import cvxpy as cp
import numpy as np
from scipy.optimize import linprog

import tiebreak as tb

TIGHT = {"tol_gap_abs": 1e-11, "tol_gap_rel": 1e-11, "tol_feas": 1e-11}


def solve(problem: cp.Problem) -> float | None:
    """The optimal value, or None where the solver is not sure of it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            problem.solve(solver="CLARABEL", **TIGHT)
        except cp.SolverError:
            return None
    return problem.value if problem.status == "optimal" else None


def members(domain: tb.Domain, x: cp.Variable) -> list:
    """x in Z."""
    if isinstance(domain, tb.L1Ball):
        weights = 1.0 if domain.weights is None else domain.weights
        return [cp.norm1(cp.multiply(weights, x)) <= domain.radius]
    if isinstance(domain, tb.Simplex):
        return [x >= 0, cp.sum(x) == domain.total]
    if isinstance(domain, tb.KSparse):
        return [cp.norm1(x) <= domain.k * domain.radius, cp.norm_inf(x) <= domain.radius]
    if isinstance(domain, tb.Box):
        return [x >= domain.lower, x <= domain.upper]
    n = domain.shape[0]
    X = cp.reshape(x, (n, n), order="C")
    return [x >= 0, cp.sum(X, axis=0) == 1, cp.sum(X, axis=1) == 1]


def lower_value(A: np.ndarray, b: np.ndarray, domain: tb.Domain) -> float | None:
    """g* = min 1/2 ||Ax - b||^2 over Z."""
    x = cp.Variable(A.shape[1])
    return solve(cp.Problem(cp.Minimize(0.5 * cp.sum_squares(A @ x - b)), members(domain, x)))


def upper_value(f, rows: np.ndarray, values: np.ndarray, domain: tb.Domain) -> float | None:
    """f* = min f over Z with rows x = values."""
    x = cp.Variable(domain.dim or rows.shape[1])
    return solve(cp.Problem(cp.Minimize(f(x)), [*members(domain, x), rows @ x == values]))


def least_norm(A: np.ndarray, b: np.ndarray) -> float:
    """The least l1 norm of a solution of A x = b."""
    return float(linprog(np.ones(2 * A.shape[1]), A_eq=np.hstack([A, -A]), b_eq=b, bounds=(0, None)).fun)


def interpolation(n: int, d: int, m: int, factor: float, seed: int = 0) -> tuple[np.ndarray, ...]:
    """Fewer rows than columns, a planted sparse fit, and a radius of ``factor`` times the least l1 norm."""
    rng = np.random.default_rng(seed)
    A, planted = rng.normal(size=(n, d)), np.zeros(d)
    support = rng.permutation(d)[: n // 3]
    planted[support] = rng.normal(size=support.size)
    b = A @ planted
    return A, b, rng.normal(size=(m, d)), 3 * rng.normal(size=m), factor * least_norm(A, b)
