"""
Least variation among the best fits
===================================

A blurred record of a quantity that changes in steps. Deblurring has no unique answer: whatever the instrument cannot
see may be added at will. Of all best fits, take the one that changes least.
"""

# %%
# The data
# --------
# An instrument averages over nine neighbours and reports every third place only.

import warnings

import cvxpy as cp
import matplotlib.pyplot as plt
import numpy as np

import tiebreak as tb
from tiebreak.pictures import BLUE, ORANGE, RED

n = 120
place = np.arange(n)
truth = np.select([place < 25, place < 52, place < 80, place < 96], [1.0, 3.0, 2.2, 4.0], 1.5)
blur = np.array([(np.abs(place - centre) <= 4) / 9.0 for centre in range(4, n - 4, 3)])
record = blur @ truth

# %%
# The naive ways
# --------------
# A weighted sum of misfit and variation, or a row ``misfit <= eps``:

x = cp.Variable(n)
misfit, variation = cp.sum_squares(blur @ x - record) / 2, cp.norm1(cp.diff(x))


def solved(objective, rows) -> np.ndarray | None:
    """The answer where the solver says that it is optimal."""
    problem = cp.Problem(cp.Minimize(objective), rows)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            problem.solve("CLARABEL")
    except cp.SolverError:
        return None
    return x.value.copy() if problem.status == "optimal" else None


weights = np.logspace(-12, -1, 12)
blends = [solved(misfit + weight * variation, []) for weight in weights]
slacks = np.logspace(-14, -1, 14)
by_row = [solved(variation, [misfit <= eps]) for eps in slacks]

# %%
# In order
# --------

changes = np.diff(np.eye(n), axis=0)
result = tb.solve(tb.Problem(upper=tb.L1Norm(A=changes), lower=tb.LeastSquares(blur, record), domain=tb.Box(0, 10)))
ours, c = result.x, result.certificate
smooth = np.linalg.lstsq(blur, record, rcond=None)[0]
print(f"misfit {result.g:.1e}; variation {result.f:.9f}, proved least in [{c.f_lower:.9f}, {c.f_upper:.9f}]")
print(
    f"variation of the truth {np.abs(np.diff(truth)).sum():.3f},"
    f" of the fit with least norm {np.abs(np.diff(smooth)).sum():.1f}"
)
print(f"largest error: {np.abs(ours - truth).max():.1e}")

# %%
# The picture
# -----------

fig, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained", width_ratios=[1.7, 1])
left.plot(place, truth, color="lightgrey", linewidth=7, label="what was there")
left.plot(place, smooth, color=ORANGE, linewidth=1, label="best fit of least norm")
left.step(place, ours, where="mid", color=BLUE, linewidth=2, label="best fit of least variation")
left.plot(np.arange(4, n - 4, 3), record, ".", color="black", markersize=4, label="the record")
left.set_xlabel("place")
left.set_ylim(-0.2, 5.6)
left.legend(frameon=False, fontsize="small", ncols=2, loc="upper left")
left.set_title("Best fits", loc="left")


def variation_of(values: np.ndarray) -> float:
    return float(np.abs(np.diff(values)).sum())


for grid, answers, colour, mark, name in (
    (weights, blends, RED, "o", "weighted sum, over its weight"),
    (slacks, by_row, ORANGE, "s", "row, over its eps"),
):
    off = [np.nan if one is None else max(abs(variation_of(one) / c.f_lower - 1), 1e-16) for one in answers]
    right.loglog(grid, off, mark + "-", color=colour, markersize=4, label=name)
right.axhline((c.f_upper - c.f_lower) / c.f_lower, color=BLUE, linewidth=2, label="in order: width of the bracket")
right.set_xlabel("weight, or eps")
right.set_ylabel("variation: relative error")
right.legend(frameon=False, fontsize="x-small", loc="upper left")
right.set_ylim(1e-13, 1e2)
right.set_title("The naive ways", loc="left")
plt.show()
