"""
The sparsest interpolant
========================

A signal is known at a few places only. Infinitely many signals pass through them. The one with the least sum of
absolute coefficients is often the true one; a lasso with a small weight only comes near it.
"""

# %%
# The data
# --------
# Five notes out of 128 frequencies, heard at 48 random moments.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import Lasso

import tiebreak as tb
from tiebreak.pictures import BLUE, ORANGE, RED

rng = np.random.default_rng(5)
n, seen = 128, 48
moments = np.sort(rng.choice(n, seen, replace=False))
waves = np.cos(np.pi * (np.arange(n)[:, None] + 0.5) * np.arange(n)[None, :] / n) * np.sqrt(2 / n)
truth = np.zeros(n)
truth[[7, 19, 42, 66, 101]] = 2.0, -1.5, 1.0, 0.7, -0.4
A, b = waves[moments], waves[moments] @ truth

# %%
# The naive ways
# --------------
# Least squares gives the interpolant with the least *norm*, which has no zeros. The lasso has zeros, and its weight
# shrinks what is left:

even = np.linalg.lstsq(A, b, rcond=None)[0]
weights = [1e-2, 1e-3, 1e-4, 1e-5]
lassos = [Lasso(alpha=w, fit_intercept=False, tol=1e-10, max_iter=200_000).fit(A, b).coef_ for w in weights]
for weight, x in zip(weights, lassos, strict=True):
    print(f"lasso, weight {weight:.0e}: {np.sum(np.abs(x) > 1e-6):3d} nonzeros, off by {np.abs(x - truth).max():.1e}")

# %%
# Interpolate first, then be sparse
# ---------------------------------
# The first level is the fit, the second one the sum of absolute values. No weight is chosen.

result = tb.solve(tb.Problem(upper=tb.L1Norm(), lower=tb.LeastSquares(A, b), domain=None))
ours = result.x
print(f"ours: {np.sum(np.abs(ours) > 1e-9)} nonzeros, off by {np.abs(ours - truth).max():.1e}")
c = result.certificate
print(f"least sum of absolute values of all interpolants: proved in [{c.f_lower:.12f}, {c.f_upper:.12f}]")

# %%
# The picture
# -----------

fig, axes = plt.subplots(2, 1, figsize=(9, 5.4), layout="constrained")
time = np.arange(n)
axes[0].plot(time, waves @ truth, color="lightgrey", linewidth=6, label="the signal")
axes[0].plot(time, waves @ even, color=ORANGE, linewidth=1.2, label="least norm")
axes[0].plot(time, waves @ ours, color=BLUE, linewidth=1.8, alpha=0.8, label="sparsest")
axes[0].plot(moments, b, "o", color="black", markersize=4, label="where it is known")
axes[0].set_xlabel("time")
axes[0].set_title("All pass through the same 48 points", loc="left")
axes[0].legend(frameon=False, fontsize="small", ncols=4, loc="upper right")
axes[0].set_ylim(-1.0, 1.1)
frequency = np.arange(n)
axes[1].plot(frequency, even, ".", color=ORANGE, label=f"least norm: {np.sum(np.abs(even) > 1e-6)} notes")
axes[1].plot(
    frequency, lassos[1], "x", color=RED, markersize=5, label=f"lasso, 1e-3: {np.sum(np.abs(lassos[1]) > 1e-6)} notes"
)
axes[1].stem(
    frequency, np.where(np.abs(ours) > 1e-9, ours, np.nan), linefmt=BLUE, basefmt=" ", label="sparsest: 5 notes"
)
axes[1].set_xlabel("frequency")
axes[1].set_ylabel("strength")
axes[1].legend(frameon=False, fontsize="small")
plt.show()
