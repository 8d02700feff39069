"""About a hundred problems, each solved by tiebreak and by CVXPY with Clarabel in two stages, in one process.

    python benchmarks/peers_suite.py [--only WORDS ...] [--quick] [--seconds 60]

The peer solves the lower level first, then the upper level on the constraint that all lower minimisers share (A x as
found, or no higher cost): what a user who knows the structure would write. Its canonicalisation is counted, as is
tiebreak's planning and its proof. Processor times on one thread; short ones are the least of several. The ratio is
peer / tiebreak. ``width`` is the proved relative width of the bracket on f*, ``apart`` how far f is from the peer's,
relative to 1 + |f|. Where that is more than 1e-8 the peer is asked again, not timed, at tolerances of 1e-10 to 1e-14:
an error in f is about the square root of what the lower level is missed by, so answers that miss it by more than 1e-11
are no reference, and of the others the one in the middle decides (``error``): at tolerances that it cannot meet the
peer ends anywhere. In brackets is the answer that misses it least, where all of them miss it by more.
"""

from __future__ import annotations

import harness  # first of all: before NumPy

# isort: split
import argparse
import sys
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

import tiebreak as tb
from harness import Table, seconds, side_by_side
from suite_cases import cases
from suite_parts import Case

SETTLED = 1e-8
"""Answers that are no further apart than this are right."""
SHARPER = (1e-10, 1e-12, 1e-14)
PEER_MISSES = 1e-11
"""An answer of the peer with a worse lower level than this, relative to 1 + |g|, is no reference for what is finer."""


def attempt(case: Case) -> tb.Result | str:
    """The result, or why there is none."""
    try:
        return case.solve()
    except (NotImplementedError, TypeError, ValueError) as error:
        return f"not supported: {str(error).splitlines()[0][:60]}"
    except RuntimeError as error:
        return f"failed: {error}"


class Verdict(NamedTuple):
    """How far f is from the peer's, how far from its most careful answer, and whether that means something."""

    apart: float
    error: float
    decides: bool


def beside(case: Case, result: tb.Result, x: np.ndarray | None) -> tuple[float, float]:
    """How far f is from that at x, and by how much x misses the levels before: both relative."""
    if x is None:
        return np.nan, np.inf
    lower = [level.own() for level in case.levels[:-1]]
    missed = max(abs(one.value(x) - one.value(result.x)) / (1 + abs(one.value(result.x))) for one in lower)
    return abs(case.levels[-1].own().value(x) - result.f) / (1 + abs(result.f)), missed


def judged(case: Case, result: tb.Result, x: np.ndarray | None) -> Verdict:
    """The answer beside the peer's and, where these differ, beside that of the peer at sharper tolerances."""
    apart, missed = beside(case, result, x)
    if apart <= SETTLED:
        return Verdict(apart, apart, True)
    answers = [(missed, apart)]
    for tolerance in SHARPER:
        other, short = beside(case, result, case.solve_by_peer(tolerance))
        answers.append((short, other))
    careful = sorted(error for missed, error in answers[1:] if missed <= PEER_MISSES)
    return Verdict(apart, careful[len(careful) // 2] if careful else min(answers)[1], bool(careful))


def measured(case: Case, table: Table) -> tuple[float, float, float] | None:
    """Ratio, width and error; None where there is nothing to compare."""
    first = attempt(case)
    if isinstance(first, str):
        table.add(case.family, case.size, first, "", "", "", "", "", "")
        return None
    best: dict[str, tuple[float, Any]] = side_by_side(
        {"own": lambda: attempt(case), "peer": case.solve_by_peer}, rounds=3, budget=1.0
    )
    own, result = best["own"]
    peer, x = best["peer"]
    width = (result.certificate.f_upper - result.certificate.f_lower) / (1 + abs(result.f))
    apart, error, decides = judged(case, result, x)
    ratio = peer / own
    word = "success" if result.success else result.status.name
    told = f"{error:.1e}" if decides else f"({error:.1e})"
    table.add(case.family, case.size, word, seconds(own), seconds(peer), ratio, f"{width:.1e}", f"{apart:.1e}", told)
    return (ratio, width, error if decides else np.nan) if result.success else (ratio, np.inf, np.nan)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", default=[], help="families whose names contain one of these")
    parser.add_argument("--quick", action="store_true", help="the two smallest sizes of each family")
    parser.add_argument("--seconds", type=float, help="time limit a solve, instead of the case's own")
    asked = parser.parse_args()
    table = Table("CVXPY + Clarabel in two stages / tiebreak",
                  ("family", "size", "status", "tiebreak", "peer", "ratio", "width", "apart", "error"))  # fmt: skip
    rows = []
    for make in cases(asked.quick):
        case = make()
        if asked.only and not any(word in f"{case.family} {case.size}" for word in asked.only):
            continue
        case = case if asked.seconds is None else replace(case, seconds=asked.seconds)
        if (row := measured(case, table)) is not None:
            rows.append(row)
    if not rows:
        return 0
    ratios, widths, errors = (np.array(column) for column in zip(*rows, strict=True))
    done = np.isfinite(widths)
    summary = Table("Summary", ("problems", "supported", "successes", "smallest ratio", "geometric mean",
                                "faster than the peer", "worst width", "worst error with success"))  # fmt: skip
    summary.add(len(table.rows), len(rows), int(done.sum()), float(ratios.min()), float(np.exp(np.log(ratios).mean())),
                int((ratios > 1).sum()), float(widths[done].max(initial=0.0)),
                float(np.nanmax(errors[done], initial=0.0)))  # fmt: skip
    harness.save("peers_suite", [table, summary])
    return 0


if __name__ == "__main__":
    sys.exit(main())
