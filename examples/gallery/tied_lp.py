"""
Learning through a tied linear programme
========================================

What does an operator prefer among equally cheap plans? The answer of a linear programme is a corner: it does not move
at all, or it jumps, so nothing can be learned through it. With a second level the answer moves smoothly, and
``result.vjp`` says how.
"""

# %%
# The operator
# ------------
# Every day demand is met at the least cost. Four of six hours cost the same, so there is a choice; the operator runs
# the plan nearest to a schedule that nobody wrote down.

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import linprog

import tiebreak as tb
from tiebreak.pictures import BLUE, ORANGE

hours, rounds = 6, 30
rng = np.random.default_rng(0)
hidden = rng.uniform(0.3, 0.7, size=hours)
days = [(2.1 + 0.2 * day, np.where(rng.permutation(hours) < 4, 1.0, 2.0)) for day in range(8)]


def plan_of(schedule: np.ndarray, demand: float, price: np.ndarray) -> tb.Result:
    """The plan of least cost nearest to the schedule."""
    plans = tb.Polyhedron(A_eq=np.ones((1, hours)), b_eq=[demand], bounds=(0, 1))
    return tb.solve(tb.Problem(upper=tb.SquaredNorm(schedule), lower=tb.Linear(price), domain=plans))


seen = [plan_of(hidden, *day).x for day in days]

# %%
# The naive way
# -------------
# Put the preference into the price, and differentiate the linear programme. Its answer over one price:

demand, price = days[0]
tied = int(np.argmin(price))
grid = np.linspace(-0.3, 0.3, 61)


def corner(change: float) -> float:
    moved = price - change * (np.arange(hours) == tied)
    return linprog(moved, A_eq=np.ones((1, hours)), b_eq=[demand], bounds=(0, 1)).x[tied]


jumps = [corner(change) for change in grid]
smooth = [plan_of(hidden + change * (np.arange(hours) == tied), demand, price).x[tied] for change in grid]

# %%
# Learning
# --------
# Gradient descent on the squared distance to the plans that were seen, with the derivative of each answer.

schedule, losses = np.full(hours, 0.5), []
for _ in range(rounds):
    loss, slope = 0.0, np.zeros(hours)
    for day, x in zip(days, seen, strict=True):
        result = plan_of(schedule, *day)
        off = result.x - x
        loss += 0.5 * float(off @ off)
        slope += result.vjp(off).levels[1]["center"]
    losses.append(loss)
    schedule = schedule - 0.25 * slope

learned = schedule - schedule.mean() + hidden.mean()  # demand decides the mean, so it has no say
print(f"loss {losses[0]:.1e} at the start, {losses[-1]:.1e} after {rounds} rounds")
print(f"largest error of the schedule, up to its mean: {np.abs(learned - hidden).max():.1e}")

# %%
# The picture
# -----------

fig, axes = plt.subplots(1, 3, figsize=(11, 3.6), layout="constrained")
axes[0].plot(grid, jumps, color=ORANGE, linewidth=2, label="linprog, over the price")
axes[0].plot(grid, smooth, color=BLUE, linewidth=2, label="two levels, over the schedule")
axes[0].set_xlabel("change of one entry")
axes[0].set_ylabel("the plan in that hour")
axes[0].set_title("Corners jump", loc="left")
axes[0].set_ylim(-0.05, 1.4)
axes[0].legend(frameon=False, fontsize="small", loc="upper left")
axes[1].semilogy(losses, color=BLUE, linewidth=2)
axes[1].set_xlabel("round")
axes[1].set_ylabel("loss")
axes[1].set_title("Learning", loc="left")
axes[2].bar(np.arange(hours) - 0.2, hidden, width=0.4, color="grey", label="hidden")
axes[2].bar(np.arange(hours) + 0.2, learned, width=0.4, color=BLUE, label="learned, up to its mean")
axes[2].set_xlabel("hour")
axes[2].set_ylim(0, 1)
axes[2].set_title("The schedule", loc="left")
axes[2].legend(frameon=False, fontsize="small")
plt.show()
