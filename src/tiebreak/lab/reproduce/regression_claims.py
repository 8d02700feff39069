"""What the paper says about its regression experiment, and what became of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..workshop import Made
from .evidence import Evidence, Kind, less
from .outcome import Addition, Claim, Difference
from .regression_pages import Case

FIGURE, TEXT, APPENDIX = "Section 5.1, Fig. 1", "Section 5.1", "Appendix F.1"
STAND_IN = "the data are a stand-in"
OURS = "CG-BiO"
FOLDER = "over_parametrized"


@dataclass(frozen=True)
class Trial:
    """One case with one target column: what is proved of it, its initial phase, all runs at equal seconds."""

    case: Case
    known: Made
    first: Made
    runs: dict[str, Made]

    def ends(self, what: str, star: float = 0.0) -> dict[str, float]:
        """The distance of the last values from ``star``."""
        return {name: abs(float(run[what][-1]) - star) for name, run in self.runs.items()}

    def gap(self, what: str) -> dict[str, float]:
        """From the optimal value of "f" or "g"."""
        return self.ends(what, float(self.known[what]))

    def turn(self) -> tuple[int, float, float]:
        """Where f of CG-BiO is least, how far it rises from there, and how much of |f - f*| is left then."""
        f, star = self.runs[OURS]["f"], float(self.known["f"])
        at = int(np.argmin(f))
        return at, float(f[-1] - f[at]), less(abs(float(f[-1]) - star), abs(float(f[at]) - star))


def ahead(values: dict[str, float]) -> float:
    """How clearly CG-BiO has the least of these."""
    return less(values[OURS], min(value for name, value in values.items() if name != OURS))


def claims(trials: Sequence[Trial], split: Made, lacking: tuple[str, ...]) -> tuple[Claim, ...]:
    """The sentences of Section 5.1 and Appendix F.1 that say what is so; ``trials`` have the paper's case."""
    data = trials[0].case.data
    rows, d = len(data.train), data.A.shape[1]
    unique = [int(trial.known["unique"]) for trial in trials]
    stand_in = () if data.real else (STAND_IN,)
    return (
        Claim(
            quote="the number of features d is larger than the number of data instances in the training set",
            where=TEXT,
            here=f"{d} > {rows}, 60 % of {data.A.shape[0]}",
            evidence=Evidence((d - rows - 1,), "always"),
        ),
        Claim(
            quote="Without an explicit regularization, an over-parameterized regression problem over the training "
            "dataset possesses multiple global minima",
            where="Section 2.1, Example 1",
            here="lower solutions: " + {1: "one", 0: "many", -1: "not known"}[unique[0]],
            evidence=Evidence(tuple({1: -1.0, 0: 1.0, -1: np.nan}[u] for u in unique), lacking=stand_in),
            note="with the constraint ‖β‖₁ ≤ 1 of the experiment, proved; d > n is not enough where it is active",
        ),
        *(Claim(quote=quote, where=where, here=here, evidence=evidence, note=note)
          for quote, where, here, evidence, note in _figure(trials, lacking)),
        Claim(
            quote="We can reformulate the above problem as a linear program by introducing s⁺, s⁻ ≥ 0 such that "
            "s = s⁺ − s⁻",
            where=APPENDIX,
            here=f"its value and that of the cut oracle differ by {float(np.max(split['off'])):.1g} at most",
            evidence=Evidence(tuple(1e-9 - off for off in split["off"]), "always"),
            note="an LP solver with 2 n variables and two rows against the library's oracle of the l1 ball, along runs "
            "of CG-BiO and for random slopes and cuts, relative to the size of the slopes",
        ),
    )  # fmt: skip


Row = tuple[str, str, str, Evidence, str]


def _figure(trials: Sequence[Trial], lacking: tuple[str, ...]) -> tuple[Row, ...]:
    """Quotation, place, what is here, evidence, note: of the five sentences about the figure."""
    first = trials[0]

    def said(values: dict[str, float]) -> str:
        return ", ".join(f"{name} {value:.3g}" for name, value in values.items())

    def evidence(margins: list[float], kind: Kind = "usually") -> Evidence:
        return Evidence(tuple(margins), kind, lacking)

    at, rise, _ = first.turn()
    ours = first.runs[OURS]
    off = float(ours["f"][-1] - first.known["f"])
    f_star = [float(trial.known["f"]) for trial in trials]
    when = f"after {float(ours['seconds'][-1]):.3g} s, those of CG-BiO with its initial phase"
    return (
        ("CG-BiO converges at a faster rate than the other baseline methods in terms of the lower-level objective",
         FIGURE + "(a)", "g − g*: " + said(first.gap("g")),
         evidence([ahead(trial.gap("g")) for trial in trials]), when),
        ("CG-BiO achieves a smaller upper-level objective gap [...] compared to other methods within the same run time",
         FIGURE + "(b)", "|f − f*|: " + said(first.gap("f")),
         evidence([ahead(trial.gap("f")) for trial in trials]), f"CG-BiO is at f − f* = {off:.3g}"),
        ("as well as a smaller test error compared to other methods within the same run time", FIGURE + "(c)",
         said(first.ends("test")), evidence([ahead(trial.ends("test")) for trial in trials]),
         f"at the exact solution: {float(first.known['test']):.4g}"),
        ("after the initial stage, the upper-level objective f(β_k) of CG-BiO increases, while the optimality gap "
         "|f(β_k) − f*| decreases", TEXT, f"f rises by {rise:.3g} after update {int(ours['updates'][at])}",
         evidence([min(trial.turn()[1:]) for trial in trials]), "it comes from below, where it fits worse"),
        ("as the number of iterations increases and the level of infeasibility decreases, the upper-level objective of "
         "CG-BiO approaches the optimal value of the bilevel problem", TEXT,
         f"f − f* = {off:.3g} after {int(ours['updates'][-1])} updates",
         evidence([less(trial.gap("f")[OURS], 0.1 * star) for trial, star in zip(trials, f_star, strict=True)]),
         "within a tenth of f*; the limit is v(g(x₀) − g*), a little below f*"),
    )  # fmt: skip


