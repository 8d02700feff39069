"""Functions and projections that answer with noise, or with something else each time: no update goes on for ever."""

from __future__ import annotations

import itertools
import zlib
from collections.abc import Callable

import numpy as np
import pytest

import tiebreak as tb
from tiebreak.methods import SOLVERS

MOST = 40_000
"""Oracle calls for a few updates; a line search without an end passes any number."""

METHODS = [
    "cg-bio-anytime",
    "cg",
    "solodov",
    "adabim",
    "apdb",
    "mng",
    "fc-bio",
    "bisec-bio",
    "tikhonov",
    "a-irg",
    "apb-apg",
]


class TooManyCalls(Exception):
    """More calls than any line search needs."""


def counted(function: Callable) -> Callable:
    calls = itertools.count()

    def asked(x):
        n = next(calls)
        if n > MOST:
            raise TooManyCalls
        return function(x, n)

    return asked


def level(noise: Callable, smoothness: float | None) -> tb.Function:
    """(x1 + x2 - 1)^2 / 2 with noise in its value."""
    value = counted(lambda x, n: 0.5 * float(x.sum() - 1) ** 2 + noise(x, n))
    return tb.Function(value, lambda x: (x.sum() - 1) * np.ones(2), dim=2, convex=True, smoothness=smoothness)


NOISES = {
    "rising": lambda x, n: 1e-3 * n,
    "hash": lambda x, n: 1e-3 * (zlib.crc32(x.tobytes()) % 1000) / 1000,
    "random": lambda x, n: 1e-4 * float(np.random.default_rng(n).random()),
    "alternating": lambda x, n: 1e-2 * (n % 2),
    "after a while": lambda x, n: float(n > 40) * n,
}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("smoothness", [None, 2.0])
def test_updates_end(method: str, noise: str, smoothness: float | None) -> None:
    problem = tb.Problem(tb.SquaredNorm(dim=2), level(NOISES[noise], smoothness), tb.L2Ball(2.0))
    solver = SOLVERS[method]()
    try:
        state = solver.start(problem, None)
        for _ in range(12):
            if not state.finished:
                state = solver.advance(problem, state)
    except ValueError as refusal:  # of a method that needs the smoothness, or that sees the contradiction
        assert any(word in str(refusal) for word in ("smoothness", "convex", "needs"))
    else:
        assert np.isfinite(state.x).all()


@pytest.mark.parametrize("method", ["solodov", "adabim", "apdb", "mng", "fc-bio", "bisec-bio"])
@pytest.mark.parametrize("project", ["minus", "off", "random"])
def test_updates_end_with_a_wrong_projection(method: str, project: str) -> None:
    wrong = {
        "minus": lambda x, n: -x,
        "off": lambda x, n: np.clip(x, -1, 1) + 0.01,
        "random": lambda x, n: np.random.default_rng(n).uniform(-1, 1, 2),
    }[project]
    domain = tb.FromOracles(lambda c: -np.sign(c), counted(wrong), diameter=3.0, dim=2)
    problem = tb.Problem(tb.SquaredNorm(dim=2), tb.LeastSquares([[1.0, 1.0]], [1.0]), domain)
    solver = SOLVERS[method]()
    try:
        state = solver.start(problem, None)
        for _ in range(12):
            if not state.finished:
                state = solver.advance(problem, state)
    except tb.OracleError as error:
        assert "project" in str(error)
    else:
        assert np.isfinite(state.x).all()
