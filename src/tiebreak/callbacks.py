"""Watching a run: the event a callback gets, a trace of it, a progress line."""

from __future__ import annotations

import csv
import inspect
import sys
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, TextIO

from .arrays import Vector, as_count, as_path, as_positive, as_scalar
from .bounds import Bounds
from .certificate import Certificate
from .methods.base import State
from .origin import Ledger
from .problem import Problem
from .statusline import StatusLine


class Event:
    """One iterate of a run, as a callback sees it. Values are computed when asked for.

    Attributes
    ----------
    x : array
        The iterate.
    k : int
        Updates made so far.
    time : float
        Seconds since the start.
    state : State
        The state of the method.
    f, g : float
        Both objectives at x.
    certificate : Certificate
        The best bounds so far, read for x.
    resumable : State
        The state with all that ``solve(problem, method, x0=...)`` needs to go on exactly from here.

    Examples
    --------
    >>> import tiebreak as tb
    >>> problem = tb.Problem(tb.SquaredNorm(), tb.LeastSquares([[1.0, 1.0]], [1.0]), tb.L1Ball(2.0))
    >>> seen = []
    >>> result = tb.solve(problem, "tseng", callback=lambda event: seen.append((event.k, event.f)), max_iter=3)
    >>> [k for k, _ in seen]
    [0, 1, 2, 3]
    """

    def __init__(
        self, problem: Problem, bounds: Bounds, state: State, time: float, ledger: Callable[[], Ledger] | None = None
    ) -> None:
        self._problem = problem
        self._bounds = bounds
        self._ledger = ledger
        self.state = state
        self.time = time

    @property
    def x(self) -> Vector:
        return self.state.x

    @property
    def k(self) -> int:
        return self.state.k

    nit = k

    @cached_property
    def f(self) -> float:
        return self._problem.upper.value(self.x)

    @property
    def fun(self) -> float:
        return self.f

    @cached_property
    def g(self) -> float:
        return self._problem.lower.value(self.x)

    @cached_property
    def certificate(self) -> Certificate:
        return self._bounds.certificate(self.f, self.g, self._problem.lower.rounding(self.x)[0])

    @property
    def resumable(self) -> State:
        if self._ledger is None or self.state.origin is None:
            raise ValueError("this event is not of a run of solve: there is nothing to go on from")
        return replace(self.state, origin=replace(self.state.origin, ledger=self._ledger()))


Callback = Callable[..., Any]


def as_callbacks(callback: Callback | Iterable[Callback] | None) -> list[Callback]:
    """A list of functions of one event."""
    if callback is None:
        return []
    given = list(callback) if isinstance(callback, Iterable) and not callable(callback) else [callback]
    return [_as_callback(one) for one in given]


def every_of(callback: Callback) -> int | None:
    """From how many updates to how many it wants to be called; None: where bounds are computed."""
    every = getattr(callback, "every", None)
    return every if isinstance(every, int) and every >= 1 else None


def _as_callback(callback: Callback) -> Callback:
    """A function of one event; a parameter called ``intermediate_result`` is passed by name, as in SciPy."""
    if not callable(callback) or isinstance(callback, type):
        raise TypeError(f"callback must be a function of one event, or several; got {callback!r}")
    if not _wants_scipy_name(callback):
        return callback
    every = every_of(callback)
    by_name: Callback = lambda event: callback(intermediate_result=event)  # noqa: E731
    return by_name if every is None else Every(every, by_name)


def _wants_scipy_name(callback: Callback) -> bool:
    try:
        signature = inspect.signature(callback)
    except (TypeError, ValueError):  # of a function written in C
        return False
    if set(signature.parameters) == {"intermediate_result"}:
        return True
    try:
        signature.bind(None)
    except TypeError:
        raise TypeError(f"callback must be a function of one event; {callback!r} takes other arguments") from None
    return False


@dataclass
class Every:
    """A callback at every n-th update; without it, a callback is called where the bounds are computed.

    With n = 1 no update is made in a faster way than the others, several at once.

    Parameters
    ----------
    every : int
        n: it is called at the start and where k is a multiple of this.
    callback : callable
        A function of one event.

    Examples
    --------
    >>> import tiebreak as tb
    >>> problem = tb.Problem(tb.SquaredNorm(), tb.LeastSquares([[1.0, 1.0]], [1.0]), tb.L1Ball(2.0))
    >>> seen = []
    >>> look = tb.Every(10, lambda event: seen.append(event.k))
    >>> result = tb.solve(problem, "cg-bio", max_iter=45, callback=look, tol_upper=1e-12)
    >>> seen
    [0, 10, 20, 30, 40]
    """

    every: int
    callback: Callback

    def __post_init__(self) -> None:
        self.every = as_count(self.every, "every")
        self.callback = _as_callback(self.callback)

    def __call__(self, event: Event) -> Any:
        return self.callback(event)


COLUMNS = ("k", "time", "f", "g", "f_lower", "f_upper", "g_lower", "g_upper", "lower_gap", "upper_gap")


