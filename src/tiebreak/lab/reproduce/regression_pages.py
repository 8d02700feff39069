"""What the regression experiment shows: its story, panels and tables."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...problem import Problem
from ..experiments.regression import Samples
from ..workshop import Made
from .outcome import Curve, Panel, Table

Runs = dict[str, dict[str, Made]]


@dataclass(frozen=True)
class Case:
    """A regression: data, the radius of the l1 ball, and how many of the training rows are used (None: all)."""

    name: str
    data: Samples
    radius: float
    rows: int | None

    def problem(self) -> Problem:
        """Training error below, validation error above."""
        return self.data.problem(self.radius, self.rows)

    @property
    def training(self) -> int:
        """How many rows train."""
        return len(self.data.train[: self.rows])

    def __str__(self) -> str:
        what = "diabetes data" if "diabetes" in self.name else "Wikipedia data" if self.data.real else "stand-in"
        return f"{what}, {self.training} rows, radius {self.radius:g}"


def story(cases: list[Case], proved: dict[str, Made], authors: bool) -> tuple[str, ...]:
    """What was run on which data, and what to make of it."""
    data = cases[0].data
    first, second = proved["paper"], proved["choice"]
    source = f"Data: {data.source}. " + (
        ""
        if data.real
        else "Nothing about the paper's own data can be decided from it: --download fetches them, --data names a copy. "
    )
    parameters = (
        "Parameters and measures of the released code, where they differ from the paper's: steps counted from 1, twice "
        "the weight in BiG-SAM, a-IRG with 1e-3 and 1e-3, test error as a norm, f of MNG at a point outside Z."
        if authors
        else "Parameters of the paper; the released code has others for a-IRG (1e-3 and 1e-3, not 0.01 and 1) and "
        "BiG-SAM (twice the weight), and shows the norm of the test residual instead of half its square "
        "(--authors-code)."
    )
    return (
        source + "Each column is divided by its largest entry; the target is a random column, since the paper names "
        f"none. {len(data.train)} rows train, {len(data.validation)} validate, {len(data.test)} test."
        " Beside them: the diabetes data with cubic features, real and at hand.",
        f"Radius 1, all training rows: {_said(first)}. With {cases[1].training} training rows and radius "
        f"{cases[1].radius:g}: {_said(second)}.",
        parameters,
        "MNG minimises f over two half-spaces and needs a strongly convex f; the validation error of fewer rows than "
        "features is not. It runs on f + 1e-8 L_f |x|²/2 from the minimiser of that; the curves show f itself, at the "
        "projected point. CG-BiO starts from its initial phase, whose seconds it bears; the others start from 0.",
    )


def _said(known: Made) -> str:
    unique = {1: "the lower solution is unique", 0: "there are many lower solutions", -1: "it is not known whether the "
              "lower solution is unique"}[int(known["unique"])]  # fmt: skip
    say = ", and the validation error has no say" if int(known["constant"]) == 1 else ""
    return f"{unique}{say} (g* = {float(known['g']):.4g}, f* = {float(known['f']):.4g}, proved)"


def panels(cases: list[Case], proved: dict[str, Made], runs: Runs, authors: bool) -> tuple[Panel, ...]:
    """The three panels of the paper's figure for each case."""
    made = []
    for case in cases:
        known, mine = proved[case.name], runs[case.name]
        prefix = "" if case.name == "paper" else f"{case.name}-"
        axes = {name: {"seconds": run["seconds"], "updates": run["updates"]} for name, run in mine.items()}

        def curves(key: str, star: float, mine: dict[str, Made] = mine, axes: dict[str, dict[str, np.ndarray]] = axes,
                   ) -> tuple[Curve, ...]:  # fmt: skip
            return tuple(Curve(name, axes[name], np.abs(run[key] - star)) for name, run in mine.items())

        span = {
            axis: np.array([min(run[axis][1] for run in mine.values()), max(run[axis][-1] for run in mine.values())])
            for axis in ("seconds", "updates")
        }
        test = float(np.sqrt(2 * known["test"])) if authors else float(known["test"])
        exact = Curve("exact solution", span, np.full(2, test), "truth")
        label = "‖residual‖" if authors else "½ ‖residual‖²"
        made += [
            Panel(f"{prefix}lower", f"Lower-level gap: {case}", "|g − g*|", curves("g", float(known["g"])), log_x=True),
            Panel(f"{prefix}upper", f"Upper-level gap: {case}", "|f − f*|", curves("f", float(known["f"])), log_x=True,
                  caption="A dip to zero is a sign change: CG-BiO comes from below f*."),
            Panel(f"{prefix}test", f"Test error: {case}", label, (*curves("test", 0.0), exact), log_x=True),
        ]  # fmt: skip
    return tuple(made)


def tables(cases: list[Case], proved: dict[str, Made], runs: Runs) -> tuple[Table, ...]:
    """What is proved of each case, and where its runs end."""
    words = {1: "yes", 0: "no", -1: "not known"}
    values = []
    for case in cases:
        known = proved[case.name]
        low, high = known["f_bracket"]
        relaxed = abs(float(known["relaxed"] - known["conic_f"][1])) if "relaxed" in known else "–"
        constant = "yes" if int(known["constant"]) == 1 else "no" if int(known["unique"]) == 0 else "not known"
        values.append((str(case), float(known["g"]), float(known["f"]), float(high - low), words[int(known["unique"])],
                       constant, abs(float(known["g"] - known["conic_g"][1])), relaxed))  # fmt: skip
    header = ("case", "g*", "f*", "bracket of f*", "lower solution unique", "f constant on them", "g*: |exact − conic|",
              "v(1e-6): |exact − conic|")  # fmt: skip
    ends = tuple(
        (str(case), name, int(run["updates"][-1]), float(run["seconds"][-1]),
         float(run["g"][-1] - proved[case.name]["g"]), float(run["f"][-1] - proved[case.name]["f"]),
         float(run["test"][-1]))
        for case in cases
        for name, run in runs.get(case.name, {}).items()
    )  # fmt: skip
    return (
        Table("What is proved", header, tuple(values),
              "Exact: the library's engine with its own proof. Conic: Clarabel with generated features. A conic solver "
              "cannot take g ≤ g* as it stands; both solve g ≤ g* + 1e-6 instead."),
        Table("Where each run ends", ("case", "method", "updates", "seconds", "g − g*", "f − f*", "test error"), ends,
              "A negative f − f* is a point that validates better than any lower solution: it fits worse."),
    )  # fmt: skip