def additions(
    trials: Sequence[Trial], besides: Sequence[Trial], choices: dict[str, tuple[Case, Made]], large: Made,
    proved: dict[str, Made], lacking: tuple[str, ...],
) -> tuple[Addition, ...]:  # fmt: skip
    """What the paper does not say; and the same sentences on data that are real and at hand."""
    beside, known = besides[0], besides[0].known
    worst = [float(np.max(run["g"] - trials[0].known["g"])) for run in (trials[0].runs[OURS], large)]
    one_run = tuple(text for text in lacking if text != STAND_IN)
    off_g = [abs(float(k["g"] - k["conic_g"][1])) / (1 + float(k["g"])) for k in proved.values()]
    both = [k for k in proved.values() if "relaxed" in k]
    off_f = [abs(float(k["relaxed"] - k["conic_f"][1])) / (1 + float(k["relaxed"])) for k in both]
    said = f"g*: {max(off_g):.1g} apart at most" + (f"; v(1e-6): {max(off_f):.1g}" if off_f else "")
    return (
        Addition(
            statement=f"Where the l1 constraint is active all lower solutions predict alike, and f has no say "
            f"({beside.case}).",
            here="lower solutions: " + {1: "one", 0: "many", -1: "not known"}[int(known["unique"])]
            + ("; f is constant on them" if int(known["constant"]) == 1 else ""),
            evidence=Evidence((float(int(known["constant"]) == 1) - 0.5,), "always"),
            note="proved",
        ),
        *(
            Addition(
                statement=f"With fewer rows and a larger radius f does choose ({case}).",
                here="lower solutions: " + ("many" if int(found["unique"]) == 0 else "one or not known")
                + f", g* = {float(found['g']):.2g}",
                evidence=Evidence((1.0 if int(found["unique"]) == 0 and int(found["constant"]) != 1 else np.nan,),
                                  "always"),
                note="the case that the paper's example describes",
            )
            for case, found in choices.values()
        ),
        Addition(
            statement="Steps 2/(k+12) keep CG-BiO nearer to the lower solutions than 2/(k+2).",
            here=f"largest g − g*: {worst[0]:.3g}, with 2/(k+2): {worst[1]:.3g}",
            evidence=Evidence((less(*worst),)),
            note="the paper's aim in choosing them (Appendix F.1)",
        ),
        Addition(
            statement="f* and g* are the same by two solvers that share nothing.",
            here=said,
            evidence=Evidence((*(1e-7 - off for off in off_g), *(1e-6 - off for off in off_f)), "always"),
            note="the exact engine and Clarabel, in the place of CVX; g ≤ g* without slack, as the released code asks "
            "CVX, has no interior",
        ),
        *(
            Addition(statement=f"Of {beside.case}, not the paper's: “{quote}”.", here=here,
                     evidence=Evidence(evidence.margins, evidence.kind, one_run), note=note)
            for quote, _, here, evidence, note in _figure(besides, ())
        ),
    )  # fmt: skip


def differences(authors: bool) -> tuple[Difference, ...]:
    """Text against released code."""
    option = "option --authors-code" + (", on in this run" if authors else "")
    return (
        Difference(
            "steps 2/(k+12) from k = 0; 2/(k+2) in the initial phase", "2/(k+13) and 2/(k+3): the counter starts at 1",
            f"{FOLDER}/CG_BiO.m:29, CG_lowerlevel.m:14", option,
        ),
        Difference(
            "γ₀ = 0.01, η₀ = 1 in a-IRG, steps γ₀/√(k+1)", "both 1e-3; steps begin at γ₀/√2",
            f"{FOLDER}/Alg_Projection.m:10-11, 25-26", option,
        ),
        Difference("α_k = min(γ/k, 1) in BiG-SAM", "min(2γ/k, 1)", f"{FOLDER}/BigSAM.m:38", option),
        Difference(
            "the test error is ½‖A β − b‖²", "‖A β − b‖", f"{FOLDER}/TSA_LS.m:3", option + "; the order is the same",
        ),
        Difference(
            "MNG from a point of Z; one x_k", "from A \\ b of the upper level, outside Z; f at x, g at its projection",
            f"{FOLDER}/MNG.m:44-45, main_LeastSquare_wiki.m:111", option + "; f of MNG is not that of a point of Z",
        ),
        Difference(
            "⟨∇g, x − s⟩ ≤ ε_g/2 in the stopping test", "g(x) − g(x₀) ≤ ε_g/2", f"{FOLDER}/CG_BiO.m:39",
            "the code's test stops sooner or at the same update",
        ),
        Difference(
            "a random column is the target", "it is fixed in a file that is not released",
            f"{FOLDER}/main_LeastSquare_wiki.m:15-23", "which column, and any scaling, is not known: drawn by the seed",
        ),
        Difference(
            "f* is the value with g ≤ g*", "g(x) ≤ g* without slack, which has no interior, by a conic solver",
            f"{FOLDER}/main_LeastSquare_wiki.m:38-57", "here f* comes from an engine that needs no such row",
        ),
    )  # fmt: skip
