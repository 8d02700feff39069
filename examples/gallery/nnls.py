"""
Nonnegative least squares with half the norm
============================================

Nonnegative least squares with more columns than rows has many solutions. The classical algorithm stops at the first
vertex it reaches; a small ridge makes the answer unique and the fit worse. Here: the smallest of all best fits.
"""

# %%
# The data
# --------
# Twelve detectors see 60 sources through a smooth response. Each source has a strength that cannot be negative.

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import nnls

import tiebreak as tb
from tiebreak.pictures import BLUE, ORANGE, RED

rng = np.random.default_rng(3)
detectors, sources = np.linspace(0, 1, 12), np.linspace(0, 1, 60)
A = np.exp(-0.5 * ((detectors[:, None] - sources[None, :]) / 0.08) ** 2)
truth = np.exp(-0.5 * ((sources - 0.3) / 0.09) ** 2) + 0.6 * np.exp(-0.5 * ((sources - 0.7) / 0.13) ** 2)
b = A @ truth + 0.02 * rng.normal(size=12)

# %%
# The naive ways
# --------------
# SciPy's active-set method finds *a* best fit. A ridge term picks a smooth one, at the price of the fit:

corner, _ = nnls(A, b)


def loss(x: np.ndarray) -> float:
    return 0.5 * float(np.sum((A @ x - b) ** 2))


def ridge(weight: float) -> np.ndarray:
    return nnls(np.vstack([A, np.sqrt(weight) * np.eye(60)]), np.concatenate([b, np.zeros(60)]))[0]


weights = np.logspace(-14, 2, 17)
ridges = [ridge(weight) for weight in weights]

# %%
# All best fits, the smallest of them
# -----------------------------------

result = tb.solve(tb.Problem(upper=tb.SquaredNorm(), lower=tb.LeastSquares(A, b), domain=tb.Box(0, np.inf)))
ours = result.x
print(f"loss: nnls {loss(corner):.1e}, ours {loss(ours):.1e}")
print(f"norm: nnls {np.linalg.norm(corner):.4f}, ours {np.linalg.norm(ours):.4f}")
low, high = np.sqrt(2 * result.certificate.f_lower), np.sqrt(2 * result.certificate.f_upper)
print(f"least norm of all best fits: proved between {low:.12f} and {high:.12f}")

# %%
# The picture
# -----------
# Left: two best fits. Right: how far the answer of a ridge is from the smallest best fit. It comes near in proportion
# to its weight, here, where the response is well conditioned; nothing in its answer says how near.

fig, (left, right) = plt.subplots(1, 2, figsize=(9.5, 3.9), layout="constrained", width_ratios=[1.5, 1])
left.vlines(sources, 0, corner, color=ORANGE)
left.plot(sources, corner, "o", color=ORANGE, label=f"nnls, norm {np.linalg.norm(corner):.2f}")
left.plot(sources, ours, color=BLUE, linewidth=2.5, label=f"smallest best fit, norm {np.linalg.norm(ours):.2f}")
left.plot(sources, truth, color="black", linewidth=1, linestyle=":", label="what was there")
left.set_xlabel("place of the source")
left.set_ylabel("strength")
left.set_title("The same fit, less than half the norm", loc="left")
left.legend(frameon=False, fontsize="small")

right.loglog(weights, [np.linalg.norm(x - ours) for x in ridges], ".-", color=RED)
right.axhline(np.linalg.norm(corner - ours), color=ORANGE, linestyle="--")
right.annotate(
    "nnls", (weights[0], np.linalg.norm(corner - ours)), xytext=(2, -12), textcoords="offset points", color=ORANGE
)
right.set_xlabel("weight of the ridge")
right.set_ylabel("distance to the smallest best fit")
right.set_title("A ridge, by its weight", loc="left")
plt.show()
