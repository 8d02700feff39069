"""
Four levels in CVXPY, where slack rows fail
===========================================

Measured concentrations, forty sources, four wishes in order: explain the measurements, emit no more than needed, stay
near the register, be smooth. In CVXPY one solves four problems in a row and adds ``objective <= optimum + eps`` after
each. That needs an eps, and there is none that is right.
"""

# %%
# The model
# ---------
# Ten stations downwind of forty sources; each sees its neighbourhood.

import warnings

import cvxpy as cp
import matplotlib.pyplot as plt
import numpy as np

from tiebreak.cvxpy import Lexicographic
from tiebreak.pictures import BLUE, ORANGE, RED

rng = np.random.default_rng(2)
place, station = np.linspace(0, 1, 40), np.linspace(0.05, 0.95, 10)
seen = np.exp(-0.5 * ((station[:, None] - place[None, :]) / 0.06) ** 2)
truth = 2 * np.exp(-0.5 * ((place - 0.35) / 0.06) ** 2) + 3 * np.exp(-0.5 * ((place - 0.8) / 0.05) ** 2)
measured = seen @ truth
register = np.round(truth + 0.5 * rng.normal(size=40).clip(-1, 1), 1).clip(0)

sources = cp.Variable(40, nonneg=True)
rows = [sources <= 5]
objectives = [
    cp.Minimize(cp.sum_squares(seen @ sources - measured)),
    cp.Minimize(cp.sum(sources)),
    cp.Minimize(cp.norm1(sources - register)),
    cp.Minimize(cp.sum_squares(cp.diff(sources))),
]

# %%
# The naive way
# -------------


def by_rows(eps: float, solver: str) -> tuple[str, list[float]]:
    """How it ended, and the four values if there are some."""
    kept, status = list(rows), "optimal"
    for number, objective in enumerate(objectives, 1):
        problem = cp.Problem(objective, kept)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                problem.solve(solver)
        except cp.SolverError:
            return f"solver error at level {number}", []
        if problem.status not in ("optimal", "optimal_inaccurate"):
            return f"{problem.status} at level {number}", []
        status = status if problem.status == "optimal" else problem.status
        kept.append(objective.expr <= problem.value + eps)
    return status, [float(one.value) for one in objectives]


grid = np.logspace(-9, -1, 9)
found = {name: [by_rows(eps, name) for eps in grid] for name in ("CLARABEL", "SCS")}

# %%
# In order
# --------
# The same objectives and constraints; no eps. A bracket for each level says how good the answer is.

model = Lexicographic(objectives, rows)
values = model.solve()
for name, level in zip(("misfit", "total", "from register", "roughness"), model.levels, strict=True):
    print(f"{name:15s} {level.value:14.9f}   optimum in [{level.lower:.9f}, {level.upper:.9f}]")
print(model.status)
for name, answers in found.items():
    for eps, (status, answer) in zip(grid, answers, strict=True):
        off = ", ".join(f"{one / right - 1:+.1%}" for one, right in zip(answer[1:], values[1:], strict=False))
        print(f"{name:9s} eps {eps:.0e}: {status:32s} {off}")

# %%
# The picture
# -----------
# Left: the fourth level over eps. A cross is a solver that gave up. Right: the answer, beside that of rows with an eps
# of 0.01, which is another answer to another question.

fig, (ax, plan) = plt.subplots(1, 2, figsize=(10.5, 4.2), layout="constrained", width_ratios=[1.1, 1])
for (name, answers), colour, mark, low in zip(found.items(), (ORANGE, RED), "so", (-0.06, -0.12), strict=True):
    for status, fill, size in (("optimal", "full", 7), ("optimal_inaccurate", "none", 9)):
        points = [(eps, one[3] / values[3]) for eps, (said, one) in zip(grid, answers, strict=True) if said == status]
        if points:
            said = status.replace("_", ", ")
            ax.plot(
                *zip(*points, strict=True), mark, color=colour, markersize=size, fillstyle=fill, label=f"{name}: {said}"
            )
    bad = [eps for eps, (_, one) in zip(grid, answers, strict=True) if not one]
    ax.plot(bad, np.full(len(bad), low), "x", color=colour, markeredgewidth=2, label=f"{name}: no answer")
ax.axhline(1.0, color=BLUE, linewidth=2.5, label="in order, proved", zorder=0)
ax.set_xscale("log")
ax.invert_xaxis()
ax.set_xlabel("eps in the rows")
ax.set_ylabel("fourth level, divided by its optimum")
ax.set_title("Four levels by slack rows", loc="left")
ax.legend(frameon=False, fontsize="small", loc="center right", bbox_to_anchor=(1.0, 0.4))

ours = sources.value.copy()
by_rows(1e-2, "CLARABEL")
plan.bar(place, register, width=0.018, color="lightgrey", label="register")
plan.plot(place, sources.value, color=ORANGE, linewidth=1.8, label="rows, eps = 0.01")
plan.plot(place, ours, color=BLUE, linewidth=2.2, label="in order")
plan.set_xlabel("place")
plan.set_ylabel("emission")
plan.set_title("The answers", loc="left")
plan.legend(frameon=False, fontsize="small", loc="upper left")
plt.show()
