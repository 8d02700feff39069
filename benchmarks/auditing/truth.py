"""The exact answer of a case: by rational arithmetic where everything is polyhedral, else as it was planted."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import numpy as np

from .rational import (
    ONE,
    ZERO,
    Infeasible,
    Polyhedron,
    Quadratic,
    Row,
    Unbounded,
    another_point,
    chain,
    dot,
    feasible_point,
    is_convex,
    minimise,
    solutions,
)
from .recipes import Case, Interval, Recipe, exactly, matrix, value

POLYHEDRAL = {"Space", "Box", "Polyhedron", "Simplex", "L1Ball", "KSparse", "Birkhoff"}


class NoTruth(Exception):
    """The exact answer of this case is not known: it has none, or it is not rational."""


@dataclass(frozen=True)
class Truth:
    """Each level's optimal value between two fractions, up to the first that has none; whether the first level has one
    solution; whether the second is constant on its solutions (None: not known)."""

    values: tuple[Interval, ...]
    x: Row
    unique: bool | None = None
    constant: bool | None = None
    unbounded: bool = False  # whether the level after those with values has no minimum


# -- sets ------------------------------------------------------------------------------------------------------


def is_polyhedral(domain: Recipe) -> bool:
    if domain.kind == "Product":
        return all(is_polyhedral(block) for block, _ in domain.args["blocks"].values())
    return domain.kind in POLYHEDRAL


def rows_of(domain: Recipe, dim: int) -> Polyhedron:
    """The set as rows in its own variables; norm balls by all their facets."""
    a, found = domain.args, Polyhedron(dim)
    if domain.kind == "Product":
        offset = 0
        for block, shape in a["blocks"].values():
            size = int(np.prod(shape))
            part = rows_of(block, size)
            before, after = [ZERO] * offset, [ZERO] * (dim - offset - size)
            found.below += [([*before, *row, *after], b) for row, b in part.below]
            found.equal += [([*before, *row, *after], b) for row, b in part.equal]
            offset += size
        return found
    unit = [[ONE if i == j else ZERO for j in range(dim)] for i in range(dim)]
    if domain.kind == "Space":
        return found
    if domain.kind == "Box":
        _ends(found, unit, *(np.broadcast_to(a[name], (dim,)) for name in ("lower", "upper")))
    elif domain.kind == "Polyhedron":
        for row, b in zip(matrix(a["A_ub"]), exactly(a["b_ub"]), strict=True) if "A_ub" in a else ():
            found.below.append((row, b))
        for row, b in zip(matrix(a["A_eq"]), exactly(a["b_eq"]), strict=True) if "A_eq" in a else ():
            found.equal.append((row, b))
        for row, (low, high) in zip(unit, a["bounds"], strict=True) if "bounds" in a else ():
            if low is not None:
                found.below.append(([-entry for entry in row], -Fraction(low)))
            if high is not None:
                found.below.append((row, Fraction(high)))
    elif domain.kind == "Simplex":
        found.below += [([-entry for entry in row], ZERO) for row in unit]
        found.equal.append(([ONE] * dim, Fraction(a.get("total", 1.0))))
    elif domain.kind in ("L1Ball", "KSparse"):
        radius = Fraction(a["radius"])
        weights = exactly(a["weights"]) if "weights" in a else [ONE] * dim
        for signs in product((ONE, -ONE), repeat=dim):
            total = radius * a["k"] if domain.kind == "KSparse" else radius
            found.below.append(([s * w for s, w in zip(signs, weights, strict=True)], total))
        if domain.kind == "KSparse":
            _bounds(found, unit, [-radius] * dim, [radius] * dim)
    elif domain.kind == "Birkhoff":
        n = a["n"]
        found.below += [([-entry for entry in row], ZERO) for row in unit]
        for i in range(n):
            found.equal.append(([ONE if k // n == i else ZERO for k in range(dim)], ONE))
            found.equal.append(([ONE if k % n == i else ZERO for k in range(dim)], ONE))
    else:
        raise NoTruth(f"{domain.kind} is not a polyhedron")
    return found


def _ends(found: Polyhedron, unit: list[Row], low: np.ndarray, high: np.ndarray) -> None:
    """Bounds some of which may be infinite."""
    for row, a, b in zip(unit, low.tolist(), high.tolist(), strict=True):
        found.below += [([-entry for entry in row], -Fraction(a))] if np.isfinite(a) else []
        found.below += [(row, Fraction(b))] if np.isfinite(b) else []


def _bounds(found: Polyhedron, unit: list[Row], low: Row, high: Row) -> None:
    for row, a, b in zip(unit, low, high, strict=True):
        found.below += [([-entry for entry in row], -a), (row, b)]


# -- objectives ------------------------------------------------------------------------------------------------


class Model:
    """A polyhedron that grows by the variables of absolute values and of Huber's function."""

    def __init__(self, where: Polyhedron) -> None:
        self.x = where.dim
        self.dim = where.dim
        self.below: list[tuple[dict[int, Fraction], Fraction]] = [(dict(enumerate(a)), b) for a, b in where.below]
        self.equal: list[tuple[dict[int, Fraction], Fraction]] = [(dict(enumerate(a)), b) for a, b in where.equal]

    def variable(self) -> int:
        self.dim += 1
        return self.dim - 1

    def polyhedron(self) -> Polyhedron:
        def full(rows: list[tuple[dict[int, Fraction], Fraction]]) -> list[tuple[Row, Fraction]]:
            return [([row.get(j, ZERO) for j in range(self.dim)], b) for row, b in rows]

        return Polyhedron(self.dim, full(self.below), full(self.equal))

    def express(self, objective: Recipe) -> Parts:
        a, parts = objective.args, Parts()
        if objective.kind == "+":
            for part in a["parts"]:
                parts.add(self.express(part), ONE)
        elif objective.kind == "*":
            parts.add(self.express(a["part"]), Fraction(a["factor"]))
        elif objective.kind == "Linear":
            parts.linear = dict(enumerate(exactly(a["c"])))
        elif objective.kind == "SquaredNorm":
            centre = exactly(a["center"]) if "center" in a else [ZERO] * self.x
            parts.squares = [({j: ONE}, c, ONE) for j, c in enumerate(centre)]
        elif objective.kind == "LeastSquares":
            scale = Fraction(a.get("scale", 1.0))
            rows = zip(matrix(a["A"]), exactly(a["b"]), strict=True)
            parts.squares = [(dict(enumerate(row)), b, scale) for row, b in rows]
        elif objective.kind == "Quadratic":
            parts.square = matrix(a["Q"])
            parts.linear = dict(enumerate(exactly(a["q"])))
            parts.constant = Fraction(a.get("c", 0.0))
        elif objective.kind == "L1Norm":
            weights = exactly(np.broadcast_to(a.get("weights", 1.0), (self.x,)))
            parts.linear = {self._absolute({j: ONE}): w for j, w in enumerate(weights) if w}
        elif objective.kind == "Huber":
            self._huber(a, parts)
        else:
            raise NoTruth(f"{objective.kind} is not quadratic")
        return parts

    def _absolute(self, row: dict[int, Fraction]) -> int:
        t = self.variable()
        for sign in (ONE, -ONE):
            self.below.append(({**{j: sign * entry for j, entry in row.items()}, t: -ONE}, ZERO))
        return t

    def _huber(self, a: dict[str, object], parts: Parts) -> None:
        """phi(r) = min of u^2/2 + delta (p + m) with r = u + p - m and p, m >= 0."""
        for row, b in zip(matrix(a["A"]), exactly(a["b"]), strict=True):
            u, p, m = self.variable(), self.variable(), self.variable()
            self.equal.append(({**dict(enumerate(row)), u: -ONE, p: -ONE, m: ONE}, b))
            self.below += [({p: -ONE}, ZERO), ({m: -ONE}, ZERO)]
            parts.squares.append(({u: ONE}, ZERO, ONE))
            parts.linear |= {p: Fraction(a["delta"]), m: Fraction(a["delta"])}


