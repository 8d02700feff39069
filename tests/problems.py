"""Random bilevel problems with independently known optimal values.

The lower levels are planted: the optimality conditions hold by construction, and the set of the minimisers
is known as {x in a face of Z : B x = t}. Data that decide ties and ranks are small integers, so that what is
planted is true of the floating-point data, not only of the numbers they stand for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

import tiebreak as tb
from known.bounds import Bounds, ConvexSet, Face, Inaccurate, Region, Term, whole
from known.cases import SETS, SetCase
from known.terms import UPPERS, Built, huber, labels, least_squares, linear, logistic


@dataclass(frozen=True)
class Instance:
    """A problem with g*, f* (for its slack), their error bars, and the set over which f is minimised."""

    problem: tb.Problem
    g_star: float
    g_tol: float
    f_star: float
    f_tol: float
    x_star: np.ndarray | None
    note: str = ""
    solutions: Region | None = None
    f: Term | None = None
    g: Term | None = None


@dataclass(frozen=True)
class Lower:
    g: Term
    objective: tb.Objective
    g_star: float
    solutions: Region  # for the random ones, which serve with a slack only: some solution
    g_tol: float = 0.0


def _no_rows(dim: int) -> tuple[np.ndarray, np.ndarray]:
    return np.zeros((0, dim)), np.zeros(0)


def _interior(rng: np.random.Generator, inner: ConvexSet) -> np.ndarray:
    """A random relatively interior point: part of the way from the centre to the boundary."""
    step = rng.normal(size=inner.dim)
    if inner.E is not None:
        step -= np.linalg.pinv(inner.E) @ (inner.E @ step)
    length = 1.0
    while inner.excess(inner.centre + length * step) <= 0:
        length *= 2
    while inner.excess(inner.centre + length * step) > 0:
        length /= 2
    return inner.centre + 0.5 * length * step


def _planted(rng: np.random.Generator, face: Face) -> tuple[np.ndarray, np.ndarray]:
    """Rows B of small integers, fewer than the face has dimensions, and a point in its relative interior."""
    if face.inner is None:
        return rng.integers(-2, 3, (2, face.base.size)).astype(float), face.base
    xbar = face.base + face.lift @ _interior(rng, face.inner)
    free = face.inner.dim - (0 if face.inner.E is None else np.linalg.matrix_rank(face.inner.E))
    rows = int(rng.integers(1, max(2, free)))
    return rng.integers(-2, 3, (rows, xbar.size)).astype(float), xbar


def _region(face: Face, xbar: np.ndarray, B: np.ndarray) -> Region:
    return Region(face, xbar, B, B @ xbar)


def _ls(rng: np.random.Generator, case: SetCase) -> Lower:
    """g* = 0: b = A xbar."""
    face = whole(case.reference)
    B, xbar = _planted(rng, face)
    return Lower(*least_squares(B, B @ xbar), 0.0, _region(face, xbar, B))


def _ls_residual(rng: np.random.Generator, case: SetCase) -> Lower:
    """g* > 0: b = M B xbar + r with M'r = 0."""
    face = whole(case.reference)
    B, xbar = _planted(rng, face)
    N = rng.integers(-2, 3, (3, B.shape[0])).astype(float)
    M, s = np.vstack([np.eye(B.shape[0]), N]), rng.integers(1, 4, 3) / 4
    r = np.concatenate([-N.T @ s, s])
    return Lower(*least_squares(M @ B, M @ B @ xbar + r), 0.5 * float(r @ r), _region(face, xbar, B))


def _ls_face(rng: np.random.Generator, case: SetCase) -> Lower:
    """g* > 0 with rows that disagree: b = A xbar + r, where -A'r is the normal of the face."""
    B, xbar = _planted(rng, case.face)
    r = rng.integers(-1, 2, B.shape[0]).astype(float)
    A, r = np.vstack([B, -case.face.normal - r @ B]), np.append(r, 1.0)
    return Lower(*least_squares(A, A @ xbar + r), 0.5 * float(r @ r), _region(case.face, xbar, B))


def _linear(rng: np.random.Generator, case: SetCase) -> Lower:
    """The minimisers are the face."""
    c = case.face.normal
    region = Region(case.face, case.face.centre, *_no_rows(c.size))
    return Lower(*linear(c), float(c @ case.face.centre), region)


