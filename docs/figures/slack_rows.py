"""Draws the picture of the start page: python docs/figures/slack_rows.py (needs CVXPY and matplotlib).

One small least-squares problem with a condition number of 1000. Over the slack eps: the value function v(eps) / f*, and
what two conic solvers answer to "minimise f subject to g(x) <= g* + eps".
"""

from __future__ import annotations

import warnings
from pathlib import Path

import cvxpy as cp
import matplotlib.pyplot as plt
import numpy as np

import tiebreak as tb
from tiebreak.pictures import BLUE, ORANGE, RED

HERE = Path(__file__).resolve().parent.parent
SLACKS = np.logspace(-12, -1, 12)


def problem(rows: int = 8, columns: int = 16) -> tuple[np.ndarray, np.ndarray]:
    """A wide matrix with singular values from 1 to 1/1000, and targets that a point inside the box meets."""
    rng = np.random.default_rng(0)
    left, _ = np.linalg.qr(rng.normal(size=(rows, rows)))
    right, _ = np.linalg.qr(rng.normal(size=(columns, rows)))
    A = left @ np.diag(np.logspace(0, -3, rows)) @ right.T
    return A, A @ rng.uniform(-0.7, 0.7, columns)


def by_hand(A: np.ndarray, b: np.ndarray, solver: str) -> list[tuple[float, float | None]]:
    """f at the answer for each slack; None where the solver fails."""
    x = cp.Variable(A.shape[1])
    g, box = cp.sum_squares(A @ x - b) / 2, [x <= 1, x >= -1]
    least = cp.Problem(cp.Minimize(g), box)
    least.solve(solver)
    found: list[tuple[float, float | None]] = []
    for slack in SLACKS:
        row = cp.Problem(cp.Minimize(cp.sum_squares(x) / 2), [*box, g <= least.value + slack])
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                row.solve(solver)
            found.append((slack, row.value if row.status == "optimal" else None))
        except cp.SolverError:
            found.append((slack, None))
    return found


def draw(ink: str, paper: str) -> plt.Figure:
    """The picture in one pair of colours."""
    A, b = problem()
    bilevel = tb.Problem(tb.SquaredNorm(), tb.LeastSquares(A, b), tb.Box(-1, 1))
    result = tb.solve(bilevel, tol_upper=1e-9, tol_lower=1e-9)
    best = result.f
    curve = tb.tradeoff(bilevel, slacks=np.logspace(-12, -1, 45))
    with plt.rc_context({"font.size": 11, "svg.hashsalt": "tiebreak", "font.family": "DejaVu Sans"}):
        figure, ax = plt.subplots(figsize=(7.4, 4.1), layout="constrained", facecolor="none")
        ax.set_facecolor("none")
        c = result.certificate
        label = f"tiebreak: f* without slack, proved to {(c.f_upper - c.f_lower) / best:.0e}"
        ax.axhline(1.0, color=BLUE, linewidth=2.5, label=label)
        ax.plot(curve.slacks, curve.f / best, color=ink, linewidth=1.2, label="v(eps) / f*, the true curve", zorder=1)
        for solver, name, look in (
            ("CLARABEL", "Clarabel", {"color": ORANGE, "marker": "s", "markersize": 6}),
            (
                "SCS",
                "SCS",
                {"color": RED, "marker": "o", "markersize": 11, "fillstyle": "none", "markeredgewidth": 1.8},
            ),
        ):
            answers = by_hand(A, b, solver)
            good = [(slack, value / best) for slack, value in answers if value is not None]
            bad = [slack for slack, value in answers if value is None]
            ax.plot(*zip(*good, strict=True), linestyle="none", label=f'{name} says "optimal"', **look)
            if bad:
                cross = {**look, "marker": "x", "markersize": 9, "markeredgewidth": 2}
                ax.plot(bad, np.zeros(len(bad)), linestyle="none", label=f"{name} fails", **cross)
        ax.set_xscale("log")
        ax.invert_xaxis()
        ax.set_ylim(-0.04, 1.12)
        ax.set_xlabel("eps in the row  g(x) <= g* + eps")
        ax.set_ylabel("f at the answer, divided by f*")
        for part in (*ax.spines.values(), *ax.xaxis.get_ticklines(), *ax.yaxis.get_ticklines()):
            part.set_color(ink)
        ax.tick_params(colors=ink, which="both")
        ax.xaxis.label.set_color(ink)
        ax.yaxis.label.set_color(ink)
        ax.legend(
            fontsize=9.5,
            labelcolor=ink,
            facecolor=paper,
            edgecolor="none",
            framealpha=0.85,
            loc="center right",
            bbox_to_anchor=(1.0, 0.42),
        )
        ax.grid(alpha=0.2, color=ink)
    return figure


if __name__ == "__main__":
    for name, ink, paper in (("light", "#1b1f24", "#ffffff"), ("dark", "#dfe3e8", "#14181e")):
        with plt.rc_context({"svg.hashsalt": "tiebreak"}):
            draw(ink, paper).savefig(HERE / "_static" / f"slack-rows-{name}.svg", metadata={"Date": None})
