"""Step rules: gamma_k in [0, 1], with k = 0 at the first update."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from math import sqrt

from .arrays import as_count, as_positive, as_scalar
from .problem import Problem


@dataclass(frozen=True)
class Line:
    """Both objectives along x + gamma (s - x), and what a step should achieve there."""

    upper: Callable[[float], float]
    lower: Callable[[float], float]
    target_upper: float
    """What the linear model promises for f; the aim of a line search."""
    target_lower: float
    """The level u of the cut; the aim of a line search for g."""
    floor_upper: float
    """A lower bound on f*: f need not go below it."""
    tol_upper: float
    tol_lower: float


class StepRule(ABC):
    """A step size for each update.

    Examples
    --------
    A rule of one's own is a function of k:

    >>> from dataclasses import dataclass
    >>> import tiebreak as tb
    >>> @dataclass(frozen=True)
    ... class Slow(tb.steps.StepRule):
    ...     def __call__(self, k):
    ...         return 1 / (k + 1)
    >>> problem = tb.Problem(tb.SquaredNorm(), tb.LeastSquares([[1.0, 1.0]], [1.0]), tb.L1Ball(2.0))
    >>> tb.solve(problem, tb.AnytimeCGBiO(step=Slow()), tol_upper=1e-2, tol_lower=1e-2).success
    True
    """

    @abstractmethod
    def __call__(self, k: int) -> float:
        """The step size of update k that needs no look at the objectives."""

    def choose(self, k: int, line: Callable[[], Line]) -> float:
        """The step size of update k; ``line()`` gives the objectives along the step to the rules that look."""
        return self(k)


@dataclass(frozen=True)
class Harmonic(StepRule):
    """a / (k + shift), at most 1; ``Harmonic(2, 2)`` is the rule of Theorem 1 of the CG-BiO paper.

    Examples
    --------
    >>> [Harmonic(2, 2)(k) for k in range(3)]
    [1.0, 0.6666666666666666, 0.5]
    """

    a: float = 2.0
    shift: float = 2.0

    def __post_init__(self) -> None:
        as_positive(self.a, "a")
        as_positive(self.shift, "shift")

    def __call__(self, k: int) -> float:
        return min(1.0, self.a / (k + self.shift))


@dataclass(frozen=True)
class InverseSqrt(StepRule):
    """c / sqrt(k + 1), at most 1: what the paper runs on nonconvex upper levels.

    Examples
    --------
    >>> InverseSqrt(0.3)(8)
    0.09999999999999999
    """

    c: float = 1.0

    def __post_init__(self) -> None:
        as_positive(self.c, "c")

    def __call__(self, k: int) -> float:
        return min(1.0, self.c / sqrt(k + 1))


@dataclass(frozen=True)
class Constant(StepRule):
    """The same step c in (0, 1] always.

    Examples
    --------
    >>> Constant(0.1)(1000)
    0.1
    """

    c: float

    def __post_init__(self) -> None:
        if not 0 < as_positive(self.c, "c") <= 1:
            raise ValueError(f"c must be in (0, 1], got {self.c:g}")

    def __call__(self, k: int) -> float:
        return self.c


def theorem_2(
    problem: Problem, tol_upper: float, tol_lower: float, curvature: tuple[float, float] | None = None
) -> Constant:
    """The constant step min(eps_f / C_f, eps_g / C_g) of Theorem 2 (nonconvex upper level).

    C_f = L_f D^2 and C_g = L_g D^2 by default, in the Euclidean norm. The theorems use nothing else of L and D, so that
    these may be taken in any other norm, or be the curvature constants: the largest of
    2 (h(y) - h(x) - <grad h(x), y - x>) / gamma^2 over x, s in Z and y = x + gamma (s - x), which no linear change of
    variables alters.

    Parameters
    ----------
    problem : Problem
        For its constants.
    tol_upper, tol_lower : float
        eps_f and eps_g.
    curvature : pair of float, optional
        C_f and C_g.

    Examples
    --------
    >>> import tiebreak as tb
    >>> f, g = tb.SquaredNorm(dim=2), tb.LeastSquares([[1.0, 1.0]], [1.0])
    >>> theorem_2(tb.Problem(f, g, tb.L2Ball(1.0)), tol_upper=0.04, tol_lower=0.4)
    Constant(c=0.01)
    >>> theorem_2(tb.Problem(f, g, tb.L1Ball(1.0)), 0.04, 0.4, curvature=(4.0, 4.0))  # |x|_1 <= 1: both levels L = 1
    Constant(c=0.01)
    """
    if not isinstance(problem, Problem):
        raise TypeError(f"problem must be a tiebreak.Problem, got {type(problem).__name__}")
    tol_upper, tol_lower = as_positive(tol_upper, "tol_upper"), as_positive(tol_lower, "tol_lower")
    if curvature is None:
        f, g, width = problem.upper.smoothness, problem.lower.smoothness, problem.domain.diameter
        if f is None or g is None or not width < float("inf"):
            raise ValueError(
                "the step of Theorem 2 needs the smoothness of both objectives and a finite diameter; "
                "give smoothness=... to Function and diameter=... to FromOracles, curvature=(C_f, C_g), "
                "or use another step rule"
            )
        curvature = (f * width**2, g * width**2)
    elif not isinstance(curvature, (tuple, list)) or len(curvature) != 2:
        raise TypeError(f"curvature must be a pair of numbers, got {curvature!r}")
    else:
        curvature = (as_scalar(curvature[0], "curvature[0]"), as_scalar(curvature[1], "curvature[1]"))
        if min(curvature) < 0:
            raise ValueError(f"curvature must not be negative, got {curvature!r}")
    bounds = [tol / C for tol, C in zip((tol_upper, tol_lower), curvature, strict=True) if C > 0]
    return Constant(min([1.0, *bounds]))


@dataclass(frozen=True)
class Adaptive(StepRule):
    """A line search that keeps the theorems of the rule it improves on.

    The step minimises max((f - target) / tol_upper, (g - target) / tol_lower) along the segment. It is taken only if
    neither objective ends above its value at the reference step (or f above a lower bound on f*, or g above the
    level of the cut): under this safeguard the induction behind Theorem 1 goes through with the same constants.
    A line search on f alone would freeze the method whenever x is below f* and has to come back up.

    Examples
    --------
    >>> Adaptive().reference
    Harmonic(a=2.0, shift=2.0)
    """

    reference: StepRule = field(default_factory=Harmonic)
    evaluations: int = 24

    def __post_init__(self) -> None:
        if not isinstance(self.reference, StepRule):
            raise TypeError(f"reference must be a rule such as tiebreak.steps.Harmonic(2, 2), got {self.reference!r}")
        as_count(self.evaluations, "evaluations")

    def __call__(self, k: int) -> float:
        return self.reference(k)

    def choose(self, k: int, line: Callable[[], Line]) -> float:
        reference, along = self(k), line()
        f_cap = max(along.upper(reference), along.floor_upper)
        g_cap = max(along.lower(reference), along.target_lower)

        def merit(gamma: float) -> float:
            return max(
                (along.upper(gamma) - along.target_upper) / along.tol_upper,
                (along.lower(gamma) - along.target_lower) / along.tol_lower,
            )

        best = _golden_section(merit, self.evaluations)
        reference_merit = merit(reference)
        # Both sublevel conditions hold at the reference and are convex, so the admissible steps are an interval
        # around it: walk back from the best step towards the reference until inside.
        for share in (1.0, 0.5, 0.25, 0.125):
            gamma = reference + share * (best - reference)
            if along.upper(gamma) <= f_cap and along.lower(gamma) <= g_cap and merit(gamma) < reference_merit:
                return gamma
        return reference


def _golden_section(merit: Callable[[float], float], evaluations: int) -> float:
    """A minimiser of a convex function on [0, 1], to the accuracy that so many evaluations give."""
    ratio = (sqrt(5) - 1) / 2
    low, high = 0.0, 1.0
    left, right = high - ratio, low + ratio
    merit_left, merit_right = merit(left), merit(right)
    for _ in range(evaluations - 2):
        if merit_left <= merit_right:
            high, right, merit_right = right, left, merit_left
            left = high - ratio * (high - low)
            merit_left = merit(left)
        else:
            low, left, merit_left = left, right, merit_right
            right = low + ratio * (high - low)
            merit_right = merit(right)
    candidates = [(merit_left, left), (merit_right, right), (merit(1.0), 1.0)]
    return min(candidates)[1]
