"""What the paper says about its regression experiment, and what became of it."""

from __future__ import annotations

import numpy as np

from ..workshop import Made
from .outcome import Claim
from .regression_pages import Case, Runs

FIGURE, TEXT, APPENDIX = "Section 5.1, Fig. 1", "Section 5.1", "Appendix F.1"
NOT_THEIRS = "on a stand-in: the paper's data may behave otherwise"


def claims(
    cases: list[Case], proved: dict[str, Made], first: dict[str, Made], runs: Runs, large: Made
) -> tuple[Claim, ...]:
    """Every sentence with a number or an ordering; the orderings once more on the diabetes data."""
    by_name = {case.name: case for case in cases}
    both = ["paper", *(name for name in ("diabetes",) if name in by_name)]
    many = [name for name in ("choice", "diabetes choice") if name in by_name]
    made = [
        *_data(by_name["paper"]),
        *(_several(by_name[name], proved[name]) for name in both),
        *(_choice(by_name[name], proved[name]) for name in many),
        *_start(by_name["paper"], proved["paper"], first["paper"], runs["paper"]["CG-BiO"], large),
        _solver(proved),
    ]
    for name in both:
        made += _figure(by_name[name], proved[name], runs[name])
    return tuple(made)


def _verdict(case: Case, holds: bool) -> bool | None:
    return holds if case.data.real else None


def _why(case: Case, why: str = "") -> str:
    return "; ".join(part for part in (why, "" if case.data.real else NOT_THEIRS) if part)


def _data(case: Case) -> tuple[Claim, ...]:
    data = case.data
    n, d = data.A.shape
    shares = " / ".join(f"{100 * len(part) / n:.1f}" for part in (data.train, data.validation, data.test))
    return (
        Claim("The data have n = 1068 instances and d = 730 attributes.", "1068 x 730", f"{n} x {d}",
              _verdict(case, (n, d) == (1068, 730)), _why(case), TEXT),
        Claim("60 % train, 20 % validate, 20 % test.", "60 / 20 / 20", f"{shares} ({len(data.train)}, "
              f"{len(data.validation)}, {len(data.test)} rows)", True, "", TEXT),
        Claim("There are more features than training instances.", "730 > 641", f"{d} > {len(data.train)}",
              d > len(data.train), "", TEXT),
    )  # fmt: skip


def _several(case: Case, known: Made) -> Claim:
    unique, constant = int(known["unique"]), int(known["constant"])
    found = {1: "one", 0: "many", -1: "not known"}[unique]
    say = "; f is constant on them" if constant == 1 else ""
    return Claim(
        f"The over-parameterised problem possesses multiple global minima, of which f selects one ({case}).",
        "several, f chooses",
        f"lower solutions: {found}{say}",
        None if not case.data.real or (unique, constant) == (-1, -1) else unique == 0 and constant != 1,
        _why(case, "d > n is not enough: where the l1 constraint is active, all lower solutions predict alike"),
        "Example 1",
    )


def _choice(case: Case, known: Made) -> Claim:
    return Claim(
        f"The same with fewer rows and a larger radius ({case}).",
        "several, f chooses",
        f"lower solutions: {'many' if int(known['unique']) == 0 else 'one or not known'}, g* = {float(known['g']):.2g}",
        None if not case.data.real else int(known["unique"]) == 0 and int(known["constant"]) != 1,
        _why(case, "an addition of this library: the case that the example describes"),
        "Example 1",
    )


def _start(case: Case, known: Made, first: Made, ours: Made, large: Made) -> tuple[Claim, ...]:
    steps, gap = int(first["steps"]), float(first["gap"])
    worst = {name: float(np.max(run["g"] - known["g"])) for name, run in (("12", ours), ("2", large))}
    return (
        Claim("The initial CG ends with a Frank-Wolfe gap of 5e-5 or after 10,000 steps.", "5e-5 or 10,000",
              f"{steps} steps, gap {gap:.2g}, g(x₀) − g* = {float(first['g'] - known['g']):.2g}",
              gap <= 5e-5 or steps == 10_000 or None, _why(case), APPENDIX),
        Claim("Steps 2/(k+12) avoid instability due to large initial steps.", "stable",
              f"largest g − g*: {worst['12']:.3g}, with 2/(k+2): {worst['2']:.3g}",
              _verdict(case, worst["12"] < worst["2"]), _why(case), APPENDIX),
    )  # fmt: skip


