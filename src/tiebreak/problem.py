"""The problem: levels over a domain, each minimised over the minimisers of those before it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .arrays import Vector, as_names, as_positive, as_scalar
from .objectives.base import Objective
from .sets.base import Domain
from .sets.space import Space


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


@dataclass(frozen=True)
class Problem:
    """Minimise ``upper`` over the points of ``domain`` that minimise ``lower`` (up to ``slack``).

    Parameters
    ----------
    upper : objective
        f, the last objective: it chooses among the minimisers of those before it.
    lower : objective or sequence of objectives
        g, the main objective; convex. Of several, the most important comes first, and each is minimised over the
        minimisers of those before it. None at all (an empty sequence) leaves the minimisation of ``upper``.
    domain : set, optional
        Z, convex; None is the whole space. A set that is not bounded is one for exact solves, and for methods that
        project.
    slack : float or sequence of float, default 0
        Minimise f over {z in Z : g(z) <= g* + slack}; 0 is the bilevel problem itself. One for each lower level.
    relative_slack : float or sequence of float, default 0
        The same as a share of abs(g*), instead of ``slack``; ``solve`` finds out g* first.
    error_bound : ErrorBound, optional
        A growth condition of g that you vouch for; it makes the bracket on f* two-sided.
    names : sequence of str, optional
        Names of the variables, for ``Result.named``; by default those of the domain, where it has some.

    Attributes
    ----------
    lower, slack, relative_slack
        Those of the last lower level; the ones before it are in ``before``, ``slack_before``,
        ``relative_slack_before``.

    Examples
    --------
    The smallest point among those with x1 + x2 = 1:

    >>> import tiebreak as tb
    >>> problem = tb.Problem(upper=tb.SquaredNorm(), lower=tb.LeastSquares([[1.0, 1.0]], [1.0]), domain=tb.Box(-2, 2))
    >>> problem
    Problem in 2 variables over Box(-2, 2, dim=2)
      first     LeastSquares
      then      SquaredNorm
    """

    upper: Objective
    lower: Objective
    domain: Domain = None  # type: ignore[assignment]
    slack: float = 0.0
    error_bound: ErrorBound | None = None
    relative_slack: float = 0.0
    names: tuple[str, ...] | None = None
    before: tuple[Objective, ...] = ()
    slack_before: tuple[float, ...] = ()
    relative_slack_before: tuple[float, ...] = ()

    if TYPE_CHECKING:

        def __init__(
            self,
            upper: Objective,
            lower: Objective | Sequence[Objective],
            domain: Domain | None = None,
            slack: float | Sequence[float] = 0.0,
            error_bound: ErrorBound | None = None,
            relative_slack: float | Sequence[float] = 0.0,
            names: Sequence[str] | None = None,
            before: tuple[Objective, ...] = (),
            slack_before: tuple[float, ...] = (),
            relative_slack_before: tuple[float, ...] = (),
        ) -> None: ...

    def __post_init__(self) -> None:
        _check_objective(self.upper, "upper")
        self._spread_levels()
        domain: object = self.domain
        if domain is None:
            domain = Space()
            object.__setattr__(self, "domain", domain)
        if not isinstance(domain, Domain):
            what = "a set such as tiebreak.L1Ball or tiebreak.FromOracles"
            raise TypeError(f"domain must be {what}, or None for the whole space, got {type(domain).__name__}")
        for k, level in enumerate(self.levels[:-1]):
            if not level.convex:
                which = "lower" if len(self.levels) == 2 else f"level {k + 1}"
                raise ValueError(
                    f"{which} is not known to be convex, and every bound rests on that; "
                    "if your Function is convex, say so with Function(..., convex=True)"
                )
        if self.error_bound is not None:
            bound: object = self.error_bound
            if not isinstance(bound, ErrorBound):
                raise TypeError(f"error_bound must be a tiebreak.ErrorBound, got {type(bound).__name__}")
            if self.before:
                raise ValueError("error_bound is for a single lower level")
        parts = [("upper", self.upper.dim), ("lower", self.lower.dim), ("domain", self.domain.dim)]
        parts += [(f"level {k + 1}", level.dim) for k, level in enumerate(self.before)]
        known = {name: dim for name, dim in parts if dim is not None}
        if len(set(known.values())) > 1:
            listing = ", ".join(f"{name} has {dim}" for name, dim in known.items())
            raise ValueError(f"the parts of the problem differ in the number of variables: {listing}")
        if not known:
            raise ValueError(
                "the number of variables is unknown: give a dim to upper, lower or domain, "
                "for example SquaredNorm(dim=10)"
            )
        object.__setattr__(self, "domain", self.domain.with_dim(next(iter(known.values()))))
        names = self.domain.variable_names if self.names is None else self.names
        if names is not None:
            object.__setattr__(self, "names", as_names(names, self.dim))

    def _spread_levels(self) -> None:
        """A sequence of lower levels, with their slacks, into the last one and those before."""
        lower: object = self.lower
        count = 1 + len(self.before)
        if not isinstance(lower, Objective):
            if not isinstance(lower, (list, tuple)) or self.before:
                raise TypeError(f"lower must be {_OBJECTIVE}, or a list of such, got {type(lower).__name__}")
            for k, level in enumerate(lower):
                _check_objective(level, f"lower[{k}]")
            count = max(len(lower), 1)
            object.__setattr__(self, "lower", lower[-1] if lower else self.upper)
            object.__setattr__(self, "before", tuple(lower[:-1]))
        for name in ("slack", "relative_slack"):
            given, earlier = getattr(self, name), getattr(self, f"{name}_before")
            if type(given) is float or np.ndim(given) == 0:
                several = [*(earlier or [0.0] * (count - 1)), given]
            else:
                several = list(given)
            if len(several) != count:
                raise ValueError(
                    f"{name} must have one number for each of the lower levels ({count}), got {len(several)}"
                )
            values = tuple([as_scalar(one, name) for one in several])
            if min(values) < 0:
                raise ValueError(f"{name} must not be negative, got {min(values):g}")
            object.__setattr__(self, name, values[-1])
            object.__setattr__(self, f"{name}_before", values[:-1])
        if not (self.slack or self.slack_before) or not (self.relative_slack or self.relative_slack_before):
            return
        both = zip(self.slacks, (*self.relative_slack_before, self.relative_slack), strict=True)
        if any(absolute > 0 and relative > 0 for absolute, relative in both):
            raise ValueError("give slack or relative_slack for a level, not both")

    @classmethod
    def from_cvxpy(
        cls,
        upper: Any,
        lower: Any,
        constraints: Sequence[Any] = (),
        *,
        slack: float | Sequence[float] = 0.0,
        relative_slack: float | Sequence[float] = 0.0,
    ) -> Problem:
        """The problem behind objectives of CVXPY, in the variables that CVXPY makes of them.

        To get values back into CVXPY's variables, use ``tiebreak.cvxpy.Lexicographic``.

        Parameters
        ----------
        upper : cp.Minimize, cp.Maximize or cp.Problem
            The last objective; of a problem, with its constraints.
        lower : the same, or a sequence of such
            Those before it, the most important first.
        constraints : sequence of constraints
            Further ones.
        slack, relative_slack : float or sequence of float
            As for ``Problem``.

        Examples
        --------
        >>> import cvxpy as cp, tiebreak as tb
        >>> x = cp.Variable(2, nonneg=True, name="x")
        >>> problem = tb.Problem.from_cvxpy(cp.Minimize(cp.sum_squares(x)), cp.Minimize(cp.sum(x)), [cp.sum(x) >= 1])
        >>> tb.solve(problem).named
        {'x[0]': 0.5, 'x[1]': 0.5}
        """
        from .cvxpy import problem_from

        return problem_from(upper, lower, constraints, slack=slack, relative_slack=relative_slack)

    @property
    def levels(self) -> tuple[Objective, ...]:
        """All objectives, the most important first."""
        if self.lower is self.upper and not self.before:
            return (self.upper,)
        return (*self.before, self.lower, self.upper)

    @property
    def slacks(self) -> tuple[float, ...]:
        """Those of the lower levels."""
        return (*self.slack_before, self.slack)

    @property
    def dim(self) -> int:
        """The number of variables."""
        assert self.domain.dim is not None  # set when the problem was made
        return self.domain.dim

    def with_slack(self, slack: float) -> Problem:
        """The same problem with another slack of the last lower level."""
        slack = as_scalar(slack, "slack")
        same = slack == self.slack and not self.relative_slack
        return self if same else replace(self, slack=slack, relative_slack=0.0)

    def __repr__(self) -> str:
        rows = [f"Problem in {self.dim} variables over {self.domain!r}"]
        slacks = [*self.slacks, 0.0]
        shares = [*self.relative_slack_before, self.relative_slack, 0.0]
        for k, level in enumerate(self.levels):
            allowed = f"   slack {slacks[k]:g}" if slacks[k] else f"   slack {shares[k]:.3%}" if shares[k] else ""
            rows.append(f"  {'then' if k else 'first':<9} {_described(level)}{allowed}")
        return "\n".join(rows)


_OBJECTIVE = "an objective such as tiebreak.LeastSquares or tiebreak.Function"


def _check_objective(part: object, name: str) -> None:
    if not isinstance(part, Objective):
        raise TypeError(f"{name} must be {_OBJECTIVE}, got {type(part).__name__}")


def _described(level: Objective) -> str:
    """A short name of an objective: that of its class, unless it has a repr of its own."""
    return repr(level) if type(level).__repr__ is not object.__repr__ else type(level).__name__


def share_of(share: float, lower: float, upper: float) -> float:
    """A relative slack as a number: of the smaller end, by size, of the bracket around the optimum."""
    return 0.0 if share == 0 or lower < 0 < upper else share * min(abs(lower), abs(upper))


def start_point(problem: Problem) -> Vector:
    """Where a method starts when the user gives no x0: some point of Z, always the same."""
    return problem.domain.some_point()
