"""Whether a method does what the loop relies on, on small problems with known answers."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, fields, is_dataclass
from itertools import islice
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from ..arrays import as_count
from ..callbacks import Every
from ..methods import Solver, State
from ..objectives import LeastSquares, Linear, SquaredNorm
from ..problem import Problem
from ..sets import Box, L1Ball, L2Ball, Simplex
from ..states import states_of
from ..watch import watched
from .checks import Checks, expect


@dataclass(frozen=True)
class KnownProblem:
    """A problem with its answer."""

    name: str
    problem: Problem
    f_star: float
    g_star: float


def known_problems() -> list[KnownProblem]:
    """Small problems with closed-form answers, for checking methods."""
    ones = np.ones((1, 4))
    return [
        KnownProblem(
            "least norm on a hyperplane, l1 ball",
            Problem(SquaredNorm(), LeastSquares(ones, [1.0]), L1Ball(2.0)),
            f_star=0.125,
            g_star=0.0,
        ),
        KnownProblem(
            "nearest point on an optimal edge of the simplex",
            Problem(SquaredNorm([0.7, 0.3, 0.9]), Linear([0.0, 0.0, 1.0]), Simplex()),
            f_star=0.405,
            g_star=0.0,
        ),
        KnownProblem(
            "linear over an optimal face of a box",
            Problem(Linear([1.0, -2.0, 3.0]), Linear([0.0, 1.0, 0.0]), Box(-np.ones(3), np.ones(3))),
            f_star=-2.0,
            g_star=-1.0,
        ),
        KnownProblem(
            "unique lower solution in a ball",
            Problem(Linear([1.0, 1.0]), SquaredNorm([3.0, 4.0]), L2Ball(1.0)),
            f_star=1.4,
            g_star=8.0,
        ),
        KnownProblem(
            "constant lower level",
            Problem(SquaredNorm([1.0, 1.0]), LeastSquares(np.zeros((1, 2)), [2.0]), Simplex()),
            f_star=0.25,
            g_star=2.0,
        ),
    ]


def check_solver(solver: Solver[Any], updates: int = 60) -> int:
    """Run a method on problems with known answers and check everything the loop relies on.

    A method may refuse a problem it is not made for, by a ValueError that names it; it must take at least one.

    Examples
    --------
    >>> import tiebreak as tb
    >>> tb.testing.check_solver(tb.AnytimeCGBiO()) > 100
    True
    """
    expect(solver, Solver, "solver")
    updates = as_count(updates, "updates")
    checks = Checks()
    taken = [known for known in known_problems() if not _refused(checks, solver, known)]
    checks.that(taken, "it refuses every problem")
    for known in taken:
        _check_run(checks, solver, known, updates)
        _check_purity(checks, solver, known)
        _check_resume(checks, solver, known, updates)
    return checks.made


def _refused(checks: Checks, solver: Solver[Any], known: KnownProblem) -> bool:
    try:
        solver.start(known.problem, None)
    except ValueError as refusal:
        named = solver.info.name in str(refusal)
        checks.that(named, f"on {known.name!r}: a refusal must name the method, got: {refusal}")
        return True
    return False


def _check_run(checks: Checks, solver: Solver[Any], known: KnownProblem, updates: int) -> None:
    from ..solve import solve

    where = f"on {known.name!r}: "

    def look(event: Any) -> None:
        checks.that(np.isfinite(event.x).all(), where + "iterates must be finite")
        checks.that(event.k == event.state.k and event.k <= updates, where + "k must count the updates")

    result = solve(known.problem, solver, max_iter=updates, callback=Every(1, look))
    c = result.certificate
    checks.that(result.nit <= updates, where + "no more updates than asked for")
    checks.that(c.g_lower <= known.g_star + 1e-12 and known.g_star <= c.g_upper + 1e-12, where + "g* in its bracket")
    checks.that(c.f_lower <= known.f_star + 1e-9, where + "f_lower must not exceed f*")
    checks.that(result.verify(known.problem).feasible, where + "the answer must be in the domain")
    calls: Counter[str] = Counter()
    problem = known.problem if solver.works_on_data else watched(known.problem, calls)
    for _ in islice(states_of(problem, solver, None), 4):
        pass
    values = {"upper.value", "lower.value"}
    checks.that(set(calls) - values <= solver.needs, where + f"it calls more than it needs: {set(calls)}")


def _check_purity(checks: Checks, solver: Solver[Any], known: KnownProblem) -> None:
    where = f"on {known.name!r}: "
    first = solver.advance(known.problem, solver.start(known.problem, None))
    before = flattened(first)
    one = solver.advance(known.problem, first)
    other = solver.advance(known.problem, first)
    checks.that(same(before, flattened(first)), where + "advance must not change the state it is given")
    checks.that(same(flattened(one), flattened(other)), where + "advance must be deterministic")
    checks.that(one.finished or one.k == first.k + 1 or one.k == first.k, where + "one update at a time")


def _check_resume(checks: Checks, solver: Solver[Any], known: KnownProblem, updates: int) -> None:
    from ..solve import solve
    from ..storage import load_state, save_state

    tight = {"tol_upper": 1e-300, "tol_lower": 1e-300}
    whole = solve(known.problem, solver, max_iter=updates, **tight)  # type: ignore[arg-type]
    half = solve(known.problem, solver, max_iter=updates // 2, **tight)  # type: ignore[arg-type]
    rest = solve(known.problem, solver, max_iter=updates, x0=half.state, **tight)  # type: ignore[arg-type]
    resumed = whole.nit != rest.nit or np.array_equal(whole.x, rest.x)
    checks.that(resumed, f"on {known.name!r}: a resumed run must equal an uninterrupted one")
    if half.state is not None:
        with TemporaryDirectory() as folder:
            save_state(half.state, f"{folder}/state.npz")  # TypeError says what is no plain data in it
            back = load_state(f"{folder}/state.npz")
        kept = same(flattened(half.state), flattened(back))
        checks.that(kept, f"on {known.name!r}: a state must be the same after it was saved and loaded")


def flattened(value: object) -> list[Any]:
    """The numbers and arrays inside a state, in order."""
    if isinstance(value, State) or (is_dataclass(value) and not isinstance(value, type)):
        return [item for one in fields(value) for item in flattened(getattr(value, one.name))]
    if isinstance(value, (tuple, list)):
        return [item for one in value for item in flattened(one)]
    return [value.copy() if isinstance(value, np.ndarray) else value]


def same(first: list[Any], second: list[Any]) -> bool:
    return len(first) == len(second) and all(np.array_equal(a, b) for a, b in zip(first, second, strict=True))
