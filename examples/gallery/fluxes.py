"""
The undecided fluxes of a genome-scale model
============================================

Parsimonious flux balance analysis (pFBA) fixes growth, then the least total flux. Some fluxes are still open after
that: two pathways of the same length may share in any proportion. Solvers answer with a corner, and two solvers with
two corners.
"""

# %%
# The model
# ---------
# iJO1366, *Escherichia coli*: 2,583 reactions. It comes with COBRApy.

import logging
from pathlib import Path

import cobra
import matplotlib.pyplot as plt
import numpy as np
from cobra.flux_analysis import pfba
from cobra.io import read_sbml_model

from tiebreak.cobra import lexicographic_fba
from tiebreak.pictures import BLUE, ORANGE

logging.getLogger("cobra").setLevel(logging.ERROR)
model = read_sbml_model(str(Path(cobra.__file__).parent / "data" / "iJO1366.xml.gz"))

# %%
# The naive way
# -------------

naive = pfba(model).fluxes

# %%
# One level more
# --------------
# Growth, total flux, and then the sum of squares, which leaves nothing open.

solution = lexicographic_fba(model, ["growth", "total_flux", "l2"])
print(solution.levels.to_string(float_format="{:.9f}".format))
print("unique:", solution.unique)

other = (naive - solution.fluxes).abs()
undecided = other[other > 1e-6].index
print(f"{len(undecided)} fluxes are other than those of pFBA")
print(f"total flux: pFBA {naive.abs().sum():.6f}, ours {solution.fluxes.abs().sum():.6f}")

# %%
# The picture
# -----------
# Each line is one reaction. Both ends have the same growth and the same total flux; only the blue ones are a property
# of the organism's model, and not of a solver.

pairs = sorted(undecided, key=lambda name: -other[name])
places = np.arange(len(pairs))
fig, ax = plt.subplots(figsize=(8, 0.27 * len(pairs) + 1.4), layout="constrained")
ax.hlines(places, naive[pairs], solution.fluxes[pairs], color="lightgrey", linewidth=3, zorder=0)
ax.plot(naive[pairs], places, "s", color=ORANGE, label="pFBA: one of many")
ax.plot(solution.fluxes[pairs], places, "o", color=BLUE, label="the least sum of squares: unique, proved")
ax.axvline(0, color="black", linewidth=0.6)
ax.set_yticks(places, pairs, fontsize="small")
ax.invert_yaxis()
ax.set_xscale("symlog", linthresh=1e-3)
ax.set_xlabel("flux, mmol/gDW/h (linear up to 0.001, logarithmic beyond)")
ax.set_xlim(right=30)
ax.set_title(f"{len(pairs)} of {len(model.reactions)} fluxes that growth and total flux leave open", loc="left")
ax.legend(frameon=False, fontsize="small", loc="best")
plt.show()
