"""
The best portfolio with the least turnover
==========================================

With more funds than weeks of data, many portfolios follow an index equally well. A solver returns one of them, and
next week another one. The sensible choice is the one nearest to what is held already: every trade costs.
"""

# %%
# The data
# --------
# Fifty funds driven by six factors; each week the window of fourteen weeks of data moves on by one.

import cvxpy as cp
import matplotlib.pyplot as plt
import numpy as np

import tiebreak as tb
from tiebreak.pictures import BLUE, ORANGE, RED

rng = np.random.default_rng(4)
funds, window, weeks = 50, 14, 12
loadings = rng.normal(size=(funds, 6))
returns = 0.02 * rng.normal(size=(window + weeks, 6)) @ loadings.T + 0.01 * rng.normal(size=(window + weeks, funds))
index = returns @ rng.dirichlet(np.ones(funds))


def fit(week: int) -> tb.LeastSquares:
    """The squared tracking error over the window, in percent."""
    return tb.LeastSquares(100 * returns[week : week + window], 100 * index[week : week + window])


# %%
# Three ways
# ----------
# The naive ones are least squares over the simplex by itself, and with the turnover as a penalty; then, in order.

mix = tb.Simplex(total=1.0)


def alone(week: int, held: np.ndarray) -> np.ndarray:
    share = cp.Variable(funds, nonneg=True)
    off = 100 * (returns[week : week + window] @ share - index[week : week + window])
    cp.Problem(cp.Minimize(cp.sum_squares(off)), [cp.sum(share) == 1]).solve("CLARABEL")
    return share.value


def blended(week: int, held: np.ndarray) -> np.ndarray:
    share = cp.Variable(funds, nonneg=True)
    off = 100 * (returns[week : week + window] @ share - index[week : week + window])
    cp.Problem(cp.Minimize(cp.sum_squares(off) + 0.3 * cp.norm1(share - held)), [cp.sum(share) == 1]).solve("CLARABEL")
    return share.value


def in_order(week: int, held: np.ndarray) -> np.ndarray:
    turnover = tb.L1Norm(A=np.eye(funds), b=held)
    return tb.solve(tb.Problem(upper=turnover, lower=fit(week), domain=mix)).x


def run(way) -> tuple[np.ndarray, np.ndarray]:
    """Turnover and tracking error week by week."""
    held, traded, error = np.full(funds, 1 / funds), [], []
    for week in range(weeks):
        share = way(week, held)
        traded.append(np.abs(share - held).sum())
        error.append(fit(week).value(share))
        held = share
    return np.array(traded), np.array(error)


found = {"fit alone": run(alone), "with a penalty": run(blended), "in order": run(in_order)}
for name, (traded, error) in found.items():
    print(f"{name:14s}: turnover {traded.sum():.3f} in {weeks} weeks, tracking error at most {error.max():.1e}")

result = tb.solve(tb.Problem(tb.L1Norm(A=np.eye(funds), b=np.full(funds, 1 / funds)), fit(0), mix))
c = result.certificate
print(f"first week: least turnover of all best fits in [{c.f_lower:.9f}, {c.f_upper:.9f}]")

# %%
# The picture
# -----------

fig, (left, right) = plt.subplots(1, 2, figsize=(9.5, 3.8), layout="constrained")
for (name, (traded, error)), colour in zip(found.items(), (ORANGE, RED, BLUE), strict=True):
    left.plot(np.arange(1, weeks + 1), np.cumsum(traded), "o-", color=colour, markersize=4, label=name)
    right.semilogy(np.arange(1, weeks + 1), np.maximum(error, 1e-20), "o-", color=colour, markersize=4, label=name)
left.set_xlabel("week")
left.set_ylabel("turnover so far")
left.set_title("What is traded", loc="left")
left.legend(frameon=False)
right.set_xlabel("week")
right.set_ylabel("tracking error")
right.set_title("What is paid with the fit", loc="left")
plt.show()
