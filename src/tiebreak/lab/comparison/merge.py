"""Results of several files as one: methods that were run elsewhere stand beside those that were run here.

A file is data from somebody else: what is not as ``Results.to_json`` writes it is refused with a sentence. Runs must
have had the same processor time and accuracies. Machines differ, so seconds are multiplied by the quotient of the
yardsticks, the processor time of one fixed piece of work on each; oracle calls need no such thing.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from math import isfinite
from pathlib import Path
from typing import Any

from .results import Hit, Results, Row
from .run import ACCURACIES

NOT_RUN = "not run"
MOST_BYTES = 50_000_000
FIELDS = {"about": dict, "families": dict, "runs": list}


def read(path: Path) -> Results:
    """The results of a file, or a ValueError that says what is wrong with it."""
    try:
        if path.stat().st_size > MOST_BYTES:
            raise ValueError(
                f"{path}: larger than {MOST_BYTES // 1_000_000} MB, which results of the comparison are not"
            )
        kept = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise ValueError(f"{path}: cannot be read as results: {error}") from None
    for name, kind in FIELDS.items():
        if not isinstance(kept, dict) or not isinstance(kept.get(name), kind):
            raise ValueError(f"{path}: no results of tiebreak bench: {name!r} is missing or no {kind.__name__}")
    about = kept["about"]
    if about.get("accuracies") != list(ACCURACIES) or not _positive(about.get("seconds")):
        raise ValueError(f"{path}: about.accuracies must be {list(ACCURACIES)}, and about.seconds a positive number")
    rows: dict[str, dict[str, list[Row]]] = {}
    for place, run in enumerate(kept["runs"]):
        if why := _wrong(run, kept["families"]):
            raise ValueError(f"{path}: runs[{place}] {why}")
        family, method, setting, status, hits = run
        found = [None if hit is None else Hit(float(hit[0]), float(hit[1]), hit[2]) for hit in hits]
        rows.setdefault(family, {}).setdefault(method, []).append(Row(setting, status, found))
    if not rows:
        raise ValueError(f"{path}: there are no runs in it")
    return Results(about, kept["families"], rows)


def _positive(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value) and value > 0


def _wrong(run: Any, families: dict[str, Any]) -> str:
    """What is wrong with a run; empty where nothing is."""
    if not isinstance(run, list) or len(run) != 5 or not all(isinstance(word, str) for word in run[:4]):
        return "must be [family, method, setting, status, hits]"
    if not isinstance(families.get(run[0]), str):
        return f"is of a family without a title, {run[0]!r}"
    if not isinstance(run[4], list) or len(run[4]) != len(ACCURACIES):
        return f"must have {len(ACCURACIES)} hits, one an accuracy, or null"
    for hit in run[4]:
        if hit is None:
            continue
        numbers = isinstance(hit, list) and len(hit) == 3 and isinstance(hit[2], bool)
        if not numbers or not all(_positive(value) or value == 0 for value in hit[:2]):
            return "has a hit that is not [seconds, oracle calls, whether it lasted]"
    return ""


def merged(files: Sequence[tuple[str, Results]]) -> Results:
    """All of them together, by the clock of the first one; a ValueError where they do not fit."""
    (_, first), *others = files
    rows = {family: dict(methods) for family, methods in first.rows.items()}
    titles, sources = dict(first.titles), []
    for name, other in others:
        if other.about["seconds"] != first.about["seconds"]:
            raise ValueError(
                f"{name}: its runs had {other.about['seconds']:g} s each, those of {files[0][0]} "
                f"{first.about['seconds']:g} s; run it again with --seconds"
            )
        factor = _clocks(first, other)
        for family, methods in other.rows.items():
            titles.setdefault(family, other.titles[family])
            for method, found in methods.items():
                if method in rows.setdefault(family, {}):
                    raise ValueError(
                        f"{name}: there are runs of {method!r} on {family!r} already; "
                        "leave them out there (--methods), or register the method by another name"
                    )
                rows[family][method] = [_in_time(row, factor) for row in found]
        sources.append({"methods": other.methods, "factor": factor, **other.about})
    names = list(dict.fromkeys(method for methods in rows.values() for method in methods))
    nothing = [Row("default", NOT_RUN, [None] * len(ACCURACIES))]
    full = {family: {name: methods.get(name, nothing) for name in names} for family, methods in rows.items()}
    return Results({**first.about, "sources": [*first.about.get("sources", []), *sources]}, titles, full)


def _clocks(first: Results, other: Results) -> float | None:
    """What seconds of the other are multiplied by; None where one of the yardsticks is not known."""
    clocks = [results.about.get("yardstick", 0.0) for results in (first, other)]
    return float(clocks[0] / clocks[1]) if all(map(_positive, clocks)) else None


def _in_time(row: Row, factor: float | None) -> Row:
    hits = [
        None if hit is None else hit._replace(seconds=float(f"{hit.seconds * (factor or 1):.4g}")) for hit in row.hits
    ]
    return row._replace(hits=hits)
