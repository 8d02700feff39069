"""The examples solved a second time, by CVXPY or on paper, from data read by other code: (f*, g*) for each file.

Where the lower level can be met exactly, g* = 0 and its solutions are {x in Z : A x = b}; where it is linear they
are {x in Z : <c, x> = g*}. So no reference needs a row g(x) <= g* + tiny.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cvxpy as cp
import numpy as np
import pandas as pd
from scipy import sparse
from scipy.optimize import linear_sum_assignment, linprog, minimize, minimize_scalar
from scipy.special import logsumexp, softmax

DATA = Path(__file__).resolve().parent.parent.parent / "examples" / "data"
ACCURATE = {"solver": cp.CLARABEL, "tol_gap_abs": 1e-11, "tol_gap_rel": 1e-11, "tol_feas": 1e-11}

Reference = tuple[float, float]


def smallest(objective: cp.Expression, constraints: list[cp.Constraint]) -> float:
    problem = cp.Problem(cp.Minimize(objective), constraints)
    problem.solve(**ACCURATE)
    assert problem.status == cp.OPTIMAL
    return float(problem.value)


def houses() -> tuple[np.ndarray, ...]:
    train, validation = (pd.read_csv(DATA / f"houses_{name}.csv") for name in ("train", "validation"))
    split = [(table.drop(columns="price").to_numpy(), table["price"].to_numpy()) for table in (train, validation)]
    return (*split[0], *split[1])


def regression() -> Reference:
    A, b, A_val, b_val = houses()
    x = cp.Variable(20)
    return smallest(cp.sum_squares(A_val @ x - b_val) / 30, [A @ x == b, cp.norm1(x) <= 4]), 0.0


def robust() -> Reference:
    A, b, A_val, b_val = houses()
    x = cp.Variable(20)
    loss = cp.sum(cp.huber(A_val @ x - b_val, 0.5)) / 2  # CVXPY's is r^2 near zero
    return smallest(loss, [A @ x == b, cp.abs(x) <= 1, cp.norm1(x) <= 5]), 0.0


def portfolio() -> Reference:
    excess, fees = pd.read_csv(DATA / "fund_excess.csv").to_numpy(), pd.read_csv(DATA / "fund_fees.csv")["fee"]
    rows, right = np.vstack([excess, np.ones(10)]), [0.0] * 5 + [1.0]
    return float(linprog(fees.to_numpy(), A_eq=rows, b_eq=right, bounds=(0, None)).fun), 0.0


def fluxes() -> Reference:
    """On paper: growth 10 needs all the sugar; split_1 = split_2 = 5 are shortest, make_B is at its bound 8."""
    return 0.5 * float(np.sum(np.square([10.0, 5, 5, 12, 8, 2, 0, 10]))), -10.0


def shifts() -> Reference:
    limits, x = pd.read_csv(DATA / "shift_limits.csv"), cp.Variable(14)
    constraints = [cp.sum(x[:7]) == 40, cp.sum(x[7:]) == 45, x >= limits["least"], x <= limits["most"]]
    return smallest(cp.sum_squares(cp.diff(x)), constraints), 0.0


def assignment() -> Reference:
    costs = pd.read_csv(DATA / "task_costs.csv").drop(columns="person").to_numpy()
    best = float(costs[linear_sum_assignment(costs)].sum())
    X = cp.Variable((5, 5), nonneg=True)
    doubly = [cp.sum(X, axis=0) == 1, cp.sum(X, axis=1) == 1]
    return smallest(cp.sum_squares(X) / 2, [*doubly, cp.sum(cp.multiply(costs, X)) == best]), best


def fairness() -> Reference:
    """The fit depends on x1 + x2 and x3 alone: smooth minimisation in two variables, then a search along the line."""
    train, audit = (pd.read_csv(DATA / f"patients_{name}.csv") for name in ("train", "audit"))
    A, signs = train[["test_1", "age"]].to_numpy(), 2 * train["ill"].to_numpy() - 1
    assert (train["test_1"] == train["test_2"]).all()
    fit = minimize(lambda w: np.mean(np.logaddexp(0, -signs * (A @ w))), np.zeros(2), method="BFGS", tol=1e-10)
    B, v = audit[["test_1", "test_2", "age"]].to_numpy(), audit["group"].to_numpy()

    def covariance(share: float) -> float:
        x = np.array([share, fit.x[0] - share, fit.x[1]])
        return float(np.mean((v - v.mean()) / (1 + np.exp(-B @ x))) ** 2)

    reach = np.linspace(-3, 3, 61)  # all within the ball
    found = [minimize_scalar(covariance, bounds=(low, low + 0.1), method="bounded").fun for low in reach]
    return min(found), float(fit.fun)


def speakers() -> Reference:
    with np.load(DATA / "speakers.npz") as data:
        A, b = data["response"], data["wanted"]
    x, dear = cp.Variable(8), np.repeat([0.0, 0.3], 4)
    return smallest(cp.sum_squares(x) / 4 + dear @ x, [A @ x == b, cp.pnorm(x, 3) <= 1.65]), 0.0


def genes() -> Reference:
    with np.load(DATA / "genes.npz") as data:
        A, A_val = data["fit"], data["validate"]
    b, b_val = (pd.read_csv(DATA / f"genes_{name}.csv")["response"].to_numpy() for name in ("fit", "validate"))
    x = cp.Variable(12)
    norm = sum(cp.norm(x[i : i + 3]) for i in range(0, 12, 3))
    return smallest(cp.sum_squares(A_val @ x - b_val) / 20, [A @ x == b, norm <= 2]), 0.0


def ratings() -> Reference:
    known = sparse.load_npz(DATA / "ratings_known.npz").indices
    b, X = pd.read_csv(DATA / "ratings.csv")["rating"].to_numpy(), cp.Variable((5, 6))
    entries = cp.hstack([X[i // 6, i % 6] for i in known])
    return smallest(cp.sum_squares(X - 2.5) / 2, [entries == b, cp.normNuc(X) <= 16]), 0.0


def state() -> Reference:
    X, Z, one = np.array([[0.0, 1], [1, 0]]), np.diag([1.0, -1]), np.eye(2)
    rho = cp.Variable((4, 4), PSD=True)
    means = [(np.kron(Z, one), 0.6), (np.kron(one, Z), -0.2), (np.kron(X, X), 0.3)]
    measured = [cp.trace(operator @ rho) == mean for operator, mean in means]
    return smallest(cp.sum_squares(rho) / 2, [cp.trace(rho) == 1, *measured]), 0.0


def plan() -> Reference:
    make, energy = cp.Variable((2, 3)), cp.Variable(3, nonneg=True)
    meets = [cp.sum(make, axis=0) == [5, 4, 3], cp.sum(make) == np.array([8, 13, 16]) @ energy]
    cost = cp.sum_squares(cp.sum(make, axis=1)) / 20 + np.array([1, 2, 4]) @ energy
    return smallest(cost, [*meets, make >= 0, make <= 4, cp.sum(energy) == 1]), 0.0


def spectra() -> Reference:
    with np.load(DATA / "spectra.npz") as data:
        colours, seen = data["A"][::3, ::3], data["b"].reshape(2, 3)
    shares = cp.Variable((4, 3), nonneg=True)
    return smallest(cp.sum_squares(shares) / 2, [colours @ shares == seen, cp.sum(shares, axis=0) == 1]), 0.0


def leaks() -> Reference:
    """The leaks are not negative, so that the norm is linear on the box."""
    with np.load(DATA / "leaks.npz") as data:
        effect, pressure, unlikely = data["effect"], data["pressure"], data["unlikely"]
    return float(linprog(unlikely, A_eq=effect, b_eq=pressure, bounds=(0, 5)).fun), 0.0


def pathways() -> Reference:
    with np.load(DATA / "genes.npz") as data:
        A = data["fit"]
    b, x = pd.read_csv(DATA / "genes_fit.csv")["response"].to_numpy(), cp.Variable(12)
    groups = pd.read_csv(DATA / "genes_pathways.csv").groupby("pathway").indices.values()
    return smallest(sum(cp.norm(x[group]) for group in groups), [A @ x == b, cp.norm(x) <= 3]), 0.0


def written(name: str) -> dict[str, Any]:
    """What a file holds in place."""
    return tomllib.loads((DATA.parent / f"{name}.toml").read_text())


def visits() -> Reference:
    """Four rates and six habits: every count is met, exp(Ax) = y."""
    lower, x = written("visits")["lower"], cp.Variable(6)
    y = np.array(lower["y"], dtype=float)
    best = smallest(cp.sum_squares(x) / 2, [np.array(lower["A"]) @ x == np.log(y), cp.norm1(x) <= 8])
    return best, float(np.mean(y - y * np.log(y)))


def masts() -> Reference:
    """On paper: the nearest points of both disks lie outside the other one, so it is where the circles meet."""
    x = 45 / 12
    return ((x - 3) ** 2 + (np.sqrt(25 - x**2) - 6) ** 2) / 2, 0.0


def margins() -> Reference:
    """The support vector machine with a hard margin."""
    lower, x = written("margins")["lower"], cp.Variable(3)
    signs = 2 * np.array(lower["y"]) - 1
    return smallest(cp.sum_squares(x[:2]) / 2, [cp.multiply(signs, np.array(lower["A"]) @ x) >= 1]), 0.0


def flowers() -> Reference:
    """The likelihood depends on differences of kinds alone: the third is set to zero, and the mean taken away after."""
    lower = written("flowers")["lower"]
    A, y = np.array(lower["A"]), np.array(lower["y"])

    def loss(w: np.ndarray) -> tuple[float, np.ndarray]:
        scores = A @ np.column_stack([w.reshape(2, 2), np.zeros(2)])
        slope = softmax(scores, axis=1) - np.eye(3)[y]
        value = np.mean(logsumexp(scores, axis=1) - scores[np.arange(y.size), y])
        return float(value), (A.T @ slope / y.size)[:, :2].ravel()

    fit = minimize(loss, np.zeros(4), jac=True, method="BFGS", options={"gtol": 1e-12})
    X = np.column_stack([fit.x.reshape(2, 2), np.zeros(2)])
    X -= X.mean(axis=1, keepdims=True)
    assert np.linalg.norm(X) < 20
    return float(np.sum(X**2) / 2), float(fit.fun)


def loads() -> Reference:
    """On paper: all machines end together, after 22/7 hours, and the cheaper half of the third does its share."""
    return 19.5, 22 / 7


def bids() -> Reference:
    """On paper: the medians are [2, 4] and [10, 12]."""
    return 0.5, 25.0


def sensors() -> Reference:
    """On paper: the first and last see the same, 5 and 6 with weights 1 and 2; the others can be met."""
    lower, x = written("sensors")["lower"], cp.Variable(7)
    rows, w = np.array(lower["A"])[:3], np.array([1.0, 1, 2, 2, 1, 1, 0])
    return smallest(cp.sum(cp.multiply(w, cp.square(x))) / 2, [rows @ x == [17 / 3, 7.5, 3.0], cp.abs(x) <= 20]), 1 / 3


def survey() -> Reference:
    """The pseudo-inverse, from the old map on."""
    ends, map_ = ((0, 1), (1, 2), (2, 3), (3, 0), (0, 2)), np.array([312.0, 318.5, 305.0, 309.5])
    A, b = np.array([np.eye(4)[j] - np.eye(4)[i] for i, j in ends]), np.array([6.25, -13.0, 4.5, 2.5, -6.5])
    x = map_ + np.linalg.pinv(A) @ (b - A @ map_)
    return float(np.sum((x - map_) ** 2)) / 2, float(np.sum((A @ x - b) ** 2)) / 2


def dictionary_gap(x: np.ndarray) -> float:
    """The Frank-Wolfe gap of f at x over the lower solutions: the two old atoms are fixed, the rest is free."""
    with np.load(DATA / "dictionary.npz") as data:
        old, codes, new = data["old"], data["codes"], data["new"]
    D, X = x[:12].reshape(4, 3), x[12:].reshape(3, 5)
    atoms = np.linalg.lstsq(codes.T, old.T, rcond=None)[0].T
    residual = D @ X - new
    of_D, of_X = residual @ X.T, D.T @ residual
    best = np.vdot(of_D[:, :2], atoms) - np.linalg.norm(of_D[:, 2]) - 2 * np.abs(of_X).max(axis=0).sum()
    return float(np.vdot(of_D, D) + np.vdot(of_X, X) - best)


REFERENCES: dict[str, Callable[[], Reference]] = {
    function.__name__: function
    for function in (
        regression, robust, portfolio, fluxes, shifts, assignment, fairness, speakers, genes, ratings, state, plan,
        spectra, leaks, pathways, visits, margins, masts, flowers, loads, bids, sensors, survey,
    )
}  # fmt: skip
REFERENCES["dictionary"] = lambda: (0.0, 0.0)  # the data is made of three such atoms
GAPS = {"dictionary": dictionary_gap}  # of upper levels that are not convex
REFERENCES["toy"] = lambda: (-0.08, -1.0)  # on paper, in the paper
