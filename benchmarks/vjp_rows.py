"""Chains over polyhedra for ``vjp.py``, with their answers in fractions: code that shares nothing with the library."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

import tiebreak as tb
from auditing.rational import ONE, ZERO, Polyhedron, Quadratic, chain
from vjp_case import Case

Array = Any


def exact(one: Any) -> Array:
    """An array of fractions."""
    return np.vectorize(Fraction, otypes=[object])(np.asarray(one, dtype=object))


def squares(A: Array, b: Array, weights: Array | None = None) -> Quadratic:
    """1/2 sum of w (Ax - b)^2."""
    W = A if weights is None else weights[:, None] * A
    return Quadratic((A.T @ W).tolist(), (-(W.T @ b)).tolist())


def near(center: Array, weights: Array | None = None) -> Quadratic:
    """Half the weighted squared distance to a point."""
    return squares(exact(np.eye(len(center))), center, weights)


def linear(c: Array) -> Quadratic:
    """<c, x>."""
    return Quadratic([[ZERO] * len(c)] * len(c), list(c))


def widened(level: Quadratic, into: Array) -> Quadratic:
    """The level at ``into`` times further variables."""
    Q, q = np.array(level.Q, dtype=object), np.array(level.q, dtype=object)
    return Quadratic((into.T @ Q @ into).tolist(), (into.T @ q).tolist())


def between(dim: int, lower: Array, upper: Array, below: Array = (), ends: Array = ()) -> Polyhedron:
    """Bounds and rows."""
    eye = exact(np.eye(dim))
    rows = [(list(eye[i]), upper[i]) for i in range(dim)] + [(list(-eye[i]), -lower[i]) for i in range(dim)]
    return Polyhedron(dim, rows + [(list(row), end) for row, end in zip(below, ends, strict=True)])


def answer(levels: list[Quadratic], where: Polyhedron) -> Array:
    """x."""
    return np.array(chain(levels, where)[1], dtype=object)


def cases(count: int, first: int = 0) -> Iterator[Case]:
    """So many of each kind."""
    for seed in range(first, first + count):
        rng = np.random.default_rng(seed)
        yield from (kind(rng) for kind in (tied, boxed, matrices, columns, absolute, worst, priced, within, shared))


def tied(rng: np.random.Generator) -> Case:
    """A linear level that ties, then least squares, then the nearest to a point."""
    n = 6
    cost = -np.r_[np.ones(4), np.zeros(n - 4)]
    R = np.vstack([-cost, rng.uniform(0, 1, size=n)])
    A = rng.normal(size=(2, n))

    def make(ends: Any, A: Any, b: Any, center: Any) -> tb.Problem:
        Z = tb.Polyhedron(A_ub=R, b_ub=ends, bounds=(0, 1))
        return tb.Problem(tb.SquaredNorm(center), [tb.Linear(cost), tb.LeastSquares(A, b)], Z)

    def truth(ends: Array, A: Array, b: Array, center: Array) -> Array:
        where = between(n, exact(np.zeros(n)), exact(np.ones(n)), exact(R), ends)
        return answer([linear(exact(cost)), squares(A, b), near(center)], where)

    b = A @ np.r_[rng.dirichlet(np.ones(4)) * 2.2, rng.uniform(0.2, 0.5, size=2)]
    data = {("domain", "high"): np.array([2.5, 3.0]), (1, "A"): A, (1, "b"): b, (2, "center"): rng.normal(size=n)}
    return Case("rows", make, data, truth, exact)


def boxed(rng: np.random.Generator) -> Case:
    """Wide least squares, then a weighted distance, in a box."""
    n = 6

    def make(A: Any, b: Any, center: Any, weights: Any, upper: Any) -> tb.Problem:
        return tb.Problem(tb.SquaredNorm(center, weights=weights), tb.LeastSquares(A, b), tb.Box(-0.6, upper))

    def truth(A: Array, b: Array, center: Array, weights: Array, upper: Array) -> Array:
        return answer([squares(A, b), near(center, weights)], between(n, exact(np.full(n, -0.6)), upper))

    A = rng.normal(size=(3, n))
    level = {(0, "A"): A, (0, "b"): A @ rng.uniform(-0.4, 0.4, size=n), (1, "center"): rng.normal(size=n)}
    return Case(
        "rows", make, level | {(1, "weights"): rng.uniform(0.5, 2, size=n), ("domain", "upper"): np.full(n, 0.6)},
        truth, exact,
    )  # fmt: skip


def matrices(rng: np.random.Generator) -> Case:
    """Least squares with few rows, then a quadratic, under rows that are data themselves."""
    n = 5
    R, A = rng.uniform(0, 1, size=(3, n)), rng.normal(size=(1, n))
    half = rng.normal(size=(n, n))
    ends = R @ rng.uniform(-0.3, 0.3, size=n)

    def make(R: Any, ends: Any, A: Any, b: Any, Q: Any, q: Any) -> tb.Problem:
        Z = tb.Polyhedron(A_ub=R, b_ub=ends, bounds=(-2, 2))
        return tb.Problem(tb.Quadratic((Q + Q.T) / 2, q), tb.LeastSquares(A, b), Z)

    def truth(R: Array, ends: Array, A: Array, b: Array, Q: Array, q: Array) -> Array:
        upper = Quadratic(((Q + Q.T) / 2).tolist(), list(q))
        return answer([squares(A, b), upper], between(n, exact(np.full(n, -2)), exact(np.full(n, 2)), R, ends))

    level = {("domain", "A"): R, ("domain", "high"): ends, (0, "A"): A, (0, "b"): A @ rng.uniform(-1, 1, size=n)}
    more = {(1, "Q"): half @ half.T / n + np.eye(n), (1, "q"): rng.normal(size=n)}
    return Case("rows", make, level | more, truth, exact)


def columns(rng: np.random.Generator) -> Case:
    """Two levels of least squares over an l1 ball or a simplex."""
    n, signed = 6, bool(rng.integers(2))
    inside = rng.dirichlet(np.ones(n))
    A = rng.normal(size=(2, n))

    def make(A: Any, b: Any, B: Any, d: Any, radius: Any) -> tb.Problem:
        Z = tb.L1Ball(float(radius[0])) if signed else tb.Simplex(float(radius[0]))
        return tb.Problem(tb.LeastSquares(B, d), tb.LeastSquares(A, b), Z)

    def truth(A: Array, b: Array, B: Array, d: Array, radius: Array) -> Array:
        into = exact(np.hstack([np.eye(n), -np.eye(n)]) if signed else np.eye(n))
        m = into.shape[1]
        below = [(list(row), ZERO) for row in exact(-np.eye(m))]
        total = [([ONE] * m, radius[0])]
        where = Polyhedron(m, below + (total if signed else []), [] if signed else total)
        return into @ answer([widened(squares(A, b), into), widened(squares(B, d), into)], where)

    level = {(0, "A"): A, (0, "b"): A @ inside, (1, "A"): rng.normal(size=(9, n)), (1, "b"): rng.normal(size=9)}
    return Case("columns", make, level | {("domain", "high"): np.ones(1)}, truth, exact)


def absolute(rng: np.random.Generator) -> Case:
    """Least squares, then a weighted l1 norm with a square of some entries, in a box of both signs."""
    n = 6
    A, w = rng.normal(size=(3, n)), rng.uniform(0.5, 1.5, size=n)

    def make(A: Any, b: Any, w: Any, center: Any) -> tb.Problem:
        levels = [tb.LeastSquares(A, b), tb.L1Norm(w) + tb.SquaredNorm(center)]
        return tb.Problem(levels[1], levels[:1], tb.Box(-3, 3))

    def truth(A: Array, b: Array, w: Array, center: Array) -> Array:
        into = exact(np.hstack([np.eye(n), -np.eye(n)]))
        where = between(2 * n, exact(np.zeros(2 * n)), exact(np.full(2 * n, 9)), *_both(into, 3))
        last = widened(near(center), into)
        last.q = [q + c for q, c in zip(last.q, [*w, *w], strict=True)]
        return into @ answer([widened(squares(A, b), into), last], where)

    sparse = np.where(rng.uniform(size=n) < 0.5, 0.0, rng.normal(size=n))
    data = {(0, "A"): A, (0, "b"): A @ sparse, (1, "0.weights"): w, (1, "1.center"): 0.5 * rng.normal(size=n)}
    return Case("norms", make, data, truth, exact)


def worst(rng: np.random.Generator) -> Case:
    """The least largest residual with absolute residuals beside it, then the nearest to a point."""
    n = 4
    says = np.append(np.ones(n - 1), rng.integers(2))  # or leaves one variable open
    A, B = rng.normal(size=(3, n)) * says, rng.normal(size=(2, n)) * says

    def make(A: Any, b: Any, B: Any, d: Any, w: Any, center: Any) -> tb.Problem:
        level = tb.MaxAffine(A, b) + tb.L1Norm(w, A=B, b=d)
        return tb.Problem(tb.SquaredNorm(center), level, tb.Box(-1, 1))

    def truth(A: Array, b: Array, B: Array, d: Array, w: Array, center: Array) -> Array:
        into = exact(np.hstack([np.eye(n), np.zeros((n, 3))]))
        tops = exact(np.vstack([np.eye(3)[[0, 0, 0]], np.eye(3)[[1, 2, 1, 2]]]))
        below = np.hstack([np.vstack([A, B, -B]), -tops])
        far = exact(np.r_[np.ones(n), np.full(3, 99)])
        where = between(n + 3, -far, far, below, [*b, *d, *(-d)])
        return into @ answer([linear([*[ZERO] * n, ONE, *w]), widened(near(center), into)], where)

    data = {(0, "0.A"): A, (0, "0.b"): rng.normal(size=3), (0, "1.A"): B, (0, "1.b"): rng.normal(size=2)}
    more = {(0, "1.weights"): rng.uniform(0.1, 0.4, size=2), (1, "center"): rng.normal(size=n)}
    return Case("norms", make, data | more, truth, exact)


def priced(rng: np.random.Generator) -> Case:
    """Linear residuals of a fit, least in sum, then the least l1 norm, then squares: two levels of norms."""
    n = 5
    A = rng.normal(size=(2, n))

    def make(A: Any, b: Any, center: Any) -> tb.Problem:
        return tb.Problem(tb.SquaredNorm(center), [tb.L1Norm(A=A, b=b), tb.L1Norm()], tb.Box(-3, 3))

    def truth(A: Array, b: Array, center: Array) -> Array:
        into = exact(np.hstack([np.eye(n), -np.eye(n), np.zeros((n, 2))]))
        tops = exact(np.hstack([np.zeros((2, 2 * n)), np.eye(2)]))
        rows, ends = _both(into, 3)
        low = exact(np.zeros(2 * n + 2))
        below = np.vstack([rows, A @ into - tops, -A @ into - tops])
        where = between(2 * n + 2, low, low + 99, below, [*ends, *b, *(-b)])
        sums = [linear([ZERO] * (2 * n) + [ONE] * 2), linear([ONE] * (2 * n) + [ZERO] * 2)]
        return into @ answer([*sums, widened(near(center), into)], where)

    data = {(0, "A"): A, (0, "b"): A @ rng.uniform(-1, 1, size=n), (2, "center"): rng.normal(size=n)}
    return Case("norms", make, data, truth, exact)


def _both(into: Array, most: float) -> tuple[Array, list[Any]]:
    """|x| <= most, for x by its parts."""
    return np.vstack([into, -into]), [Fraction(most)] * (2 * into.shape[0])


def within(rng: np.random.Generator) -> Case:
    """A cost with slack, then least squares, then the nearest to a point."""
    n = 5
    R, A = rng.uniform(0.2, 1, size=(2, n)), rng.normal(size=(1, n))

    def make(cost: Any, slack: Any, ends: Any, R: Any, b: Any, center: Any) -> tb.Problem:
        Z = tb.Polyhedron(A_ub=-R, b_ub=-ends, bounds=(0, 2))
        levels = [tb.Linear(cost), tb.LeastSquares(A, b)]
        return tb.Problem(tb.SquaredNorm(center), levels, Z, slack=[float(slack[0]), 0.0])

    def truth(cost: Array, slack: Array, ends: Array, R: Array, b: Array, center: Array) -> Array:
        bounds = exact(np.zeros(n)), exact(np.full(n, 2))
        least = chain([linear(cost)], between(n, *bounds, -R, -ends))[0][0]
        where = between(n, *bounds, np.vstack([-R, cost]), [*(-ends), least + slack[0]])
        return answer([squares(exact(A), b), near(center)], where)

    data = {(0, "c"): rng.uniform(1, 2, size=n), (0, "slack"): np.array([0.3])}
    more = {("domain", "high"): np.array([1.0, 1.3]), ("domain", "A"): R, (1, "b"): A @ rng.uniform(0, 2, size=n)}
    more |= {(2, "center"): rng.uniform(0, 2, size=n)}
    return Case("slack", make, data | more, truth, exact, signs={("domain", "high"): -1.0, ("domain", "A"): -1.0})


def shared(rng: np.random.Generator) -> Case:
    """A cost of absolute values with a slack that is a share of it, then the nearest to a point."""
    n = 4
    A = rng.normal(size=(2, n))

    def make(A: Any, b: Any, w: Any, share: Any, center: Any) -> tb.Problem:
        Z = tb.Polyhedron(A_eq=A, b_eq=b, bounds=(-5, 5))
        return tb.Problem(tb.SquaredNorm(center), tb.L1Norm(w), Z, relative_slack=float(share[0]))

    def truth(A: Array, b: Array, w: Array, share: Array, center: Array) -> Array:
        into = exact(np.hstack([np.eye(n), -np.eye(n)]))
        low, both = exact(np.zeros(2 * n)), [*w, *w]
        where = between(2 * n, low, low + 9, *_both(into, 5))
        where = where.with_equal([(list(row), end) for row, end in zip(A @ into, b, strict=True)])
        least = chain([linear(both)], where)[0][0]
        where = Polyhedron(2 * n, [*where.below, (both, least * (1 + share[0]))], where.equal)
        return into @ answer([widened(near(center), into)], where)

    data = {("domain", "A"): A, ("domain", "high"): A @ rng.normal(size=n), (0, "weights"): rng.uniform(0.5, 2, n)}
    data |= {(0, "relative_slack"): np.array([0.1]), (1, "center"): rng.normal(size=n)}
    return Case("slack", make, data, truth, exact)
