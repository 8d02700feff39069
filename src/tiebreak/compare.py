"""What several methods reach on one problem: a table and a picture, from runs of the one loop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .arrays import Vector, as_positive
from .certificate import Level
from .engines.choice import choose_engine
from .methods import Solver, named
from .plan import able
from .problem import Problem
from .result import Result
from .solve import Method, solve

FAILURES = (ValueError, ArithmeticError, RuntimeError)
"""What a method may end with that is no reason to lose the others."""


@dataclass(frozen=True)
class Comparison:
    """The runs of several methods on one problem.

    Attributes
    ----------
    results : dict of Result
        By the name of the method, in the order asked for.
    refusals : dict of str
        Why a method did not run, or what it ended with.
    levels : tuple of Level
        The best that is known of each level: the bracket is the meet of all that the runs prove, the value that of the
        run that comes nearest by it.

    Examples
    --------
    >>> import tiebreak as tb
    >>> problem = tb.Problem(tb.SquaredNorm(), tb.LeastSquares([[1.0, 1.0]], [1.0]), tb.L1Ball(2.0))
    >>> both = tb.compare(problem, ["exact", "tseng"], max_iter=50)
    >>> list(both.results), both.levels[1].value.__round__(6)
    (['exact', 'tseng'], 0.25)
    """

    results: Mapping[str, Result]
    refusals: Mapping[str, str]
    levels: tuple[Level, ...]

    def gaps(self, name: str) -> tuple[float, ...]:
        """How far each level of a run may be above its optimum, by the best bounds of all; negative where below."""
        own = self.results[name].levels
        return tuple(level.value - best.lower for level, best in zip(own, self.levels, strict=True))

    def __repr__(self) -> str:
        count = len(self.levels)
        letters = ["g", "f"] if count == 2 else [f"level {k + 1}" for k in range(count)]
        heads = [part for letter in letters for part in (f"{letter:>15}", f"{'above by':>9}")]
        width = max((len(name) for name in (*self.results, *self.refusals)), default=6)
        rows = [f"  {'method':<{width}}  {'status':<11}{''.join(heads)}  {'seconds':>8}  {'updates':>8}  {'calls':>8}"]
        for name, one in self.results.items():
            both = zip(one.levels, self.gaps(name), strict=True)
            values = "".join(f"{level.value:15.8g}{gap:9.1e}" for level, gap in both)
            calls = sum(count for oracle, count in one.calls.items() if not oracle.startswith("bounds."))
            rows.append(f"  {name:<{width}}  {one.status:<11}{values}  {one.time:8.3g}  {one.nit:8d}  {calls:8.6g}")
        known = zip(letters, self.levels, strict=True)
        rows += [f"  {letter}: optimum in [{best.lower:.10g}, {best.upper:.10g}] by all runs" for letter, best in known]
        rows += [f"  not {name}: {why}" for name, why in self.refusals.items()]
        return "\n".join(["Comparison", *rows])

    def plot(self) -> Any:
        """Draw how near each run is to each optimum over time; returns the figure."""
        from .pictures import draw_progress, pyplot

        count = min(len(self.levels), 2)  # what a trace has: the last two levels
        figure, axes = pyplot("Comparison.plot").subplots(
            count, 1, figsize=(7, 3.2 * count), sharex=True, layout="constrained", squeeze=False
        )
        columns = (("g", "lower level: |g(x) - g*|"), ("f", "upper level: |f(x) - f*|"))[-count:]
        for ax, (column, title), best in zip(axes[:, 0], columns, self.levels[-count:], strict=True):
            draw_progress(ax, {name: self._progress(name, column, best) for name in self.results}, title)
        axes[0, 0].legend(fontsize="small", ncols=2)
        axes[-1, 0].set_xlabel("seconds")
        return figure

    def _progress(self, name: str, column: str, best: Level) -> tuple[Vector, Vector]:
        """Seconds, and the distance to the best bound, not below what rounding leaves."""
        trace = self.results[name].trace.to_dict()
        values = np.asarray(trace[column], dtype=float)
        floor = np.finfo(float).eps * max(1.0, abs(best.lower)) if np.isfinite(best.lower) else np.nan
        return np.asarray(trace["time"], dtype=float), np.maximum(np.abs(values - best.lower), floor)


def compare(
    problem: Problem,
    methods: Sequence[Method] | None = None,
    *,
    max_time: float | None = 10.0,
    **options: Any,
) -> Comparison:
    """Run several methods on one problem and hold them to the best bounds that any of them proves.

    Parameters
    ----------
    problem : Problem
        The problem.
    methods : sequence of str or solver, optional
        As for ``solve``; by default all that the problem allows.
    max_time : float or None
        Most seconds for each method.
    **options
        Passed on to ``solve``: the same ``x0``, tolerances, ``max_iter`` and ``seed`` for all. Ctrl-C raises, with the
        runs that are done as the attribute ``result`` of the KeyboardInterrupt.

    Returns
    -------
    Comparison
        A table when printed; ``plot()`` draws it; ``results`` has every run. What a method did not run for is in
        ``refusals``.

    Examples
    --------
    >>> import tiebreak as tb
    >>> problem = tb.Problem(tb.SquaredNorm(), tb.LeastSquares([[1.0, 1.0]], [1.0]), tb.L1Ball(2.0))
    >>> found = tb.compare(problem, ["exact", "big-sam", tb.CGBiO(step=tb.steps.Constant(0.01))], max_iter=50)
    >>> {name: result.success for name, result in found.results.items()}
    {'exact': True, 'big-sam': True, 'cg-bio': False}
    >>> found.levels[1].lower <= 0.25 <= found.levels[1].upper  # f* = 1/4
    True
    """
    if not isinstance(problem, Problem):
        raise TypeError(f"problem must be a tiebreak.Problem, got {type(problem).__name__}")
    if callback := {"callback", "on_interrupt", "verbose"} & set(options):
        raise TypeError(f"compare runs several methods and takes no {', '.join(sorted(callback))}; use solve for one")
    limit = None if max_time is None else as_positive(max_time, "max_time")
    results: dict[str, Result] = {}
    refusals: dict[str, str] = {}
    for name, method in _named(problem, methods):
        try:
            results[name] = solve(problem, method, max_time=limit, on_interrupt="raise", **options)
        except FAILURES as error:
            refusals[name] = str(error) or type(error).__name__
        except KeyboardInterrupt as stop:
            stop.result = Comparison(results, refusals, _best(problem, results))  # type: ignore[attr-defined]
            raise
    if not results:
        raise ValueError("no method has run: " + "; ".join(f"{name}: {why}" for name, why in refusals.items()))
    return Comparison(results, refusals, _best(problem, results))


def _named(problem: Problem, methods: Sequence[Method] | None) -> list[tuple[str, Method]]:
    """Methods by different names; a name that is none is a mistake of the call, not a refusal."""
    if methods is None:
        methods = able(problem, choose_engine(problem))
    if isinstance(methods, (str, Solver)):
        methods = [methods]
    if not np.iterable(methods):
        raise TypeError(f"methods must be names or solvers, got {type(methods).__name__}")
    found: list[tuple[str, Method]] = []
    for k, one in enumerate(methods):
        if not isinstance(one, (str, Solver)):
            raise TypeError(f"methods[{k}] must be a name or a solver, got {type(one).__name__}")
        name = one if one == "auto" else (named(one) if isinstance(one, str) else one).info.name
        same = sum(other.partition(" (")[0] == name for other, _ in found)
        found.append((f"{name} ({same + 1})" if same else str(name), one))
    if not found:
        raise ValueError("methods must name one method or more")
    return found


def _best(problem: Problem, results: Mapping[str, Result]) -> tuple[Level, ...]:
    """The meet of all brackets."""
    found = []
    for k in range(len(problem.levels) if results else 0):
        own = [one.levels[k] for one in results.values()]
        lower, upper = max(one.lower for one in own), min(one.upper for one in own)
        value = min((one.value for one in own), key=lambda value: abs(value - lower))
        found.append(Level(value, lower, upper))
    return tuple(found)
