"""Problems with answers in closed form, part by part, as a user would write them down."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

import tiebreak as tb


@dataclass(frozen=True)
class Parts:
    """Everything a user would write down for one problem, and its true answer."""

    name: str
    dim: int
    f: Callable
    df: Callable
    g: Callable
    dg: Callable
    lmo: Callable | None
    project: Callable | None
    contains: Callable | None
    diameter: float
    f_star: float
    g_star: float
    smooth: tuple[float | None, float | None] = (1.0, 1.0)
    bounds: tuple[float, float] = (-np.inf, -np.inf)
    built: tb.Problem | None = field(default=None)

    def problem(self) -> tb.Problem:
        """The problem, as its user would make it."""
        if self.built is not None:
            return self.built
        f, g = (
            tb.Function(value, grad, dim=self.dim, convex=True, smoothness=L, lower_bound=low)
            for value, grad, L, low in zip((self.f, self.g), (self.df, self.dg), self.smooth, self.bounds, strict=True)
        )
        return tb.Problem(f, g, self.domain())

    def domain(self) -> tb.FromOracles:
        """The set."""
        return tb.FromOracles(self.lmo, self.project, self.contains, diameter=self.diameter, dim=self.dim)


def honest() -> list[Parts]:
    """Problems with answers in closed form."""
    p, q, ones = np.array([0.7, 0.3, 0.9]), np.array([3.0, 4.0]), np.ones(4)

    def into_simplex(x: np.ndarray) -> np.ndarray:
        return tb.Simplex().project(x)

    def corner(c: np.ndarray) -> np.ndarray:
        return np.eye(c.size)[int(c.argmin())]

    def unit(c: np.ndarray) -> np.ndarray:
        return -c / (np.linalg.norm(c) or 1.0)

    box = {
        "lmo": lambda c: -np.where(c < 0, -1.0, 1.0),
        "project": lambda x: np.clip(x, -1, 1),
        "contains": lambda x, tol: bool((np.abs(x) <= 1 + tol).all()),
    }
    return [
        Parts(
            "least norm in a box", 4,
            lambda x: 0.5 * x @ x, lambda x: x.copy(),
            lambda x: 0.5 * (x @ ones - 1) ** 2, lambda x: (x @ ones - 1) * ones,
            **box, diameter=4.0, f_star=0.125, g_star=0.0, smooth=(1.0, 4.0), bounds=(0.0, 0.0),
        ),
        Parts(
            "edge of a simplex", 3,
            lambda x: 0.5 * (x - p) @ (x - p), lambda x: x - p,
            lambda x: x[2] + 0.5 * x[2] ** 2, lambda x: np.array([0.0, 0.0, 1 + x[2]]),
            lmo=corner, project=into_simplex,
            contains=lambda x, tol: bool(x.min() >= -tol and abs(x.sum() - 1) <= tol + 1e-12),
            diameter=2**0.5, f_star=0.405, g_star=0.0,
        ),
        Parts(
            "point of a ball", 2,
            lambda x: x.sum() + 0.1 * x @ x, lambda x: 1 + 0.2 * x,
            lambda x: 0.5 * (x - q) @ (x - q), lambda x: x - q,
            lmo=unit, project=lambda x: x / max(1.0, np.linalg.norm(x)),
            contains=lambda x, tol: bool(np.linalg.norm(x) <= 1 + tol),
            diameter=2.0, f_star=1.5, g_star=8.0, smooth=(0.2, 1.0),
        ),
        Parts(
            "face of a box", 3,
            lambda x: x[2] + x[2] ** 2, lambda x: np.array([0, 0, 1 + 2 * x[2]]),
            lambda x: 0.5 * ((x[:2] - 2) @ (x[:2] - 2)), lambda x: np.array([x[0] - 2, x[1] - 2, 0.0]),
            **box, diameter=12**0.5, f_star=-0.25, g_star=1.0, smooth=(2.0, 1.0),
        ),
    ]  # fmt: skip
