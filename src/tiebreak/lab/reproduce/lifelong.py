"""Lifelong learning (Appendix E.2): a stream of tasks, a memory, and three ways to learn the next one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...arrays import Vector
from ...problem import Problem
from ..experiments.lifelong import Task, digit_tasks, plain, problem, remembered
from ..workshop import Made, Piece
from .evidence import Evidence, less
from .outcome import Addition, Claim, Curve, Option, Outcome, Panel, Request, Table
from .solving import solve

TITLE = "Lifelong learning: a new task without losing the old ones"
OPTIONS: tuple[Option, ...] = ()

WAYS = {
    "plain": "train on the new task alone, staying as near to the model before as possible",
    "A-GEM": "minimise the new loss among the models that do no worse on the memory than the model before",
    "bilevel": "minimise the new loss among the minimisers of the loss on the memory",
    "joint": "keep all rows of all tasks (what the others are measured against)",
}


def run(request: Request) -> Outcome:
    """Five tasks, each way over several seeds."""
    seeds = range(request.seed, request.seed + request.pick(1, 10, 10))
    features, memory = request.pick(80, 150, 150), request.pick(10, 20, 20)
    arguments = {"features": features, "memory": memory}
    pieces = {
        (way, seed): Piece(f"{way}, seed {seed}", stream, {"way": way, "seed": seed, **arguments})
        for way in WAYS
        for seed in seeds
    }
    made = request.workshop.make(pieces.values())
    by_way = {way: [made[pieces[way, seed].name] for seed in seeds] for way in WAYS}
    lacking = ("fewer features and rows than in a longer run",) if request.size == "quick" else ()
    names = [task.name for task in digit_tasks(features, seed=request.seed)]
    return Outcome(
        name="lifelong",
        title=TITLE,
        story=(
            "Pairs of handwritten digits (scikit-learn's) come one after the other: 0 or 1, 2 or 3, ..., 8 or 9. One "
            f"linear model on {features} random features has to say even or odd; {memory} rows of each task are kept. "
            "The loss is the mean squared error of the labels -1 and 1; every step is solved with a proof.",
            *(f"{way}: {what}." for way, what in WAYS.items()),
            f"Mean over {len(seeds)} seeds (features, split and memory are drawn anew).",
        ),
        claims=tuple(_claims(by_way)),
        panels=tuple(_panels(by_way)),
        tables=(_table(by_way, names),),
        parameters={**arguments, "seeds": list(seeds), "rows per task": 200, "box": 30},
        seed=request.seed,
        size=request.size,
        additions=tuple(_additions(by_way, lacking)),
    )


def stream(way: str, seed: int, features: int, memory: int) -> dict[str, Any]:
    """Learn one task after the other; accuracy on every task and the loss on the memory after each."""
    tasks = digit_tasks(features, seed=seed)
    x = solve(plain(tasks[0], np.zeros(features))).x
    accuracy, kept, proved = [[task.accuracy(x) for task in tasks]], [0.0], [True]
    for seen in range(1, len(tasks)):
        bilevel = problem(remembered(tasks[:seen], memory), tasks[seen])
        x, success = _next(way, bilevel, tasks[: seen + 1], x)
        accuracy.append([task.accuracy(x) for task in tasks])
        kept.append(bilevel.lower.value(x))
        proved.append(success)
    return {"accuracy": accuracy, "memory_loss": kept, "proved": proved}


def _next(way: str, bilevel: Problem, tasks: tuple[Task, ...], before: Vector) -> tuple[Vector, bool]:
    if way == "plain":
        result = solve(plain(tasks[-1], before))
    elif way == "bilevel":
        result = solve(bilevel)
    elif way == "A-GEM":
        least = solve(bilevel).certificate.g_upper
        allowed = bilevel.lower.value(before) - least
        result = solve(bilevel.with_slack(max(allowed, 0.0)))
    else:
        A, y = remembered(tasks, rows=len(tasks[0].y))
        result = solve(plain(Task("all", A, y, A, y), np.zeros(before.size)))
    return result.x, result.success


def seen_accuracy(made: Made) -> Vector:
    """The mean accuracy over the tasks seen so far, after each of them."""
    accuracy = made["accuracy"]
    return np.array([accuracy[t, : t + 1].mean() for t in range(len(accuracy))])


def forgetting(made: Made) -> Vector:
    """How much the tasks before the last lost since they were learnt, on average, after each task."""
    accuracy = made["accuracy"]
    lost = [np.mean([accuracy[s, s] - accuracy[t, s] for s in range(t)]) for t in range(1, len(accuracy))]
    return np.array([0.0, *lost])


def _mean(values: list[Vector]) -> Vector:
    return np.asarray(np.mean(values, axis=0))


def _claims(by_way: dict[str, list[Made]]) -> Iterator[Claim]:
    loss = {way: float(_mean([one["memory_loss"] for one in runs])[-1]) for way, runs in by_way.items()}
    unproved = sum(int(np.sum(~one["proved"].astype(bool))) for runs in by_way.values() for one in runs)
    worst = [
        max(float(np.max(bilevel["memory_loss"] - other["memory_loss"])) for other in others)
        for bilevel, *others in zip(by_way["bilevel"], by_way["A-GEM"], by_way["plain"], strict=True)
    ]
    yield Claim(
        quote="we [...] further tighten the constraint and require that the model also minimizes the error on the "
        "episodic memory",
        where="Appendix E.2",
        here="error on the memory after the last task: "
        + ", ".join(f"{way} {value:.2g}" for way, value in loss.items())
        + f"; {unproved} solves without proof",
        evidence=Evidence(tuple(1e-9 - value for value in worst), "always"),
        note="after every task no more than with A-GEM's constraint, or without one",
    )


def _additions(by_way: dict[str, list[Made]], lacking: tuple[str, ...]) -> Iterator[Addition]:
    lost = {way: [float(forgetting(one)[-1]) for one in runs] for way, runs in by_way.items()}
    final = {way: [float(seen_accuracy(one)[-1]) for one in runs] for way, runs in by_way.items()}
    pairs = zip(lost["bilevel"], lost["plain"], strict=True)
    yield Addition(
        statement="Less of the old tasks is lost than by training on the new task alone.",
        here="accuracy lost on old tasks: " + ", ".join(f"{way} {np.mean(v):.3f}" for way, v in lost.items()),
        evidence=Evidence(tuple(less(ours, theirs) for ours, theirs in pairs), lacking=lacking),
        note="the paper's aim (Section 2.1), for which it gives no experiment",
    )
    pairs = zip(final["A-GEM"], final["bilevel"], strict=True)
    yield Addition(
        statement="Tightening A-GEM's constraint does not help here: a memory of few rows is fitted to the last digit.",
        here="accuracy over all tasks: " + ", ".join(f"{way} {np.mean(v):.3f}" for way, v in final.items()),
        evidence=Evidence(tuple(-less(ours, theirs) for ours, theirs in pairs), lacking=lacking),
        note="A-GEM's slack generalises better; what a practitioner would ask, and the paper does not say",
    )


def _panels(by_way: dict[str, list[Made]]) -> Iterator[Panel]:
    for name, title, label, measure, log in (
        ("accuracy", "Accuracy over the tasks seen so far", "accuracy on test rows", seen_accuracy, False),
        ("forgetting", "Forgetting", "accuracy lost since a task was learnt", forgetting, False),
        ("memory", "Loss on the memory", "mean squared error / 2", lambda made: made["memory_loss"], True),
    ):
        curves = []
        for way, runs in by_way.items():
            y = _mean([measure(one) for one in runs])
            if log:
                y = np.where(y > 1e-15, y, np.nan)
            curves.append(Curve(way, {"tasks learnt": np.arange(1.0, y.size + 1)}, y))
        yield Panel(name, title, label, tuple(curves), log=log)


def _table(by_way: dict[str, list[Made]], names: list[str]) -> Table:
    rows = []
    for way, runs in by_way.items():
        last = _mean([one["accuracy"][-1] for one in runs])
        spread = np.std([seen_accuracy(one)[-1] for one in runs])
        rows.append((way, *(f"{value:.3f}" for value in last), f"{last.mean():.3f} ± {spread:.3f}"))
    return Table("Accuracy after the last task", ("way", *names, "mean ± spread over seeds"), tuple(rows))
