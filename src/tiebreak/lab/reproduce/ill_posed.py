"""Ill-posed problems (Example 4 of the paper): what a second objective selects, without a slack and with one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...result import Result
from ..experiments.ill_posed import KERNELS, equation, problem, rank_deficient, selection
from ..workshop import Made, Piece
from .evidence import Evidence, least, less
from .outcome import Addition, Claim, Curve, Option, Outcome, Panel, Request, Table
from .solving import solve

TITLE = "Ill-posed problems: selection among what fits"
OPTIONS: tuple[Option, ...] = ()
SELECTIONS = ("smallest", "smoothest", "nearest")


def run(request: Request) -> Outcome:
    """Three integral equations, three selections, a range of slacks; and a system with many exact solutions."""
    n, slacks = request.pick(24, 64, 100), request.pick(3, 9, 17)
    cases = {
        f"{kind}, {which}": {"kind": kind, "which": which, "n": n, "slacks": slacks, "seed": request.seed}
        for kind in KERNELS
        for which in SELECTIONS
    }
    pieces = [Piece(name, reconstruct, arguments) for name, arguments in cases.items()]
    made = request.workshop.make([*pieces, Piece("many solutions", many_solutions, {"seed": request.seed})])
    many = made.pop("many solutions")
    return Outcome(
        name="ill_posed",
        title=TITLE,
        story=(
            f"Integral equations of the first kind (phillips, baart, foxgood; n = {n}, noise 0.01) over [0, 10]^n. The "
            "lower level is the misfit; the upper level prefers the smallest x, the smoothest, or the one nearest to a "
            "guess (the truth blurred and scaled by 0.9).",
            "Because of the noise the misfit has one minimiser (or, in floating point, no telling), and it is useless: "
            "the second objective has no say. What a user wants is the problem with a slack, minimise f subject to "
            "g(x) <= g* + slack, with the slack from the size of the noise (Morozov's principle).",
        ),
        claims=tuple(_claims(many)),
        panels=(*_reconstructions(made), *_errors(made)),
        tables=(_table(made),),
        parameters={"n": n, "noise": 0.01, "box": [0, 10], "slacks": slacks},
        seed=request.seed,
        size=request.size,
        additions=tuple(_additions(made)),
    )


def reconstruct(kind: str, which: str, n: int, slacks: int, seed: int) -> dict[str, Any]:
    """The answer without slack, at slacks around the discrepancy, and how far each is from the truth."""
    one = equation(kind, n, seed=seed)
    blurred = 0.9 * np.convolve(np.pad(one.x, n // 8, mode="edge"), np.ones(n // 4) / (n // 4), mode="same")
    guess = blurred[n // 8 : n // 8 + n]
    base = problem(one, selection(which, n, guess))
    plain = solve(base)
    allowed = max(one.discrepancy - plain.certificate.g_upper, 0.05 * one.discrepancy)
    grid = allowed * np.geomspace(1e-2, 1e2, slacks)
    results = [solve(base.with_slack(float(slack))) for slack in grid]
    middle = results[slacks // 2]

    def error(result: Result) -> float:
        return float(np.linalg.norm(result.x - one.x) / np.linalg.norm(one.x))

    unique = plain.certificate.lower_unique
    return {
        "truth": one.x, "plain": plain.x, "selected": middle.x, "slacks": grid, "allowed": allowed,
        "errors": [error(result) for result in results], "plain_error": error(plain), "error": error(middle),
        "unique": -1 if unique is None else int(unique), "converged": plain.success,
        "widths": [(r.certificate.f_upper - r.certificate.f_lower) / (1 + abs(r.f)) for r in results],
    }  # fmt: skip


def many_solutions(seed: int) -> dict[str, Any]:
    """The smallest least-squares solution, by the library and by the singular value decomposition."""
    base, x = rank_deficient(seed)
    exact = solve(base)
    accelerated = solve(base, "apb-apg", tol_upper=1e-8, tol_lower=1e-8)
    return {
        "method": exact.method,
        "exact": float(np.linalg.norm(exact.x - x) / np.linalg.norm(x)),
        "accelerated": float(np.linalg.norm(accelerated.x - x) / np.linalg.norm(x)),
        "unique": exact.certificate.lower_unique is True,
    }


def _claims(many: Made) -> Iterator[Claim]:
    yield Claim(
        quote="we can find the minimal ℓ₂-norm solution by choosing R(x) = ½‖x‖₂²",
        where="Appendix E.1, Example 4",
        here=f"{many['method']}: {float(many['exact']):.1g} from that of the singular value decomposition (relative); "
        f"apb-apg: {float(many['accelerated']):.1g}",
        evidence=Evidence((least((1e-7 - float(many["exact"]), 0.5 - float(many["unique"]))),), "always"),
        note="a rank-deficient least-squares problem",
    )


def _additions(made: dict[str, Made]) -> Iterator[Addition]:
    yield Addition(
        statement="With noise the least-squares solution is unique, or cannot be told from unique: a secondary "
        "objective alone has nothing to select.",
        here="without slack the relative errors are "
        + ", ".join(f"{name} {float(one['plain_error']):.2g}" for name, one in made.items()),
        evidence=Evidence(tuple(float(one["plain_error"]) - 0.5 for one in made.values()), "always"),
    )
    yield Addition(
        statement="With a slack from the size of the noise the second objective tackles ill-posedness.",
        here=", ".join(f"{name} {float(one['error']):.2g}" for name, one in made.items()),
        evidence=Evidence(
            tuple(less(float(one["error"]), float(one["plain_error"])) for one in made.values()), "always"
        ),
    )


def _reconstructions(made: dict[str, Made]) -> Iterator[Panel]:
    for kind in KERNELS:
        here = {which: made[f"{kind}, {which}"] for which in SELECTIONS}
        first = here[SELECTIONS[0]]
        axis = {"t": (np.arange(first["truth"].size) + 0.5) / first["truth"].size}
        curves = [Curve("truth", axis, first["truth"], role="truth"), Curve("no slack", axis, first["plain"])]
        curves += [Curve(f"{which}, slack", axis, one["selected"]) for which, one in here.items()]
        yield Panel(
            f"reconstruction-{kind}",
            f"{kind}: what is selected",
            "x(t)",
            tuple(curves),
            log=False,
            caption="Without slack the answer is the noise, amplified; it is the same whatever the second objective.",
        )


def _errors(made: dict[str, Made]) -> Iterator[Panel]:
    for kind in KERNELS:
        curves = []
        for which in SELECTIONS:
            one = made[f"{kind}, {which}"]
            curves.append(Curve(which, {"slack / expected misfit left": one["slacks"] / one["allowed"]}, one["errors"]))
        yield Panel(
            f"error-{kind}", f"{kind}: error against slack", "||x - truth|| / ||truth||", tuple(curves), log_x=True
        )


def _table(made: dict[str, Made]) -> Table:
    words = {-1: "cannot be told", 0: "no", 1: "yes"}
    rows = tuple(
        (
            name,
            f"{float(one['plain_error']):.3g}",
            f"{float(one['error']):.3g}",
            words[int(one["unique"])],
            f"{float(np.max(one['widths'])):.1g}",
        )
        for name, one in made.items()
    )
    return Table(
        "Relative error of the answer",
        (
            "equation, selection",
            "no slack",
            "slack from the noise",
            "lower level unique",
            "widest proved bracket with slack",
        ),
        rows,
        "The bracket of the upper level is relative to 1 + |f|.",
    )
