"""Lifelong learning (Appendix E.2): a stream of tasks, a memory, and three ways to learn the next one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...arrays import Vector
from ...problem import Problem
from ..experiments.lifelong import Task, digit_tasks, plain, problem, remembered
from ..workshop import Made, Piece
from .outcome import Claim, Curve, Option, Outcome, Panel, Request, Table
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
    seeds = range(request.seed, request.seed + request.pick(1, 3, 10))
    features, memory = request.pick(80, 150, 150), request.pick(10, 20, 20)
    arguments = {"features": features, "memory": memory}
    pieces = {
        (way, seed): Piece(f"{way}, seed {seed}", stream, {"way": way, "seed": seed, **arguments})
        for way in WAYS
        for seed in seeds
    }
    made = request.workshop.make(pieces.values())
    by_way = {way: [made[pieces[way, seed].name] for seed in seeds] for way in WAYS}
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
    lost = {way: float(_mean([forgetting(one) for one in runs])[-1]) for way, runs in by_way.items()}
    final = {way: float(_mean([seen_accuracy(one) for one in runs])[-1]) for way, runs in by_way.items()}
    unproved = sum(int(np.sum(~one["proved"].astype(bool))) for runs in by_way.values() for one in runs)
    yield Claim(
        sentence="The bilevel form tightens A-GEM's constraint: the model also minimises the error on the memory",
        paper="error on the memory at its minimum, 0 here",
        ours=", ".join(f"{way} {value:.2g}" for way, value in loss.items()) + f"; {unproved} solves without proof",
        holds=loss["bilevel"] <= 1e-9 and loss["bilevel"] <= loss["A-GEM"] <= loss["plain"],
        where="Appendix E.2",
    )
    yield Claim(
        sentence="The new task improves the model while it still performs well over the previous tasks",
        paper="an aim, without a number",
        ours="accuracy lost on old tasks: " + ", ".join(f"{way} {value:.3f}" for way, value in lost.items()),
        holds=lost["bilevel"] < lost["plain"],
        where="Section 2.1",
    )
    yield Claim(
        sentence="Does tightening A-GEM's constraint help?",
        paper="not said; the question a practitioner has",
        ours="accuracy over all tasks at the end: " + ", ".join(f"{way} {value:.3f}" for way, value in final.items()),
        holds=final["bilevel"] >= final["A-GEM"],
        why=""
        if final["bilevel"] >= final["A-GEM"]
        else "a memory of a few rows is fitted to the last digit, which leaves less to the rows at hand; A-GEM's slack "
        "generalises better here",
        where="Appendix E.2",
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