class Parts:
    """sum of scale/2 (row . x - b)^2 + 1/2 x'Qx + linear . x + constant."""

    def __init__(self) -> None:
        self.squares: list[tuple[dict[int, Fraction], Fraction, Fraction]] = []
        self.square: list[Row] = []
        self.linear: dict[int, Fraction] = {}
        self.constant = ZERO

    def add(self, other: Parts, factor: Fraction) -> None:
        self.squares += [(row, b, factor * scale) for row, b, scale in other.squares]
        if other.square:
            old = self.square or [[ZERO] * len(other.square) for _ in other.square]
            pairs = zip(old, other.square, strict=True)
            self.square = [[p + factor * q for p, q in zip(a, b, strict=True)] for a, b in pairs]
        for j, entry in other.linear.items():
            self.linear[j] = self.linear.get(j, ZERO) + factor * entry
        self.constant += factor * other.constant

    def quadratic(self, dim: int) -> Quadratic:
        Q, q, constant = [[ZERO] * dim for _ in range(dim)], [ZERO] * dim, self.constant
        for i, line in enumerate(self.square):
            for j, entry in enumerate(line):
                Q[i][j] += entry
        for row, b, scale in self.squares:
            for i, u in row.items():
                if not u:
                    continue
                q[i] -= scale * u * b
                for j, v in row.items():
                    Q[i][j] += scale * u * v
            constant += scale * b * b / 2
        for j, entry in self.linear.items():
            q[j] += entry
        return Quadratic(Q, q, constant)


