"""Fluxes that growth and the least total flux leave open, on two models that come with COBRApy.

    python benchmarks/cobra_fluxes.py

pFBA's answer beside the three levels of ``tiebreak.cobra.lexicographic_fba``: how many fluxes differ although the
total is the same, whether ours are proved to be the only ones, and wall-clock times. Ends with code 1 where the total
differs, or uniqueness is not proved.
"""

from __future__ import annotations

import logging
import sys
import time
from pathlib import Path

import cobra
from cobra.flux_analysis import pfba
from cobra.io import load_model, read_sbml_model

from tiebreak.cobra import lexicographic_fba

SAME = 1e-6


def main() -> int:
    logging.getLogger("cobra").setLevel(logging.ERROR)
    large = Path(cobra.__file__).parent / "data" / "iJO1366.xml.gz"
    bad = 0
    print("| model | reactions | fluxes other than pFBA's | unique | pFBA | three levels | difference of total flux |")
    print("|---|---|---|---|---|---|---|")
    for model in (load_model("textbook"), read_sbml_model(str(large))):
        started = time.perf_counter()
        naive = pfba(model)
        between = time.perf_counter()
        ours = lexicographic_fba(model, ["growth", "total_flux", "l2"])
        ended = time.perf_counter()
        apart = (naive.fluxes - ours.fluxes).abs()
        total = naive.fluxes.abs().sum()
        off = abs(ours.fluxes.abs().sum() - total) / total
        bad += not (ours.unique and off <= SAME)
        other, times = int((apart > SAME).sum()), f"{between - started:.2f} s | {ended - between:.2f} s"
        print(f"| {model.id} | {len(model.reactions)} | {other} | {ours.unique} | {times} | {off:.1e} |")
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
