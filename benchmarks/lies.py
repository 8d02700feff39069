"""Lies: what may be wrong with each part of a problem that a user writes down."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from zlib import crc32

import numpy as np

import tiebreak as tb
from parts import Parts, honest

Lie = Callable[[Parts], Parts]
KINDS: dict[str, tuple[Lie, str]] = {}


def kind(name: str, hidden: str = "") -> Callable[[Lie], Lie]:
    """Enter a lie into the table; ``hidden`` says why no cheap check sees it."""

    def enter(lie: Lie) -> Lie:
        KINDS[name] = lie, hidden
        return lie

    return enter


def each_time(function: Callable[[Any, int], Any]) -> Callable:
    """A function of its argument and of how often it was called before."""
    count = itertools.count()
    return lambda x, *more: function(x, next(count))


def with_buffer(function: Callable) -> Callable:
    """The function, its answers all in the same array."""
    buffers: dict[int, np.ndarray] = {}

    def answer(x: np.ndarray) -> np.ndarray:
        buffer = buffers.setdefault(x.size, np.zeros(x.size))
        buffer[:] = function(x)
        return buffer

    return answer


def spoiling(function: Callable) -> Callable:
    """The function, which leaves its argument changed."""

    def answer(x: np.ndarray, *more: Any) -> Any:
        found = np.copy(function(x, *more))
        x *= 0.5
        x += 1.0
        return found if found.ndim else found.item()

    return answer


def raising(error: Exception) -> Callable:
    """A function that raises."""

    def answer(*_: Any) -> Any:
        raise error

    return answer


def noisy(function: Callable, size: float) -> Callable:
    """The function with noise that is another one each time."""
    rng = np.random.default_rng(0)
    return lambda x: function(x) + size * rng.standard_normal(np.shape(function(x)))


def rough(function: Callable, size: float) -> Callable:
    """The function with noise that depends on x only."""
    return lambda x: function(x) + size * (crc32(x.tobytes()) / 2**32 - 0.5)


def enter_function_lies(which: str) -> None:
    """The lies about f, or about g."""
    value, grad, at = which, "d" + which, "fg".index(which)

    def on_value(name: str, change: Callable[[Callable], Callable]) -> None:
        kind(f"{which}: {name}")(lambda p: replace(p, **{value: change(getattr(p, value))}))

    def on_grad(name: str, change: Callable[[Callable], Callable]) -> None:
        kind(f"{which}: {name}")(lambda p: replace(p, **{grad: change(getattr(p, grad))}))

    def on_fact(name: str, fact: str, change: Callable[[Parts], float]) -> None:
        def lie(p: Parts) -> Parts:
            facts = list(getattr(p, fact))
            facts[at] = change(p)
            return replace(p, **{fact: tuple(facts)})

        kind(f"{which}: {name}")(lie)

    for size in (1e-6, 1e-3):
        on_value(f"value with random noise of {size:g}", lambda v, size=size: noisy(v, size))
        on_value(f"value with noise of {size:g} that depends on x", lambda v, size=size: rough(v, size))
    on_value("value drifts down by 1e-3 a call", lambda v: each_time(lambda x, n: v(x) - 1e-3 * n))
    on_value("value is 1 higher every other call", lambda v: each_time(lambda x, n: v(x) + n % 2))
    on_value("value is NaN at every 9th call", lambda v: each_time(lambda x, n: np.nan if n % 9 == 8 else v(x)))
    on_value("value is inf after 50 calls", lambda v: each_time(lambda x, n: np.inf if n > 50 else v(x)))
    on_value("value in half precision", lambda v: lambda x: np.float16(v(x)))
    on_value("value is complex", lambda v: lambda x: v(x) + 0j)
    on_value("value is an array", lambda v: lambda x: np.full(2, v(x)))
    on_value("value is None", lambda v: lambda x: None)
    on_value("value changes its argument", spoiling)
    on_value("value raises StopIteration", lambda v: raising(StopIteration()))
    on_value("value raises ZeroDivisionError", lambda v: raising(ZeroDivisionError("mine")))
    on_value("value is another function after 30 calls", lambda v: each_time(lambda x, n: v(x) if n < 30 else v(-x)))
    on_grad("half the gradient", lambda d: lambda x: 0.5 * d(x))
    on_grad("the gradient reversed", lambda d: lambda x: -d(x))
    on_grad("gradient of something else", lambda d: lambda x: d(x) + np.cos(x))
    on_grad("gradient without its last entry", lambda d: lambda x: np.append(d(x)[:-1], 0.0))
    on_grad("gradient wrong after 30 calls", lambda d: each_time(lambda x, n: d(x) if n < 30 else 0.1 * d(x)))
    on_grad("gradient with noise of 1e-3", lambda d: noisy(d, 1e-3))
    on_grad("gradients in one buffer", with_buffer)
    on_grad("gradient changes its argument", spoiling)
    on_grad("gradient one entry short", lambda d: lambda x: d(x)[:-1])
    on_grad("gradient NaN after 30 calls", lambda d: each_time(lambda x, n: d(x) * (np.nan if n > 30 else 1)))
    on_grad("gradient raises StopIteration", lambda d: raising(StopIteration()))
    on_fact("lower_bound too high by 0.1", "bounds", lambda p: (p.f_star, p.g_star)[at] + 0.1)
    on_fact("lower_bound too high by 0.01", "bounds", lambda p: (p.f_star, p.g_star)[at] + 0.01)
    on_fact("smoothness ten times too small", "smooth", lambda p: 0.1 * p.smooth[at])
    on_fact("smoothness 0", "smooth", lambda p: 0.0)


@kind("none: the truth")
def _(p: Parts) -> Parts:
    return p


for letter in "fg":
    enter_function_lies(letter)


@kind("g: concave, said to be convex")
def _(p: Parts) -> Parts:
    return replace(p, g=lambda x: -0.5 * x @ x, dg=lambda x: -x, smooth=(p.smooth[0], 1.0), bounds=(-np.inf, -np.inf))


@kind("g: two wells, said to be convex")
def _(p: Parts) -> Parts:
    return replace(
        p,
        g=lambda x: float(np.sum((x**2 - 0.25) ** 2)),
        dg=lambda x: 4 * x * (x**2 - 0.25),
        smooth=(p.smooth[0], None),
        bounds=(-np.inf, -np.inf),
        g_star=0.0,
    )


@kind("f: concave, said to be convex")
def _(p: Parts) -> Parts:
    return replace(p, f=lambda x: -0.5 * x @ x, df=lambda x: -x, smooth=(1.0, p.smooth[1]), bounds=(-np.inf, -np.inf))


def on_lmo(name: str, change: Callable[[Parts], Callable], **other: Any) -> None:
    """A lie of the lmo, where the other oracles of the set are right, or some of them missing."""
    kind(f"lmo {name}")(lambda p: replace(p, lmo=change(p), **other))


for given, missing in {
    "": {},
    ", with contains alone": {"project": None},
    ", with no other oracle": {"project": None, "contains": None},
}.items():
    on_lmo(f"maximises{given}", lambda p: lambda c: p.lmo(-c), **missing)
    on_lmo(f"answers in one buffer{given}", lambda p: with_buffer(p.lmo), **missing)
    on_lmo(f"has a wrong sign in one entry{given}", lambda p: lambda c: p.lmo(np.append(-c[0], c[1:])), **missing)
    on_lmo(f"gives the answer to the last question{given}", lambda p: _stale(p.lmo), **missing)
    on_lmo(
        f"gives another corner at every 5th call{given}",
        lambda p: each_time(lambda c, n: p.lmo(-c) if n % 5 == 4 else p.lmo(c)),
        **missing,
    )
    on_lmo(
        f"goes half way at every 3rd call{given}",
        lambda p: each_time(lambda c, n: p.lmo(c) * (0.5 + 0.5 * (n % 3 < 2))),
        **missing,
    )
    on_lmo(f"has noise of 1e-3{given}", lambda p: noisy(p.lmo, 1e-3), **missing)
    on_lmo(f"changes its argument{given}", lambda p: spoiling(p.lmo), **missing)


def _stale(function: Callable) -> Callable:
    last: list[np.ndarray] = []

    def answer(c: np.ndarray) -> np.ndarray:
        last.append(function(c))
        return last[-2] if len(last) > 1 else last[-1]

    return answer


on_lmo("stays 1e-3 inside", lambda p: lambda c: 0.999 * p.lmo(c))
on_lmo("stays 1e-3 inside, with contains alone", lambda p: lambda c: 0.999 * p.lmo(c), project=None)
on_lmo("gives points twice as far out", lambda p: lambda c: 2 * p.lmo(c))
on_lmo("gives points twice as far out, with contains alone", lambda p: lambda c: 2 * p.lmo(c), project=None)
on_lmo("gives the same point always", lambda p: lambda c: p.lmo(np.ones(p.dim)))
on_lmo("is complex", lambda p: lambda c: p.lmo(c) + 0j)
on_lmo("is one entry short", lambda p: lambda c: p.lmo(c)[:-1])
on_lmo("is NaN after 20 calls", lambda p: each_time(lambda c, n: p.lmo(c) * (np.nan if n > 20 else 1)))
on_lmo(
    "raises StopIteration after 20 calls",
    lambda p: each_time(lambda c, n: raising(StopIteration())() if n > 20 else p.lmo(c)),
)
on_lmo("raises KeyError", lambda p: raising(KeyError("mine")))


def on_set(name: str, **change: Callable[[Parts], Any]) -> None:
    """A lie of another oracle of the set."""
    kind(name)(lambda p: replace(p, **{field: new(p) for field, new in change.items()}))


on_set("project answers in one buffer", project=lambda p: with_buffer(p.project))
on_set("project leaves x where it is", project=lambda p: np.copy)
on_set("project gives points 1.5 times as far out", project=lambda p: lambda x: 1.5 * p.project(x))
on_set("project gives points half way", project=lambda p: lambda x: 0.5 * p.project(x))
on_set("project gives a corner", project=lambda p: lambda x: p.lmo(-x))
on_set("project has noise of 1e-3", project=lambda p: noisy(p.project, 1e-3))
on_set("project changes its argument", project=lambda p: spoiling(p.project))
on_set("project reverses x", project=lambda p: lambda x: p.project(-x))
on_set(
    "project gives points 1.5 times as far out, without contains",
    project=lambda p: lambda x: 1.5 * p.project(x),
    contains=lambda p: None,
)
on_set("contains is always true", contains=lambda p: lambda x, tol: True)
on_set("contains is always true, without project", contains=lambda p: lambda x, tol: True, project=lambda p: None)
on_set("contains is never true", contains=lambda p: lambda x, tol: False)
on_set("contains is the opposite", contains=lambda p: lambda x, tol: not p.contains(x, tol))
on_set("contains has half the size", contains=lambda p: lambda x, tol: p.contains(2 * x, tol))
on_set("contains has twice the size", contains=lambda p: lambda x, tol: p.contains(0.5 * x, tol))
on_set("contains is 1 % too large", contains=lambda p: lambda x, tol: p.contains(x / 1.01, tol))
on_set("project gives boundary points for inner ones", project=lambda p: lambda x: p.lmo(-p.project(x)))
on_set("contains gives an array", contains=lambda p: lambda x, tol: np.abs(x) <= 1)
on_set("contains gives None", contains=lambda p: lambda x, tol: None)
on_set("contains changes its argument", contains=lambda p: spoiling(lambda x, tol: p.contains(x, tol)))
on_set("diameter ten times too small", diameter=lambda p: 0.1 * p.diameter)


class BufferBall(tb.L2Ball):
    """A user's class whose lmo and project answer in one array."""

    def lmo(self, c):
        self.kept = getattr(self, "kept", np.zeros(c.size))
        self.kept[:] = super().lmo(c)
        return self.kept

    def project(self, x):
        self.kept = getattr(self, "kept", np.zeros(x.size))
        self.kept[:] = super().project(x)
        return self.kept


