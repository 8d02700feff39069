"""What a run returns: the point, both objectives, and what is proved about them."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .arrays import Vector, as_path, as_positive
from .callbacks import Trace
from .certificate import Certificate, Level
from .methods.base import State
from .problem import Problem

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from .derivatives import Derivatives
    from .rational import Proof
    from .verify import Verification


class Status(StrEnum):
    """How a run ended. Only CONVERGED is a success: see ``Certificate.shows``.

    Examples
    --------
    >>> import tiebreak as tb
    >>> problem = tb.Problem(tb.SquaredNorm(), tb.LeastSquares([[1.0, 1.0]], [1.0]), tb.L1Ball(2.0))
    >>> tb.solve(problem).status
    <Status.CONVERGED: 'converged'>
    >>> tb.solve(problem, "tseng", max_iter=1).status == "max_iter"
    True
    """

    CONVERGED = "converged"
    MAX_ITER = "max_iter"
    MAX_TIME = "max_time"
    STOPPED = "stopped"
    INTERRUPTED = "interrupted"
    STALLED = "stalled"
    NONFINITE = "nonfinite"
    UNBOUNDED = "unbounded"
    INFEASIBLE = "infeasible"


@dataclass(frozen=True)
class Result:
    """The outcome of ``solve``.

    Attributes
    ----------
    x : array
        The point.
    f, g : float
        Upper and lower objective at x (``fun`` is f); of more than two levels, the last and the last but one.
    success : bool
        Whether both tolerances are proved and nothing known contradicts that x is a solution.
    status : Status
        How the run ended.
    message : str
        The same in words, with what the bounds mean.
    notes : tuple of str
        What else one should know: decisions that hang on rounding, tolerances that decided.
    method : str
        The method that ran.
    nit : int
        Updates made.
    time : float
        Seconds.
    calls : dict
        Oracle calls, by name; those of the bounds under "bounds.". A batch of a finite sum counts as its share.
    certificate : Certificate
        What is proved about x; of more than two levels, about the last two.
    levels : tuple of Level
        Every level, the most important first: its value at x, and a bracket around its optimal value among the
        solutions of the levels before.
    trace : Trace
        The iterates at which the bounds were computed (or your own Trace, if you passed one).
    seed : int or None
        The seed of the run.
    blocks : dict or None
        x in its named blocks, for a Product domain.
    state : State or None
        Where the method stood; ``solve(problem, method, x0=result.state)`` goes on from there.
    tol_upper, tol_lower : float
        The tolerances that ``success`` is about.

    Examples
    --------
    >>> import tiebreak as tb
    >>> problem = tb.Problem(tb.SquaredNorm(), tb.LeastSquares([[1.0, 1.0]], [1.0]), tb.L1Ball(2.0))
    >>> result = tb.solve(problem)
    >>> result.success, result.status.value, result.x.round(6)
    (True, 'converged', array([0.5, 0.5]))
    >>> [round(level.value, 6) for level in result.levels]
    [0.0, 0.25]
    >>> result.verify(problem).ok
    True
    """

    x: Vector
    f: float
    g: float
    success: bool
    status: Status
    message: str
    method: str
    nit: int
    time: float
    calls: dict[str, float]
    certificate: Certificate
    trace: Trace = field(repr=False)
    seed: int | None = None
    blocks: dict[str, np.ndarray] | None = field(default=None, repr=False)
    state: State | None = field(default=None, repr=False)
    notes: tuple[str, ...] = ()
    tol_upper: float = np.inf
    tol_lower: float = np.inf
    levels: tuple[Level, ...] = ()
    names: tuple[str, ...] | None = field(default=None, repr=False)

    @property
    def named(self) -> dict[str, float] | None:
        """x by the names of the problem; None where it has none."""
        return None if self.names is None else dict(zip(self.names, map(float, self.x), strict=True))

    @property
    def fun(self) -> float:
        """The upper objective at x, under SciPy's name."""
        return self.f

    def belonging_to(self, problem: Problem) -> Result:
        """The same result, which knows its problem from now on; files do not."""
        self.__dict__["_problem"] = problem
        return self

    def __getitem__(self, name: str) -> Any:
        if name == "fun" or name in {one.name for one in fields(self)}:
            return getattr(self, name)
        raise KeyError(name)

    def verify(self, problem: Problem) -> Verification:
        """Recompute everything from x alone, by other code, and compare."""
        from .verify import verify

        return verify(problem, self)

    def prove(self, problem: Problem, max_time: float = 60.0) -> Proof:
        """The exact solution of the problem in rational numbers, from x, with a proof that fits in a file.

        For chains of linear, quadratic and piecewise linear levels without slack over polyhedra; the data count
        exactly as they are stored. Needs python-flint (``pip install "tiebreak[proof]"``).

        Parameters
        ----------
        problem : Problem
            The problem that was solved.
        max_time : float
            Seconds; asked between steps.

        Raises
        ------
        NotProved
            With the reason: a level or set of another kind, rows that contradict each other by rounding, a quadratic
            that is convex only up to rounding, or no time left.

        Examples
        --------
        >>> import tiebreak as tb
        >>> problem = tb.Problem(tb.SquaredNorm(), tb.Linear([1.0, 1.0, 2.0]), tb.Simplex(1.0))
        >>> tb.solve(problem).prove(problem)
        Proof: the optimal values, exactly
          level 1  1
          level 2  1/4
        """
        from .rational import prove

        return prove(problem, self.x, as_positive(max_time, "max_time"))

    def plot(self) -> Any:
        """Draw every level with its bracket, and the gaps over time where there are several; returns the figure."""
        from .pictures import draw_gaps, draw_levels, pyplot

        over_time = len(self.trace) > 1
        count = len(self.levels)
        heights = [1.0] * count + [3.0] * over_time
        figure, axes = pyplot("Result.plot").subplots(
            len(heights),
            1,
            figsize=(6, 1.1 * sum(heights) + 0.6),
            height_ratios=heights,
            layout="constrained",
            squeeze=False,
        )
        draw_levels(axes[:count, 0], self.levels)
        if over_time:
            draw_gaps(axes[-1, 0], self.trace.to_dict())
        return figure

    def vjp(self, dx: ArrayLike, problem: Problem | None = None, *, side: str = "") -> Derivatives:
        """Derivatives of <dx, x> with respect to the data of every level and of the domain.

        By implicit differentiation of the optimality conditions of all levels, on the face that they hold.

        Parameters
        ----------
        dx : array of the shape of x
            The derivative of something with respect to x.
        problem : Problem, optional
            The problem of this result; only one that was loaded from a file, pickled or changed needs to be told.
        side : {"held", "free"}, optional
            Where x touches constraints that no level pushes against, it has one derivative on each side at most:
            "held" is that of changes of the data after which these constraints still hold x, "free" of those after
            which x leaves them. Without it, such an x is refused.

        Raises
        ------
        ValueError
            Where x has no derivative or none is proved: the answer is not unique, a constraint is active that no level
            pushes against, the result is no success; and, when asked for, derivatives with respect to data whose
            smallest change makes x jump (the cost of a level that ties).

        Examples
        --------
        The smallest point with x1 + x2 = b: half of b each.

        >>> import tiebreak as tb
        >>> problem = tb.Problem(tb.SquaredNorm(), tb.LeastSquares([[1.0, 1.0]], [1.0]), tb.Box(-2, 2))
        >>> derivatives = tb.solve(problem).vjp([1.0, 0.0])
        >>> derivatives.levels[0]["b"].round(12), derivatives.levels[1]["center"].round(12)
        (array([0.5]), array([ 0.5, -0.5]))
        """
        from .derivatives import vjp

        about = self.__dict__.get("_problem") if problem is None else problem
        if about is None:
            raise ValueError("this result does not know its problem any more: pass it, as in result.vjp(dx, problem)")
        if not isinstance(about, Problem):
            raise TypeError(f"problem must be a tiebreak.Problem, got {type(about).__name__}")
        if about.dim != self.x.size:
            raise ValueError(f"the problem has {about.dim} variables, the result {self.x.size}")
        if not self.success:
            raise ValueError(f"no derivative is proved: the run ended with {self.status}, not with success")
        return vjp(about, self.x, dx, side)

    def save(self, path: str | Path) -> None:
        """Write the result, with its certificate, trace and state, to one .npz file."""
        from .storage import save

        save(self, as_path(path))

    @staticmethod
    def load(path: str | Path) -> Result:
        """Read a result written by ``save``."""
        from .storage import load

        return load(as_path(path))

    def __repr__(self) -> str:
        c = self.certificate
        status = f"{self.status} (success: {self.success}) after {self.nit} updates, {self.time:.3g} s, {self.method}"
        f = f"f = {self.f:.10g}   f* in [{c.f_lower:.10g}, {c.f_upper:.10g}]   f(x) - f* <= {c.upper_gap:.3g}"
        g = f"g = {self.g:.10g}   g* in [{c.g_lower:.10g}, {c.g_upper:.10g}]   g(x) - g* <= {c.lower_gap:.3g}"
        rows = [("status", status), ("upper", f), ("lower", g)]
        if len(self.levels) > 2:
            chain = enumerate(self.levels, 1)
            rows[1:] = [
                (f"level {k}", f"{one.value:.10g}   optimum in [{one.lower:.10g}, {one.upper:.10g}]")
                for k, one in chain
            ]
        rows.append(("x", _by_name(self.x, self.names)))
        if c.stationarity is not None:
            rows.insert(2, ("", f"not convex: Frank-Wolfe gap over the lower solutions <= {c.stationarity:.3g}"))
        if c.super_optimal and not self.success:
            rows.insert(2, ("", "f(x) is below f*: x is not optimal for the lower level to that accuracy"))
        rows += [("note" if i == 0 else "", note) for i, note in enumerate(self.notes)]
        if not c.well_posed and not self.notes:
            rows.append(("note", "not well posed: a decision on a rank or a face hangs on rounding"))
        return "Result\n" + "\n".join(f"  {name:<7} {text}" for name, text in rows)


