"""Ties, small multipliers and near-duplicates by columns, against exact rational answers of the data as given."""

from __future__ import annotations

from fractions import Fraction as Q
from itertools import combinations, product

import numpy as np
import pytest

import tiebreak as tb
from tiebreak.engines.columns.dependence import rank_of
from tiebreak.engines.columns.level import Smooth
from tiebreak.engines.columns.linear_face import TIED
from tiebreak.numerics.rank import exact_rank

Row = list[Q]
ULP_APART = [0.1 + 0.2, 0.3, 1.0]
UPPER = tb.LeastSquares([[1.0, 3.0, 0.5]], [0.5])


# -- an exact reference: stationary mixes of every few vertices, in fractions ---------------------------------------


def eliminated(M: list[Row]) -> list[Q] | None:
    """One solution of the equations [A | b], with zeros for what is free; None where there is none."""
    width, pivots, top = len(M[0]) - 1, [], 0
    for column in range(width):
        row = next((i for i in range(top, len(M)) if M[i][column]), None)
        if row is None:
            continue
        M[top], M[row] = M[row], M[top]
        M[top] = [entry / M[top][column] for entry in M[top]]
        for i in range(len(M)):
            if i != top and M[i][column]:
                M[i] = [a - M[i][column] * b for a, b in zip(M[i], M[top], strict=True)]
        pivots.append(column)
        top += 1
    if any(M[i][-1] for i in range(top, len(M))):
        return None
    found = [Q(0)] * width
    for i, column in enumerate(pivots):
        found[column] = M[i][-1]
    return found


class Level:
    """1/2 ||A x - b||^2 + <p, x> at the vertices."""

    def __init__(self, vertices: list[Row], A: np.ndarray, b: np.ndarray, p: np.ndarray) -> None:
        rows, self.b = [[Q(float(a)) for a in row] for row in A], [Q(float(t)) for t in b]
        self.F = [[sum(map(lambda a, x: a * x, row, v), Q(0)) for row in rows] for v in vertices]
        self.p = [sum((Q(float(c)) * x for c, x in zip(p, v, strict=True)), Q(0)) for v in vertices]

    def image(self, S: tuple[int, ...], w: Row) -> Row:
        return [sum((w[k] * self.F[i][r] for k, i in enumerate(S)), Q(0)) for r in range(len(self.b))]

    def value(self, S: tuple[int, ...], w: Row) -> Q:
        square = sum(((t - b) ** 2 for t, b in zip(self.image(S, w), self.b, strict=True)), Q(0))
        return square / 2 + sum((w[k] * self.p[i] for k, i in enumerate(S)), Q(0))

    def stationary(self, S: tuple[int, ...], E: list[Row], e: Row) -> Row | None:
        """Weights of the vertices in S, nonnegative, with E w = e and the gradient in the span of E."""
        equations = []
        for k, i in enumerate(S):
            row = [sum(map(lambda a, c: a * c, self.F[i], self.F[j]), Q(0)) for j in S]
            right = sum(map(lambda a, c: a * c, self.F[i], self.b), Q(0)) - self.p[i]
            equations.append([*row, *(constraint[k] for constraint in E), right])
        for constraint, right in zip(E, e, strict=True):
            equations.append([*constraint, *[Q(0)] * len(E), right])
        found = eliminated(equations)
        return None if found is None or min(found[: len(S)]) < 0 else found[: len(S)]


def truth(vertices: list[Row], lower: Level, upper: Level) -> tuple[Q, Q, bool]:
    """g*, f*, and whether the lower solution is unique."""
    places = range(len(vertices))
    sizes = range(1, min(len(vertices), len(lower.b) + len(upper.b) + 3) + 1)
    subsets = [S for size in sizes for S in combinations(places, size)]
    mixes = [(S, lower.stationary(S, [[Q(1)] * len(S)], [Q(1)])) for S in subsets if len(S) <= len(lower.b) + 2]
    g, S, w = min((lower.value(S, w), S, w) for S, w in mixes if w is not None)
    t = lower.image(S, w)
    price = [
        sum((a * (s - b) for a, s, b in zip(F, t, lower.b, strict=True)), p)
        for F, p in zip(lower.F, lower.p, strict=True)
    ]
    face = [i for i in places if price[i] == min(price)]
    f, points, d = None, set(), len(vertices[0])
    flat = Level(vertices, np.zeros((0, d)), np.zeros(0), np.zeros(d))
    for S in (S for S in subsets if set(S) <= set(face)):
        E = [[Q(1)] * len(S), *([lower.F[i][r] for i in S] for r in range(len(t)))]
        w2 = upper.stationary(S, E, [Q(1), *t])
        if w2 is not None:
            f = upper.value(S, w2) if f is None else min(f, upper.value(S, w2))
        for end in (w2, flat.stationary(S, E, [Q(1), *t])):
            if end is not None:
                mixed = zip(*(vertices[i] for i in S), strict=True)
                points.add(tuple(sum(map(lambda a, x: a * x, end, entries), Q(0)) for entries in mixed))
    assert f is not None
    return g, f, len(points) == 1


