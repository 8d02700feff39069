"""The problems of ``peers_suite.py``: families with several sizes each, the smaller ones first."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from families_rows import incidence
from suite_parts import (
    Case,
    Level,
    Set,
    box,
    huber,
    l1_ball,
    l1_norm,
    lasso,
    least_squares,
    linear,
    logistic,
    poisson,
    polyhedron,
    simplex,
    space,
    squared_norm,
)

Make = Callable[[], Case]


def two(family: str, size: Any, dim: int, lower: Level, upper: Level, domain: Set, seconds: float = 60.0) -> Case:
    return Case(family, _words(size), dim, (lower, upper), domain, seconds)


def _words(size: Any) -> str:
    return " x ".join(map(str, size)) if isinstance(size, tuple) else str(size)


def _rng(family: str, size: Any) -> np.random.Generator:
    return np.random.default_rng([len(family), *family.encode(), *np.atleast_1d(size).ravel()])


def _sparse(rng: np.random.Generator, m: int, n: int, each: int) -> Any:
    """About ``each`` entries in every row and column of the shorter side, none of them empty."""
    density = each / (m if m < n else n)
    A = sparse.random_array((m, n), density=min(1.0, density), rng=rng, data_sampler=rng.standard_normal, format="csr")
    side = np.arange(max(m, n))
    cover = sparse.csr_array((rng.standard_normal(side.size), (side % m, side % n)), shape=(m, n))
    return sparse.csr_array(A + cover)


def interpolation(domain: str, size: tuple[int, int]) -> Case:
    """Fewer rows than variables; among the interpolants the one that fits other data best, or of least norm."""
    n, d = size
    family = f"interpolation, {domain}"
    rng = _rng(family, size)
    A, B = rng.normal(size=(n, d)), rng.normal(size=(max(4, n // 2), d))
    x = np.where(rng.random(d) < n / (4 * d), rng.normal(size=d), 0.0)
    sets = {"l1": l1_ball(1.2 * float(np.abs(x).sum()) + 0.1), "box": box(float(np.abs(x).max()) + 0.1)}
    upper = squared_norm(d) if domain == "space" else least_squares(B, rng.normal(size=B.shape[0]))
    return two(family, size, d, least_squares(A, A @ x), upper, sets.get(domain) or space())


def tall(binds: bool, size: tuple[int, int]) -> Case:
    """More rows than variables, some columns doubled so that there is something to choose."""
    m, n = size
    family = f"tall, box {'binds' if binds else 'does not bind'}"
    rng = _rng(family, size)
    A = rng.normal(size=(m, n))
    A[:, n // 2 : n // 2 + n // 10] = A[:, : n // 10]
    b = A @ rng.normal(size=n) + rng.normal(size=m)
    return two(family, size, n, least_squares(A, b), squared_norm(n), box(0.5 if binds else 50.0))


def sparse_wide(binds: bool, size: tuple[int, int]) -> Case:
    m, n = size
    family = f"sparse wide, box {'binds' if binds else 'does not bind'}"
    rng = _rng(family, size)
    A = _sparse(rng, m, n, 4)
    b = A @ rng.uniform(-1, 1, n)
    least = sparse.linalg.lsmr(A, b, atol=1e-8, btol=1e-8)[0]
    end = 0.6 * float(np.abs(least).max()) if binds else 10.0
    return two(family, size, n, least_squares(A, b), squared_norm(n), box(end), 120.0)


def sparse_tall(binds: bool, size: tuple[int, int]) -> Case:
    m, n = size
    family = f"sparse tall, box {'binds' if binds else 'does not bind'}"
    rng = _rng(family, size)
    A = _sparse(rng, m, n, 5)
    b = A @ rng.normal(size=n) + rng.normal(size=m)
    return two(family, size, n, least_squares(A, b), squared_norm(n), box(0.5 if binds else 50.0), 120.0)


def in_l1_ball(binds: bool, size: tuple[int, int, bool]) -> Case:
    m, n, is_sparse = size
    family = f"l1 ball {'binds' if binds else 'does not bind'}"
    rng = _rng(family, (m, n))
    A = _sparse(rng, m, n, 4) if is_sparse else rng.normal(size=(m, n))
    b = A @ np.where(rng.random(n) < 0.1, rng.normal(size=n), 0.0) + 0.1 * rng.normal(size=m)
    least = float(np.abs(sparse.linalg.lsmr(A, b)[0]).sum())
    radius = (0.3 if binds else 1.5) * least
    words = f"{m} x {n}{', sparse' if is_sparse else ''}"
    return two(family, words, n, least_squares(A, b), squared_norm(n), l1_ball(radius))


def portfolio(goal: str, n: int) -> Case:
    """The least variance of few observations; then the highest return, or weights that are spread."""
    family = f"portfolio, {goal}"
    rng = _rng(family, n)
    R = rng.normal(size=(max(6, n // 10), n)) + 0.05
    upper = linear(-rng.normal(size=n)) if goal == "return" else squared_norm(n)
    return two(family, n, n, least_squares(R, np.zeros(R.shape[0])), upper, simplex())


def assignment(n: int) -> Case:
    cost = _rng("assignment", n).integers(1, 4, (n, n)).ravel().astype(float)
    rows = incidence(n, n)
    domain = polyhedron(A_eq=rows, b_eq=np.ones(2 * n))
    return two("assignment", n, n * n, linear(cost), squared_norm(n * n), domain)


def transport(size: tuple[int, int]) -> Case:
    sources, sinks = size
    rng = _rng("transport", size)
    supply = rng.integers(5, 20, sources)
    demand = rng.multinomial(supply.sum() - sinks, np.full(sinks, 1 / sinks)) + 1
    cost = rng.integers(1, 5, sources * sinks).astype(float)
    domain = polyhedron(A_eq=incidence(*size), b_eq=np.concatenate([supply, demand]).astype(float))
    return two("transport", size, cost.size, linear(cost), squared_norm(cost.size), domain)


def programme(size: tuple[int, int]) -> Case:
    """A sparse linear programme whose cost is a combination of a few rows, so that a face is optimal; then another.

    Integers and quarters, here and below: ties are meant, and true of the numbers as they are stored.
    """
    m, n = size
    rng = _rng("linear programmes", size)
    A = _sparse(rng, m, n, 3)
    A.data = np.rint(3 * A.data) + 0.5
    x = rng.integers(-4, 5, n) / 4
    room = np.where(np.arange(m) < m // 4, 0.0, rng.integers(2, 9, m) / 4)
    cost = -np.asarray(A.T @ np.where(room == 0, 1.0, 0.0))
    domain = polyhedron(A_ub=A, b_ub=A @ x + room, bounds=(-5, 5))
    return two("linear programmes", size, n, linear(cost), linear(rng.normal(size=n)), domain)


def polytope(size: tuple[int, int]) -> Case:
    m, n = size
    rng = _rng("polytope", size)
    G = rng.integers(-3, 4, (m, n)).astype(float)
    inside = rng.integers(-4, 5, n) / 4
    room = np.where(np.arange(m) < n // 4, 0.0, rng.integers(2, 9, m) / 4)
    cost = -np.ones(n // 4) @ G[: n // 4]
    domain = polyhedron(A_ub=G, b_ub=G @ inside + room, bounds=(-10, 10))
    return two("polytope", size, n, linear(cost), squared_norm(n), domain)


def flux(size: tuple[int, int]) -> Case:
    """A network of reactions in balance: the largest flow out, then the least effort."""
    m, n = size
    rng = _rng("flux", size)
    head, tail = rng.integers(0, m, n), rng.integers(0, m, n)
    data = np.concatenate([np.ones(n), -np.ones(n)])
    S = sparse.csr_array((data, (np.concatenate([head, tail]), np.tile(np.arange(n), 2))), shape=(m, n))
    ends = sparse.csr_array((np.array([1.0, -1.0]), (np.array([0, m - 1]), np.array([0, 1]))), shape=(m, 2))
    S = sparse.csr_array(sparse.hstack([ends, S]))
    cost = np.append([0.0, -1.0], np.zeros(n))
    high = np.append([100.0, 100.0], rng.integers(1, 10, n).astype(float))
    bounds = list(zip(np.zeros(n + 2), high, strict=True))
    return two("flux", size, n + 2, linear(cost), squared_norm(n + 2),
               polyhedron(A_eq=S, b_eq=np.zeros(m), bounds=bounds))  # fmt: skip


def chain(n: int) -> Case:
    rng = _rng("chain of three", n)
    A = rng.normal(size=(n // 3, n))
    levels = (least_squares(A, A @ rng.uniform(-0.5, 0.5, n)), linear(rng.normal(size=n)), squared_norm(n))
    return Case("chain of three", str(n), n, levels, box(1.0))


def hierarchy(n: int) -> Case:
    """Tasks of a robot in order of rank, within joint limits."""
    rng = _rng("hierarchy", n)
    tasks = [rng.normal(size=(n // 4, n)) for _ in range(2)]
    levels = [least_squares(F, F @ rng.uniform(-1.5, 1.5, n)) for F in tasks]
    return Case("hierarchy", str(n), n, (*levels, squared_norm(n)), box(1.0))


def lasso_below(size: tuple[int, int]) -> Case:
    m, n = size
    rng = _rng("lasso below", size)
    A = rng.normal(size=(m, n))
    A[:, n // 2] = A[:, 0]
    b = A[:, :4] @ np.ones(4) + 0.1 * rng.normal(size=m)
    return two("lasso below", size, n, lasso(A, b, 2.0), squared_norm(n), box(5.0))


def sparsest(size: tuple[int, int]) -> Case:
    m, n = size
    rng = _rng("sparsest above", size)
    A = rng.normal(size=(m, n))
    x = np.where(rng.random(n) < m / (4 * n), rng.normal(size=n), 0.0)
    return two("sparsest above", size, n, least_squares(A, A @ x), l1_norm(), box(5.0))


def loss_above(loss: str, size: tuple[int, int]) -> Case:
    m, n = size
    family = f"{loss} above"
    rng = _rng(family, size)
    A, B = rng.normal(size=(m, n)), rng.normal(size=(2 * n, n))
    b = A @ rng.uniform(-0.5, 0.5, n)
    upper = {
        "linear": lambda: linear(rng.normal(size=n)),
        "logistic": lambda: logistic(B, np.sign(rng.normal(size=2 * n))),
        "huber": lambda: huber(B, rng.normal(size=2 * n) * 3, 1.0),
    }[loss]()
    return two(family, size, n, least_squares(A, b), upper, box(1.0))


def loss_below(loss: str, domain: str, size: tuple[int, int]) -> Case:
    m, n = size
    family = f"{loss} below, {domain}"
    rng = _rng(family, size)
    A = rng.normal(size=(m, n)) / np.sqrt(n)
    A[:, n // 2] = A[:, 0]
    t = A @ rng.normal(size=n)
    lower = {
        "logistic": lambda: logistic(A, np.where(rng.random(m) < 1 / (1 + np.exp(-t)), 1.0, -1.0)),
        "huber": lambda: huber(A, t + rng.standard_t(2, size=m), 1.0),
        "poisson": lambda: poisson(A, rng.poisson(np.exp(np.clip(t, -3, 3))).astype(float)),
    }[loss]()
    sets = {"box": box(1.0), "l1": l1_ball(0.3 * n), "space": space()}
    return two(family, size, n, lower, squared_norm(n), sets[domain])


FAMILIES: tuple[tuple[Callable[..., Case], tuple[Any, ...]], ...] = (
    *((partial(interpolation, name), ((25, 60), (40, 150), (60, 300), (150, 800))) for name in ("l1", "box", "space")),
    *((partial(tall, binds), ((100, 20), (600, 80), (3000, 400))) for binds in (True, False)),
    (partial(sparse_wide, False), ((50, 300), (200, 2000), (1000, 20_000), (1500, 40_000), (2000, 50_000))),
    (partial(sparse_wide, True), ((50, 300), (200, 2000), (1000, 20_000))),
    *((partial(sparse_tall, binds), ((300, 60), (1000, 200), (5000, 1000), (20_000, 5000))) for binds in (True, False)),
    (partial(in_l1_ball, True), ((60, 200, False), (200, 500, False), (500, 10_000, True))),
    (partial(in_l1_ball, False), ((60, 200, False), (200, 500, False), (500, 10_000, True))),
    *((partial(portfolio, goal), (60, 300, 1000, 5000)) for goal in ("return", "spread")),
    (assignment, (12, 30, 60, 100)),
    (transport, ((8, 10), (20, 30), (50, 80))),
    (programme, ((60, 80), (300, 400), (1500, 2000))),
    (polytope, ((60, 25), (200, 80), (600, 200))),
    (flux, ((30, 80), (200, 600), (1000, 3000))),
    (chain, (30, 90, 300)),
    (hierarchy, (20, 60, 200)),
    (lasso_below, ((60, 20), (200, 60), (600, 200))),
    (sparsest, ((20, 60), (60, 200), (200, 800))),
    *((partial(loss_above, loss), ((10, 30), (30, 100), (100, 300))) for loss in ("linear", "logistic", "huber")),
    *(
        (partial(loss_below, loss, domain), ((100, 12), (600, 40)))
        for loss in ("logistic", "huber", "poisson")
        for domain in ("box", "l1", "space")
    ),
)


def cases(quick: bool = False) -> Iterator[Make]:
    """Every problem, or of each family the two smallest."""
    for make, sizes in FAMILIES:
        for size in sizes[:2] if quick else sizes:
            yield partial(make, size)
