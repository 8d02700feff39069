"""The audit anyone can run: planted problems with exact rational answers, and every claim held to them.

    python benchmarks/audit.py --count 10000 --seed 1 [--family F] [--jobs 2] [--seconds-each 10] [--out FOLDER]

The truth comes from rational arithmetic on the data as they are stored, or is planted with its multipliers; none of it
from tiebreak. Counted are brackets that miss the optimal value (compared as fractions, with no tolerance), successes
whose values, levels or feasibility are off by more than the tolerances, false words on uniqueness and constancy,
exceptions that are no honest refusal, dead processes, and time limits not kept. Each failure is shrunk to a script in
``--out``. Ends with code 1 if there is any.
"""

from __future__ import annotations

import harness  # noqa: F401  first of all: before NumPy

# isort: split
import argparse
import math
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from auditing.checks import KINDS, Outcome, audit
from auditing.families import FAMILIES, make
from auditing.pool import Alone, outcomes
from auditing.script import script
from auditing.shrink import shrunk
from auditing.truth import truth_of

Task = tuple[str, int, int]


def write_scripts(failures: list[tuple[Task, Outcome]], folder: Path, seconds: float) -> None:
    """Each failure as a script, shrunk while it still fails in one of the same ways."""
    folder.mkdir(parents=True, exist_ok=True)
    with Alone(partial(audit, seconds=seconds), 3 * seconds + 30) as alone:
        for (family, seed, number), outcome in failures:
            kinds = outcome.kinds
            case = shrunk(make(family, seed, number), lambda one, kinds=kinds: bool(kinds & alone.run(one).kinds))
            found = alone.run(case).faults or outcome.faults
            path = folder / f"{family}-{seed}-{number}.py"
            path.write_text(script(case, truth_of(case), found, seed, number))
            print(f"wrote {path}: {case.domain.kind} in {case.dim} variables", flush=True)


def one(task: Task, seconds: float) -> Outcome:
    return audit(make(*task), seconds)


@dataclass
class Tally:
    """What happened on one family."""

    cases: int = 0
    proved: int = 0
    two_sided: int = 0
    refused: int = 0
    without_truth: int = 0
    below: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    decades: Counter[int] = field(default_factory=Counter)

    def add(self, outcome: Outcome) -> None:
        self.cases += 1
        self.refused += outcome.status == "refused"
        self.without_truth += outcome.status.startswith("no truth")
        self.proved += outcome.status == "proved"
        self.two_sided += outcome.two_sided
        self.below += outcome.below
        self.faults.update(outcome.kinds)
        if outcome.two_sided:
            self.decades[-16 if outcome.width <= 1e-16 else math.floor(math.log10(outcome.width))] += 1

    @property
    def judged(self) -> int:
        return self.cases - self.refused - self.without_truth


def tasks(families: list[str], seed: int, count: int) -> Iterator[Task]:
    for number in range(count):
        yield families[number % len(families)], seed, number // len(families)


def table(tallies: dict[str, Tally]) -> str:
    head = ["family", "judged", "refused", "proved", "two-sided", *KINDS]
    rows = [head, ["---"] * len(head)]
    for name, tally in tallies.items():
        share = [f"{part / max(tally.judged, 1):.1%}" for part in (tally.proved, tally.two_sided)]
        faults = [str(tally.faults[kind]) for kind in KINDS]
        rows.append([name, str(tally.judged), str(tally.refused), *share, *faults])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def widths(tallies: dict[str, Tally]) -> str:
    decades = sorted({decade for tally in tallies.values() for decade in tally.decades})
    rows = [["family", *(f"1e{decade}" for decade in decades)], ["---"] * (len(decades) + 1)]
    for name, tally in tallies.items():
        rows.append([name, *(str(tally.decades[decade] or "") for decade in decades)])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--family", default="all", choices=["all", *FAMILIES])
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seconds-each", type=float, default=10.0)
    parser.add_argument("--only", type=int, help="just the case with this number of the family")
    parser.add_argument("--out", type=Path, help="folder for the scripts of the failures that are printed")
    parser.add_argument("--show", type=int, default=10, help="failures of a kind to print, for each family")
    asked = parser.parse_args(arguments)
    if asked.count < 1 or asked.jobs < 1 or asked.seconds_each <= 0:
        parser.error("--count, --jobs and --seconds-each must be positive")
    families = list(FAMILIES) if asked.family == "all" else [asked.family]
    todo = tasks(families, asked.seed, asked.count)
    if asked.only is not None:
        todo = iter([(family, asked.seed, asked.only) for family in families])
    tallies: dict[str, Tally] = defaultdict(Tally)
    failures: list[tuple[Task, Outcome]] = []
    started, limit = time.perf_counter(), 3 * asked.seconds_each + 30
    for task, outcome in outcomes(todo, partial(one, seconds=asked.seconds_each), asked.jobs, limit):
        family, _, number = task
        tally = tallies[family]
        tally.add(outcome)
        shown = [(kind, words) for kind, words in outcome.faults if tally.faults[kind] <= asked.show]
        for kind, words in shown:
            print(f"{kind.upper()} {family} {number}: {words}", flush=True)
        if shown:
            failures.append((task, outcome))
    if asked.out is not None and failures:
        write_scripts(failures, asked.out, asked.seconds_each)
    return report(dict(sorted(tallies.items())), time.perf_counter() - started, asked)


def report(tallies: dict[str, Tally], spent: float, asked: argparse.Namespace) -> int:
    total = sum(tally.cases for tally in tallies.values())
    print(f"\n{total} cases, seed {asked.seed}, {spent:.0f} s\n\n{table(tallies)}")
    print(f"\nRelative widths of the two-sided brackets on f*, by decade\n\n{widths(tallies)}")
    below = sum(tally.below for tally in tallies.values())
    missing = sum(tally.without_truth for tally in tallies.values())
    print(f"\nSuccesses below f* by more than the tolerance, as their wide or one-sided bracket allows: {below}")
    print(f"Cases without an exact answer, left out: {missing}")
    failures = Counter(kind for tally in tallies.values() for kind in tally.faults.elements())
    print("Failures: " + (", ".join(f"{kind} {count}" for kind, count in failures.items()) or "none"))
    return int(bool(failures))


if __name__ == "__main__":
    sys.exit(main())