def vertices_of(domain: tb.Domain, d: int) -> list[Row]:
    if isinstance(domain, tb.Simplex):
        return [[Q(int(i == j)) for i in range(d)] for j in range(d)]
    k, R = (domain.k, domain.radius) if isinstance(domain, tb.KSparse) else (1, domain.radius)
    return [
        [Q(signs[S.index(i)] * R) if i in S else Q(0) for i in range(d)]
        for S in combinations(range(d), k)
        for signs in product((1, -1), repeat=k)
    ]


KINDS = ("small", "near-duplicates", "decimal", "conditioned")


def made(kind: str, seed: int) -> tuple[list[np.ndarray], list[np.ndarray], tb.Domain]:
    """Data of g and of f, and a set."""
    rng = np.random.default_rng([seed, len(kind)])
    domain = (tb.Simplex(), tb.L1Ball(1.0), tb.KSparse(2, 0.5))[seed % 3]
    d, n = (3 if seed % 3 == 0 else 2), int(rng.integers(1, 3))
    A, b, p = rng.integers(-3, 4, (n, d)) / 1.0, rng.integers(-4, 5, n) / 1.0, np.zeros(d)
    if kind == "small":
        A[:, 1] = A[:, 0]
        p = rng.integers(-2, 3, d) * 10.0 ** rng.integers(-17, -3)
    elif kind == "near-duplicates":
        A[:, 1] = A[:, 0] + 10.0 ** rng.integers(-16, -2) * rng.integers(-2, 3, n)
    elif kind == "decimal":
        A, b, p = (np.round(rng.random(shape), 1) for shape in ((n, d), n, d))
    else:
        A = rng.standard_normal((2, d))
        A[1] = A[0] + 10.0 ** -rng.integers(2, 13) * rng.standard_normal(d)
        b = A @ rng.dirichlet(np.ones(d))
    unit = 2.0 ** rng.integers(-30, 31) if seed % 2 else 1.0
    upper = [rng.integers(-3, 4, (1, d)) * unit, rng.integers(-4, 5, 1) * unit, rng.integers(-2, 3, d) * unit**2]
    return [A * unit, b * unit, p * unit**2], upper, domain


def objective(A: np.ndarray, b: np.ndarray, p: np.ndarray) -> tb.Objective:
    return tb.LeastSquares(A, b) + tb.Linear(p) if p.any() else tb.LeastSquares(A, b)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(8))
def test_brackets_hold_the_exact_answer(kind, seed):
    lower, upper, domain = made(kind, seed)
    vertices = vertices_of(domain, lower[2].size)
    g, f, unique = truth(vertices, Level(vertices, *lower), Level(vertices, *upper))
    c = tb.solve(tb.Problem(objective(*upper), objective(*lower), domain), "exact").certificate
    assert Q(c.g_lower) <= g <= Q(c.g_upper)
    assert c.f_lower == -np.inf or Q(c.f_lower) <= f
    assert c.f_upper == np.inf or f <= Q(c.f_upper)
    assert c.lower_unique in (unique, None)
    assert c.lower_unique is not None or not c.well_posed


# -- ties of linear costs -------------------------------------------------------------------------------------------

SETS = [tb.Simplex(), tb.L1Ball(1.0), tb.KSparse(1, 1.0), tb.L1Ball(2.0, weights=[2.0, 2.0, 2.0])]