def _logistic_on(rng: np.random.Generator, face: Face, normal: np.ndarray | None) -> Lower:
    """Rows repeated with p labels +1 and q labels -1, so that log(p / q) is the best score, scaled so that
    xbar attains it; a row ``normal`` with label -1 is pushed down as far as Z allows."""
    B, xbar = _planted(rng, face)
    B = B[np.abs(B @ xbar) > 0.05]
    if not B.size:
        raise Inaccurate("every planted score is almost zero")
    p = rng.integers(1, 4, B.shape[0])
    q = p + rng.choice([-1, 1, 2], B.shape[0])
    q = np.where(q == 0, 2, q)
    rows = (np.log(p / q) / (B @ xbar))[:, None] * B
    A = np.repeat(rows, p + q, axis=0)
    y = np.concatenate([np.zeros(0), *(np.repeat([1.0, -1.0], pair) for pair in zip(p, q, strict=True))])
    best = float(np.sum(p * np.log1p(q / p) + q * np.log1p(p / q)))
    if normal is not None:
        row = normal / 2.0 ** np.ceil(np.log2(1 + abs(normal @ xbar)))  # not saturated; a power of 2 keeps ties
        A, y = np.vstack([A, row]), np.append(y, -1.0)
        best += float(np.logaddexp(0, row @ xbar))
    return Lower(*logistic(A, y), best / y.size, _region(face, xbar, rows))


def _logistic(rng: np.random.Generator, case: SetCase) -> Lower:
    return _logistic_on(rng, whole(case.reference), None)


def _logistic_face(rng: np.random.Generator, case: SetCase) -> Lower:
    return _logistic_on(rng, case.face, case.face.normal)


def _huber(rng: np.random.Generator, case: SetCase) -> Lower:
    """The normal of the face again, with a residual beyond delta, where Huber's function is linear."""
    B, xbar = _planted(rng, case.face)
    A = np.vstack([B, case.face.normal])
    b, delta = A @ xbar, 0.5
    b[-1] -= 2.0
    return Lower(*huber(A, b, delta), delta * (2.0 - delta / 2), _region(case.face, xbar, B))


def _random(built: Built, case: SetCase) -> Lower:
    """No plant: g* by the reference as well."""
    g, objective = built
    region = Region(whole(case.reference), case.reference.centre, *_no_rows(case.reference.dim))
    bounds = region.minimise(g, accuracy=1e-9)
    return Lower(g, objective, bounds.mid, replace(region, centre=bounds.x), bounds.tol(0.0))


def _ls_random(rng: np.random.Generator, case: SetCase) -> Lower:
    d = case.reference.dim
    return _random(least_squares(rng.normal(size=(d - 1, d)), 3 * rng.normal(size=d - 1)), case)


def _logistic_random(rng: np.random.Generator, case: SetCase) -> Lower:
    d = case.reference.dim
    return _random(logistic(rng.normal(size=(d + 2, d)), labels(rng, d + 2)), case)


LOWERS: dict[str, Callable[[np.random.Generator, SetCase], Lower]] = {
    "least-squares": _ls,
    "least-squares-residual": _ls_residual,
    "least-squares-face": _ls_face,
    "linear": _linear,
    "logistic": _logistic,
    "logistic-face": _logistic_face,
    "huber-face": _huber,
    "least-squares-random": _ls_random,
    "logistic-random": _logistic_random,
}
UNPLANTED = ("least-squares-random", "logistic-random")  # their minimisers are not known: with a slack only
PLANTED = [kind for kind in LOWERS if kind not in UNPLANTED]


def instance(seed: int, set_kind: str, lower_kind: str, upper_kind: str, slack: float = 0.0) -> Instance:
    """A random problem of the given kinds; raises ``Inaccurate`` where its reference falls short."""
    rng = np.random.default_rng([seed, list(SETS).index(set_kind)])
    case = SETS[set_kind](rng)
    lower = LOWERS[lower_kind](rng, case)
    upper, objective = UPPERS[upper_kind](rng, case.reference.dim)
    region = lower.solutions if slack == 0 else _relaxed(case, lower, slack)
    bounds = region.minimise(upper) if objective.convex else Bounds(np.nan, np.nan, region.centre)
    return Instance(
        tb.Problem(objective, lower.objective, case.domain, slack=slack),
        lower.g_star,
        lower.g_tol + 1e-13 * (1 + abs(lower.g_star)),
        bounds.mid,
        bounds.tol() + bounds.weight * lower.g_tol,  # the level is as uncertain as g*
        bounds.x,
        f"{set_kind}, {lower_kind}, {upper_kind}, slack {slack:g}, seed {seed}",
        region,
        upper,
        lower.g,
    )


def _relaxed(case: SetCase, lower: Lower, slack: float) -> Region:
    """{x in Z : g(x) <= g* + slack}, around a point well inside."""
    xbar, share = lower.solutions.centre, 1.0
    while lower.g.value(xbar + share * (case.reference.centre - xbar)) > lower.g_star + slack / 2:
        share /= 2
    centre = xbar + share * (case.reference.centre - xbar)
    return Region(whole(case.reference), centre, *_no_rows(centre.size), lower.g, lower.g_star + slack)
