"""What the fair classification experiment shows: its story, panels and tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..experiments.people import People
from ..workshop import Made
from .fairness_tradeoff import WANTED, to_take
from .outcome import Curve, Panel, Table

PUBLISHED = {
    "CG-BiO": (2.981e-4, 0.01398, 0.831, 66.4),
    "BiG-SAM": (1.251e-3, 0.01737, 0.834, 33.5),
    "a-IRG": (1.243e-3, 0.02059, 0.832, 33.8),
    "DBGD": (1.213e-3, 0.01523, 0.841, 31.7),
}
"""Where the authors' published curves end: f, g - g*, accuracy, p%-rule; made with the wrong gradient."""


@dataclass(frozen=True)
class Facts:
    """What all runs share: data, which gradient, the lower level, the start, the authors' recorded runs or None."""

    people: People
    wrong: bool
    lower: Made
    first: Made
    theirs: Made | None


def story(facts: Facts, runs: dict[str, Made]) -> tuple[str, ...]:
    """What was run on which data, and what to make of it."""
    people = facts.people
    lower, first = facts.lower, facts.first
    gradient = (
        "All methods use the upper gradient of the released code, which has e/(1+e²) where e/(1+e)² belongs: this is "
        "what the published curves show."
        if facts.wrong
        else "All methods use the right gradient of the upper objective. The published curves were made with a wrong "
        "one; --authors-gradient reproduces them."
    )
    paid = [float(loss - lower["g"]) for loss in (first["g"], runs["CG-BiO"]["g"][-1])]
    return (
        f"Data: {people.source}. {len(people.train)} people train the classifier, {len(people.test)} test it, the "
        f"other {len(people.validation)} serve to choose a slack. As in the released code, columns are scaled to "
        "[0, 1] over all rows before the split (test rows have a say in the scaling), and the intercept is a column "
        "like the others, inside the l1 ball of radius 100.",
        gradient,
        f"The loss and the covariance see x through the {len(people.train)} predictions alone, and the loss is "
        "strictly convex in those: all lower solutions predict the same, so f is constant on them, "
        f"f = {float(lower['f'][0]):.6g}, and the upper level has no say. What CG-BiO gains it pays for with loss: it "
        f"starts {paid[0]:.2e} above g* and ends {paid[1]:.2e} above it. That is a point near the trade-off curve "
        "v(ε), shown below; which point of it to take is a choice that the bilevel problem does not make.",
    )


def panels(facts: Facts, runs: dict[str, Made], curve: list[Made]) -> tuple[Panel, ...]:
    """The four panels of the paper's figure, and the trade-off curve with accuracy and p%-rule along it."""
    lower = facts.lower
    g_star, constant = float(lower["g"]), float(lower["f"][0])

    def against_work(name: str, minus: float = 0.0) -> list[Curve]:
        axes = {label: {"seconds": run["seconds"], "updates": run["updates"]} for label, run in runs.items()}
        return [Curve(label, axes[label], run[name] - minus) for label, run in runs.items()]

    late = "CG-BiO's seconds begin after its initial phase; the others start at 0, where f is 0 and the loss log 2."
    upper = against_work("f")
    span = {
        axis: np.array([min(run[axis][1] for run in runs.values()), max(run[axis][-1] for run in runs.values())])
        for axis in ("seconds", "updates")
    }
    upper.append(Curve("at every lower solution", span, np.full(2, constant), "truth"))
    return (
        Panel("lower", "Lower-level gap", "g − g*", tuple(against_work("g", g_star)), log_x=True, caption=late),
        Panel("upper", "Upper-level objective", "f, squared covariance", tuple(upper), log_x=True),
        Panel("accuracy", "Test accuracy", "accuracy", tuple(against_work("accuracy")), log=False, log_x=True),
        Panel("p-rule", "p%-rule on the test set", "p%", tuple(against_work("p_rule")), log=False, log_x=True),
        *_along(runs, curve, g_star, constant),
    )


