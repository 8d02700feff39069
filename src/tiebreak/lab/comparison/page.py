"""The comparison as a page of Markdown, from the stored results alone."""

from __future__ import annotations

from .findings import findings, ranked
from .markdown import seconds, table
from .plots import LARGEST, best_methods
from .profile import area
from .results import Results
from .run import ACCURACIES
from .settings import GRID, TOLERANCE, labels

SHOWN_FAMILIES = ("sparse", "ill-posed", "completion")
"""Families whose gaps are plotted on the page."""


def comparison_page(results: Results) -> str:
    """The whole page."""
    about = results.about
    sentences = "\n".join(f"{number}. {text}" for number, text in enumerate(findings(results), 1))
    return f"""# All methods compared

{len(results.methods)} methods, {len(results.rows)} problem families with known answers, {about["seconds"]:g} s of
processor time for each run. This page is made from [comparison.json](comparison.json), which `tiebreak bench methods`
writes; no number on it is typed by hand.

## Who wins where

{sentences}

## Rules

* **Truth.** f\\* and g\\* of every family are formulas, or planted by optimality conditions; no method has a part in
  them. A run has reached an accuracy eps when **abs(f - f\\*) <= eps and g - g\\* <= eps at the same point**, both in
  units of their sizes at the common start (the point of Z nearest to 0). It is two-sided: a point below f\\* is not
  optimal for the lower level, and counts as wrong.
* **Clock.** Processor time of the updates alone, in a process of its own with one thread. Evaluations of the truth,
  imports and compilation are not counted; step sizes and Lipschitz constants are. One looks at every iterate up to 20,
  and then whenever k has grown by 5 %, so that a time is at most 5 % too long. The machine was shared: processor time
  is steadier than the clock on the wall, yet differences of a few tens of per cent mean nothing.
* **Tuning.** Each method runs with its defaults, and with three other values of its main parameter
  ([below](#settings)). "Tuned" is the best of the four *for each family and accuracy*, chosen with knowledge of the
  answer: the same favour to all.
* **Applicability.** The oracles a method needs decide; a method that refuses a family counts there as a failure. Where
  they do not refuse, methods run outside their theory (most assume a convex f, some a strongly convex one).
* **Start.** All begin at the common start but `cg-bio`, to which a given start is a near-optimal one: it gets none, and
  its initial phase begins at a vertex of Z.
* Versions: {", ".join(f"{name} {about[name]}" for name in ("python", "tiebreak", "numpy", "scipy"))}.
{sources(results)}
## Performance profiles

The share of the families (up) that a method solves within a factor (across) of the fastest method, after Dolan and Moré
(2002). The {len(best_methods(results))} methods with the largest areas are shown, always with `exact` and
`cg-bio-anytime`.

![Performance profiles in processor time](comparison-profiles.png)

![Performance profiles in oracle calls](comparison-profiles-calls.png)

Oracle calls are gradients and values of f and g (a batch counts as its share of the rows) and calls of the set; `exact`
works on the data and makes none.

## Methods

Families solved, with defaults → tuned. The order is that of the area under the tuned profiles over the logarithm of the
factor up to {LARGEST:g}, the mean of all accuracies.

{method_table(results)}

{transient(results)}{broken(results)}

## Families

The fastest with defaults, and how many methods got there (defaults → tuned).

{family_table(results)}

{gap_plots(results)}## Settings

{settings_table()}

Values are in units that make them independent of the scales of f and g (ratios of L_f and L_g). Tolerances are in units
of the gaps at the start, {TOLERANCE:g} by default. Methods that are not listed have no such parameter.

## Repeat it

    tiebreak bench methods --seconds {about["seconds"]:g} --jobs 2   # runs that are there already are not made again
    tiebreak bench methods --quick                 # a minute: six families, defaults
    tiebreak bench methods --load mine --methods mine --seconds {about["seconds"]:g} --out mine  # a method of your own
    tiebreak bench merge tiebreak-bench/comparison.json mine/comparison.json --out both  # on one page with the others

Seconds of another machine are multiplied by the quotient of both yardsticks, the time of one fixed piece of work.
`benchmarks/benchopt_families` has the same families and methods as a benchmark of benchopt (`make benchopt` tries it).
"""


