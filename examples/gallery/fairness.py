"""
The price of fairness
=====================

How much accuracy does it cost to treat two groups alike? Leaving the sensitive column out hardly helps, because other
columns know it. A slack does: of all classifiers within 1 % of the least loss, take the fairest, with a proof that
there is no fairer one.
"""

# %%
# The data
# --------
# 442 diabetes patients of scikit-learn's data set: will the disease progress more than in half of the patients? Say
# that the scores decide who is seen first, and should vary little with age.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LogisticRegression

from tiebreak.pictures import BLUE, ORANGE, RED
from tiebreak.sklearn import FairClassifier

data = load_diabetes()
X = data.data / data.data.std(axis=0)
y = data.target > np.median(data.target)
older = X[:, 0] > np.median(X[:, 0])
rest = np.delete(X, 0, axis=1)

# %%
# The naive ways
# --------------
# With the column, and without it:


def covariance(scores: np.ndarray) -> float:
    return float(np.cov(scores, older, bias=True)[0, 1])


with_it, without = LogisticRegression(C=1).fit(X, y), LogisticRegression(C=1).fit(rest, y)
naive = {
    "with the column": (covariance(with_it.decision_function(X)), with_it.score(X, y)),
    "without it": (covariance(without.decision_function(rest)), without.score(rest, y)),
}
for name, (value, accuracy) in naive.items():
    print(f"{name:16s}: covariance with age {value:+.4f}, accuracy {accuracy:.3f}")

# %%
# At a price
# ----------
# A slack is a share of the least loss that may be given away. The whole curve, without the column:

slacks = [0.001, 0.002, 0.005, 0.01, 0.02, 0.03]
models = [FairClassifier(slack=slack).fit(rest, y, sensitive_features=older) for slack in slacks]
for slack, model in zip(slacks, models, strict=True):
    value = covariance(model.decision_function(rest))
    c = model.result_.certificate
    low, high = (np.sqrt(2 * max(one, 0.0)) for one in (c.f_lower, c.f_upper))
    print(
        f"slack {slack:5.1%}: covariance {value:+.4f}, least possible in [{low:.4f}, {high:.4f}],"
        f" accuracy {model.score(rest, y):.3f}"
    )

# %%
# The picture
# -----------

fig, (left, right) = plt.subplots(1, 2, figsize=(9.5, 3.9), layout="constrained", width_ratios=[1.2, 1])
shares = [100 * slack for slack in slacks]
values = [abs(covariance(model.decision_function(rest))) for model in models]
left.plot(
    [0, *shares],
    [abs(naive["without it"][0]), *values],
    "o-",
    color=BLUE,
    linewidth=2,
    label="fairest within the slack, proved",
)
left.axhline(abs(naive["with the column"][0]), color=RED, linestyle="--", label="with the column")
left.axhline(abs(naive["without it"][0]), color=ORANGE, linestyle="--", label="the column left out")
left.set_xlabel("loss given away, % of the least")
left.set_ylabel("covariance of the scores with age")
left.set_ylim(bottom=0)
left.set_title("What a little loss buys", loc="left")
left.legend(frameon=False, fontsize="small")
score = {"left out": without.decision_function(rest), "fairest": models[-1].decision_function(rest)}
for k, (colour, values) in enumerate(zip((ORANGE, BLUE), score.values(), strict=True)):
    for group, shift, look in ((True, -0.17, "//"), (False, 0.17, "")):
        drawn = right.boxplot(
            values[older == group], positions=[k + shift], widths=0.28, patch_artist=True, showfliers=False
        )
        drawn["boxes"][0].set(facecolor=colour, alpha=0.6, hatch=look)
        drawn["medians"][0].set(color="black")
right.set_xticks([0, 1], ["column left out", f"slack {slacks[-1]:.0%}"])
right.set_ylabel("score")
right.set_title("Scores of the two groups", loc="left")
plt.show()
