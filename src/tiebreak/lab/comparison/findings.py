"""Who wins where, in five sentences: the words are fixed, the names and numbers come from the results."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from statistics import median

from .results import Results, Tuning
from .run import ACCURACIES

PROJECTION_FREE = ("cg-bio", "cg-bio-anytime", "ir-cg", "sbcgi", "sbcgf", "ir-scg", "ir-fscg")
COARSE, MIDDLE, FINE = ACCURACIES


def ranked(results: Results, accuracy: float, family: str, tuning: Tuning) -> list[tuple[str, float]]:
    """The methods that got there, the fastest first."""
    costs = [(method, results.cost(family, method, accuracy, tuning)) for method in results.methods]
    return sorted((pair for pair in costs if math.isfinite(pair[1])), key=lambda pair: pair[1])


def findings(results: Results) -> list[str]:
    """The sentences; those about methods that were not run are left out."""
    makers = (_exact, _first_order, _coarse, _projection_free, _tuning)
    return [sentence for make in makers if (sentence := make(results))]


def _exact(results: Results) -> str:
    if "exact" not in results.methods:
        return ""
    taken = [family for family in results.rows if results.applies("exact", family)]
    first = [family for family in taken if [m for m, _ in ranked(results, FINE, family, "default")[:1]] == ["exact"]]
    times = {family: results.cost(family, "exact", FINE, "default") for family in taken}
    done = sum(map(math.isfinite, times.values()))
    slower = [times[f] / ranked(results, FINE, f, "default")[0][1] for f in taken if math.isfinite(times[f])]
    return (
        f"`exact` takes {len(taken)} of the {len(results.rows)} families (polytopes; linear and quadratic levels, or "
        f"h(Ax)), answers {done} of them to {FINE:g} in time, and is the fastest to that accuracy on {len(first)}"
        f"{_in_brackets(first)}; on the others "
        f"it takes up to {max(slower, default=1.0):.0f} times as long as the fastest."
    )


def _first_order(results: Results) -> str:
    methods = [method for method in results.methods if method != "exact"]
    order = sorted(methods, key=lambda method: -results.solved(method, MIDDLE, "default"))
    leader, followers = order[0], order[1:4]
    fine = max(methods, key=lambda method: results.solved(method, FINE, "default"))
    never = sum(results.solved(method, FINE, "default") == 0 for method in methods)
    return (
        f"Among the {len(methods)} first-order methods with their defaults, `{leader}` reaches {MIDDLE:g} on the most "
        f"families ({results.solved(leader, MIDDLE, 'default')} of {len(results.rows)}; "
        f"then {_counts(results, followers, MIDDLE, 'default')}), and `{fine}` reaches {FINE:g} on the most "
        f"({results.solved(fine, FINE, 'default')}), which {never} methods reach nowhere."
    )


def _coarse(results: Results) -> str:
    wins = Counter(method for family in results.rows for method, _ in ranked(results, COARSE, family, "default")[:1])
    pairs = [found for family in results.rows if len(found := ranked(results, COARSE, family, "default")[:2]) == 2]
    lead = median(second / first for (_, first), (_, second) in pairs) if pairs else 1.0
    listing = ", ".join(f"`{method}` on {count}" for method, count in wins.most_common(4))
    return (
        f"To the low accuracy {COARSE:g} no method stands out: {len(wins)} different ones are the fastest on some "
        f"family ({listing}), and the second is slower by a factor of {lead:.1f} in the median."
    )


def _projection_free(results: Results) -> str:
    free = [method for method in PROJECTION_FREE if method in results.methods]
    others = [method for method in results.methods if method not in (*PROJECTION_FREE, "exact", "cg")]
    if not free or not others:
        return ""
    best = max(others, key=lambda method: results.solved(method, COARSE, "tuned"))
    return (
        "Methods without projections pay for it where a projection is cheap, as it is in all these families: even "
        f"tuned they reach {COARSE:g} on {_counts(results, free, COARSE, 'tuned')} families and {FINE:g} on "
        f"{_counts(results, free, FINE, 'tuned')}, while `{best}` reaches {COARSE:g} on "
        f"{results.solved(best, COARSE, 'tuned')}."
    )


def _tuning(results: Results) -> str:
    def gain(method: str) -> int:
        return results.solved(method, MIDDLE, "tuned") - results.solved(method, MIDDLE, "default")

    most = max(results.methods, key=gain)
    unsolved = [family for family in results.rows if not ranked(results, FINE, family, "tuned")]
    text = (
        f"Four tries instead of one help `{most}` the most ({results.solved(most, MIDDLE, 'default')} → "
        f"{results.solved(most, MIDDLE, 'tuned')} families at {MIDDLE:g})"
    )
    if unsolved:
        return f"{text}, but nothing reaches {FINE:g} on {_names(unsolved)} in the time given."
    return f"{text}, and every family is solved to {FINE:g} by some method."


def _names(families: Sequence[str]) -> str:
    return ", ".join(f"`{family}`" for family in families)


def _in_brackets(families: Sequence[str]) -> str:
    return f" ({_names(families)})" if families else ""


def _counts(results: Results, methods: Sequence[str], accuracy: float, tuning: Tuning) -> str:
    return ", ".join(f"{results.solved(method, accuracy, tuning)} (`{method}`)" for method in methods)
