"""What a user would write without tiebreak; every function solves both levels and returns x.

The data are those of a ``Family`` with least squares on both levels over an l1 ball, unless said.
"""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np

import reference as ref
from families_columns import in_l1_ball
from families_rows import incidence
from family import Family


def l1_data(known: Family) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, float]:
    """A, b of the lower level, B, y of the upper one, and the radius."""
    lower, upper = known.levels
    return lower.A, lower.b, upper.A, upper.b, known.domain.radius


def cvxpy_l1(known: Family, form: str, told: bool = False, **options: Any) -> np.ndarray:
    """The lower level for g* and A x*, then the upper level: with a value row, a norm row, or A x = t.

    ``told`` skips the lower level: the user knows that A x = b can be met.
    """
    import cvxpy as cp

    A, b, B, y, radius = l1_data(known)
    x = cp.Variable(A.shape[1])
    ball = [cp.norm1(x) <= radius]
    t = b
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if not told:
            g_star = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(A @ x - b)), ball).solve(**options)
            t = A @ x.value
        row = {
            "value": lambda: 0.5 * cp.sum_squares(A @ x - b) <= g_star + 1e-8,
            "norm": lambda: cp.norm(A @ x - b) <= np.sqrt(2 * (g_star + 1e-8)),
            "equality": lambda: A @ x == t,
        }[form]()
        try:
            cp.Problem(cp.Minimize(0.5 * cp.sum_squares(B @ x - y)), [*ball, row]).solve(**options)
        except cp.SolverError:
            return np.full(A.shape[1], np.nan)
    return np.full(A.shape[1], np.nan) if x.value is None else x.value


def piqp_l1(known: Family, max_iter: int = 400) -> np.ndarray:
    """PIQP at 1e-9 on both levels, in split variables, the upper level on A x = t."""
    A, b, B, y, radius = l1_data(known)
    d = A.shape[1]
    split, _ = ref.piqp_point(in_l1_ball(radius, A, b), 1e-9, max_iter)
    t = A @ (split[:d] - split[d : 2 * d])
    split, _ = ref.piqp_point(in_l1_ball(radius, B, y, A, t), 1e-9, max_iter)
    return split[:d] - split[d : 2 * d]


def lars_steps(known: Family) -> int:
    """How many steps of the full path lead to the radius: what the hindsight version is told."""
    from sklearn.linear_model import lars_path

    A, b, _, _, radius = l1_data(known)
    _, _, path = lars_path(A, b, method="lasso")
    return int(np.argmax(np.abs(path).sum(axis=0) >= radius))


def lars_l1(known: Family, steps: int | None = None) -> np.ndarray:
    """scikit-learn's homotopy to the radius: the lower level only, which is enough where its solution is unique."""
    from sklearn.linear_model import lars_path

    A, b, _, _, radius = l1_data(known)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _, _, path = lars_path(A, b, method="lasso", **({} if steps is None else {"max_iter": steps}))
    norms = np.abs(path).sum(axis=0)
    k = max(int(np.argmax(norms >= radius * (1 - 1e-14))), 1)
    share = (radius - norms[k - 1]) / (norms[k] - norms[k - 1])
    return path[:, k - 1] + share * (path[:, k] - path[:, k - 1])


def textbook_cg_bio(known: Family, limit: float) -> np.ndarray:
    """CG-BiO as in its paper, each step a linear programme (HiGHS), until so many seconds of processor time are over.

    The first tenth of them goes to conditional gradient on the lower level, which the paper starts from.
    """
    from scipy.optimize import linprog

    upper, lower, radius = known.levels[1], known.levels[0], known.domain.radius
    d, started = lower.dim, time.process_time()
    x, k = np.zeros(d), 0
    while time.process_time() - started < limit / 10:
        x += 2 / (k + 2) * (known.domain.lmo(lower.grad(x)) - x)
        k += 1
    level, k = lower.value(x), 0
    while time.process_time() - started < limit:
        a, (g, c) = upper.grad(x), lower.value_and_grad(x)
        rows = np.vstack([np.ones(2 * d), np.concatenate([c, -c])])
        right = [radius, c @ x + level - g]
        split = linprog(np.concatenate([a, -a]), A_ub=rows, b_ub=right, bounds=(0, None), method="highs").x
        x += 2 / (k + 2) * (split[:d] - split[d:] - x)
        k += 1
    return x


def piqp_equality_row(cost: np.ndarray) -> np.ndarray:
    """Assignment by hand: HiGHS for g*, then PIQP with the row <c, x> = g*."""
    import piqp
    from scipy import sparse
    from scipy.optimize import linprog

    n = cost.shape[0]
    rows, c = incidence(n, n), cost.ravel().astype(float)
    lp = linprog(c, A_eq=rows, b_eq=np.ones(2 * n), method="highs")
    A = sparse.csc_matrix(sparse.vstack([rows, c[None, :]]))
    solver = piqp.SparseSolver()
    solver.settings.eps_abs = 1e-10
    solver.settings.eps_rel = 0.0
    eye = sparse.csc_matrix(sparse.eye_array(n * n))
    rhs = np.append(np.ones(2 * n), lp.fun)
    solver.setup(eye, np.zeros(n * n), A, rhs, None, None, None, np.zeros(n * n), np.full(n * n, np.inf))
    solver.solve()
    return np.array(solver.result.x)


def daqp_hierarchy(known: Family) -> np.ndarray:
    """DAQP's hierarchical mode. It normalises rows, so the tasks must have rows of norm 1."""
    import daqp

    tasks = known.levels[:-1]
    n = known.levels[-1].dim
    A = np.ascontiguousarray(np.vstack([*(task.A for task in tasks), np.eye(n)]))
    targets = np.concatenate([*(task.b for task in tasks), np.zeros(n)])
    low, high = known.domain.lower, known.domain.upper
    ends = n + np.cumsum([*(task.b.size for task in tasks), n])
    x, _, flag, _ = daqp.solve(None, None, A, np.concatenate([high, targets]), np.concatenate([low, targets]),
                       np.zeros(n + targets.size, dtype=np.int32),
                       np.concatenate([[n], ends]).astype(np.int32))  # fmt: skip
    return np.array(x) if flag > 0 else np.full(n, np.nan)


def highs_lexicographic(known: Family) -> np.ndarray:
    """HiGHS with prioritised linear objectives over the rows of a Polyhedron."""
    import highspy

    A, low, high, lower, upper = known.domain._given
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = A.shape[1], A.shape[0]
    lp.col_cost_, lp.col_lower_, lp.col_upper_ = np.zeros(A.shape[1]), lower, upper
    lp.row_lower_, lp.row_upper_ = low, high
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.start_, lp.a_matrix_.index_, lp.a_matrix_.value_ = A.indptr, A.indices, A.data
    model = highspy.Highs()
    model.setOptionValue("output_flag", False)
    model.setOptionValue("blend_multi_objectives", False)
    model.passModel(lp)
    for k, objective in enumerate(known.levels):
        one = highspy.HighsLinearObjective()
        one.weight, one.offset, one.priority = 1.0, 0.0, len(known.levels) - k
        one.coefficients = objective.c.tolist()
        one.abs_tolerance, one.rel_tolerance = 0.0, 0.0
        model.addLinearObjective(one)
    model.run()
    return np.array(model.getSolution().col_value)