def _solver(proved: dict[str, Made]) -> Claim:
    """The role of CVX in the paper, played by two that share nothing."""
    off_g = max(abs(float(known["g"] - known["conic_g"][1])) / (1 + float(known["g"])) for known in proved.values())
    both = [known for known in proved.values() if "relaxed" in known]
    off_f = max((abs(float(known["relaxed"] - known["conic_f"][1])) / (1 + float(known["relaxed"])) for known in both),
                default=0.0)  # fmt: skip
    found = f"largest relative difference of g*: {off_g:.1g}" + (f", of v(1e-6): {off_f:.1g}" if both else "")
    return Claim(
        "f* and g* come from a conic solver (CVX).",
        "CVX",
        f"exact engine and Clarabel, {len(proved)} cases: {found}",
        off_g < 1e-7 and off_f < 1e-6,
        "g ≤ g* without slack, as the released code asks CVX, has no interior; the exact engine needs no such row",
        TEXT,
    )


def _figure(case: Case, known: Made, runs: dict[str, Made]) -> list[Claim]:
    f_star, g_star = float(known["f"]), float(known["g"])
    ours = runs["CG-BiO"]
    limit = float(ours["seconds"][-1])
    others = {name: run for name, run in runs.items() if name != "CG-BiO"}
    at = {name: max(int(np.searchsorted(run["seconds"], limit, side="right")) - 1, 0) for name, run in runs.items()}
    at["CG-BiO"] = len(ours["seconds"]) - 1

    def then(key: str, star: float) -> dict[str, float]:
        return {name: abs(float(run[key][at[name]]) - star) for name, run in runs.items()}

    def said(values: dict[str, float]) -> str:
        return ", ".join(f"{name} {value:.3g}" for name, value in values.items())

    def best(values: dict[str, float]) -> bool | None:
        if not all(values["CG-BiO"] < values[name] for name in others):
            return False if case.data.real else None
        return None if early or not case.data.real else True  # whoever stopped early might have caught up

    early = [f"{name} {run['seconds'][-1]:.2g} s" for name, run in others.items() if run["seconds"][-1] < limit]
    when = f"after {limit:.3g} s at most, the time of CG-BiO with its initial phase"
    if early:
        when += f" ({', '.join(early)}: that was all)"
    lower, upper, test = then("g", g_star), then("f", f_star), then("test", 0.0)
    turn = int(np.argmin(ours["f"]))
    rise = float(ours["f"][-1] - ours["f"][turn])
    shrinks = abs(float(ours["f"][-1]) - f_star) < abs(float(ours["f"][turn]) - f_star)
    return [
        Claim(f"CG-BiO converges faster than the others in terms of the lower level ({case}).", "fastest", said(lower),
              best(lower), _why(case, when), FIGURE + "(a)"),
        Claim(f"CG-BiO achieves a smaller upper-level gap within the same run time ({case}).", "smallest", said(upper),
              best(upper), _why(case, "|f − f*| of a run that is still far from g* says little: f "
              f"crosses f* on the way. CG-BiO is at f − f* = {float(ours['f'][-1]) - f_star:.3g}"), FIGURE + "(b)"),
        Claim(f"CG-BiO achieves a smaller test error within the same run time ({case}).", "smallest", said(test),
              best(test), _why(case, f"at the exact solution: {float(known['test']):.4g}"),
              FIGURE + "(c)"),
        Claim(f"After the initial stage f(x_k) of CG-BiO increases while |f − f*| decreases ({case}).", "increases",
              f"f rises by {rise:.3g} after update {int(ours['updates'][turn])}; |f − f*| "
              f"{'falls' if shrinks else 'does not fall'}",
              _verdict(case, rise > 0 and shrinks), _why(case, "it comes from below, where it fits worse"), TEXT),
        Claim(f"f(x_k) approaches the optimal value of the bilevel problem ({case}).", "f(x_k) → f*",
              f"f − f* = {float(ours['f'][-1]) - f_star:.3g}, g − g* = {float(ours['g'][-1]) - g_star:.3g} after "
              f"{int(ours['updates'][-1])} updates", _verdict(case, abs(float(ours["f"][-1]) - f_star) < 0.1 * f_star),
              _why(case, "within a tenth of f*; the limit is v(g(x₀) − g*), a little below f*"), TEXT),
    ]  # fmt: skip
