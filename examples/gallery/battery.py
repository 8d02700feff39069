"""
A battery schedule that stops flipping
======================================

Energy models have ties: a battery may charge in any of several hours with the same price, at the same cost. The
solver picks a corner of that choice. Change the algorithm, or a price by a cent, and the schedule flips to another
corner.
"""

# %%
# The model
# ---------
# Two days, one battery, hourly prices with flat nights. The battery may buy and sell; the cost is what is paid.

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import linprog

import tiebreak as tb
from tiebreak.pictures import BLUE, ORANGE

hours = np.arange(48)
price = np.where((hours % 24 < 7) | (hours % 24 >= 22), 20.0, np.where(np.isin(hours % 24, [8, 9, 18, 19]), 60.0, 40.0))
power, energy, efficiency = 2.0, 8.0, 0.95

n = hours.size
flow = np.hstack([efficiency * np.eye(n), -np.eye(n)])  # what reaches the store: charging, then discharging
stored = np.tril(np.ones((n, n))) @ flow
A_ub = np.vstack([stored, -stored])  # never above the size, never below empty
b_ub = np.concatenate([np.full(n, energy), np.zeros(n)])
cost = np.concatenate([price, -price])


# %%
# The naive way
# -------------
# A linear programme has one optimal value and many optimal schedules. Two algorithms of HiGHS, two schedules:


def naive(method: str, prices: np.ndarray = cost) -> np.ndarray:
    answer = linprog(prices, A_ub=A_ub, b_ub=b_ub, bounds=(0, power), method=method)
    return answer.x[:n] - answer.x[n:]


simplex, interior = naive("highs-ds"), naive("highs-ipm")
rng = np.random.default_rng(1)
cents = [cost + np.tile(rng.uniform(-0.01, 0.01, n), 2) for _ in range(2)]
nudged = [naive("highs-ds", prices) for prices in cents]
print(f"hours in which the two algorithms differ: {(np.abs(simplex - interior) > 1e-6).sum()} of {n}")

# %%
# With a tie-breaker
# ------------------
# Of all cheapest schedules, the one with the least sum of squares: power is spread evenly
# over hours that cost the same.

domain = tb.Polyhedron(A_ub=A_ub, b_ub=b_ub, bounds=(0, power))
result = tb.solve(tb.Problem(upper=tb.SquaredNorm(), lower=tb.Linear(cost), domain=domain))
ours = result.x[:n] - result.x[n:]
print(
    f"cost: {cost @ result.x:.6f}, of HiGHS {cost[:n] @ np.maximum(simplex, 0) - price @ np.maximum(-simplex, 0):.6f}"
)
for level in result.levels:
    print(f"value {level.value:.9g}, optimum proved in [{level.lower:.9g}, {level.upper:.9g}]")

# %%
# A cent decides nothing any more where a slack of a cent per hour is allowed:

slack = 0.01 * power * n / 4
still = [tb.solve(tb.Problem(tb.SquaredNorm(), tb.Linear(prices), domain, slack=slack)).x for prices in [cost, *cents]]
moved = max(np.abs(x - still[0]).max() for x in still[1:])
flipped = max(np.abs(x - simplex).max() for x in nudged)
print(f"largest change by cents: {flipped:.2f} kW with linprog, {moved:.2f} kW with the tie-breaker and slack")

# %%
# The picture
# -----------

fig, axes = plt.subplots(3, 1, figsize=(8, 6), sharex=True, height_ratios=[1, 1.4, 1.4], layout="constrained")
axes[0].step(hours, price, where="mid", color="black")
axes[0].set_ylabel("price")
axes[1].step(hours, simplex, where="mid", color=ORANGE, label="linprog, dual simplex")
axes[1].step(hours, interior, where="mid", color="grey", linestyle="--", label="linprog, interior point")
axes[2].step(hours, ours, where="mid", color=BLUE, label="the even one, proved")
for ax in axes[1:]:
    ax.set_ylabel("charging, kW")
    ax.set_ylim(-2.4, 2.9)
    ax.legend(loc="upper right", ncols=2, frameon=False, fontsize="small")
axes[2].set_xlabel("hour")
axes[0].set_title("The same cost, three schedules", loc="left")
plt.show()