# -- the answer ------------------------------------------------------------------------------------------------


def truth_of(case: Case) -> Truth:
    """The answer; raises NoTruth where there is none."""
    try:
        if case.planted is not None:
            return _as_planted(case)
        return _relaxed(case) if case.slack > 0 else _by_rows(case)
    except Infeasible:
        raise NoTruth("the set is empty") from None
    except Unbounded:
        raise NoTruth("a level has no minimum") from None
    except ArithmeticError as error:
        raise NoTruth(str(error)) from None


def _as_planted(case: Case) -> Truth:
    assert case.planted is not None
    return Truth(tuple(value(level, case.planted) for level in case.levels), case.planted)


def _compiled(case: Case, count: int | None = None) -> tuple[Model, Polyhedron, list[Quadratic]]:
    model = Model(rows_of(case.domain, case.dim))
    parts = [model.express(_stand_in(level)) for level in case.levels[:count]]
    levels = [part.quadratic(model.dim) for part in parts]
    if not all(is_convex(level) for level in levels):
        raise NoTruth("a level is not convex")
    return model, model.polyhedron(), levels


def _by_rows(case: Case) -> Truth:
    _, where, levels = _compiled(case)
    try:
        values, x, _ = chain(levels, where)
    except Unbounded:
        return _up_to_a_ray(case)
    for k, level in enumerate(case.levels):
        if has_logistic(level) and values[k] != _least_tilt(level, where, first=k == 0):
            raise NoTruth("the logistic loss does not reach log 2")
    x = x[: case.dim]
    unique, constant = _uniqueness(case, x)
    return Truth(tuple(value(level, x) for level in case.levels), x, unique, constant)


def _up_to_a_ray(case: Case) -> Truth:
    """Where some level has no minimum: the values of those before."""
    for count in range(len(case.levels) - 1, 0, -1):
        _, where, levels = _compiled(case, count)
        try:
            _, x, _ = chain(levels, where)
        except Unbounded:
            continue
        x = x[: case.dim]
        return Truth(tuple(value(level, x) for level in case.levels[:count]), x, unbounded=True)
    return Truth((), [ZERO] * case.dim, unbounded=True)


def has_logistic(level: Recipe) -> bool:
    return level.kind == "Logistic" or any(has_logistic(part) for part in level.args.get("parts", ()))


def _least_tilt(level: Recipe, where: Polyhedron, first: bool) -> Fraction:
    """The least value of what is added to the loss: where loss and rest are least together, so is their sum, and there
    only. The rest may be linear, at the first level."""
    rest = [part for part in level.args.get("parts", ()) if part.kind != "Logistic"]
    if not rest:
        return ZERO
    if not first or len(rest) > 1 or rest[0].kind != "Linear":
        raise NoTruth("a logistic loss beside more than a linear function")
    costs = exactly(rest[0].args["c"]) + [ZERO] * (where.dim - len(rest[0].args["c"]))
    tilt = Quadratic([[ZERO] * where.dim for _ in costs], costs)
    return tilt.value(minimise(tilt, where, feasible_point(where)))


def _stand_in(level: Recipe) -> Recipe:
    """A logistic loss whose samples come in pairs of both labels is least, log 2, where A x = 0, as is |A x|^2 / 2."""
    if level.kind == "+":
        return Recipe("+", {"parts": [_stand_in(part) for part in level.args["parts"]]})
    if level.kind != "Logistic":
        return level
    A, y = np.asarray(level.args["A"]), np.asarray(level.args["y"])
    half = len(y) // 2
    if not (np.array_equal(A[:half], A[half:]) and np.array_equal(y[:half], -y[half:])):
        raise NoTruth("the minimum of this logistic loss is not rational")
    return Recipe("LeastSquares", {"A": A[:half], "b": np.zeros(half)})


def _uniqueness(case: Case, x: Row) -> tuple[bool, bool | None]:
    """Whether the first level has one solution, and whether the second is constant on them, as far as points tell."""
    _, where, levels = _compiled(case, 1)
    start = minimise(levels[0], where, feasible_point(where))
    face = solutions(levels[0], where, start)
    other = another_point(face, start)
    if other is None:
        return True, True
    if len(case.levels) < 2:
        return False, None
    here = value(case.levels[1], x)
    points = [start, other, *_corners(face, other)]
    varies = any(value(case.levels[1], point[: case.dim]) != here for point in points)
    return False, False if varies else None