@dataclass
class Trace:
    """A record of every n-th iterate: k, time, both objectives and the bounds. Pass it as a callback.

    Parameters
    ----------
    every : int, default 1
        Record iterates whose k is a multiple of this.

    Examples
    --------
    >>> import tiebreak as tb
    >>> problem = tb.Problem(tb.SquaredNorm(), tb.LeastSquares([[1.0, 1.0]], [1.0]), tb.L1Ball(2.0))
    >>> trace = tb.Trace(every=10)
    >>> result = tb.solve(problem, "cg-bio-anytime", max_iter=30, callback=trace, tol_upper=1e-12)
    >>> trace.to_dict()["k"]
    [0, 10, 20, 30]
    """

    every: int = 1
    rows: list[tuple[float, ...]] = field(default_factory=list, repr=False)

    def __post_init__(self) -> None:
        self.every = as_count(self.every, "every")

    def __call__(self, event: Event) -> None:
        if event.k % self.every == 0:
            self.record(event.k, event.time, event.f, event.g, event.certificate)

    def record(self, k: int, time: float, f: float, g: float, c: Certificate) -> None:
        """Add a row."""
        bounds = (c.f_lower, c.f_upper, c.g_lower, c.g_upper, c.lower_gap, c.upper_gap)
        self.rows.append((k, time, f, g, *bounds))

    def __len__(self) -> int:
        return len(self.rows)

    def to_dict(self) -> dict[str, list[float]]:
        """One list a column."""
        return {name: [row[i] for row in self.rows] for i, name in enumerate(COLUMNS)}

    def plot(self, ax: Any = None) -> Any:
        """Draw both gaps over time; returns the matplotlib axes."""
        from .pictures import draw_gaps, pyplot

        if ax is None:
            _, ax = pyplot("Trace.plot").subplots(figsize=(6, 4), layout="constrained")
        draw_gaps(ax, self.to_dict())
        return ax

    def to_csv(self, path: str | Path) -> None:
        """Write the table as CSV."""
        with open(path, "w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(COLUMNS)
            writer.writerows(self.rows)

    def to_pandas(self) -> Any:
        """A pandas DataFrame."""
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError("Trace.to_pandas needs pandas: pip install pandas") from error
        return pd.DataFrame(self.rows, columns=list(COLUMNS))


@dataclass
class Checkpoint:
    """Puts a run aside on disk every so many updates, so that it can go on after a crash. Pass it as a callback.

    ``solve(problem, method, x0=path)`` goes on from the file: with the same limits, seed and callbacks the iterates and
    the certificate are those of a run that was never interrupted, to the last bit. A file is whole or not there: a new
    one takes the place of the old one in one step. Where it cannot be written at the first iterate, the run ends with
    an OSError; later there is a warning, and the run goes on.

    Parameters
    ----------
    path : path
        The file; by convention it ends in .npz.
    every : int, default 100
        Updates from one file to the next.

    Examples
    --------
    >>> import tempfile
    >>> import tiebreak as tb
    >>> problem = tb.Problem(tb.SquaredNorm(), tb.LeastSquares([[1.0, 1.0]], [1.0]), tb.L1Ball(2.0))
    >>> path = tempfile.mkdtemp() + "/run.npz"
    >>> part = tb.solve(problem, "cg-bio-anytime", max_iter=45, callback=tb.Checkpoint(path, every=20), tol_upper=1e-12)
    >>> rest = tb.solve(problem, "cg-bio-anytime", max_iter=90, x0=path, tol_upper=1e-12)  # on from update 40
    >>> rest.nit
    90
    """

    path: str | Path
    every: int = 100

    def __post_init__(self) -> None:
        self.path = as_path(self.path)
        self.every = as_count(self.every, "every")
        self._begun = False

    def __call__(self, event: Event) -> None:
        if self._begun and event.k % self.every:
            return
        from .storage import save_state

        try:
            save_state(event.resumable, self.path)
        except OSError as error:
            if not self._begun:
                raise
            warnings.warn(f"no checkpoint at update {event.k}: {error}; the run goes on", UserWarning, stacklevel=2)
        self._begun = True


@dataclass
class Progress:
    """A progress line on standard error: both gaps against their tolerances. ``verbose=True`` makes one.

    It shows the measured gaps, not a percentage: how far a first-order method still has to go is not known.

    Parameters
    ----------
    tol_upper, tol_lower : float
        The tolerances to show.
    seconds : float, default 0.2
        Time between two refreshes.
    stream : file, optional
        Where to write; default: standard error.

    Examples
    --------
    >>> import tiebreak as tb
    >>> problem = tb.Problem(tb.SquaredNorm(), tb.LeastSquares([[1.0, 1.0]], [1.0]), tb.L1Ball(2.0))
    >>> import io
    >>> lines = io.StringIO()
    >>> result = tb.solve(problem, "tseng", callback=tb.Progress(seconds=0.0, stream=lines), max_iter=3)
    >>> "f" in lines.getvalue()
    True
    """

    tol_upper: float = 1e-4
    tol_lower: float = 1e-4
    seconds: float = 0.2
    stream: TextIO | None = None
    _shown: float = field(default=-1.0, init=False, repr=False)
    _line: StatusLine | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        for name in ("tol_upper", "tol_lower"):
            as_positive(getattr(self, name), name)
        if as_scalar(self.seconds, "seconds") < 0:
            raise ValueError(f"seconds must not be negative, got {self.seconds:g}")

    def __call__(self, event: Event) -> None:
        if event.time - self._shown < self.seconds and self._shown >= 0:
            return
        self._shown = event.time
        if self._line is None:
            self._line = StatusLine(sys.stderr if self.stream is None else self.stream, spinner=True)
        self._line.show(self.line(event))

    def line(self, event: Event) -> str:
        """The text for one event."""
        c = event.certificate
        return (
            f"k={event.k}  {event.time:.1f} s"
            f"  f={event.f:.6g}  upper gap {c.upper_gap:.2e} (tol {self.tol_upper:.0e})"
            f"  g={event.g:.6g}  lower gap {c.lower_gap:.2e} (tol {self.tol_lower:.0e})"
        )

    def close(self) -> None:
        """End the line."""
        if self._line is not None:
            self._line.close()
        self._line, self._shown = None, -1.0