def method_table(results: Results) -> str:
    """One row a method."""
    shares = [area(results.costs(accuracy, "tuned"), LARGEST) for accuracy in ACCURACIES]
    order = best_methods(results, shown=len(results.methods))
    rows = []
    for method in order:
        applicable = sum(results.applies(method, family) for family in results.rows)
        solved = [
            f"{results.solved(method, accuracy, 'default')} → {results.solved(method, accuracy, 'tuned')}"
            for accuracy in ACCURACIES
        ]
        mean = sum(share[method] for share in shares) / len(shares)
        rows.append([f"`{method}`", str(applicable), *solved, f"{mean:.2f}"])
    return table(["method", "takes", *(f"to {accuracy:g}" for accuracy in ACCURACIES), "area"], rows)


def transient(results: Results) -> str:
    """How many successes were passed through."""
    hits = [hit for methods in results.rows.values() for rows in methods.values() for row in rows for hit in row.hits]
    made = [hit for hit in hits if hit is not None]
    left = sum(not hit.lasted for hit in made)
    return (
        "A time is that of the *first* look at which both gaps are small. "
        f"Of {len(made)} such times, {left} belong to runs that had lost the accuracy again at their end."
    )


def broken(results: Results) -> str:
    """The runs that ended in an error or in numbers that are not finite."""
    failed = {
        f"`{method}` on `{family}`": None
        for family, methods in results.rows.items()
        for method, rows in methods.items()
        if any(row.status == "failed" for row in rows)
    }
    return f" Runs that broke off with an error: {', '.join(failed)}." if failed else ""


def family_table(results: Results) -> str:
    """One row a family."""
    rows = []
    for family, title in results.titles.items():
        cells = [f"`{family}`: {title}"]
        for accuracy in ACCURACIES:
            first = ranked(results, accuracy, family, "default")
            tuned = ranked(results, accuracy, family, "tuned")
            best = f"{first[0][0]} {seconds(first[0][1])}" if first else "–"
            cells.append(f"{best} ({len(first)} → {len(tuned)})")
        rows.append(cells)
    return table(["family", *(f"to {accuracy:g}" for accuracy in ACCURACIES)], rows)


def gap_plots(results: Results) -> str:
    """The pictures that are there; of merged results there are none, as files keep no curves."""
    shown = [family for family in SHOWN_FAMILIES if family in results.rows and "sources" not in results.about]
    if not shown:
        return ""
    pictures = "\n\n".join(f"![Both gaps on {family}](comparison-gaps-{family}.png)" for family in shown)
    return f"## Both gaps\n\nWith defaults, the methods of the profiles.\n\n{pictures}\n\n"


def sources(results: Results) -> str:
    """Which runs come from other files, and what their seconds were multiplied by."""
    lines = []
    for source in results.about.get("sources", []):
        clock = (
            f"seconds times {source['factor']:.3g}, the quotient of the yardsticks"
            if source["factor"]
            else "seconds as they are"
        )
        versions = ", ".join(
            f"{name} {source[name]}" for name in ("python", "tiebreak", "numpy", "scipy") if name in source
        )
        lines.append(
            f"* From another file: {', '.join(f'`{name}`' for name in source['methods'])}; {clock}; {versions}.\n"
        )
    return "".join(lines)


def settings_table() -> str:
    """The grid."""
    rows = [
        [f"`{method}`", f"`{GRID[method][0]}`", *(_value(label) for label in labels(method)[1:])] for method in GRID
    ]
    return table(["method", "main parameter", "", "", ""], rows)


def _value(label: str) -> str:
    value = label.split("=", 1)[1]
    return "Adaptive()" if value.startswith("Adaptive(") else value
