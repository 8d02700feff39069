"""The live version of the CG-BiO paper's Table 1 as a page, from ``tiebreak.methods()``."""

from __future__ import annotations

from ...methods import methods
from .markdown import plain, table


def methods_page() -> str:
    """The table of methods in Markdown."""
    rows = [
        [
            f"`{info.name}`",
            plain(info.reference),
            str(info.year),
            plain(info.assumptions),
            plain(info.upper_rate),
            plain(info.lower_rate),
            plain(info.oracle),
            "yes" if info.anytime else "no",
        ]
        for info in methods()
    ]
    head = ["method", "reference", "year", "assumes", "upper level", "lower level", "oracle", "anytime"]
    return f"""# Methods

All {len(rows)} methods of this version: what their theory assumes and what it promises after k updates. This is
`tiebreak.methods()`, which `tiebreak methods` prints in a terminal; a test keeps this page equal to it. Rates
are those of the papers (of `cg-bio-anytime`, which is in none, those proved in its file), one-sided for the upper
level (f(x) - f\\* from above) unless a growth condition of g is assumed. "Anytime" methods need neither a tolerance
nor a number of updates in advance.

{table(head, rows)}

Every method runs behind the same `solve`, gets the same bounds, and `success` means the same for all; a method outside
its theory says so once through `logging`. [How they compare](comparison.md), [measured rates](rates.md),
[how to choose](how-to-choose.md), [how to add one](add-a-method.md).
"""
