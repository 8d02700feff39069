"""Brackets of two levels over round sets, held to references of 45 digits that are found without the library.

``python benchmarks/round_digits.py [instances] [first seed]`` takes the sixteen families of ``round_sets.py``: how many
brackets around g* and f* hold the reference, the widest relative to 1 + |f|, and the seconds of the processor that the
engine takes. References begin at the engine's point, are polished in decimals, and are shown to be minimisers by one
linear minimum.
"""

from __future__ import annotations

import harness  # isort: skip  (before NumPy: one thread)

import sys
import time
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np

import tiebreak as tb
from round_sets import families
from tiebreak.engines.choice import choose_engine

sys.path.append(str(Path(__file__).parents[1] / "tests" / "engines"))
from decimal_references import Squares, Surface, minimised


def surface(domain: Any, x: np.ndarray) -> Surface:
    """The boundary near x."""
    text = repr(domain)
    if text.startswith(("L2Ball", "LpBall")):
        p, center = getattr(domain, "p", 2), np.broadcast_to(getattr(domain, "center", 0.0), x.size)
        return Surface("power", x, domain.radius, p=p, center=center)
    if text.startswith("GroupBall"):
        return Surface("groups", x, domain.radius, groups=np.split(np.arange(x.size), x.size // 5))
    whole = text.startswith("Spectrahedron")
    return Surface("spectrum", x, domain.trace if whole else domain.radius, shape=domain.shape, whole=whole)


def squares(objective: Any) -> Squares:
    return Squares(np.asarray(objective.data.raw), objective.b)


def held(problem: tb.Problem, answer: Any) -> tuple[bool, bool]:
    """Whether the reference is one, and whether both brackets hold it."""
    lower, upper = squares(problem.lower), squares(problem.upper)
    domain: Any = problem.domain if problem.domain.dim else problem.domain.with_dim(problem.dim)
    x = answer.x
    inside = domain.round.room(x) > 1e-6 and not repr(domain).startswith("Spectrahedron")
    place = Surface("inside", x, 1.0) if inside else surface(domain, x)
    if answer.lower_unique:
        found, _, residual = minimised(lower, place)
        slope, g = lower.grad(found), lower.value(found)
    else:
        found, w, residual = minimised(upper, place, lower)
        slope, g = [a + b for a, b in zip(upper.grad(found), lower.pull(w), strict=True)], Decimal(0)
    c, point = (np.array([float(v) for v in part]) for part in (slope, found))
    least = c @ point - c @ domain.lmo(c) < 1e-9 * (1 + float(np.linalg.norm(c)))
    f = upper.value(found)
    good = Decimal(answer.f_lower) <= f <= Decimal(answer.f_upper)
    good &= Decimal(answer.g_lower) <= g <= Decimal(answer.g_upper)
    return bool(residual < Decimal(10) ** -45 and least), good


def main() -> None:
    count, first = int((sys.argv[1:] or ["10"])[0]), int((sys.argv[2:] or ["9000"])[0])
    print(f"{'family':20} references  held   widest    median s")
    for name, make in families():
        references = good = 0
        widths, seconds = [], []
        for seed in range(first, first + count):
            problem = make(np.random.default_rng(seed))
            began = time.process_time()
            answer = choose_engine(problem).solve()
            seconds.append(time.process_time() - began)
            widths.append(answer.width)
            known, within = held(problem, answer)
            references, good = references + known, good + (known and within)
        print(
            f"{name:20} {references:3}/{count}     {good:3}   {max(widths):.1e}   {np.median(seconds):.3f}", flush=True
        )


if __name__ == "__main__":
    assert harness
    main()
