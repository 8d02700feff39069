"""Every bound of a run against the independently known values."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice

import numpy as np

import tiebreak as tb
from known.bounds import Inaccurate
from known.cases import SETS
from known.terms import CONVEX, linear
from problems import LOWERS, UNPLANTED, Instance, instance

METHODS: tuple[str | tb.Solver, ...] = ("cg-bio-anytime", tb.CGBiO(), "cg")


@dataclass
class Tally:
    """What was checked, and what was wrong."""

    checked: int = 0
    violations: list[str] = field(default_factory=list)

    def expect(self, true: bool, claim: str) -> None:
        self.checked += 1
        if not true:
            self.violations.append(claim)


def check_certificate(tally: Tally, known: Instance, c: tb.Certificate, f: float, g: float, where: str) -> None:
    """``c`` at a point with the values f and g."""
    rounding = 1e-12 * (1 + abs(g))
    tally.expect(c.g_lower <= known.g_star + known.g_tol, f"{where}: g_lower {c.g_lower} > g* {known.g_star}")
    tally.expect(c.g_upper >= known.g_star - known.g_tol, f"{where}: g_upper {c.g_upper} < g* {known.g_star}")
    tally.expect(
        c.lower_gap >= g - known.g_star - known.g_tol - rounding,
        f"{where}: lower_gap {c.lower_gap} < g - g* {g - known.g_star}",
    )
    tally.expect(abs(c.lower_gap - (g - c.g_lower)) <= rounding, f"{where}: lower_gap {c.lower_gap} is not g - g_lower")
    if known.problem.upper.convex:
        tally.expect(c.f_lower <= known.f_star + known.f_tol, f"{where}: f_lower {c.f_lower} > f* {known.f_star}")
        tally.expect(c.f_upper >= known.f_star - known.f_tol, f"{where}: f_upper {c.f_upper} < f* {known.f_star}")
    tally.expect(c.upper_gap == f - c.f_lower, f"{where}: upper_gap {c.upper_gap} is not f - f_lower")


def frank_wolfe_gap(known: Instance, x: np.ndarray) -> tuple[float, float]:
    """max of <grad f(x), x - s> over the solutions of the lower level, between two bounds."""
    slope = known.f.grad(x)
    bounds = known.solutions.minimise(linear(slope)[0])
    return float(slope @ x) - bounds.upper, float(slope @ x) - bounds.lower


def check_run(tally: Tally, known: Instance, method: str | tb.Solver, **options: object) -> tb.Result:
    """Solve, and check the certificate at every iterate and at the end."""
    name = f"{known.note}, {method if isinstance(method, str) else method.info.name}"

    def watch(event: tb.Event) -> None:
        check_certificate(tally, known, event.certificate, event.f, event.g, f"{name}, k = {event.k}")

    result = tb.solve(known.problem, method, callback=tb.Every(1, watch), **options)
    check_certificate(tally, known, result.certificate, result.f, result.g, f"{name}, result")
    if not known.problem.upper.convex:
        gap = frank_wolfe_gap(known, result.x)[0]
        tally.expect(
            result.certificate.stationarity >= gap - 1e-9,
            f"{name}: stationarity {result.certificate.stationarity} < {gap}",
        )
    verification = result.verify(known.problem)
    tally.expect(verification.ok, f"{name}: verify says {verification.complaints}")
    return result


def sweep(count: int, seed: int, dropped: list[str]) -> Iterator[tuple[str, str, str, Instance]]:
    """``count`` instances of all kinds, mixed; those without an accurate reference go to ``dropped``."""
    rng = np.random.default_rng(seed)
    pairs = [(set_kind, lower_kind) for set_kind in SETS for lower_kind in LOWERS]
    for number, (set_kind, lower_kind) in enumerate(islice(_shuffled(rng, pairs), 2 * count)):
        slack = 0.05 if lower_kind in UNPLANTED else float(rng.choice([0.0, 0.05]))
        upper_kind = str(rng.choice(CONVEX if slack > 0 else [*CONVEX, "covariance"]))
        try:
            known = instance(seed + number, set_kind, lower_kind, upper_kind, slack)
        except Inaccurate as reason:
            dropped.append(f"{set_kind}, {lower_kind}, {upper_kind}, slack {slack}: {reason}")
            continue
        yield set_kind, lower_kind, upper_kind, known
        count -= 1
        if count == 0:
            return


def _shuffled(rng: np.random.Generator, items: list) -> Iterator:
    while True:
        for index in rng.permutation(len(items)):
            yield items[index]
