"""Exact solves and ``auto`` against known values, on all families: what is claimed, and whether it is true.

    python benchmarks/exact_accuracy.py [--instances 330] [--seconds 420]

An answer is wrong if it says CONVERGED and f differs from f* or g from g* by more than 1e-6 (1 + |value|), or if a
bracket, whatever the status, does not hold the value it is about. Allowances: the error bars of the references.
"""

from __future__ import annotations

import harness  # first of all: before NumPy

# isort: split
import argparse
import sys
import time
from collections import defaultdict
from dataclasses import dataclass, field
from itertools import count

import numpy as np

import tiebreak as tb
from families import FAMILIES
from family import Family
from harness import Table
from reference import Inaccurate

TOLERANCE = 1e-6
PER_INSTANCE = 20.0


@dataclass
class Claim:
    """What a run says: success, values and brackets of all levels, lowest first, and in words."""

    success: bool
    x: np.ndarray
    values: list[float]
    brackets: list[tuple[float, float]]
    message: str
    time: float = 0.0


def run(known: Family, method: str) -> Claim:
    if len(known.levels) > 2:
        done = tb.lexicographic(known.levels, known.domain, tol_upper=TOLERANCE, tol_lower=TOLERANCE)
        values, brackets = [one.value for one in done.levels], [(one.lower, one.upper) for one in done.levels]
        return Claim(done.success, done.x, values, brackets, done.message)
    result = tb.solve(known.problem, method, tol_upper=TOLERANCE, tol_lower=TOLERANCE, max_time=PER_INSTANCE)
    c = result.certificate
    brackets = [(c.g_lower, c.g_upper), (c.f_lower, c.f_upper)]
    return Claim(result.success, result.x, [result.g, result.f], brackets, result.message)


def faults(known: Family, claim: Claim) -> list[str]:
    """Everything about a claim that the references contradict."""
    found = []
    levels = zip(known.values, known.errors, claim.values, claim.brackets, strict=True)
    for k, (star, error, value, (low, high)) in enumerate(levels):
        rounding = error + 1e-14 * (1 + abs(star))
        if claim.success and abs(value - star) > TOLERANCE * (1 + abs(star)) + rounding:
            found.append(f"level {k + 1} is off by {value - star:.1e}")
        if low > star + rounding or high < star - rounding:
            found.append(f"the bracket of level {k + 1} misses: {low - star:.1e}, {high - star:.1e}")
    return found


@dataclass
class Record:
    """What happened on one family."""

    runs: int = 0
    converged: int = 0
    wrong: int = 0
    widths: list[float] = field(default_factory=list)
    errors: list[float] = field(default_factory=list)
    slowest: float = 0.0

    def add(self, known: Family, claim: Claim, wrong: bool) -> None:
        low, high = claim.brackets[-1]
        self.runs += 1
        self.converged += claim.success
        self.wrong += wrong
        self.widths.append((high - low) / (1 + abs(known.f_star)))
        self.errors.append(abs(claim.values[-1] - known.f_star) / (1 + abs(known.f_star)))
        self.slowest = max(self.slowest, claim.time)


def flux_values(table: Table) -> None:
    """The flux balance answers to all their digits, with the residual of the steady state and of the bounds."""
    for size in FAMILIES["flux"].sizes:
        known = FAMILIES["flux"].generate(0, size)
        claim = run(known, "exact")
        rows = known.domain._given
        residual = max(
            float(np.abs(rows.A @ claim.x).max()),
            float(np.maximum(rows.lower - claim.x, claim.x - rows.upper).max()),
        )
        for k, (value, star) in enumerate(zip(claim.values, known.values, strict=True)):
            table.add(size, k + 1, f"{star:.15g}", f"{value:.15g}", f"{abs(value - star) / abs(star):.1e}", residual)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--instances", type=int, default=330)
    parser.add_argument("--seconds", type=float, default=420.0, help="no new round of seeds after this")
    arguments = parser.parse_args()
    families = {name: family for name, family in FAMILIES.items() if not family.needs or harness.has(family.needs)}
    records: dict[str, Record] = defaultdict(Record)
    automatic: dict[str, Record] = defaultdict(Record)
    complaints, reasons, dropped, started = [], {}, 0, time.perf_counter()
    for seed in count():
        done = sum(record.runs for record in records.values())
        if done >= arguments.instances or time.perf_counter() - started > arguments.seconds:
            break
        for name, family in families.items():
            if name == "flux" and seed:
                continue  # one model: nothing is random
            for size in (*family.small, *family.sizes):
                try:
                    known = family.generate(seed, size)
                except Inaccurate:
                    dropped += 1
                    continue
                for method, into in (("exact", records), ("auto", automatic)):
                    if method == "auto" and (seed or len(known.levels) > 2):
                        continue
                    before = time.perf_counter()
                    try:
                        claim = run(known, method)
                    except Exception as error:  # a benchmark counts what fails and goes on
                        complaints.append(f"{known.name}, seed {seed}, {method}: {type(error).__name__}: {error}")
                        continue
                    claim.time = time.perf_counter() - before
                    found = faults(known, claim)
                    into[name].add(known, claim, bool(found))
                    complaints += [f"{known.name}, seed {seed}, {method}: {fault}" for fault in found]
                    if method == "auto" and not claim.success:
                        reasons[known.name] = claim.message
        done, spent = sum(r.runs for r in records.values()), time.perf_counter() - started
        print(f"seed {seed}: {done} instances, {spent:.0f} s", flush=True)

    table = Table(
        "Exact solves, by family",
        ("family", "runs", "CONVERGED", "wrong", "bracket finite", "median width", "largest error", "slowest, s"),
    )
    for name, r in records.items():
        widths = np.array(r.widths)
        table.add(name, r.runs, r.converged, r.wrong, int(np.isfinite(widths).sum()), float(np.median(widths)),
                  f"{max(r.errors):.1e}", r.slowest)  # fmt: skip
    widths = np.concatenate([r.widths for r in records.values()])
    total = Table("All families", ("what", "value", "asked"))
    total.add("instances", widths.size, ">= 300")
    total.add("without an accurate reference, left out", dropped, "")
    total.add("wrong answers", sum(r.wrong for r in records.values()), "0")
    total.add("finite two-sided bracket", f"{np.isfinite(widths).mean():.1%}", ">= 80 %")
    total.add("median width, relative to 1 + |f*|", f"{np.median(widths):.1e}", "<= 1e-8")
    auto = Table("auto at 1e-6", ("family", "runs", "CONVERGED", "wrong"))
    for name, r in automatic.items():
        auto.add(name, r.runs, r.converged, r.wrong)
    tables = [table, total, auto]
    if "flux" in families:
        tables.append(Table("Flux balance", ("levels", "level", "reference", "exact", "relative error", "residual")))
        flux_values(tables[-1])
    print("\nWhere auto does not end CONVERGED, it says:\n")
    for name, message in reasons.items():
        print(f"* {name}: {message}")
    print("\nComplaints:\n")
    for complaint in complaints or ["none"]:
        print(f"* {complaint}")
    harness.save("exact_accuracy", tables, {"complaints": complaints, "reasons": reasons})
    return int(bool(complaints))


if __name__ == "__main__":
    sys.exit(main())
