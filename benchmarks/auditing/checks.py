"""One case: solve it, and hold every claim to the exact answer."""

from __future__ import annotations

import math
import re
import time
import traceback
import warnings
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

import tiebreak as tb

from .recipes import Case, exactly, value
from .truth import NoTruth, Truth, misses, truth_of

KINDS = ("unsound", "false success", "false ray", "false uniqueness", "false constancy", "false alarm", "crash", "hang")
REFUSALS = re.compile(
    r"does not apply|which the problem lacks|no method takes|has no exact method|not known to be convex|"
    r"^[a-z-]+ needs |in each update, which it can do for"
)
"""What the library says where it does not take a problem: an answer, not a failure."""


@dataclass
class Outcome:
    """What came of a case. ``faults`` are pairs of a kind and a sentence; ``width`` is relative to 1 + |f*|."""

    faults: list[tuple[str, str]] = field(default_factory=list)
    status: str = ""  # "proved", "open", "refused", "no truth"
    two_sided: bool = False
    width: float = math.nan
    seconds: float = 0.0
    below: bool = False  # a success below f* by more than the tolerance, which its bracket allows for
    engine: str = ""

    @property
    def kinds(self) -> set[str]:
        return {kind for kind, _ in self.faults}


@dataclass
class Claim:
    """What a run says of one problem: brackets of all levels, the most important first."""

    where: str
    success: bool
    x: np.ndarray
    brackets: list[tuple[float, float]]
    tolerances: list[float]
    values: list[float]
    unique: bool | None = None
    constant: bool | None = None
    final: bool = True
    engine: str = ""
    complaints: tuple[str, ...] = ()  # of the library's own second opinion
    unbounded: bool = False  # whether it says that a level has no minimum


def audit(case: Case, seconds: float) -> Outcome:
    """Solve and check."""
    outcome = Outcome()
    try:
        truth = truth_of(case)
    except NoTruth as reason:
        outcome.status = f"no truth: {reason}"
        return outcome
    began, clock = time.process_time(), time.perf_counter()
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            claims = run(case, seconds)
    except Exception as error:
        if isinstance(error, ValueError) and REFUSALS.search(str(error)):
            outcome.status = "refused"
            return outcome
        outcome.status = "open"
        last = traceback.extract_tb(error.__traceback__)[-1]
        name = f"{last.filename.rsplit('/', 2)[-2]}/{last.filename.rsplit('/', 1)[-1]}"
        outcome.faults.append(("crash", f"{type(error).__name__} in {name}: {str(error)[:300]}"))
        return outcome
    finally:
        # the less of both: neither waiting for a busy machine nor sleeping counts
        outcome.seconds = min(time.process_time() - began, time.perf_counter() - clock)
    if outcome.seconds > 1.1 * seconds + 1:
        outcome.faults.append(("hang", f"{outcome.seconds:.1f} s at a limit of {seconds:g} s"))
    for claim in claims:
        outcome.faults += faults(case, truth, claim)
    last_claim = claims[-1]
    low, high = last_claim.brackets[-1]
    outcome.status = "proved" if last_claim.success else "open"
    outcome.two_sided = math.isfinite(high - low)
    if truth.unbounded:
        outcome.status = "proved" if last_claim.unbounded else "open"
        return outcome
    f_star = truth.values[-1][0]
    if outcome.two_sided:
        outcome.width = (high - low) / (1 + abs(float(f_star)))
    outcome.engine = last_claim.engine
    f_high = value(case.levels[-1], exactly(last_claim.x))[1]
    outcome.below = last_claim.success and f_high < f_star - Fraction(last_claim.tolerances[-1])
    return outcome


def run(case: Case, seconds: float) -> list[Claim]:
    """The claims of a run: one, or one at each moment for methods that go step by step."""
    levels, domain = [level.build() for level in case.levels], case.domain.build()
    if case.method == "lexicographic":
        problem = tb.Problem(levels[-1], levels[:-1], domain)
        result = tb.solve(problem, tol_upper=case.tol, tol_lower=case.tol, max_time=seconds)
        claim = _of_result(case, result)
        claim.complaints = result.verify(problem).complaints
        return [claim]
    problem = tb.Problem(levels[1], levels[0], domain, slack=case.slack)
    if case.method == "tradeoff":
        slacks = [case.slack / 4, case.slack, 4 * case.slack]  # the bracket of the second is sharpened by the others
        curve = tb.tradeoff(problem, slacks, max_time=seconds / 3, tol_upper=case.tol, tol_lower=case.tol)
        claim = _of_result(case, curve.results[1])
        claim.brackets[1] = (float(curve.f_lower[1]), float(curve.f_upper[1]))
        return [claim]
    seen: list[Claim] = []

    def watch(event: tb.Event) -> None:
        c = event.certificate
        brackets = [(c.g_lower, c.g_upper), (c.f_lower, c.f_upper)]
        if not seen or brackets != seen[-1].brackets:
            tolerances = [case.tol, case.tol]
            seen.append(
                Claim(f"at k = {event.k}", False, event.x, brackets, tolerances, [event.g, event.f], final=False)
            )

    options = dict(case.options)
    if case.method not in ("exact", "auto"):
        options["callback"] = watch
    result = tb.solve(problem, case.method, tol_upper=case.tol, tol_lower=case.tol, max_time=seconds, seed=1, **options)
    claim = _of_result(case, result)
    claim.complaints = result.verify(problem).complaints
    return [*seen, claim]


