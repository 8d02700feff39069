"""The problem: minimise f over the minimisers of g over Z."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from .arrays import Vector, as_positive, as_scalar
from .objectives.base import Objective
from .sets.base import Domain


@dataclass(frozen=True)
class ErrorBound:
    """The Hölderian error bound (alpha / r) dist(x, X_g*)^r <= g(x) - g* on Z (Assumption 2 of the CG-BiO paper).

    A fact about the lower level that the user vouches for; with it f* can be bounded from above as well.

    Parameters
    ----------
    alpha : float
        The constant, positive.
    r : float
        The order, at least 1: 1 for weak sharp minima (linear g on a polytope), 2 for quadratic growth.
    gradient_bound : float, optional
        M, a bound on the Euclidean norm of grad f over X_g*. Without it, the bound uses grad f at x and the
        smoothness of f instead.

    Examples
    --------
    >>> bound = ErrorBound(alpha=2.0, r=2.0, gradient_bound=3.0)
    >>> bound.distance(0.01)  # a point with g(x) - g* <= 0.01 is this near to the lower solutions
    0.1
    """

    alpha: float
    r: float
    gradient_bound: float | None = None

    def __post_init__(self) -> None:
        as_positive(self.alpha, "alpha")
        if as_scalar(self.r, "r") < 1:
            raise ValueError(f"r must be at least 1, got {self.r:g}")
        if self.gradient_bound is not None and as_scalar(self.gradient_bound, "gradient_bound") < 0:
            raise ValueError(f"gradient_bound must not be negative, got {self.gradient_bound:g}")

    def distance(self, lower_gap: float) -> float:
        """A bound on dist(x, X_g*) for a point of Z with g(x) - g* <= ``lower_gap``."""
        return float((self.r * max(lower_gap, 0.0) / self.alpha) ** (1 / self.r))

    def lower_tolerance(self, tol_upper: float, upper: Objective) -> float:
        """The lower-level tolerance of Corollary 1, under which f(x) >= f* - ``tol_upper`` as well."""
        M = self.gradient_bound
        if M is None:
            return np.inf
        if upper.convex:
            return self.alpha / self.r * (tol_upper / M) ** self.r if M > 0 else np.inf
        if upper.smoothness is None:
            return np.inf
        by_gradient = (tol_upper / (2 * M)) ** self.r if M > 0 else np.inf
        by_curvature = (tol_upper / (2 * upper.smoothness)) ** (self.r / 2) if upper.smoothness > 0 else np.inf
        return self.alpha / self.r * min(by_gradient, by_curvature)

    def stationarity_floor(self, lower_gap: float, upper: Objective) -> float:
        """Proposition 1 (ii): the Frank-Wolfe gap of f over X_g* is at least this (``-inf`` without M and L_f)."""
        if self.gradient_bound is None or upper.smoothness is None:
            return -np.inf
        delta = self.distance(lower_gap)
        return -self.gradient_bound * delta - upper.smoothness * delta**2


@dataclass(frozen=True)
class Problem:
    """Minimise ``upper`` over the points of ``domain`` that minimise ``lower`` (up to ``slack``).

    Parameters
    ----------
    upper : objective
        f, the second objective: it chooses among the minimisers of g.
    lower : objective
        g, the main objective; convex.
    domain : set
        Z, compact and convex.
    slack : float, default 0
        Minimise f over {z in Z : g(z) <= g* + slack}; 0 is the bilevel problem itself.
    error_bound : ErrorBound, optional
        A growth condition of g that you vouch for; it makes the bracket on f* two-sided.

    Examples
    --------
    The smallest point among those with x1 + x2 = 1:

    >>> import tiebreak as tb
    >>> problem = tb.Problem(upper=tb.SquaredNorm(), lower=tb.LeastSquares([[1.0, 1.0]], [1.0]), domain=tb.Box(-2, 2))
    >>> problem.dim
    2
    """

    upper: Objective
    lower: Objective
    domain: Domain
    slack: float = 0.0
    error_bound: ErrorBound | None = None

    def __post_init__(self) -> None:
        for name, part, kind in (
            ("upper", self.upper, Objective),
            ("lower", self.lower, Objective),
            ("domain", self.domain, Domain),
        ):
            if not isinstance(part, kind):
                what = "an objective such as tiebreak.LeastSquares or tiebreak.Function"
                if kind is Domain:
                    what = "a set such as tiebreak.L1Ball or tiebreak.FromOracles"
                raise TypeError(f"{name} must be {what}, got {type(part).__name__}")
        if not self.lower.convex:
            raise ValueError(
                "lower is not known to be convex, and every bound rests on that; "
                "if your Function is convex, say so with Function(..., convex=True)"
            )
        slack = as_scalar(self.slack, "slack")
        if slack < 0:
            raise ValueError(f"slack must not be negative, got {slack:g}")
        object.__setattr__(self, "slack", slack)
        if self.error_bound is not None and not isinstance(self.error_bound, ErrorBound):
            raise TypeError(f"error_bound must be a tiebreak.ErrorBound, got {type(self.error_bound).__name__}")
        known = {
            name: part.dim
            for name, part in (("upper", self.upper), ("lower", self.lower), ("domain", self.domain))
            if part.dim is not None
        }
        if len(set(known.values())) > 1:
            listing = ", ".join(f"{name} has {dim}" for name, dim in known.items())
            raise ValueError(f"the parts of the problem differ in the number of variables: {listing}")
        if not known:
            raise ValueError(
                "the number of variables is unknown: give a dim to upper, lower or domain, "
                "for example SquaredNorm(dim=10)"
            )
        object.__setattr__(self, "domain", self.domain.with_dim(next(iter(known.values()))))

    @property
    def dim(self) -> int:
        """The number of variables."""
        assert self.domain.dim is not None  # set when the problem was made
        return self.domain.dim

    def with_slack(self, slack: float) -> Problem:
        """The same problem with another slack."""
        slack = as_scalar(slack, "slack")
        return self if slack == self.slack else replace(self, slack=slack)


def start_point(problem: Problem) -> Vector:
    """Where a method starts when the user gives no x0: some point of Z, always the same."""
    return problem.domain.lmo(np.zeros(problem.dim))
