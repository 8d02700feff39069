"""
A table of low rank from few entries
====================================

Some entries of a table are known. Many tables of small nuclear norm agree with them, and which one a solver returns
is an accident. Ask for the most neutral one, and get it with a proof.
"""

# %%
# The data
# --------
# Ratings of 14 films by 12 people, nearly of rank two; a third is known.

import matplotlib.pyplot as plt
import numpy as np
import scipy.sparse as sp

import tiebreak as tb
from tiebreak.pictures import BLUE, ORANGE

rng = np.random.default_rng(3)
people, films = 12, 14
taste, film = rng.uniform(0.2, 1, (people, 2)), rng.uniform(0.2, 1, (2, films))
truth = 1 + 4 * (taste @ film) / (taste @ film).max()
known = np.sort(rng.choice(people * films, people * films // 3, replace=False))
picks = sp.csr_array((np.ones(known.size), (np.arange(known.size), known)), shape=(known.size, people * films))
ratings = truth.ravel()[known]
radius = 1.1 * np.linalg.svd(truth, compute_uv=False).sum()

# %%
# The naive way
# -------------
# Descend on the misfit until it is zero, from two starts:

ball = tb.NuclearBall((people, films), radius)
misfit = tb.LeastSquares(picks, ratings)


def fitted(seed: int) -> np.ndarray:
    """Projected gradient from a random table."""
    x = ball.project(np.random.default_rng(seed).normal(3, 2, people * films))
    for _ in range(400):
        x = ball.project(x - misfit.grad(x))
    return x


first, second = fitted(0), fitted(1)
print(
    f"misfit of two starts: {misfit.value(first):.1e}, {misfit.value(second):.1e};"
    f" they differ by up to {np.abs(first - second).max():.2f}"
)

# %%
# The most neutral one
# --------------------
# Nearest to the mean rating, of all that fit.

neutral = tb.SquaredNorm(np.full(people * films, ratings.mean()))
result = tb.solve(tb.Problem(upper=neutral, lower=misfit, domain=ball))
ours, c = result.x, result.certificate
print(f"misfit {result.g:.1e}; distance^2 / 2 to neutral {result.f:.9f}, least in [{c.f_lower:.9f}, {c.f_upper:.9f}]")
for name, table in (("first start", first), ("second start", second), ("neutral", ours)):
    hidden = np.delete(table - truth.ravel(), known)
    print(f"{name:13s}: root mean square error of the hidden ratings {np.sqrt(np.mean(hidden**2)):.2f}")

# %%
# The picture
# -----------

shown = np.full(people * films, np.nan)
shown[known] = ratings
fig, axes = plt.subplots(2, 3, figsize=(10, 6), layout="constrained")
tables = {
    "What was there": truth.ravel(),
    "What is known": shown,
    "": None,
    "Fits: first start": first,
    "Fits: second start": second,
    "Fits, most neutral: proved": ours,
}
for ax, (name, table) in zip(axes.flat, tables.items(), strict=True):
    if table is None:
        continue
    picture = ax.imshow(table.reshape(people, films), vmin=0, vmax=6, cmap="viridis")
    ax.set_title(name, loc="left")
    ax.set_xticks([])
    ax.set_yticks([])
fig.colorbar(picture, ax=axes[:, 2], label="rating", shrink=0.8)
bars = axes[0, 2]
reach = [one @ one / 2 for one in (first - ratings.mean(), second - ratings.mean())]
bars.bar(["first", "second", "ours"], [*reach, result.f], color=[ORANGE, ORANGE, BLUE])
bars.set_title("Distance² / 2 to neutral", loc="left")
plt.show()
