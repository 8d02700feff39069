"""Chains with every loss, below and above, over every kind of polyhedron, against 45-digit arithmetic.

    python benchmarks/smooth_soundness.py [--count 1000] [--first 0] [--quiet]

Each number makes one small problem: two or three levels, each a loss (squares, logistic, Poisson, Huber, squared hinge,
softmax; often weighted, some weights zero), a linear function or a squared distance, or a sum of two of these, over the
whole space, the orthant, a box, an l1 ball, a simplex or a polyhedron. Data are integers, often of low rank, so that
the reference has the problem exactly: Newton's method on the active set of the answer, in 50 digits, which counts
only where the conditions of optimality of all levels hold at its end to 38 digits. Levels that are refused as without
a minimum are walked along the ray in as many digits: values must fall, and go on falling.

Printed: how many were judged, how many brackets do not hold the value (there must be none), and how wide brackets are.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import tiebreak as tb
from tiebreak.engines import choose_engine
from tiebreak.engines.answer import Answer, Unbounded

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "engines"))
import smooth_references as reference
from smooth_references import mp

LOSSES = ("squares", "logistic", "poisson", "huber", "hinge", "softmax")
SETS = ("space", "orthant", "box", "l1", "simplex", "polyhedron")
DIGITS = mp.mpf(10) ** -40
"""What the reference's value is trusted with: it is zero in some problems, and rounding there."""
SCORES = {4: 2, 6: 3}
"""How many classes a softmax has with so many variables."""


@dataclass
class Made:
    """A chain, and what the reference knows it by."""

    levels: list[tb.Objective]
    parts: list[list[Any]]
    domain: tb.Domain
    lower: np.ndarray
    upper: np.ndarray
    rows: list[tuple[np.ndarray, float, float]] = field(default_factory=list)
    split: bool = False  # whether the reference's variables are the positive and the negative parts
    names: tuple[str, ...] = ()


def data(rng: np.random.Generator, d: int) -> np.ndarray:
    """Small integers, most often of low rank; now and then a row twice, or in other units."""
    n, rank = int(rng.integers(3, 10)), int(rng.integers(1, d + 1))
    A = (
        rng.integers(-3, 4, (n, d))
        if rng.random() < 0.4
        else rng.integers(-2, 3, (n, rank)) @ rng.integers(-1, 2, (rank, d))
    )
    A = np.asarray(A, dtype=float)
    if rng.random() < 0.2:
        A[1] = A[0]
    if rng.random() < 0.1:
        A[:, 0] *= 2.0 ** int(rng.integers(-8, 9))
    return A