@pytest.mark.parametrize("domain", SETS, ids=str)
def test_costs_one_unit_apart_are_told_and_doubted(domain):
    """0.1 + 0.2 is more than 0.3: costs are taken as they are, and the answer with the tie is in the bracket too."""
    sign = 1.0 if isinstance(domain, tb.Simplex) else -1.0  # a ball turns to the largest entry
    costs = np.array(ULP_APART) if sign > 0 else np.array([0.1 + 0.2, 0.3, 0.1])
    least = 1 if sign > 0 else 0
    vertex = np.zeros(3)
    vertex[least] = sign
    tie = min(UPPER.value(sign * np.array([w, 1 - w, 0.0])) for w in np.linspace(0, 1, 2001))
    result = tb.solve(tb.Problem(UPPER, tb.Linear(costs), domain), "exact")
    c = result.certificate
    assert c.f_lower <= min(tie, UPPER.value(vertex)) + 1e-12
    assert UPPER.value(vertex) <= c.f_upper <= UPPER.value(vertex) + 1e-12
    assert c.g_lower <= float(costs @ vertex) <= c.g_upper
    assert not c.well_posed
    assert c.lower_unique is True
    assert any("differ by mere rounding" in note for note in result.notes)


@pytest.mark.parametrize("domain", SETS, ids=str)
@pytest.mark.parametrize("apart", [0.0, 1e-14, 1e-9])
def test_costs_further_apart_or_equal_are_not(domain, apart):
    assert apart == 0 or apart > 2 * TIED
    sign = 1.0 if isinstance(domain, tb.Simplex) else -1.0
    costs = np.array([0.3, 0.3 + sign * apart, 0.5 if sign > 0 else 0.1])
    result = tb.solve(tb.Problem(UPPER, tb.Linear(costs), domain), "exact", tol_upper=1e-9)
    c = result.certificate
    ends = [UPPER.value(sign * np.array([w, 1 - w, 0.0])) for w in np.linspace(0, 1, 2001)]
    best = min(ends) if apart == 0 else UPPER.value([sign, 0.0, 0.0])
    assert c.well_posed and result.success
    assert c.lower_unique is (apart != 0)
    assert c.f_lower - 1e-12 <= best <= c.f_upper + 1e-5
    assert c.f_upper - c.f_lower <= 1e-9


@pytest.mark.parametrize("size", 10.0 ** np.arange(-16, -2))
def test_a_small_cost_beside_a_logistic_loss(size):
    """Two columns alike, one of which costs a little: the other one is the solution, exactly."""
    a = np.array([[1.0], [-0.5], [2.0]])
    g = tb.Logistic(np.hstack([a, a, -a]), [1, -1, 1]) + tb.Linear([size, 0.0, 0.0])
    f = tb.LeastSquares([[1.0, 0.0, 0.0]], [1.0])  # 1/2 at the solution, 0 at the vertex that costs a little
    c = tb.solve(tb.Problem(f, g, tb.Simplex()), "exact").certificate
    assert c.f_lower <= 0.5 <= c.f_upper
    assert c.lower_unique in (True, None)
    assert size < 1e-12 or (c.lower_unique and c.f_upper - c.f_lower < 1e-9)


# -- ranks ----------------------------------------------------------------------------------------------------------


def test_rank_of_a_product_is_exact():
    rng = np.random.default_rng(0)
    left, right = rng.integers(-4, 5, (6, 3)) / 1.0, rng.integers(-4, 5, (3, 7)) / 1.0
    assert exact_rank(right, left) == np.linalg.matrix_rank(left @ right)
    almost = np.vstack([right, right[0] + 2.0**-52 * right[1]])
    pick = np.eye(4)[[0, 3]]
    assert exact_rank(almost, pick) == 2
    assert exact_rank(np.vstack([right, 3 * right[0]]), pick) == 1


def test_dependence_is_that_of_the_data():
    from tiebreak.engines.columns.atoms import atoms_of

    A = np.array([[1.0, 1.0, 1.0 + 2.0**-52], [2.0, 2.0, 2.0]])
    level = Smooth(tb.LeastSquares(A, [0.0, 0.0]).form, 3)
    tilted = Smooth((tb.LeastSquares(A, [0.0, 0.0]) + tb.Linear([0.0, 1e-300, 0.0])).form, 3)
    for domain in (tb.Simplex(), tb.L1Ball(0.7, weights=[1.0, 1.0, 1.0])):
        atoms = atoms_of(domain, 3)
        assert rank_of(atoms, np.array([0, 1]), [level]) == 1
        assert rank_of(atoms, np.array([0, 1]), [tilted]) == 2
        assert rank_of(atoms, np.array([0, 2]), [level]) == 2
