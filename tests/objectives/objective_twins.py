"""Slow twins of the objectives in extended precision, written from their definitions alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

import tiebreak as tb

L = np.longdouble
Twin = Callable[[np.ndarray], tuple[np.longdouble, np.ndarray]]


class Case(NamedTuple):
    objective: tb.Objective
    twin: Twin  # x in extended precision -> value and gradient


def least_squares(A, b, scale=1.0, weights=1.0) -> Twin:
    A, b, scale = L(A), L(b), L(scale) * L(weights)
    return lambda x: ((scale * (A @ x - b) ** 2).sum() / 2, A.T @ (scale * (A @ x - b)))


def quadratic(Q, q, c) -> Twin:
    Q, q, c = L(Q), L(q), L(c)
    return lambda x: (x @ (Q @ x) / 2 + q @ x + c, Q @ x + q)


def linear(c) -> Twin:
    c = L(c)
    return lambda x: (c @ x, c)


def squared_norm(center, weights=1.0) -> Twin:
    center, weights = L(center), L(weights)
    return lambda x: ((weights * (x - center) ** 2).sum() / 2, weights * (x - center))


def logistic(A, signs, weights) -> Twin:
    A, signs, weights = L(A), L(signs), L(weights)
    weights = weights / weights.sum()

    def twin(x):
        margin = signs * (A @ x)
        slope = -weights * signs * np.exp(-np.logaddexp(L(0), margin))
        return weights @ np.logaddexp(L(0), -margin), A.T @ slope

    return twin


def squared_covariance(A, v) -> Twin:
    A, v = L(A), L(v)
    n = len(v)

    def twin(x):
        t = A @ x
        sigma, other = np.exp(-np.logaddexp(L(0), -t)), np.exp(-np.logaddexp(L(0), t))
        c = ((v - v.mean()) * sigma).sum() / n
        return c * c, A.T @ (2 * c * (v - v.mean()) / n * sigma * other)

    return twin


def huber(A, b, delta, weights=1.0) -> Twin:
    A, b, delta, weights = L(A), L(b), L(delta), L(weights)

    def twin(x):
        r = A @ x - b
        small = abs(r) <= delta
        phi = weights * np.where(small, r * r / 2, delta * abs(r) - delta * delta / 2)
        return phi.sum(), A.T @ (weights * np.where(small, r, delta * np.sign(r)))

    return twin


def poisson(A, y, weights) -> Twin:
    A, y, weights = L(A), L(y), L(weights)
    weights = weights / weights.sum()

    def twin(x):
        t = A @ x
        return weights @ (np.exp(t) - y * t), A.T @ (weights * (np.exp(t) - y))

    return twin


def squared_hinge(A, signs, weights) -> Twin:
    A, signs, weights = L(A), L(signs), L(weights)
    weights = weights / weights.sum()

    def twin(x):
        short = np.maximum(0, 1 - signs * (A @ x))
        return weights @ short**2, A.T @ (-2 * weights * signs * short)

    return twin


def softmax(A, y, weights, classes) -> Twin:
    A, weights = L(A), L(weights)
    weights = weights / weights.sum()

    def twin(x):
        T = A @ x.reshape(-1, classes)
        T = T - T.max(axis=1, keepdims=True)
        powers = np.exp(T)
        p = powers / powers.sum(axis=1, keepdims=True)
        own = np.eye(classes, dtype=L)[y]
        value = weights @ (np.log(powers.sum(axis=1)) - (T * own).sum(axis=1))
        return value, (A.T @ (weights[:, None] * (p - own))).ravel()

    return twin


def cases(seed: int, n: int, d: int, size: float = 1.0) -> dict[str, Case]:
    """One of each kind, their data of magnitude ``size``."""
    rng = np.random.default_rng(seed)
    A, b = size * rng.standard_normal((n, d)), size * rng.standard_normal(n)
    signs = np.where(np.arange(n) % 2, 1.0, -1.0)
    weights, v = rng.random(n) * (np.arange(n) != 1), rng.random(n)
    q, symmetric = rng.standard_normal(d), rng.standard_normal((d, d))
    symmetric = size * (symmetric + symmetric.T)
    scale, delta = float(rng.uniform(0.1, 3)), float(size * rng.uniform(0.1, 2))
    least, log = tb.LeastSquares(A, b, scale), tb.Logistic(A, signs, weights)
    least_twin, log_twin, q_twin = least_squares(A, b, scale), logistic(A, signs, weights), linear(q)

    def combined(x):
        pairs = [least_twin(x), log_twin(x), q_twin(x), squared_norm(np.zeros(d))(x)]
        factors = [2.5, 0.7 * 0.5, 0.7, 1.0]
        parts = list(zip(factors, pairs, strict=True))
        return sum(L(f) * value for f, (value, _) in parts), sum(L(f) * grad for f, (_, grad) in parts)

    return {
        "least squares": Case(least, least_twin),
        "quadratic": Case(tb.Quadratic(symmetric, q, 0.3), quadratic(symmetric, q, 0.3)),
        "linear": Case(tb.Linear(q), q_twin),
        "squared norm": Case(tb.SquaredNorm(q), squared_norm(q)),
        "weighted squares": Case(tb.LeastSquares(A, b, scale, weights), least_squares(A, b, scale, weights)),
        "weighted norm": Case(tb.SquaredNorm(q, weights=abs(symmetric[0])), squared_norm(q, abs(symmetric[0]))),
        "logistic": Case(log, log_twin),
        "covariance": Case(tb.SquaredCovariance(A, v), squared_covariance(A, v)),
        "huber": Case(tb.Huber(A, b, delta), huber(A, b, delta)),
        "weighted huber": Case(tb.Huber(A, b, delta, weights), huber(A, b, delta, weights)),
        "squared hinge": Case(tb.SquaredHinge(A, signs, weights), squared_hinge(A, signs, weights)),
        "sum": Case(2.5 * least + 0.7 * (0.5 * log + tb.Linear(q)) + tb.SquaredNorm(), combined),
    }


NAMES = tuple(cases(0, 2, 2))


def exponential_cases(seed: int, n: int, d: int, classes: int = 3) -> dict[str, Case]:
    """Those whose values leave the range of numbers, or whose variables are a matrix."""
    rng = np.random.default_rng(seed)
    A, y = rng.standard_normal((n, d)), rng.poisson(3.0, n)
    weights, label = rng.random(n) * (np.arange(n) != 1), rng.integers(0, classes, n)
    return {
        "poisson": Case(tb.Poisson(A, y), poisson(A, y, np.ones(n))),
        "weighted poisson": Case(tb.Poisson(A, y, weights), poisson(A, y, weights)),
        "softmax": Case(tb.Softmax(A, label, weights, classes), softmax(A, label, weights, classes)),
    }
