"""Chains over second-order and semidefinite cones with planted solutions: brackets, proofs, and the hand-made way.

``python benchmarks/conic_chains.py [chains] [seed]`` prints, for so many chains of each family: how many brackets miss
the planted values (which are known exactly: all data are whole numbers), how wide they are at each level, how good the
point is, and how long it takes; what comes of rows f <= f* + eps by Clarabel on the same chains, by eps; and how often
a unique minimiser is proved where there is one, and where there is none or it is degenerate.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np

import tiebreak as tb
from tiebreak.engines.conic.solve import solve_conic
from tiebreak.numerics.clarabel import solve_conic as clarabel

sys.path.append(str(Path(__file__).parents[1] / "tests" / "engines"))
from planted_cones import Planted, planted

FAMILIES = {
    "QP + SOCP": ("nonnegative", "second-order", "second-order"),
    "SOCP": ("second-order", "second-order", "second-order"),
    "SDP": ("triangle", "triangle"),
    "mixed": ("nonnegative", "second-order", "triangle"),
}
EPS = (1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9)
WRONG = 1e-4
"""A value of some level that is off by more, relative to 1 + its size, is wrong."""


def relative(difference: float, value: float) -> float:
    return difference / (1 + abs(value))


def by_value_rows(chain: Planted, eps: float) -> str:
    """The hand-made way: each level with f <= f* + eps for those before, f* being what was found."""
    n = chain.A.shape[1]
    A, b, cones = chain.A, chain.b, list(chain.kinds)
    x = np.zeros(n)
    for B, q in zip(chain.matrices, chain.slopes, strict=True):
        found = clarabel(B.T @ B, q, A, b, cones, tolerance=1e-8, patient=True)
        if found.word != "Solved":
            return "failed" if found.word != "AlmostSolved" else "inaccurate"
        x = found.x
        most = float(0.5 * (B @ x) @ (B @ x) + q @ x) + eps
        if B.shape[0]:  # |B x|^2 <= 2 (most - q'x) =: u, as |(2 B x, u - 1)| <= u + 1
            A = np.vstack([A, 2 * q, -2 * B, 2 * q])
            b = np.concatenate([b, [2 * most + 1], np.zeros(B.shape[0]), [2 * most - 1]])
            cones.append(("second-order", B.shape[0] + 2))
        else:
            A, b = np.vstack([A, q]), np.append(b, most)
            cones.append(("nonnegative", 1))
    off = max(
        relative(abs(float(0.5 * (B @ x) @ (B @ x) + q @ x) - value), value)
        for B, q, value in zip(chain.matrices, chain.slopes, chain.values, strict=True)
    )
    return "wrong" if off > WRONG else "right"


def family(name: str, count: int, seed: int) -> list[Planted]:
    """Chains of two to four levels, two thirds of them bounded."""
    chains, trial = [], 0
    while len(chains) < count:
        rng = np.random.default_rng([seed, trial, *map(ord, name)])
        trial += 1
        levels = 2 + trial % 3
        chains.append(planted(rng, FAMILIES[name], levels, trial % 3 > 0, trial % 2 == 0))
    return chains


def brackets(name: str, chains: list[Planted]) -> None:
    """One line: what the engine proves."""
    misses = wrong = doubtful = unproved = 0
    widths: dict[int, list[float]] = {}
    errors, seconds = [], []
    for chain in chains:
        started = time.perf_counter()
        answers = solve_conic(chain.levels, chain.domain)
        seconds.append(time.perf_counter() - started)
        last = answers[-1]
        doubtful += not last.well_posed
        unproved += any("no proof" in note for note in last.notes)
        misses += sum(not a.f_lower <= v <= a.f_upper for a, v in zip(answers, chain.values, strict=True))
        for k, (answer, value) in enumerate(zip(answers, chain.values, strict=True)):
            widths.setdefault(k, []).append(relative(value - answer.f_lower, value))
        pairs = zip(chain.levels, chain.values, strict=True)
        errors.append(max(relative(abs(level.value(last.x) - value), value) for level, value in pairs))
        wrong += errors[-1] > WRONG
    by_level = "  ".join(f"{k + 1}: {np.median(w):.0e} ({max(w):.0e})" for k, w in sorted(widths.items()))
    print(
        f"{name:<10} {len(chains)} chains, brackets that miss {misses}, wrong points {wrong}, in doubt {doubtful}, "
        f"unproved {unproved}; f* - f_lower by level, median (worst): {by_level}; "
        f"point off {np.median(errors):.0e} ({max(errors):.0e}); {np.median(seconds):.3f} s ({max(seconds):.2f})"
    )


def unique_proofs(count: int, seed: int) -> None:
    """How often one minimiser is proved: where there is one; where there are several; where it is degenerate."""
    found: Counter[str] = Counter()
    tried: Counter[str] = Counter()
    ratios = []
    for trial in range(count):
        for kinds in FAMILIES.values():
            rng = np.random.default_rng([seed, trial, 99])
            chain = planted(rng, kinds, 1, True, False, more=2)
            apart = tb.SquaredNorm(chain.x)
            degenerate = tb.SquaredNorm(chain.x)  # its slope vanishes where slacks do
            cases = {"unique": chain.levels[0] + apart, "several": chain.levels[0], "degenerate": degenerate}
            on_edge = bool((chain.domain.conic.margin(np.longdouble(1) * (chain.b - chain.A @ chain.x))) <= 0)
            if not on_edge or not chain.slopes[0].any():
                continue
            for case, level in cases.items():
                answers = solve_conic([level, tb.Linear(np.ones(chain.x.size))], chain.domain)
                tried[case] += 1
                if answers[-1].lower_unique:
                    found[case] += 1
                    if case == "unique":
                        note = next(note for note in answers[-1].notes if "only minimiser" in note)
                        far = float(note.split("within ")[1].split()[0])
                        away = float(np.linalg.norm(answers[-1].x - chain.x))
                        ratios.append(max(0.0, away - 1e-15 * (1 + np.linalg.norm(chain.x))) / far)
    for case, share in tried.items():
        print(f"{case:<10} one minimiser proved for {found[case]} of {share}")
    print(f"distance from the planted point over the proved one, beyond rounding of x: at most {max(ratios):.2g}")


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    everything = []
    for name in FAMILIES:
        chains = family(name, count, seed)
        brackets(name, chains)
        everything += chains
    print(f"\nvalue rows by Clarabel on the same {len(everything)} chains")
    for eps in EPS:
        got = Counter(by_value_rows(chain, eps) for chain in everything)
        print(
            f"eps {eps:.0e}   "
            + "   ".join(f"{word} {got[word]}" for word in ("right", "wrong", "inaccurate", "failed"))
        )
    print()
    unique_proofs(count, seed)


if __name__ == "__main__":
    main()
