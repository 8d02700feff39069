"""
A dictionary that learns new atoms and keeps the old ones
=========================================================

The third experiment of the CG-BiO paper. A dictionary explains old data by known codes. New data contain new atoms.
Learning from the new data alone spoils the old ones; here, new data have a say only among the dictionaries that
explain the old data as well as any can.
"""

# %%
# The data
# --------
# Fifteen atoms in ten dimensions. Old data use the first twelve, new data the last five.

import matplotlib.pyplot as plt
import numpy as np

import tiebreak as tb
from tiebreak import steps
from tiebreak.pictures import BLUE, ORANGE

rng = np.random.default_rng(2)
dimension, atoms, old, shared = 10, 15, 12, 2
truth = rng.normal(size=(dimension, atoms))
truth /= np.linalg.norm(truth, axis=0)


def codes(count: int, points: int, nonzeros: int = 2) -> np.ndarray:
    found = np.zeros((count, points))
    for column in found.T:
        chosen = rng.choice(count, nonzeros, replace=False)
        column[chosen] = rng.uniform(0.4, 1.0, nonzeros) * rng.choice([-1.0, 1.0], nonzeros)
    return found


old_codes = codes(old, 80)
old_data = truth[:, :old] @ old_codes
new_data = truth[:, old - shared :] @ codes(atoms - old + shared, 60)

# %%
# Dictionaries D with columns in the unit ball, codes X of the new data with columns in an l1 ball:

points = new_data.shape[1]
blocks = {
    "D": tb.Columns(tb.L2Ball(1.0), (dimension, atoms)),
    "X": tb.Columns(tb.L1Ball(2.0), (atoms, points)),
}
domain = tb.Product(blocks)
old_loss = tb.Reconstruction(old_data, codes=old_codes, atoms=atoms, rest=atoms * points)
new_loss = tb.Reconstruction(new_data, atoms=atoms)

# %%
# Both ways begin with the old atoms. In the free places stand the new points that the old atoms explain worst.

units = new_data / np.linalg.norm(new_data, axis=0)
begin = truth.copy()
for free in range(old, atoms):
    alike = np.abs(begin[:, :free].T @ units).max(axis=0)
    begin[:, free] = units[:, np.argmin(alike)]
x0 = np.concatenate([begin.ravel(), np.zeros(atoms * points)])

# %%
# The naive way
# -------------
# Descend on the new data alone, codes and atoms by turns:


def naive(rounds: int) -> tuple[np.ndarray, list[tuple[float, float]]]:
    D, X, losses = begin.copy(), np.zeros((atoms, points)), []
    for _ in range(rounds):
        losses.append(
            (float(np.sum((old_data - D[:, :old] @ old_codes) ** 2)) / 2, float(np.sum((new_data - D @ X) ** 2)) / 2)
        )
        step = X - D.T @ (D @ X - new_data) / np.linalg.norm(D, 2) ** 2
        X = blocks["X"].project(step.ravel()).reshape(X.shape)
        step = D - (D @ X - new_data) @ X.T / max(np.linalg.norm(X, 2) ** 2, 1e-9)
        D = blocks["D"].project(step.ravel()).reshape(D.shape)
    return D, losses


forgetful, theirs = naive(600)

# %%
# With the old data first
# -----------------------
# The upper level is not convex, so what is proved is the lower one; the new loss speaks for itself, since it is never
# negative.

trace = tb.Trace()
problem = tb.Problem(upper=new_loss, lower=old_loss, domain=domain)
result = tb.solve(
    problem, tb.AnytimeCGBiO(step=steps.Adaptive()), x0=x0, tol_upper=1e-2, tol_lower=1e-3, max_time=10, callback=trace
)
ours = result.blocks["D"]
print(result.message)
for name, D, loss in (("new data alone", forgetful, theirs[-1]), ("old data first", ours, (result.g, result.f))):
    found = np.abs(truth.T @ D).max(axis=1)
    print(
        f"{name}: loss on old data {loss[0]:.4f}, on new data {loss[1]:.4f};"
        f" {np.sum(found > 0.95)} of {atoms} atoms found"
    )

# %%
# The picture
# -----------

record = trace.to_dict()
fig, (left, right) = plt.subplots(1, 2, figsize=(9.5, 3.9), layout="constrained")
updates = np.arange(1, len(theirs) + 1)
left.loglog(updates, [max(one[0], 1e-5) for one in theirs], color=ORANGE, label="old data: new data alone")
left.loglog(updates, [one[1] for one in theirs], color=ORANGE, linestyle="--", label="new data: new data alone")
updates = np.array(record["k"]) + 1
left.loglog(updates, np.maximum(record["g"], 1e-5), color=BLUE, linewidth=2, label="old data: old data first")
left.loglog(updates, record["f"], color=BLUE, linewidth=2, linestyle="--", label="new data: old data first")
left.set_xlabel("update")
left.set_ylabel("loss")
left.set_title("What each learns and forgets", loc="left")
left.legend(frameon=False, fontsize="small")
for shift, D, colour, name in ((-0.2, forgetful, ORANGE, "new data alone"), (0.2, ours, BLUE, "old data first")):
    right.bar(np.arange(atoms) + shift, np.abs(truth.T @ D).max(axis=1), width=0.4, color=colour, label=name)
right.axvline(old - 0.5, color="black", linewidth=0.8, linestyle=":")
right.set_ylim(0, 1.25)
right.set_xlabel("true atom: twelve old, three new")
right.set_ylabel("cosine with the nearest atom learned")
right.set_title("Atoms found", loc="left")
right.legend(frameon=False, fontsize="small", ncols=2)
plt.show()
