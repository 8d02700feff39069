"""Users' functions and sets that are not what they claim: what a run makes of each kind of lie (``lies.py``).

    python benchmarks/lying_oracles.py [--kinds WORD] [--methods a,b] [--quick]

For each kind: runs, how many raised an error, ended without success, ended with a right success, and with a false one
(the answer or a bracket misses the truth). A kind is ``hidden`` where no answer that is cheap to get contradicts it;
then what ``Certificate.assumes`` says of it is printed. The script fails if any other kind has a false success.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import tiebreak as tb
from lies import KINDS, Lie
from parts import Parts, honest

METHODS = ("auto", "cg-bio-anytime", "adabim", "solodov", "apdb", "apb-apg", "a-irg", "fc-bio", "tikhonov")
TOL = 1e-4


@dataclass
class Outcome:
    """What became of the runs of one kind."""

    raised: Counter[str] = field(default_factory=Counter)
    unfinished: int = 0
    right: int = 0
    false: list[str] = field(default_factory=list)
    refused: int = 0
    assumes: str = ""


def runs(lie: Lie, methods: tuple[str, ...], problems: list[Parts]) -> Iterator[tuple[Parts, str, Any]]:
    """The parts told, the method, and the result or the error."""
    for base, method in itertools.product(problems, methods):
        told = lie(base)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                yield told, method, tb.solve(told.problem(), method, max_iter=1500, max_time=5.0)
        except Exception as error:  # every error is a result here
            yield told, method, error


def missed(told: Parts, result: tb.Result, base: Parts) -> str:
    """What is wrong with a success; empty where it is right."""
    c, x = result.certificate, result.x
    lower, upper = 1e-6 * (1 + abs(told.g_star)), 1e-6 * (1 + abs(told.f_star))
    true_g, true_f = float(base.g(x.copy())), float(base.f(x.copy()))
    inside = base.contains(x, 1e-6) if told.built is None else told.problem().domain.contains(x.copy(), 1e-6)
    faults = {
        f"g* = {told.g_star:.6g} not in [{c.g_lower:.6g}, {c.g_upper:.6g}]":
            not c.g_lower - lower <= told.g_star <= c.g_upper + lower,
        f"f* = {told.f_star:.6g} not in [{c.f_lower:.6g}, {c.f_upper:.6g}]":
            not c.f_lower - upper <= told.f_star <= c.f_upper + upper,
        f"g(x) - g* = {true_g - told.g_star:.3g}": true_g - told.g_star > TOL + lower,
        f"f(x) - f* = {true_f - told.f_star:.3g}": true_f - told.f_star > TOL + upper,
        "x is outside": not inside,
    }  # fmt: skip
    return "; ".join(fault for fault, holds in faults.items() if holds)


def outcome(name: str, methods: tuple[str, ...] = METHODS, problems: list[Parts] | None = None) -> Outcome:
    """All runs of one kind of lie."""
    lie, _ = KINDS[name]
    problems = honest() if problems is None else problems
    if name.startswith("class"):
        problems = problems[:1]
    by_name, found = {p.name: p for p in problems}, Outcome()
    changed = name.startswith(("g: concave", "g: two", "f: concave", "class", "g: a dip"))
    for told, method, end in runs(lie, methods, problems):
        if isinstance(end, Exception):
            if "needs" in str(end) and not isinstance(end, tb.OracleError):
                found.refused += 1
            else:
                found.raised[type(end).__name__] += 1
        elif not end.success:
            found.unfinished += 1
        elif fault := missed(told, end, told if changed else by_name[told.name]):
            found.false.append(f"{told.name}, {method}: {fault}")
            found.assumes = "; ".join(end.certificate.assumes)
        else:
            found.right += 1
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kinds", default="", help="only kinds whose name contains this")
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--quick", action="store_true", help="two methods and two problems only")
    options = parser.parse_args()
    methods, problems = tuple(options.methods.split(",")), honest()
    if options.quick:
        methods, problems = ("auto", "cg-bio-anytime"), problems[:2]
    failed, total = 0, Counter()
    print(f"{'kind':74} {'runs':>5} {'raised':>6} {'no success':>10} {'right':>5} {'false':>5}")
    for name, (_, hidden) in KINDS.items():
        if options.kinds not in name:
            continue
        found = outcome(name, methods, problems)
        raised = found.raised.total()
        count = raised + found.unfinished + found.right + len(found.false)
        total.update(kinds=1, runs=count, raised=raised, unfinished=found.unfinished, right=found.right)
        total["false, hidden" if hidden else "false"] += len(found.false)
        note = f"  hidden: {hidden}; assumes: {found.assumes}" if hidden else ""
        print(
            f"{name:74} {count:5} {raised:6} {found.unfinished:10} {found.right:5} {len(found.false):5}{note}",
            flush=True,
        )
        if found.false and not hidden:
            failed += 1
            print("\n".join(f"    {fault}" for fault in found.false[:4]))
    print(", ".join(f"{name} {count}" for name, count in total.items()))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