def _of_result(case: Case, result: Any) -> Claim:
    c = result.certificate
    return Claim(
        "the result",
        result.success,
        result.x,
        [(level.lower, level.upper) for level in result.levels],
        [case.tol] * len(result.levels),
        [level.value for level in result.levels],
        c.lower_unique if len(result.levels) == 2 else None,
        c.upper_constant if len(result.levels) == 2 else None,
        engine=result.method,
        unbounded=result.status == "unbounded",
    )


def faults(case: Case, truth: Truth, claim: Claim) -> list[tuple[str, str]]:
    """Everything about a claim that the exact answer contradicts."""
    found: list[tuple[str, str]] = []
    for k, ((low, high), (star_low, star_high)) in enumerate(zip(claim.brackets, truth.values, strict=False)):
        name = f"{claim.where}: level {k + 1}"
        if math.isnan(low) or math.isnan(high):
            found.append(("unsound", f"{name} is in [{low}, {high}]"))
        if low > -math.inf and (low == math.inf or Fraction(low) > star_high):
            found.append(("unsound", f"{name} is {float(star_high)!r}, the bracket begins {_above(low, star_high)}"))
        if high < math.inf and (high == -math.inf or Fraction(high) < star_low):
            found.append(("unsound", f"{name} is {float(star_low)!r}, the bracket ends {_above(high, star_low)}"))
    if truth.unbounded:
        return [*found, ("false success", "a level has no minimum")] if claim.success else found
    if claim.unbounded:
        found.append(("false ray", "all levels have a minimum"))
    if claim.success:
        found += _false_success(case, truth, claim)
    if claim.unique is not None and truth.unique is not None and claim.unique != truth.unique:
        found.append(("false uniqueness", f"lower_unique is {claim.unique}"))
    if claim.constant and truth.constant is False:
        found.append(("false constancy", "upper_constant is True, and f varies over the lower solutions"))
    if claim.success and claim.complaints and not found:
        found.append(("false alarm", f"verify says of a right answer: {'; '.join(claim.complaints)}"))
    return found


def _above(bound: float, star: Fraction) -> str:
    off = Fraction(bound) - star if math.isfinite(bound) else Fraction(0)
    return f"at {bound!r}, {'above' if off > 0 else 'below'} by {abs(float(off)):.3g}"


def _false_success(case: Case, truth: Truth, claim: Claim) -> list[tuple[str, str]]:
    """Values beyond the tolerances, also against the run's own bracket; points outside the set."""
    if not np.isfinite(claim.x).all():
        return [("false success", "x is not finite")]
    found, x = [], exactly(claim.x)
    if missed := misses(case, x):
        found.append(("false success", f"x is infeasible: {missed}"))
    for k, (level, tolerance) in enumerate(zip(case.levels, claim.tolerances, strict=True)):
        low, high = value(level, x)
        _, star_high = truth.values[k]
        size = 1 + abs(star_high) + max(abs(low), abs(high))
        allowed = size / 2**44 + Fraction(tolerance if k > 0 or case.slack == 0 else case.slack)
        if low > star_high + allowed:
            found.append(("false success", f"level {k + 1} at x exceeds its optimum by {float(low - star_high):.3g}"))
        if not math.isclose(claim.values[k], float(low), rel_tol=1e-9, abs_tol=tolerance):
            found.append(("false success", f"level {k + 1} at x is {float(low)!r}, not {claim.values[k]!r}"))
        proved = claim.brackets[k]
        below_own = Fraction(proved[0]) - high if math.isfinite(proved[0]) else Fraction(0)
        if k > 0 and below_own > allowed:
            found.append(("false success", f"level {k + 1} at x is below its own bracket by {float(below_own):.3g}"))
    return found