class WrongBall(tb.L2Ball):
    """A user's class whose lmo gives the point on the other side."""

    def lmo(self, c):
        return -super().lmo(c)


class TwoFaced(tb.SquaredNorm):
    """A user's class whose value and value_and_grad disagree."""

    def value(self, x):
        return 0.5 * super().value(x)


class Spoiler(tb.Objective):
    """A user's class that changes x."""

    convex, dim = True, 2

    def value_and_grad(self, x):
        found = 0.5 * float((x - 3) @ (x - 3)), x - 3
        x[:] = 0
        return found


class OtherSquares(tb.LeastSquares):
    """A user's class that changes the value of a class whose data an exact method works on."""

    def value(self, x):
        return super().value(x) + float(x[0])

    def value_and_grad(self, x):
        value, grad = super().value_and_grad(x)
        grad = grad.copy()
        grad[0] += 1
        return value + float(x[0]), grad


def on_class(name: str, make: Callable[[], tuple], f_star: float, g_star: float) -> None:
    """A lie of a user's class."""
    base = replace(honest()[2], f_star=f_star, g_star=g_star)

    def lie(p: Parts) -> Parts:
        problem = tb.Problem(*make())
        return replace(base, name=p.name, f=problem.upper.value, g=problem.lower.value, built=problem)

    kind(f"class: {name}")(lie)