def loss(rng: np.random.Generator, d: int, kind: str) -> tuple[tb.Objective, list[Any]]:
    A = data(rng, d)
    n = len(A)
    weights = rng.integers(0, 4, n).astype(float) if rng.random() < 0.4 else None
    if weights is not None:
        weights[:2] = 1.0, 2.0
    labels = np.r_[0, 1, rng.integers(0, 2, n - 2)]
    if kind == "softmax":
        classes = SCORES[d]
        A = A[:, : d // classes]
        f = tb.Softmax(A, rng.integers(0, classes, n), weights, classes)
        return f, [reference.Softmax(A, f.y, f.weights, classes)]
    if kind == "logistic":
        f = tb.Logistic(A, labels, weights)
        return f, [reference.logistic(A, f.y, f.weights)]
    if kind == "hinge":
        f = tb.SquaredHinge(A, labels, weights)
        return f, [reference.squared_hinge(A, f.y, f.weights)]
    if kind == "poisson":
        A = A / max(1.0, np.abs(A).max() / 2)
        A = np.round(A * 4) / 4
        f = tb.Poisson(A, rng.integers(0, 5, n), weights)
        return f, [reference.poisson(A, f.y, f.weights)]
    b = rng.integers(-6, 7, n).astype(float)
    counted = [(i, w) for i, w in enumerate(np.ones(n) if weights is None else weights) if w]
    if kind == "huber":
        delta = float(2.0 ** rng.integers(-2, 3))
        huber = [reference.Multiple(w, reference.huber(A[i : i + 1], b[i : i + 1], delta)) for i, w in counted]
        return tb.Huber(A, b, delta, weights), huber
    parts = [reference.Multiple(w, reference.squares(A[i : i + 1], b[i : i + 1])) for i, w in counted]
    return tb.LeastSquares(A, b, weights=weights), parts


def level(rng: np.random.Generator, d: int, upper: bool) -> tuple[tb.Objective, list[Any], str]:
    """A loss, or a linear function or a squared distance; a multiple, or a sum with another one."""
    kinds = [kind for kind in LOSSES if kind != "softmax" or d in SCORES]
    if upper and rng.random() < 0.4:
        c = rng.integers(-3, 4, d) / 4
        if rng.random() < 0.5:
            return tb.SquaredNorm(c), [reference.squares(np.eye(d), c)], "norm"
        return tb.Linear(c), [reference.linear(c)], "linear"
    kind = str(rng.choice(kinds))
    f, parts = loss(rng, d, kind)
    if rng.random() < 0.3:
        factor = float(rng.integers(1, 8))
        f, parts, kind = factor * f, [reference.Multiple(factor, part) for part in parts], f"{factor:g} {kind}"
    extra = rng.random()
    if extra < 0.2:
        c = rng.integers(-2, 3, d) / 8
        f, parts, kind = f + tb.Linear(c), [*parts, reference.linear(c)], kind + " + linear"
    elif extra < 0.4:
        other = str(rng.choice(kinds))
        more = loss(rng, d, other)
        f, parts, kind = f + more[0], parts + more[1], f"{kind} + {other}"
    return f, parts, kind


def make(number: int) -> Made:
    """The problem with this number."""
    rng = np.random.default_rng([2026, number])
    d, kind = int(rng.integers(2, 7)), str(rng.choice(SETS))
    chain = [level(rng, d, upper=k > 0) for k in range(3 if rng.random() < 0.25 else 2)]
    levels, parts = [one[0] for one in chain], [one[1] for one in chain]
    names = (*(one[2] for one in chain), kind)
    low, high = np.full(d, -np.inf), np.full(d, np.inf)
    size = float(2.0 ** rng.integers(-2, 3))
    if kind == "space":
        return Made(levels, parts, tb.Box(low, high), low, high, names=names)
    if kind == "orthant":
        return Made(levels, parts, tb.Box(0.0, np.inf, dim=d), np.zeros(d), high, names=names)
    if kind == "box":
        low = -size * rng.integers(0, 3, d) / 2
        high = low + size * rng.integers(1, 4, d) / 2
        return Made(levels, parts, tb.Box(low, high), low, high, names=names)
    if kind == "simplex":
        rows = [(np.ones(d), size, size)]
        return Made(levels, parts, tb.Simplex(size), np.zeros(d), high, rows, names=names)
    if kind == "l1":
        parts = [[part.of(np.hstack([part.A, -part.A])) for part in own] for own in parts]
        rows = [(np.ones(2 * d), -np.inf, size)]
        return Made(levels, parts, tb.L1Ball(size), np.zeros(2 * d), np.full(2 * d, np.inf), rows, True, names)
    low = np.where(rng.random(d) < 0.5, -size, -np.inf)
    high = np.where(rng.random(d) < 0.5, size, np.inf)
    rows = []
    for _ in range(int(rng.integers(1, 4))):
        a, width = rng.integers(-2, 3, d).astype(float), size * float(rng.integers(1, 5)) / 2
        rows.append((a, -np.inf if rng.random() < 0.5 else -width, width))
    A, least, most = (np.array(part) for part in zip(*rows, strict=True))
    ends = np.isfinite(least)
    domain = tb.Polyhedron(A_ub=np.vstack([A, -A[ends]]), b_ub=np.r_[most, -least[ends]],
                           bounds=list(zip(low, high, strict=True)))  # fmt: skip
    return Made(levels, parts, domain, low, high, rows, names=names)


@dataclass
class Verdict:
    """What came of a problem: its kind, and what is wrong."""

    kind: str
    wrong: str = ""
    width: float = np.inf


def judge(made: Made) -> Verdict:
    """Solve the problem, and hold its brackets against the reference."""
    problem = tb.Problem(made.levels[-1], made.levels[:-1], made.domain)
    choice = choose_engine(problem)
    if choice.engine is None:
        return Verdict("no engine", choice.why_not)
    try:
        answer: Answer = choice.solve()
    except Unbounded as stop:
        return Verdict("refused", _along(made, stop))
    start = np.r_[np.maximum(answer.x, 0), np.maximum(-answer.x, 0)] if made.split else answer.x
    values = reference.chain(made.parts, made.lower, made.upper, [start] * len(made.levels), made.rows)
    width = answer.f_upper - answer.f_lower
    if values is None:
        return Verdict("not judged", width=width)
    brackets = answer.brackets or ((answer.g_lower, answer.g_upper), (answer.f_lower, answer.f_upper))
    for k, ((low, high), value) in enumerate(zip(brackets, values, strict=True)):
        off = max(mp.mpf(low) - value, value - mp.mpf(high))
        if off > DIGITS:
            return Verdict(
                "judged", f"level {k}: [{low!r}, {high!r}] misses {mp.nstr(value, 20)} by {mp.nstr(off, 3)}", width
            )
    return Verdict("judged", width=width / (1 + abs(float(values[-1]))))


def _along(made: Made, stop: Unbounded) -> str:
    """Empty where the level falls along the ray, and goes on falling."""
    parts, values = made.parts[min(stop.level, len(made.parts) - 1)], []
    x, ray = ([mp.mpf(float(v)) for v in vector] for vector in (stop.point, stop.ray / np.abs(stop.ray).max()))
    for step in (0, 1, 4, 16, 64):
        at = [a + step * b for a, b in zip(x, ray, strict=True)]
        values.append(mp.fsum(p.total([mp.fsum(mp.mpf(float(v)) * w for v, w in zip(a, at, strict=True)) for a in p.A])
                              for p in parts))  # fmt: skip
    falls = [values[k + 1] < values[k] + (DIGITS if k else 0) for k in range(4)]  # what is left may be below all digits
    return "" if all(falls) else f"level {stop.level} along the ray: {[mp.nstr(v, 15) for v in values]}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--quiet", action="store_true")
    asked = parser.parse_args()
    kinds: Counter[str] = Counter()
    widths, wrong = [], 0
    for number in range(asked.first, asked.first + asked.count):
        made = make(number)
        try:
            verdict = judge(made)
        except Exception as error:
            verdict = Verdict("error", f"{type(error).__name__}: {error}")
        kinds[verdict.kind] += 1
        if verdict.kind == "judged":
            widths.append(verdict.width)
        if verdict.wrong:
            wrong += verdict.kind in ("judged", "refused", "error")
            print(number, *made.names, verdict.kind, verdict.wrong, sep="; ", flush=True)
        elif not asked.quiet and verdict.width > 1e-6 and verdict.kind != "refused":
            print(number, *made.names, verdict.kind, f"width {verdict.width:.1e}", sep="; ", flush=True)
    print(dict(kinds), "wrong", wrong)
    if widths:
        w = np.array(widths)
        print("relative widths: median", f"{np.median(w):.1e}", "above 1e-12", int((w > 1e-12).sum()),
              "above 1e-6", int((w > 1e-6).sum()), "infinite", int(np.isinf(w).sum()))  # fmt: skip


if __name__ == "__main__":
    main()
