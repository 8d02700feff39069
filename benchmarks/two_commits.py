"""Times of two checkouts of the library, side by side: the same problems, in turn, by processes that take turns.

    python benchmarks/two_commits.py OTHER/src [--python OTHER/.venv/bin/python] [--rounds 5] [--numba]
                                                [--only page updates hierarchy ...]

Every problem of the families is solved by ``auto`` (chains by ``lexicographic``), first-order methods make some
updates, and ``page`` is what the figures of docs/speed.md are measured on. Processor times, the least of all rounds;
the ratio is this checkout / the other, so above 1 means that this one is slower. Ends with code 1 where the geometric
mean of a family is above 1.1. With ``--numba`` everything is compiled ahead, where a checkout can do that.
"""

from __future__ import annotations

import os
import sys

if FAMILIES_OF := os.environ.get("TIEBREAK_FAMILIES"):  # a checkout has its own families, with the same names
    sys.path.insert(0, FAMILIES_OF)

import harness  # first of all: before NumPy

# isort: split
import argparse
import json
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

import tiebreak as tb
from families import FAMILIES

HERE = Path(__file__).resolve().parent
TOLERANCES = {"tol_upper": 1e-8, "tol_lower": 1e-8}
UPDATES = 300
TINY = 1e-300
LARGE = 1.10
INTERPOLATION = (
    *((25, 60, 20, factor) for factor in (1.2, 1.5, 2.0, 3.0)),
    (40, 150, 30, 1.6),
    *((120, 400, 80, factor) for factor in (1.2, 1.5, 2.0, 3.0)),
    *((60, 730, 213, factor) for factor in (1.2, 1.5, 2.0, 3.0)),
    (200, 1000, 100, 1.5),
)
SKIPPED = {"flux"}  # needs cobra


Timed = tuple[str, str, Callable[[], object]]


def problems(only: list[str]) -> Iterator[Timed]:
    """Family, name and what to time."""
    for name, family in FAMILIES.items():
        if name in SKIPPED or (only and name not in only):
            continue
        for size in family.sizes:
            known = family.generate(1, size)
            if len(known.levels) == 2:
                problem = known.problem
                yield name, str(size), lambda p=problem: tb.solve(p, **TOLERANCES)
            else:
                yield name, str(size), lambda k=known: tb.lexicographic(k.levels, k.domain)
    if not only or "updates" in only:
        yield from updates()
    if not only or "page" in only:
        yield from page()


def updates() -> Iterator[Timed]:
    """Updates of first-order methods on a small regression."""
    rng = np.random.default_rng(1)
    A, F = rng.standard_normal((200, 300)), rng.standard_normal((100, 300))
    b, h = rng.standard_normal(200), rng.standard_normal(100)
    problem = tb.Problem(tb.LeastSquares(F, h), tb.LeastSquares(A, b), tb.L1Ball(1.0))
    cg_bio = getattr(tb, "AnytimeCGBiO", tb.CGBiO)()
    for name, method in (("cg-bio-anytime", cg_bio), ("apb-apg", "apb-apg"), ("a-irg", "a-irg")):
        yield "updates", name, lambda m=method: tb.solve(problem, m, max_iter=UPDATES, tol_upper=TINY, tol_lower=TINY)


def page() -> Iterator[Timed]:
    """The problems of docs/speed.md."""
    import cg_bio_speed
    import dictionary_speed
    from families_rows import incidence

    compiled = "TIEBREAK_NO_NUMBA" not in os.environ
    for family, sizes in (("regression", (1.0, 2.0, 5.0)), ("interpolation", INTERPOLATION)):
        for size in sizes:
            problem = FAMILIES[family].generate(0, size).problem
            yield "page", f"{family} {size}", lambda p=problem: tb.solve(p, "exact", **TOLERANCES)
    cost = np.random.default_rng(9).integers(1, 5, (200, 200))
    plans = tb.Polyhedron(A_eq=incidence(200, 200), b_eq=np.ones(400), bounds=(0, 1))
    tied = tb.Problem(tb.SquaredNorm(dim=200 * 200), tb.Linear(cost.ravel().astype(float)), plans)
    yield "page", "assignment 200 x 200", lambda: tb.solve(tied, "exact", **TOLERANCES)
    anytime = getattr(tb, "AnytimeCGBiO", tb.CGBiO)()
    for name, problem in (("regression", cg_bio_speed.regression()), ("fairness", cg_bio_speed.fairness()[1])):
        near = tb.solve(problem, anytime, max_iter=300, tol_upper=TINY, tol_lower=TINY).state.anchor
        library = cg_bio_speed.Library(problem, tb.steps.Harmonic(2, 12), near, compiled)
        yield "page", f"cg-bio, {name}", lambda one=library: one.run(1024)
    given = dictionary_speed.instance()[1]
    yield "page", "cg-bio, dictionary", lambda: dictionary_speed.ours(given, 100, not compiled)


def work(only: list[str]) -> None:
    """One round: the times of all problems, each the least of three, as JSON."""
    times = {}
    for family, name, run in problems(only):
        run()
        least = np.inf
        for _ in range(3):
            started = time.process_time()
            run()
            least = min(least, time.process_time() - started)
        times[f"{family}|{name}"] = least
    print(json.dumps(times))


def one_round(python: str, source: Path, numba: bool, only: list[str]) -> dict[str, float]:
    env = {**os.environ, "PYTHONPATH": str(source), "TIEBREAK_FAMILIES": str(source.parent / "benchmarks")}
    if not numba:
        env["TIEBREAK_NO_NUMBA"] = "1"
    done = subprocess.run(
        [python, __file__, "--work", "--only", *only], env=env, cwd=HERE, stdout=subprocess.PIPE, check=True, text=True
    )
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("other", type=Path, nargs="?")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--numba", action="store_true")
    parser.add_argument("--only", nargs="*", default=[], metavar="FAMILY")
    parser.add_argument("--work", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.work:
        work(asked.only)
        return 0
    if asked.other is None:
        parser.error("the src folder of the other checkout is needed")
    sources = (HERE.parent / "src", asked.other.resolve())
    for source in sources if asked.numba else ():
        env = {**os.environ, "PYTHONPATH": str(source)}
        subprocess.run([asked.python, "-m", "tiebreak", "warm-up"], env=env, check=False, capture_output=True)
    sides: tuple[dict[str, float], dict[str, float]] = ({}, {})
    for _ in range(asked.rounds):
        for times, source in zip(sides, sources, strict=True):
            for name, seconds in one_round(asked.python, source, asked.numba, asked.only).items():
                times[name] = min(times.get(name, np.inf), seconds)
    ratios: dict[str, list[float]] = {}
    for name in sides[0]:
        if name in sides[1]:
            ratio = sides[0][name] / sides[1][name]
            ratios.setdefault(name.split("|")[0], []).append(ratio)
            print(f"{name:<55} {1e3 * sides[0][name]:9.2f}ms {1e3 * sides[1][name]:9.2f}ms {ratio:6.2f}")
    print(f"\n{'family':<16} problems  geometric mean  worst")
    bad = 0
    for family, values in ratios.items():
        mean = float(np.exp(np.mean(np.log(values))))
        bad += mean > LARGE
        print(f"{family:<16} {len(values):8d} {mean:15.2f} {max(values):6.2f}")
    return int(bad > 0)


if __name__ == "__main__":
    assert harness
    sys.exit(main())