def _along(runs: dict[str, Made], curve: list[Made], g_star: float, constant: float) -> tuple[Panel, ...]:
    slack = _column(curve, "slack")
    axis = {"slack": slack}
    ends = [Curve(f"end of {label}", {"slack": run["g"][-1:] - g_star}, run["f"][-1:]) for label, run in runs.items()]
    found = Curve("best found (above v)", axis, _column(curve, "f"))
    level = Curve("at every lower solution", {"slack": slack[[0, -1]]}, np.full(2, constant), "truth")
    low, high = np.array([point["score_bracket"] for point in curve]).T
    scores = (
        Curve("found", axis, _column(curve, "score_f")),
        Curve("proved from below", axis, low, "bound"),
        Curve("proved from above", axis, high, "bound"),
    )

    best = to_take(curve)

    def both(name: str) -> tuple[Curve, ...]:
        return (
            Curve("covariance of probabilities", axis, _column(curve, name)),
            Curve("covariance of scores", axis, _column(curve, f"score_{name}")),
            Curve("the point to take", {"slack": np.atleast_1d(best["slack"])}, np.atleast_1d(best[name]), "truth"),
        )

    return (
        Panel("tradeoff", "What loss buys: v(ε), probabilities", "f", (found, level, *ends), log=False, log_x=True,
              caption="The paper's objective is not convex: the points keep the slack and bound v(ε) from above; no "
              "bound from below is known."),
        Panel("tradeoff-scores", "What loss buys: v(ε), scores", "½ covariance²", scores, log=False, log_x=True,
              caption="The convex objective of Zafar et al.: every point is proved on both sides."),
        Panel("tradeoff-accuracy", "Test accuracy along both curves", "accuracy", both("accuracy"), log=False,
              log_x=True),
        Panel("tradeoff-p-rule", "p%-rule along both curves", "p%", both("p_rule"), log=False, log_x=True),
    )  # fmt: skip


def tables(facts: Facts, runs: dict[str, Made], curve: list[Made]) -> tuple[Table, ...]:
    """Where the runs end, beside the published curves; the trade-off curve; the point to take."""
    lower, paper = facts.lower, bool(facts.people.paper)
    g_star = float(lower["g"])
    rows = []
    for label, run in runs.items():
        ours = (float(run["f"][-1]), float(run["g"][-1]) - g_star, float(run["accuracy"][-1]), float(run["p_rule"][-1]))
        published = PUBLISHED[label] if paper else ("–",) * 4
        rows.append((label, int(run["updates"][-1]), float(run["seconds"][-1]), *ours, *published))
    rows.append(("lower solution", 0, 0.0, float(lower["f"][0]), 0.0, float(lower["accuracy"]), float(lower["p_rule"]),
                 *("–",) * 4))  # fmt: skip
    header = ("run", "updates", "seconds", "f", "g − g*", "accuracy", "p%")
    published_header = tuple(f"published {name}" for name in ("f", "g − g*", "accuracy", "p%"))
    points = tuple(
        tuple(float(point[name]) for name in
              ("slack", "f", "accuracy", "p_rule", "validation_accuracy", "validation_p_rule", "score_f",
               "score_accuracy", "score_p_rule"))
        for point in curve
    )  # fmt: skip
    best = to_take(curve)
    p_there = float(best["validation_p_rule"])
    chosen = (
        "the least slack of these that reaches it" if p_there >= WANTED else "none of these reaches it; the nearest"
    )
    advice = (
        f"The point to take, if the four-fifths rule (p% ≥ 80) is wanted on the validation rows: {chosen}, "
        f"ε = {float(best['slack']):.3g}, has p% {p_there:.1f} there. On the test rows: accuracy "
        f"{float(best['accuracy']):.3f} and p% {float(best['p_rule']):.1f}, against {float(lower['accuracy']):.3f} and "
        f"{float(lower['p_rule']):.1f} at ε = 0."
    )
    along = ("slack ε", "f found", "accuracy", "p%", "accuracy, validation", "p%, validation", "scores: v(ε)",
             "scores: accuracy", "scores: p%")  # fmt: skip
    return (
        Table("Where each run ends", header + published_header, tuple(rows),
              "Published: the ends of the authors' curves, made with the wrong gradient on the authors' machine."),
        Table("What loss buys", along, points, advice),
    )  # fmt: skip


def _column(curve: list[Made], name: str) -> Any:
    return np.array([float(point[name]) for point in curve])
