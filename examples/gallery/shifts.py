"""
The last one leaves early, then fairly, then as wished
======================================================

A ward has 30 jobs and seven people, each able to do some of them. First of all, nobody should leave late: the
makespan. That decides the hours of the busiest person only; a scheduler is free to pile the rest onto anybody.
Further levels go on down the list.
"""

# %%
# The model
# ---------
# Jobs may be shared. A variable for each pair of job and person who can do it: the share of the job.

import matplotlib.pyplot as plt
import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog

import tiebreak as tb
from tiebreak.pictures import BLUE, ORANGE

rng = np.random.default_rng(7)
people = ["Ada", "Ben", "Cem", "Dana", "Eli", "Fay", "Gus"]
hours = rng.integers(1, 5, 30).astype(float)
can = rng.random((30, 7)) < np.array([0.9, 0.35, 0.35, 0.3, 0.3, 0.25, 0.25])
can[:6] = [True, *[False] * 6]  # only Ada can do these
can[~can.any(axis=1), 0] = True
job, person = np.nonzero(can)
pairs = job.size
done = sp.csr_array((np.ones(pairs), (job, np.arange(pairs))), shape=(30, pairs))
load = sp.csr_array((hours[job], (person, np.arange(pairs))), shape=(7, pairs))
dislike = rng.integers(0, 4, pairs).astype(float) * hours[job]

# %%
# The naive way
# -------------
# One linear programme: least makespan. All optimal schedules are the same to it.

rows = sp.hstack([load, -np.ones((7, 1))])
naive = linprog(
    np.r_[np.zeros(pairs), 1.0],
    A_ub=rows,
    b_ub=np.zeros(7),
    A_eq=sp.hstack([done, np.zeros((30, 1))]),
    b_eq=np.ones(30),
    bounds=(0, None),
).x[:-1]

# %%
# In order
# --------
# Least makespan, then the most even hours, then the fewest disliked ones, then few shared jobs.

plans = tb.Polyhedron(A_eq=done.toarray(), b_eq=np.ones(30), bounds=(0, 1))
levels = {
    "makespan": tb.MaxAffine(load.toarray(), np.zeros(7)),
    "even hours": tb.LeastSquares(load.toarray(), np.full(7, hours.sum() / 7)),
    "dislikes": tb.Linear(dislike),
    "uniqueness": tb.SquaredNorm(),
}
result = tb.lexicographic(list(levels.values()), plans)
for name, level in zip(levels, result.levels, strict=True):
    print(f"{name:11s} {level.value:12.6f}   optimum in [{level.lower:.6f}, {level.upper:.6f}]")
ours = result.x
for name, plan in (("makespan only", naive), ("in order", ours)):
    print(f"{name:14s} hours {np.sort(load @ plan)[::-1].round(2)}, disliked {dislike @ plan:.2f}")

# %%
# The picture
# -----------

fig, axes = plt.subplots(1, 2, figsize=(9.5, 3.9), layout="constrained", sharey=True, sharex=True)
shades = plt.get_cmap("viridis")(np.linspace(0.15, 0.95, 30))
for ax, plan, name in (
    (axes[0], naive, "Least makespan alone"),
    (axes[1], ours, "Makespan, then evenness, then wishes"),
):
    start = np.zeros(7)
    for k in range(pairs):
        width = hours[job[k]] * plan[k]
        if width > 1e-6:
            ax.barh(person[k], width, left=start[person[k]], color=shades[job[k]], edgecolor="white", linewidth=0.8)
            start[person[k]] += width
    ax.axvline(result.levels[0].value, color=ORANGE if ax is axes[0] else BLUE, linewidth=2, linestyle="--")
    ax.set_title(name, loc="left")
    ax.set_xlabel("hours")
axes[0].set_yticks(range(7), people)
axes[0].invert_yaxis()
plt.show()