THREE, COST, FAR = np.array([3.0, 3.0]), tb.Linear([1.0, 0.0]), 0.5 * (18**0.5 - 1) ** 2
BOX = tb.Box(-np.ones(2), np.ones(2))
for what, make, f_star, g_star in (
    ("lmo and project in one buffer", lambda: (COST, tb.SquaredNorm(THREE), BufferBall(1.0)), 0.5**0.5, FAR),
    ("lmo on the other side", lambda: (COST, tb.SquaredNorm(THREE), WrongBall(1.0)), 0.5**0.5, FAR),
    ("value and value_and_grad disagree", lambda: (COST, TwoFaced(THREE), tb.L2Ball(1.0)), 0.5**0.5, FAR / 2),
    ("changes its argument", lambda: (COST, Spoiler(), tb.L2Ball(1.0)), 0.5**0.5, FAR),
    (
        "least squares with another value",
        lambda: (tb.SquaredNorm(dim=2), OtherSquares([[1.0, 0.0]], [0.0]), BOX),
        0.5,
        -0.5,
    ),
    (
        "a false error bound",
        lambda: (
            tb.SquaredNorm(dim=2),
            tb.LeastSquares([[1.0, 1.0]], [1.0]),
            tb.L2Ball(2.0),
            0.0,
            tb.ErrorBound(1e6, 2.0, 3.0),
        ),
        0.25,
        0.0,
    ),
):
    on_class(what, make, f_star, g_star)


