"""
Learning on, without forgetting
===============================

A classifier meets one batch after the other and may keep only a few of the old examples. Trained on each new batch it
forgets the old ones. Here, old loss comes first: among all classifiers that are nearly the best on what is
remembered, the one that is best on the new batch.
"""

# %%
# The stream
# ----------
# Handwritten digits of scikit-learn. Is the digit five or more? The batches come as pairs of digits.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

from tiebreak.pictures import BLUE, ORANGE
from tiebreak.sklearn import LifelongClassifier

digits = load_digits()
X, y = digits.data / 16.0, digits.target >= 5
pairs = [(0, 5), (1, 6), (2, 7), (3, 8), (4, 9)]
train, test = [], []
for low, high in pairs:
    rows = np.flatnonzero(np.isin(digits.target, (low, high)))
    train.append(rows[::2])
    test.append(rows[1::2])

# %%
# Two learners
# ------------
# The naive one starts from its last coefficients and fits the new batch.

naive = LogisticRegression(C=10, warm_start=True, max_iter=2000)
ours = LifelongClassifier(slack=0.01, memory=60, random_state=0)
scores = {"fitted to each batch": np.full((5, 5), np.nan), "lifelong": np.full((5, 5), np.nan)}
for k, rows in enumerate(train):
    naive.fit(X[rows], y[rows])
    ours.partial_fit(X[rows], y[rows], classes=[False, True])
    for j in range(k + 1):
        scores["fitted to each batch"][k, j] = naive.score(X[test[j]], y[test[j]])
        scores["lifelong"][k, j] = ours.score(X[test[j]], y[test[j]])
    c = ours.result_.certificate
    print(
        f"batch {k + 1}: {ours.remembered_} rows remembered;"
        f" loss on new rows proved within {c.f_upper - c.f_lower:.1e} of the least"
    )
for name, table in scores.items():
    print(f"{name:21s} after the last batch: {table[-1].round(3)}, mean {table[-1].mean():.3f}")

# %%
# The picture
# -----------
# Accuracy on the test digits of all pairs seen so far.

fig, axes = plt.subplots(1, 3, figsize=(11, 3.7), layout="constrained", width_ratios=[1, 1, 1.15])
for ax, (name, table) in zip(axes[:2], scores.items(), strict=True):
    ax.imshow(table, vmin=0.3, vmax=1, cmap="cividis")
    for k in range(5):
        for j in range(k + 1):
            ax.text(
                j,
                k,
                f"{table[k, j]:.2f}",
                ha="center",
                va="center",
                color="white" if table[k, j] < 0.75 else "black",
                fontsize=9,
            )
    ax.set_xticks(range(5), [f"{low}, {high}" for low, high in pairs])
    ax.set_yticks(range(5), [str(k + 1) for k in range(5)])
    ax.set_xlabel("tested on")
    ax.set_ylabel("after batch")
    ax.set_title(name.capitalize(), loc="left")
for (name, table), colour, mark in zip(scores.items(), (ORANGE, BLUE), "so", strict=True):
    axes[2].plot(range(1, 6), np.nanmean(table, axis=1), mark + "-", color=colour, label=name)
axes[2].set_xlabel("batches seen")
axes[2].set_xticks(range(1, 6))
axes[2].set_ylabel("mean accuracy on all pairs seen")
axes[2].set_ylim(0.3, 1.03)
axes[2].legend(frameon=False, loc="lower left")
axes[2].set_title("What is left", loc="left")
plt.show()
