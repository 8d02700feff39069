"""The families of ``families.py`` whose sets are given by rows and bounds."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

import reference as ref
import tiebreak as tb
from decimals import chain
from family import Family, two_levels
from tiebreak.lab.experiments.ill_posed import KERNELS


def incidence(sources: int, sinks: int) -> Any:
    """The rows "sent from i" and "received by j" of a transport plan, flattened by sources."""
    return sparse.vstack(
        [
            sparse.kron(sparse.eye_array(sources), np.ones((1, sinks))),
            sparse.kron(np.ones((1, sources)), sparse.eye_array(sinks)),
        ],
        format="csr",
    )


def tied_plans(cost: np.ndarray, supply: np.ndarray, demand: np.ndarray) -> tuple[int, ref.Reference]:
    """g* of a transport problem with integer data, and the least 1/2 ||x||^2 over its optimal plans.

    Vertices of the dual are integral, so rounding makes the dual exact, and with it the face: the cells without
    reduced cost.
    """
    from scipy.optimize import linprog

    rows = incidence(*cost.shape)
    lp = linprog(cost.ravel(), A_eq=rows, b_eq=np.concatenate([supply, demand]), method="highs-ds")
    dual = np.round(lp.eqlin.marginals).astype(int)
    u, v = dual[: len(supply)], dual[len(supply) :]
    reduced = cost - u[:, None] - v[None, :]
    g_star = int(u @ supply + v @ demand)
    if reduced.min() < 0 or abs(g_star - lp.fun) > 1e-6:
        raise ref.Inaccurate("the rounded dual of the transport problem is not optimal")
    cells = np.flatnonzero(reduced.ravel() == 0)
    rhs = np.concatenate([supply, demand]).astype(float)
    task = ref.level(cells.size, sparse.eye_array(cells.size), 0.0, A=rows[:, cells], b=rhs, low=0.0)
    return g_star, ref.solve(task)


def transport(seed: int, size: tuple[int, int]) -> Family:
    """Integer costs from 1 to 4, so that many plans tie; then the plan of least norm."""
    sources, sinks = size
    rng = np.random.default_rng([seed, sources, sinks])
    supply = rng.integers(5, 20, sources)
    demand = rng.multinomial(supply.sum() - sinks, np.full(sinks, 1 / sinks)) + 1
    cost = rng.integers(1, 5, (sources, sinks))
    g, f = tied_plans(cost, supply, demand)
    rhs = np.concatenate([supply, demand]).astype(float)
    domain = tb.Polyhedron(A_eq=incidence(sources, sinks), b_eq=rhs, bounds=(0, None))
    lower = tb.Linear(cost.ravel().astype(float))
    name = f"tied transport {sources} x {sinks}"
    return two_levels(name, tb.SquaredNorm(dim=cost.size), lower, domain, (float(g), 0.0), f)


def assignment(seed: int, size: tuple[int, int, str]) -> Family:
    """Integer costs from 1 to ``top``; over the Birkhoff polytope by its oracle, or by rows."""
    n, top, form = size
    cost = np.random.default_rng(seed).integers(1, top + 1, (n, n))
    ones = np.ones(n, dtype=int)
    g, f = tied_plans(cost, ones, ones)
    if form == "birkhoff":
        domain: tb.Domain = tb.Birkhoff(n)
    else:
        domain = tb.Polyhedron(A_eq=incidence(n, n), b_eq=np.ones(2 * n), bounds=(0, 1))
    lower = tb.Linear(cost.ravel().astype(float))
    name = f"tied assignment {n} x {n}, costs 1..{top}, {form}"
    return two_levels(name, tb.SquaredNorm(dim=n * n), lower, domain, (float(g), 0.0), f)


def polytope(seed: int, size: tuple[int, int, str]) -> Family:
    """A cost that is a positive combination of k facet normals: the optimal face has dimension d - k."""
    d, k, goal = size
    rng = np.random.default_rng([seed, d, k])
    G = rng.integers(-3, 4, (3 * d, d)).astype(float)
    inside = rng.integers(-8, 9, d) / 4
    room = rng.integers(1, 9, 3 * d) / 2
    room[:k] = 0.0
    h = G @ inside + room
    c = -rng.integers(1, 4, k) @ G[:k]
    g_star = float(c @ inside)  # exact: quarters and small integers
    if goal == "point":
        center = np.round(10 * rng.normal(size=d))
        upper, F, y = tb.SquaredNorm(center), np.eye(d), center
    else:
        F, y = rng.integers(-2, 3, (d // 2, d)).astype(float), np.round(30 * rng.normal(size=d // 2))
        upper = tb.LeastSquares(F, y)
    rest = 3 * d - k
    rows = np.block([[G[:k], np.zeros((k, rest))], [G[k:], np.eye(rest)]])
    low = np.concatenate([np.full(d, -10.0), np.zeros(rest)])
    high = np.concatenate([np.full(d, 10.0), np.full(rest, np.inf)])
    wide = np.hstack([F, np.zeros((F.shape[0], rest))])
    f = ref.solve(ref.level(d + rest, wide, y, A=rows, b=h, low=low, high=high))
    domain = tb.Polyhedron(A_ub=G, b_ub=h, bounds=(-10, 10))
    name = f"polytope in dimension {d}, face of dimension {d - k}, {goal}"
    return two_levels(name, upper, tb.Linear(c), domain, (g_star, 0.0), f)


def hierarchy(seed: int, size: tuple[int, int] | tuple[int, int, str]) -> Family:
    """Tasks of a robot in order of rank, within joint limits; the first task has dependent rows; then least norm.

    A third entry "unit" scales the rows to norm 1 (and repeats one of the first task to make them dependent).
    """
    n, count = size[:2]
    rng = np.random.default_rng([seed, n, count])
    low, high = -np.ones(n), np.ones(n)
    levels: list[tb.Objective] = []
    tasks: list[ref.Level] = []
    for k in range(count - 1):
        m = int(rng.integers(2, max(3, n // (count - 1))))
        F = rng.integers(-3, 4, (m, n)).astype(float)
        if len(size) > 2:
            F /= np.linalg.norm(F, axis=1)[:, None]
        if k == 0:
            F = np.vstack([F, F[0] - F[1] if len(size) == 2 else F[0]])
        y = F @ rng.uniform(-1.5, 1.5, n) + rng.normal(size=F.shape[0])
        levels.append(tb.LeastSquares(F, y))
        tasks.append(ref.level(n, F, y, low=low, high=high))
    levels.append(tb.SquaredNorm(dim=n))
    tasks.append(ref.level(n, np.eye(n), 0.0, low=low, high=high))
    found = chain(tasks)
    name = f"hierarchy of {count} levels, n = {n}"
    return Family(name, tuple(levels), tb.Box(low, high), tuple(r.value for r in found), tuple(r.error for r in found))


def integral(seed: int, size: tuple[str, int]) -> Family:
    """First-kind integral equations over [0, 10]^n with noise; then 1/2 ||x||^2 + 1/2 ||differences||^2."""
    kind, n = size
    A, x = KERNELS[kind](n)
    b = A @ x + 0.01 * np.random.default_rng([seed, n]).normal(size=n)
    rough = np.vstack([np.eye(n), np.diff(np.eye(n), axis=0)])
    box = {"low": np.zeros(n), "high": np.full(n, 10.0)}
    g, f = chain([ref.level(n, A, b, **box), ref.level(n, rough, 0.0, **box)])
    upper = tb.Quadratic(rough.T @ rough, np.zeros(n))
    note = f"condition {np.linalg.cond(A):.0e}"
    return two_levels(f"{kind}, n = {n}", upper, tb.LeastSquares(A, b), tb.Box(0.0, 10.0),
                          (g.value, g.error), f, note)  # fmt: skip


def flux(seed: int, size: str) -> Family:
    """Flux balance on the core model of E. coli: growth first, then 1/2 ||v||^2, or sum |v|, or both in this order."""
    import logging

    logging.getLogger("cobra").setLevel(logging.ERROR)
    from cobra.io import load_model
    from cobra.util.array import create_stoichiometric_matrix

    model = load_model("textbook")
    S = np.asarray(create_stoichiometric_matrix(model))
    low = np.array([reaction.lower_bound for reaction in model.reactions], dtype=float)
    high = np.array([reaction.upper_bound for reaction in model.reactions], dtype=float)
    growth = np.array([-reaction.objective_coefficient for reaction in model.reactions], dtype=float)
    n = growth.size
    F, total = np.eye(n), None
    if size != "norm":  # v = v+ - v-, both at least 0
        S, growth, F, total = np.hstack([S, -S]), np.append(growth, -growth), np.hstack([F, -F]), np.ones(2 * n)
        low, high = (
            np.concatenate([np.maximum(low, 0), np.maximum(-high, 0)]),
            np.concatenate([np.maximum(high, 0), np.maximum(-low, 0)]),
        )
    model_set = {"A": S, "b": np.zeros(S.shape[0]), "low": low, "high": high}
    levels: list[tb.Objective] = [tb.Linear(growth)]
    tasks = [ref.level(growth.size, q=growth, **model_set)]
    if total is not None:
        levels.append(tb.Linear(total))
        tasks.append(ref.level(growth.size, q=total, **model_set))
    if size != "total":
        levels.append(tb.SquaredNorm(dim=n) if size == "norm" else tb.LeastSquares(F, np.zeros(n)))
        tasks.append(ref.level(growth.size, F, 0.0, **model_set))
    found = chain(tasks)
    domain = tb.Polyhedron(A_eq=S, b_eq=np.zeros(S.shape[0]), bounds=list(zip(low, high, strict=True)))
    return Family(f"flux balance, {size}", tuple(levels), domain, tuple(r.value for r in found),
                      tuple(r.error for r in found))  # fmt: skip
