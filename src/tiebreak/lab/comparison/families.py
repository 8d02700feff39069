"""The problem families of the comparison. Their answers are formulas: no solver of this library had a part in them.

Either the answer has a closed form, or it is planted: a point is chosen first, and then data for which the optimality
conditions of both levels hold there (``planted.py``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from ...arrays import Vector
from ...objectives import Function, LeastSquares, Linear, Logistic, Quadratic, SquaredNorm
from ...problem import Problem
from ...sets import Box, L2Ball, Polyhedron, Simplex


@dataclass(frozen=True)
class Family:
    """A problem with its answer."""

    title: str
    problem: Problem
    x_star: Vector
    g_star: float

    @cached_property
    def f_star(self) -> float:
        """The optimal value of the upper level."""
        return self.problem.upper.value(self.x_star)

    @cached_property
    def x0(self) -> Vector:
        """Where all methods start: the point of Z nearest to 0."""
        return self.problem.domain.project(np.zeros(self.problem.dim))

    @cached_property
    def units(self) -> tuple[float, float]:
        """The sizes of both gaps at the start; no gap is counted in anything else."""
        return abs(self.problem.upper.value(self.x0) - self.f_star), self.problem.lower.value(self.x0) - self.g_star

    def gaps(self, x: Vector) -> tuple[float, float]:
        """f(x) - f* and g(x) - g*, in their units."""
        f_unit, g_unit = self.units
        return (
            (self.problem.upper.value(x) - self.f_star) / f_unit,
            (self.problem.lower.value(x) - self.g_star) / g_unit,
        )


def least_norm(n: int = 40, d: int = 100) -> Family:
    """The pseudo-inverse, around a point p: from 0, methods that only follow grad g would end at the least norm."""
    rng = np.random.default_rng(1)
    A, b, p = rng.standard_normal((n, d)), rng.standard_normal(n), 0.1 * rng.standard_normal(d)
    x = p + np.linalg.pinv(A) @ (b - A @ p)
    return Family(
        "nearest to a point among the solutions of 40 equations, Euclidean ball",
        Problem(SquaredNorm(p), LeastSquares(A, b), L2Ball(2 * float(np.linalg.norm(x)))), x, 0.0,
    )  # fmt: skip


def ill_posed(n: int = 60, d: int = 80) -> Family:
    """Singular values 1/i, and components i^-0.6 of x* - p along their vectors."""
    rng, i = np.random.default_rng(2), np.arange(1, n + 1)
    V = np.linalg.qr(rng.standard_normal((d, d)))[0][:n]
    A, p = V / i[:, None], 0.2 * rng.standard_normal(d)
    x = p + V.T @ i**-0.6
    return Family(
        "the same with singular values 1/i",
        Problem(SquaredNorm(p), LeastSquares(A, A @ x), L2Ball(2 * float(np.linalg.norm(x)))), x, 0.0,
    )  # fmt: skip


def logistic(n: int = 20, d: int = 50) -> Family:
    """Each row comes with p labels +1 and q labels -1, so that its best score is log(p / q)."""
    rng = np.random.default_rng(3)
    rows, centre = rng.standard_normal((n, d)), 0.3 * rng.standard_normal(d)
    p = rng.integers(1, 4, n)
    q = np.where(p == 1, 2, p - 1)
    score = np.log(p / q)
    x = centre + np.linalg.pinv(rows) @ (score - rows @ centre)
    labels = np.concatenate([np.repeat([1.0, -1.0], pair) for pair in zip(p, q, strict=True)])
    loss = float(np.sum(p * np.log1p(q / p) + q * np.log1p(p / q))) / labels.size
    domain = L2Ball(2 * float(np.linalg.norm(x)))
    return Family(
        "nearest to a point among the minimisers of a logistic loss, Euclidean ball",
        Problem(SquaredNorm(centre), Logistic(np.repeat(rows, p + q, axis=0), labels), domain), x, loss,
    )  # fmt: skip


def weak_sharp(d: int = 200) -> Family:
    """A linear lower level over the simplex with ties: the answer is a projection onto one of its faces."""
    rng = np.random.default_rng(4)
    cost, p = rng.integers(0, 3, d).astype(float), rng.uniform(0, 0.2, d)
    tied = cost == 0
    x = np.zeros(d)
    x[tied] = _onto_simplex(p[tied])
    return Family("linear lower level with ties, simplex", Problem(SquaredNorm(p), Linear(cost), Simplex()), x, 0.0)


def _onto_simplex(v: Vector) -> Vector:
    u = np.sort(v)[::-1]
    excess = (np.cumsum(u) - 1) / np.arange(1, v.size + 1)
    nearest: Vector = np.maximum(v - excess[np.flatnonzero(u > excess)[-1]], 0)
    return nearest


def holder(r: int, d: int = 20) -> Family:
    """g grows like the distance to its minimisers to the power r; separable, so the answer is a clipped point."""
    rng = np.random.default_rng([5, r])
    p, u = rng.uniform(-0.5, 2, d), rng.uniform(-0.5, 0.5, d)
    if r == 1:
        cost = np.where(np.arange(d) < d // 2, -rng.uniform(0.5, 2, d), 0.0)
        tied = cost == 0
        x, lower, g_star = np.where(tied, np.clip(p, -1, 1), 1.0), Linear(cost), float(cost.sum())
        return Family("g of Hölder order 1 (linear), box", Problem(SquaredNorm(p), lower, Box(-1.0, 1.0)), x, g_star)
    bend = r * (r - 1) * float(np.max(1 + u)) ** (r - 2)
    power = Function(
        lambda x: float(np.sum(np.maximum(u - x, 0) ** r)),
        lambda x: -r * np.maximum(u - x, 0) ** (r - 1),
        dim=d, convex=True, smoothness=bend,
    )  # fmt: skip
    x = np.clip(-p, u, 1.0)  # the points x >= u minimise g
    return Family(f"g of Hölder order {r}, box", Problem(SquaredNorm(-p), power, Box(-1.0, 1.0)), x, 0.0)


def nonconvex(n: int = 20, d: int = 60) -> Family:
    """An indefinite quadratic upper level that is strictly convex on {Ax = b}: one stationary point there, planted."""
    rng = np.random.default_rng(6)
    A = rng.standard_normal((n, d))
    Q = np.linalg.qr(A.T, mode="complete")[0]
    across, along = Q[:, :n], Q[:, n:]
    mixed = across @ rng.uniform(-0.3, 0.3, (n, d - n)) @ along.T
    H = along * rng.uniform(0.5, 2, d - n) @ along.T - 0.5 * across @ across.T + mixed + mixed.T
    x = rng.standard_normal(d)
    q = A.T @ (0.1 * rng.standard_normal(n)) - H @ x
    domain = L2Ball(2 * float(np.linalg.norm(x)))
    return Family("nonconvex quadratic upper level", Problem(Quadratic(H, q), LeastSquares(A, A @ x), domain), x, 0.0)


def knapsack(d: int = 1000) -> Family:
    """The point nearest to p among those of the unit box whose coordinates sum to 10: p shifted and clipped."""
    from scipy.optimize import brentq

    p = np.random.default_rng(7).normal(size=d)
    shift = brentq(lambda mu: np.clip(p - mu, 0, 1).sum() - 10, p.min() - 1, p.max(), xtol=1e-15)
    lower = LeastSquares(np.full((1, d), 0.1), [1.0])
    x = np.clip(p - shift, 0, 1)
    return Family("one equation, 1000 variables, box", Problem(SquaredNorm(p), lower, Box(0.0, 1.0)), x, 0.0)


def toy() -> Family:
    """The toy problem of the CG-BiO paper."""
    domain = Polyhedron([[1.0, 1.0], [4.0, 6.0]], [1.0, 5.0], bounds=[(0, None), (0, None)])
    upper = Quadratic([[1.0, 0.0], [0.0, 0.0]], [-0.5, 0.1])
    problem = Problem(upper, Linear([-1.0, -1.0]), domain)
    return Family("the toy problem of the CG-BiO paper, polyhedron", problem, np.array([0.6, 0.4]), -1.0)


def _planted(name: str) -> Callable[[], Family]:
    def make() -> Family:
        from . import planted

        made: Family = getattr(planted, name)()
        return made

    return make


FAMILIES: dict[str, Callable[[], Family]] = {
    "least-norm": least_norm,
    "ill-posed": ill_posed,
    "regression": _planted("regression"),
    "sparse": _planted("sparse_regression"),
    "robust": _planted("robust"),
    "logistic": logistic,
    "finite-sum": _planted("finite_sum"),
    "weak-sharp": weak_sharp,
    **{f"hoelder-{r}": partial(holder, r) for r in (1, 2, 3, 4)},
    "portfolio": _planted("portfolio"),
    "knapsack": knapsack,
    "completion": _planted("completion"),
    "spectral": _planted("spectral"),
    "nonconvex": nonconvex,
    "toy": toy,
}
"""What each family is made by. A family with composite objectives is one more function that returns a ``Family``."""

ADDED: dict[str, Callable[[], Family]] = {}
"""Those that are not the library's own; workers are told of them."""


