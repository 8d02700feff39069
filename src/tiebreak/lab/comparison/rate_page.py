"""The measured rates as a page of Markdown, from the stored rows alone."""

from __future__ import annotations

from .markdown import plain, table
from .rates import ALLOWED, Measured


def rates_page(rows: list[Measured]) -> str:
    """The whole page."""
    return f"""# Measured rates

What the theorems promise and what the methods do, on problems chosen so that the promise is (nearly) attained:
spectra that fall like powers, so that gaps follow power laws, and simplices, on which conditional gradient cannot
be faster. The table is made from [rates.json](rates.json), which `python benchmarks/rates.py` writes.

The slope is that of log(gap) over log(k) in the last decade of the run and in the one before. A theorem is about a
bound, not about a slope: where its constant is known, the last column but one is the largest gap/bound of all
iterates looked at (every one at first, then whenever k has grown by a tenth). A theorem **holds** where that is at
most 1, or, without a constant, where the slope is not above minus the exponent (by more than {ALLOWED:g}, the
accuracy of such fits).

{table(HEAD, [_row(row) for row in rows])}

{verdict(rows)}

* Upper gaps are f - f\\* from above, which is what the theorems bound; lower gaps are g - g\\*. For `mng` and
  `adabim` the theorem is about the best iterate so far. `pb-apg`, `r-apm` and `tikhonov` are measured on the
  function they minimise.
* `fc-bio` and `bisec-bio` take a tolerance eps and stop: the slope is that of eps over the updates, divided by
  log(10/eps), that each eps took (1e-3 to 1e-6). A slope of -2 is eps^-1/2.
* The bounds of `mng`, `big-sam`, `tseng` and `a-irg` are derived along the papers' proofs with all constants
  (`src/tiebreak/lab/comparison/theorems.py`). They are far above the gaps, as constants of worst cases are.
* **Answer (1, ..., 1) with singular values i^-2.** Here `big-sam` and `tseng` fall like k^-0.75 and `mng` more
  slowly than k^-1/2, over all k that can be tried. This contradicts no theorem. The gap of the regularised solution
  with weight sigma is of the order sigma^0.75 as long as sigma is above the smallest squared singular value, 1e-8
  with 100 equations, so until k is of the order 1e8; the constant of O(1/k) contains the squared norm of the
  answer, 100, and at every k looked at the bound holds. With 8 equations the smallest squared singular value is
  2e-4, the phase is over after some thousand updates, and the gaps fall faster than the theorems say.
* `a-irg`: its weights fall like k^-1/4, by a factor of 1.8 in a decade of k, and slopes over one decade waver
  accordingly.
* `agm-bio`: the lower gap is still short of its final slope, and always below its bound.
* `apdb`: the constant contains the square of the multiplier, which grows as the slack shrinks. With a slack of 0.01
  the slope after 10 000 updates is still -0.46, with 0.001 it is -0.18; the constant of the theorem was not
  evaluated.
* `sbcgi` and `sbcgf` draw terms at random; these are runs with one seed.
* Not in the table: methods whose theorems have no rate ([methods](methods.md)), `exact`, which is finite, and
  `apb-apg`, whose stages are runs like those of `pb-apg`."""


HEAD = ["method", "level", "theorem", "problem", "updates", "slope before", "slope", "largest gap/bound", "holds"]


def _row(row: Measured) -> list[str]:
    worst = "" if row.worst is None else f"{row.worst:.2g}"
    return [
        f"`{row.method}`", row.level, plain(row.rate), row.place, str(row.updates),
        f"{row.slope_before:.2f}", f"**{row.slope:.2f}**", worst, "yes" if row.holds else "NO",
    ]  # fmt: skip


def verdict(rows: list[Measured]) -> str:
    """How many theorems hold."""
    broken = [row for row in rows if not row.holds]
    bounded = [row for row in rows if row.worst is not None]
    return (
        f"{len(rows) - len(broken)} of {len(rows)} rows hold. {len(bounded)} were compared with a bound with its "
        "constant: "
        f"{sum(row.worst is not None and row.worst <= 1 for row in rows)} of these bounds were never exceeded."
    )
