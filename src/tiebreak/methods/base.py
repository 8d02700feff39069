"""What a method is: hyper-parameters, a start, and one update of a plain state. The loop does everything else."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Generic, TypeVar

from ..arrays import Vector
from ..composite import How, Level
from ..engines.answer import Answer
from ..origin import Origin
from ..problem import Problem


@dataclass(frozen=True, kw_only=True)
class State:
    """Where a method stands: plain data, so that a run can be saved and resumed.

    Attributes
    ----------
    x : array
        The iterate.
    k : int
        Updates made so far.
    anchor : array or None
        A point of Z with a small lower-level value, where the method knows a better one than x; for the bounds.
    multiplier : float
        The method's current weight of the lower level, where it has one; for the bounds.
    settled : bool
        Whether a stage of the method ends at x, so that x is worth a proof now, whenever the next one is due.
    finished : bool
        Whether the method's own stopping test holds at x.
    shrink : float
        What the method multiplies its lower-level tolerance by: below 1 once the run has asked for more.
    answer : Answer or None
        What an exact method has proved about x, for the bounds to take over.
    origin : Origin or None
        The problem and the method it belongs to, and what the bounds knew; the loop sees to it, methods leave it alone.

    Examples
    --------
    >>> import tiebreak as tb
    >>> problem = tb.Problem(tb.SquaredNorm(), tb.LeastSquares([[1.0, 1.0]], [1.0]), tb.L1Ball(2.0))
    >>> for state in tb.iterate(problem, "tseng", x0=[0.5, 0.5]):
    ...     if state.k == 2:
    ...         break
    >>> state.k, state.x.round(3)
    (2, array([0.374, 0.374]))
    """

    x: Vector
    k: int = 0
    anchor: Vector | None = None
    multiplier: float = 0.0
    settled: bool = False
    finished: bool = False
    shrink: float = 1.0
    answer: Answer | None = None
    origin: Origin | None = None


S = TypeVar("S", bound=State)


@dataclass(frozen=True)
class MethodInfo:
    """A row of the table of methods: what the theory asks for and what it promises."""

    name: str
    reference: str
    year: int
    assumptions: str
    upper_rate: str
    lower_rate: str
    oracle: str
    anytime: bool


@dataclass(frozen=True)
class Solver(ABC, Generic[S]):
    """A method: a frozen dataclass of hyper-parameters.

    ``needs`` names the oracles it calls ("upper.grad", "lower.grad", "domain.lmo", "domain.lmo_cut",
    "domain.project"); they are checked before the run. Fields called ``tol_upper``, ``tol_lower`` and ``seed``
    that are None are filled with those of the run.

    ``works_on_data`` says that the method calls no oracles at all, but reads the data of objectives and set: nobody
    watches or counts for it, and its start tells nothing.

    ``nonsmooth`` names the levels that may hold norms (``L1Norm``, ``GroupNorm``), and how the method takes them; a
    level it does not name must be differentiable.

    Examples
    --------
    >>> import tiebreak as tb
    >>> solver = tb.CGBiO(step=tb.steps.Harmonic(2, 12))
    >>> solver.info.name, sorted(solver.needs)
    ('cg-bio', ['domain.lmo', 'domain.lmo_cut', 'lower.grad', 'upper.grad'])
    """

    info: ClassVar[MethodInfo]
    needs: ClassVar[frozenset[str]]
    works_on_data: ClassVar[bool] = False
    nonsmooth: ClassVar[Mapping[Level, How]] = {}

    @abstractmethod
    def start(self, problem: Problem, x0: Vector | None) -> S:
        """The state before the first update; ``x0`` is a point of Z, or None where the user gave none."""

    @abstractmethod
    def advance(self, problem: Problem, state: S) -> S:
        """The state after one more update, or the same state marked ``finished``."""

    def advance_many(self, problem: Problem, state: S, updates: int) -> S:
        """The state after so many more updates, or fewer where it is ``finished`` or wants to be asked again.

        Methods with a faster way than one ``advance`` after the other override this; the iterates must be the same
        up to rounding. The loop then asks for several updates whenever nobody wants to see those in between.
        """
        return self.advance(problem, state)

    def tightened(self, problem: Problem, state: S) -> S | None:
        """The state to go on from with a tenth of the lower-level tolerance; None: there is none to lower, or not yet.

        The run asks for it where x is known to lie below f*, so that it is not near enough to the lower solutions, and
        where the method's own test ended it without a proof.
        """
        return None

    def solution(self, state: S) -> Vector:
        """The point the method would return now."""
        return state.x
