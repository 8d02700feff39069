"""``tiebreak bench``: the comparison from the command line."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .results import Results
    from .run import Record
    from .suite import Task

QUICK = ("regression", "ill-posed", "weak-sharp", "hoelder-2", "completion", "toy")


def add_bench(parser: argparse.ArgumentParser) -> None:
    """The options of ``tiebreak bench``."""
    parser.add_argument(
        "what",
        choices=["methods", "merge"],
        help="methods: all methods on problems with known answers; merge: results of FILES as one",
    )
    parser.add_argument(
        "files", nargs="*", type=Path, metavar="FILES", help="of merge: comparison.json of several runs"
    )
    parser.add_argument("--quick", action="store_true", help="a minute: six families, defaults only, 0.05 s a run")
    parser.add_argument("--seconds", type=float, help="processor time allowed for each run (default 0.5)")
    parser.add_argument("--jobs", type=int, default=max(1, (os.cpu_count() or 2) - 1), help="processes at a time")
    parser.add_argument("--families", type=_names, default=(), help="only these, separated by commas")
    parser.add_argument("--methods", type=_names, default=(), help="only these, separated by commas")
    parser.add_argument(
        "--load", help="a module to import first, which registers methods (tiebreak.register) or families of problems"
    )
    parser.add_argument(
        "--out", type=Path, default=Path("tiebreak-bench"), help="folder for runs, results, plots and the page"
    )


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


def bench(chosen: argparse.Namespace) -> int:
    """Run what is missing, then write results, plots and the page; returns the exit code."""
    if chosen.what == "merge" or chosen.files:
        return _merge(chosen)
    from .suite import perform_all, tasks

    seconds = chosen.seconds or (0.05 if chosen.quick else 0.5)
    family_names = chosen.families or (QUICK if chosen.quick else ())
    try:
        if chosen.load:
            sys.path.insert(0, os.getcwd())  # as for python -m; the processes to come inherit it
            import_module(chosen.load)
        todo = tasks(seconds, family_names, chosen.methods, tuned=not chosen.quick)
    except (ValueError, ModuleNotFoundError) as error:
        print(f"tiebreak bench: {error}", file=sys.stderr)
        return 2
    records = perform_all(todo, chosen.out / "runs", max(1, chosen.jobs))
    write(records, chosen.out)
    print(f"wrote {chosen.out / 'comparison.md'}")
    return 0


def _merge(chosen: argparse.Namespace) -> int:
    from .merge import merged, read

    try:
        if chosen.what != "merge" or len(chosen.files) < 2:
            raise ValueError("merge takes two files or more, methods takes none")
        results = merged([(str(path), read(path)) for path in chosen.files])
    except ValueError as error:
        print(f"tiebreak bench: {error}", file=sys.stderr)
        return 2
    chosen.out.mkdir(parents=True, exist_ok=True)
    write_results(results, chosen.out)
    print(f"wrote {chosen.out / 'comparison.md'}")
    return 0


def write(records: Mapping[Task, Record], out: Path) -> None:
    """Results, plots and page of these records."""
    from .page import SHOWN_FAMILIES
    from .plots import best_methods, plot_gaps
    from .results import summary

    results = summary(records)
    write_results(results, out)
    for family in SHOWN_FAMILIES:
        if family in results.rows:
            path = out / f"comparison-gaps-{family}.png"
            plot_gaps(records, family, best_methods(results), results.titles[family], path)


def write_results(results: Results, out: Path) -> None:
    """All but the plots of single runs."""
    from .page import comparison_page
    from .plots import plot_profiles

    (out / "comparison.json").write_text(results.to_json())
    (out / "comparison.md").write_text(comparison_page(results))
    plot_profiles(results, out / "comparison-profiles.png")
    plot_profiles(results, out / "comparison-profiles-calls.png", "calls")