# -- what no cheap check sees --------------------------------------------------------------------------------------


@kind("lmo of half the set, with no other oracle", "it fits to itself: it is the lmo of another set")
def _(p: Parts) -> Parts:
    lmo = p.lmo
    return replace(p, lmo=lambda c: 0.5 * lmo(c), project=None, contains=None)


@kind("lmo gives the same point always, with no other oracle", "it fits to itself: the set may be a point")
def _(p: Parts) -> Parts:
    point = p.lmo(np.ones(p.dim))
    return replace(p, lmo=lambda c: point, project=None, contains=None)


@kind("g: another function", "value and gradient fit to each other")
def _(p: Parts) -> Parts:
    return replace(p, g=lambda x: 0.5 * (x @ x), dg=np.copy, smooth=(p.smooth[0], 1.0), bounds=(-np.inf, -np.inf))


@kind("g: a dip where no run looks", "a dip of 0.5 within 1e-3 of one point")
def _(p: Parts) -> Parts:
    spot = p.lmo(np.cos(np.arange(p.dim)))
    return replace(
        p,
        g=lambda x: p.g(x) - 2 * p.g_star - 5.0 * float(np.abs(x - 0.9371 * spot).max() < 1e-4),
        g_star=p.g_star - 2 * p.g_star - 5.0, smooth=(p.smooth[0], None), bounds=(-np.inf, -np.inf),
    )  # fmt: skip


@kind("g: lower_bound too high by 2e-4", "a walk downhill may not get below it")
def _(p: Parts) -> Parts:
    return replace(p, bounds=(-np.inf, p.g_star + 2e-4))