def register(name: str, make: Callable[[], Family]) -> None:
    """Add a family of one's own to the comparison, by a name that is free.

    Its answer is held to what can be proved: x* lies in Z, g there is g*, and neither contradicts a bound of ``solve``.

    Parameters
    ----------
    name : str
        As in ``tiebreak bench methods --families``.
    make : callable
        A function of a module, which other processes can import; it makes the same ``Family`` whenever it is called.

    Examples
    --------
    >>> import numpy as np, tiebreak as tb
    >>> def on_a_line():
    ...     problem = tb.Problem(tb.SquaredNorm(), tb.LeastSquares([[1.0, 1.0]], [1.0]), tb.L1Ball(2.0))
    ...     return Family("nearest point of a line", problem, np.array([0.5, 0.5]), 0.0)
    >>> register("line", on_a_line)
    >>> del FAMILIES["line"], ADDED["line"]
    """
    if not isinstance(name, str) or not name.replace("-", "").isalnum():
        raise ValueError(f"name must be of letters, digits and hyphens, got {name!r}")
    if name in FAMILIES and ADDED.get(name) is not make:
        raise ValueError(f"there is a family {name!r} already: choose another name")
    family = make()
    if not isinstance(family, Family):
        raise TypeError(f"make must return a tiebreak.lab.comparison.families.Family, got {type(family).__name__}")
    if why := contradiction(family):
        raise ValueError(f"the answer of {name!r} is none: {why}")
    FAMILIES[name] = ADDED[name] = make


def contradiction(family: Family, seconds: float = 5.0) -> str:
    """What is known to be wrong with the answer of a family; empty where nothing is."""
    from ...solve import solve

    problem, x = family.problem, family.x_star
    f, g = family.f_star, problem.lower.value(x)
    near = 1e-7 * (1 + abs(family.g_star))
    if not problem.domain.contains(x, 1e-7 * (1 + float(np.linalg.norm(x)))):
        return "x_star does not lie in the domain"
    if not abs(g - family.g_star) <= near:
        return f"g at x_star is {g:.9g}, and g_star is {family.g_star:.9g}"
    found = solve(problem, max_time=seconds)
    known = found.certificate
    if not known.g_lower - near <= family.g_star <= known.g_upper + near:
        return (
            f"g_star is {family.g_star:.9g}, and proved is a value between {known.g_lower:.9g} and {known.g_upper:.9g}"
        )
    near = 1e-7 * (1 + abs(f))
    if not known.f_lower - near <= f <= known.f_upper + near:
        return f"f at x_star is {f:.9g}, and proved is a value between {known.f_lower:.9g} and {known.f_upper:.9g}"
    if min(family.units) <= 0:
        return "both gaps must be positive at the start, the point of the domain nearest to 0"
    return ""
