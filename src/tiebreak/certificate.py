"""What is proved about a point, as a user reads it: a bracket for each level, and how far the point is from both."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from .engines.answer import Duals


@dataclass(frozen=True)
class Level:
    """One level of a problem: its value at x, and a bracket around its optimal value given the levels before it.

    Attributes
    ----------
    value : float
        At x.
    lower, upper : float
        The least value among the solutions of the levels before lies between them.
    duals : Duals or None
        Multipliers of the constraints at that optimum, ``rows`` and ``columns``, where an exact solve has them.

    Examples
    --------
    >>> import tiebreak as tb
    >>> plans = tb.Polyhedron(A_eq=[[1.0, 1.0, 1.0]], b_eq=[2.0], bounds=(0, 1))
    >>> result = tb.lexicographic([tb.Linear([1.0, 1.0, 3.0]), tb.SquaredNorm()], plans)
    >>> [level.lower <= level.value <= level.upper + 1e-9 for level in result.levels]
    [True, True]
    >>> print(f"{result.levels[0].value:.6f}, {result.levels[1].value:.6f}")
    2.000000, 1.000000
    """

    value: float
    lower: float
    upper: float
    duals: Duals | None = field(default=None, repr=False, compare=False)

    @property
    def gap(self) -> float:
        """At least the value minus the optimal value."""
        return self.value - self.lower

    def __neg__(self) -> Level:
        """The same level for who maximises: what is minimised is minus what is wanted."""
        return replace(self, value=0.0 - self.value, lower=0.0 - self.upper, upper=0.0 - self.lower)


@dataclass(frozen=True)
class Certificate:
    """What is proved about a point x of Z.

    Attributes
    ----------
    g_lower, g_upper : float
        g* lies between them.
    lower_gap : float
        At least g(x) - g*.
    f_lower : float
        At most f*, the optimal value of the problem (with its slack).
    f_upper : float
        At least f*; inf unless proved.
    upper_gap : float
        f(x) - f_lower, at least f(x) - f*. Negative: x is super-optimal, that is, not optimal for the lower level.
    stationarity : float or None
        For a nonconvex f: at least the Frank-Wolfe gap of f at x over the lower solutions.
    multiplier : float
        The weight of the lower level behind f_lower: the price of lower-level loss.
    lower_unique : bool or None
        Whether the lower level has one solution only; None where that is not known.
    upper_constant : bool or None
        True where f is proved to be constant on the lower solutions.
    well_posed : bool
        False where an exact method met a decision on a rank, a face or a tie that hangs on rounding: the brackets hold,
        but a small change of the data may change the answer a lot. ``Result.notes`` says which.
    assumes : tuple of str
        What the bounds take for granted and the library cannot check: only what is particular to this problem; what
        all proofs rest on is in docs/certificates.md.

    Examples
    --------
    >>> import tiebreak as tb
    >>> problem = tb.Problem(tb.SquaredNorm(), tb.LeastSquares([[1.0, 1.0]], [1.0]), tb.L1Ball(2.0))
    >>> c = tb.solve(problem).certificate
    >>> round(c.f_lower, 9), round(c.f_upper, 9), c.two_sided
    (0.25, 0.25, True)
    >>> c.lower_unique, c.upper_constant, c.assumes
    (False, None, ())
    """

    g_lower: float
    g_upper: float
    lower_gap: float
    f_lower: float
    f_upper: float
    upper_gap: float
    stationarity: float | None = None
    multiplier: float = 0.0
    lower_unique: bool | None = None
    upper_constant: bool | None = None
    well_posed: bool = True
    assumes: tuple[str, ...] = ()

    @property
    def two_sided(self) -> bool:
        """Whether f* is bounded from both sides."""
        return bool(np.isfinite(self.f_lower) and np.isfinite(self.f_upper))

    @property
    def super_optimal(self) -> bool:
        """Whether f(x) is below f* for certain, so that x cannot be optimal for the lower level."""
        return self.upper_gap < 0

    def shows(self, tol_upper: float, tol_lower: float, slack: float = 0.0) -> bool:
        """Whether both tolerances are proved and nothing known contradicts that x is a solution.

        Proved: f(x) - f* (or stationarity) <= tol_upper, and g(x) - g* <= tol_lower; with slack, that x is feasible:
        g(x) - g* <= slack. Contradicted: by an upper gap (or stationarity) that is negative by more than tol_upper, or
        by a lower gap that is negative by more than tol_lower.
        """
        upper = self.upper_gap if self.stationarity is None else min(self.stationarity, self.upper_gap)
        return bool(-tol_upper <= upper <= tol_upper and -tol_lower <= self.lower_gap <= (slack or tol_lower))
