"""Rational proofs: chains proved and checked by the stand-alone checker, and tampered files refused.

``python benchmarks/proofs.py [chains] [tampered]`` runs the checker as a program of its own, on files.
"""

from __future__ import annotations

import copy
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

import tiebreak as tb
from tiebreak import proof_checker

CHECKER = Path(proof_checker.__file__)


def tied_costs(rng: np.random.Generator, n: int) -> list[tb.Objective]:
    """Integer costs, few of them different: faces of many dimensions."""
    return [tb.Linear(rng.integers(1, 4, n).astype(float)), tb.Linear(rng.integers(0, 2, n).astype(float))]


def polyhedron(rng: np.random.Generator, n: int) -> tb.Polyhedron:
    """A bounded one around a point, with a repeated row and one that touches: degenerate corners."""
    A = rng.integers(-2, 3, (n, n)).astype(float)
    A = np.vstack([A, A[:1], A[:1] + A[1:2]])
    b = A @ rng.integers(0, 2, n) + np.r_[np.zeros(2), np.ones(n - 2), 0.0, 0.0]
    return tb.Polyhedron(A_ub=A, b_ub=b, bounds=(-2.0, 2.0))


def squares(rng: np.random.Generator, n: int, m: int) -> tb.LeastSquares:
    """With entries that are no short fractions."""
    return tb.LeastSquares(rng.standard_normal((m, n)), rng.standard_normal(m))


def chain(seed: int) -> tb.Problem:
    """One of ten kinds of chains, in small and odd units alike."""
    rng = np.random.default_rng([13, seed])
    n, kind = int(rng.integers(4, 16)), seed % 10
    unit = 10.0 ** rng.integers(-4, 5)
    domains = [
        tb.Simplex(1.0),
        tb.Box(-unit, unit, dim=n),
        polyhedron(rng, n),
        tb.L1Ball(1.0),
        tb.Box(-0.3, 0.3, dim=n),
    ]
    half = squares(rng, n, n // 2)
    if kind < 3:
        lower: list[tb.Objective] = tied_costs(rng, n)
        upper: tb.Objective = tb.SquaredNorm(rng.standard_normal(n))
    elif kind < 6:
        lower, upper = [squares(rng, n, 2), half], tb.SquaredNorm(dim=n)
    elif kind == 6:
        lower, upper = [half], tb.Linear(rng.integers(-2, 3, n).astype(float))
    elif kind == 7:
        lower, upper = [tied_costs(rng, n)[0], half], tb.L1Norm(dim=n)
    elif kind == 8:
        M = rng.integers(-2, 3, (n, n)).astype(float)
        lower, upper = [tb.Quadratic(M.T @ np.diag(np.arange(n) > 2) @ M, rng.standard_normal(n))], tb.SquaredNorm()
    else:
        lower, upper = [half], tb.MaxAffine(rng.standard_normal((4, n)), rng.standard_normal(4))
    domain = domains[(seed // 10) % len(domains)]
    return tb.Problem(upper, lower, domain)


def changed(text: str, rng: np.random.Generator) -> str:
    """Another number, a little or much."""
    p, q = (int(part, 16) for part in text.split("/"))
    factor = Fraction(1) + rng.choice([Fraction(1, 10**12), Fraction(1, 2), Fraction(-2)])
    value = Fraction(p, q) * factor or Fraction(1, 10**9)
    return f"{value.numerator:x}/{value.denominator:x}"


def tampered(document: dict[str, Any], rng: np.random.Generator) -> Iterator[tuple[str, dict[str, Any]]]:
    """Copies of a proof with one thing changed, each of which proves nothing."""

    def fresh() -> dict[str, Any]:
        return copy.deepcopy(document)

    file = fresh()
    place = int(rng.integers(len(file["values"])))
    file["values"][place] = changed(file["values"][place], rng)
    yield "a value", file
    file = fresh()
    places = [(k, i) for k, one in enumerate(file["multipliers"]) for i in range(len(one["rows"]))]
    if places:
        k, i = places[int(rng.integers(len(places)))]
        file["multipliers"][k]["rows"][i][1] = changed(file["multipliers"][k]["rows"][i][1], rng)
        yield "a multiplier", file
    file = fresh()
    place = int(rng.integers(file["variables"]))
    file["x"][place] = changed(file["x"][place], rng)
    file["values"] = [f"{v.numerator:x}/{v.denominator:x}" for v in _values_at(file)]
    yield "a point that is no solution", file
    file = fresh()
    file["levels"][0]["linear"] = [[0, "1/1"]] if not file["levels"][0]["linear"] else []
    file["values"] = [f"{v.numerator:x}/{v.denominator:x}" for v in _values_at(file)]
    yield "another level", file
    file = fresh()
    del file["multipliers"][-1]
    yield "no multipliers", file


def _values_at(file: dict[str, Any]) -> list[Fraction]:
    """The values that a careful forger would write down."""
    x = proof_checker.dense(file["x"], file["variables"])
    levels = [proof_checker.read_level(one, file["variables"]) for one in file["levels"]]
    return [proof_checker.value_and_gradient(level, x)[0] for level in levels]


def checked(proof: tb.Proof, folder: Path, document: dict[str, Any] | None = None) -> tuple[bool, str]:
    """What the checker, as a program without the library, says of a file."""
    path = folder / "proof.json"
    (proof if document is None else tb.Proof((), (), 0.0, 0, document)).save(path)
    done = subprocess.run([sys.executable, "-I", "-S", str(CHECKER), str(path)], capture_output=True, text=True)
    return done.returncode == 0, (done.stdout + done.stderr).strip().splitlines()[0]


def main(chains: int = 100, files: int = 40) -> None:
    """Print how many were proved, checked and refused."""
    proved, taken, steps, worst, spent, refused, said = 0, 0, 0, 0.0, 0.0, [], []
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for seed in range(chains):
            problem = chain(seed)
            result = tb.solve(problem)
            start = time.process_time()
            try:
                proof = result.prove(problem)
            except tb.NotProved as why:
                print(f"chain {seed}: not proved: {why}")
                continue
            spent = max(spent, time.process_time() - start)
            proved, steps, worst = proved + 1, max(steps, proof.steps), max(worst, proof.moved)
            pairs = zip(result.levels, proof.values, strict=True)
            outside = [k for k, (one, v) in enumerate(pairs) if not one.lower <= v <= one.upper]
            said += [f"chain {seed}: the bracket of level {k + 1} misses the exact value" for k in outside]
            taken += checked(proof, folder)[0]
            if len(refused) < files:
                for what, document in tampered(proof.document, rng):
                    ok, line = checked(proof, folder, document)
                    refused.append(not ok)
                    said += [f"chain {seed}: {what}: TAKEN: {line}"] if ok else []
    print(*said, sep="\n")
    print(
        f"{proved} of {chains} proved, {taken} taken by the checker; at most {steps} steps, {spent:.2f} s of processor"
    )
    print(f"x moved by at most {worst:.1e}; {sum(refused)} of {len(refused)} tampered files refused")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