def _corners(face: Polyhedron, start: Row) -> list[Row]:
    """Extreme points of the face in a few fixed directions."""
    flat, size = [[ZERO] * face.dim for _ in range(face.dim)], range(face.dim)
    directions = [[Fraction((7 * j * j + 5 * k * j + 3 * k) % 11 - 5) for j in size] for k in range(3)]
    directions += [[-entry for entry in direction] for direction in directions]
    found = []
    for direction in directions:
        with suppress(Unbounded):
            found.append(minimise(Quadratic(flat, direction), face, start))
    return found


def _relaxed(case: Case) -> Truth:
    """v(slack) = min f with g <= g* + slack: exactly for a linear g, else between two fractions.

    For each lam >= 0 a minimiser of f + lam g gives a point of the curve v and, by duality, a line below it; the curve
    is convex, so that chords lie above it.
    """
    if any(has_logistic(level) for level in case.levels):
        raise NoTruth("the curve of a logistic loss is not rational")
    _, where, (g, f) = _compiled(case)
    start = feasible_point(where)
    lowest = minimise(g, where, start)
    g_star, slack = g.value(lowest), Fraction(case.slack)
    bracket = (g_star, g_star)
    if not any(any(row) for row in g.Q):
        where.below.append((g.q, g_star + slack - g.c))
        best = minimise(f, where, lowest)
        return Truth((bracket, (f.value(best),) * 2), best[: case.dim])
    free = minimise(f, where, lowest)
    if g.value(free) <= g_star + slack:
        return Truth((bracket, (f.value(free),) * 2), free[: case.dim])
    strict = minimise(f, solutions(g, where, lowest), lowest)
    return _between(case, where, g, f, bracket, [(ZERO, f.value(strict), strict), _point(g, f, g_star, free)])


def _point(g: Quadratic, f: Quadratic, g_star: Fraction, x: Row) -> tuple[Fraction, Fraction, Row]:
    return g.value(x) - g_star, f.value(x), x


def _between(
    case: Case,
    where: Polyhedron,
    g: Quadratic,
    f: Quadratic,
    bracket: Interval,
    ends: list[tuple[Fraction, Fraction, Row]],
) -> Truth:
    """Secants: the multiplier is the slope between the nearest points known on both sides."""
    (left, right), slack, low = ends, Fraction(case.slack), None
    for _ in range(40):
        slope = (left[1] - right[1]) / (right[0] - left[0])
        lam = Fraction(float(slope))
        size = range(where.dim)
        mixed = Quadratic(
            [[f.Q[i][j] + lam * g.Q[i][j] for j in size] for i in size], [f.q[i] + lam * g.q[i] for i in size]
        )
        x = minimise(mixed, where, left[2])
        new = _point(g, f, bracket[0], x)
        below = new[1] + lam * (new[0] - slack)
        low = below if low is None else max(low, below)
        share = (slack - left[0]) / (right[0] - left[0])
        high = left[1] + share * (right[1] - left[1])
        if high - low <= Fraction(1, 10**15) * (1 + abs(high)) or new[0] in (left[0], right[0]):
            break
        left, right = (new, right) if new[0] <= slack else (left, new)
    share = (slack - left[0]) / (right[0] - left[0])
    high = left[1] + share * (right[1] - left[1])
    assert low is not None and low <= high
    mix = [(1 - share) * a + share * b for a, b in zip(left[2], right[2], strict=True)]
    return Truth((bracket, (low, high)), mix[: case.dim])


# -- feasibility -----------------------------------------------------------------------------------------------


def misses(case: Case, x: Row, allowed: Fraction = Fraction(1, 10**9)) -> str:
    """The first constraint that x violates by more than rounding can, in the user's units; empty if none."""
    if not is_polyhedral(case.domain):
        from .curved import outside

        return outside(case, x, allowed)
    where = rows_of(case.domain, case.dim)
    signed = [(a, b, dot(a, x) - b) for a, b in where.below]
    signed += [(a, b, abs(dot(a, x) - b)) for a, b in where.equal]
    for a, b, excess in signed:
        if excess <= 0:
            continue
        scale = sum((abs(entry) * max(abs(x[j]), case.unit(j)) for j, entry in enumerate(a)), ZERO)
        if excess > allowed * scale:
            return f"{[float(entry) for entry in a]} . x exceeds {float(b)} by {float(excess):.3g}"
    return ""