SHOWN = 8
"""So many variables are printed by name."""


def _by_name(x: Vector, names: tuple[str, ...] | None) -> str:
    """x in a line: by the names of the variables, where they have some."""
    if names is None:
        return np.array2string(x, precision=6, threshold=8, edgeitems=3)
    some = ", ".join(f"{name} = {value:.6g}" for name, value in zip(names[:SHOWN], x, strict=False))
    return some if len(names) <= SHOWN else f"{some}, ... ({len(names)} variables)"


def assumed(certificate: Certificate) -> str:
    """What a certificate takes for granted, in lines."""
    if not certificate.assumes:
        return "It assumes: nothing but what all proofs rest on (docs/certificates.md)."
    return "It assumes:" + "".join(f"\n    - {one}" for one in certificate.assumes)


def explain(certificate: Certificate, problem: Problem, tol_upper: float) -> str:
    """The certificate in plain words."""
    c = certificate
    goal = "g*" if problem.slack == 0 else f"g* + {problem.slack:g}"
    loss = max(c.lower_gap - problem.slack, 0.0)
    known = np.isfinite(c.lower_gap)
    bound = f"g(x) exceeds {goal} by at most {loss:.3g}" if known else "nothing is proved about g(x)"
    if problem.slack > 0 and known:
        bound = f"g(x) is at most {goal}" if loss == 0 else f"{bound}, and no point is proved to be within the slack"
    sentences = [f"Lower level: {bound}"]
    if c.stationarity is not None:
        sentences.append(f"upper level: f is not convex, and its Frank-Wolfe gap at x is at most {c.stationarity:.3g}")
    elif c.super_optimal:
        sentences.append(
            f"upper level: f(x) is below f* by at least {-c.upper_gap:.3g}, "
            + (
                "which is within the tolerance"
                if -c.upper_gap <= tol_upper
                else "so that x is no solution: it has to come closer to the lower solutions"
            )
        )
    elif np.isfinite(c.upper_gap):
        sentences.append(f"upper level: f(x) exceeds f* by at most {c.upper_gap:.3g}")
    if np.isfinite(c.f_upper) and np.isfinite(c.f_lower):
        sentences.append(f"f* lies in [{c.f_lower:.8g}, {c.f_upper:.8g}], {c.f_upper - c.f_lower:.1e} wide")
    elif problem.slack == 0 and problem.upper.convex:
        sentences.append("how far f(x) may lie below f* is not known without more structure")
    if c.upper_constant:
        sentences.append("f is constant on the lower solutions: the second objective has no say")
    return "; ".join(sentences) + "."
