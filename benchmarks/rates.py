"""Measured slopes of both gaps beside the proven rates: writes docs/rates.json and docs/rates.md (a few minutes).

python benchmarks/rates.py
"""

from __future__ import annotations

import logging
from pathlib import Path

import harness  # noqa: F401  before NumPy: one thread
from tiebreak.lab.comparison.rate_page import rates_page
from tiebreak.lab.comparison.rates import CLAIMS, measure, rows_from_json, rows_to_json

DOCS = Path(__file__).resolve().parent.parent / "docs"

if __name__ == "__main__":
    logging.disable(logging.WARNING)
    rows = []
    for claim in CLAIMS:
        rows.append(measure(claim))
        print(f"{claim.method:10} {claim.level:14} {rows[-1].slope:6.2f} of -{claim.exponent:g}", flush=True)
    (DOCS / "rates.json").write_text(rows_to_json(rows))
    (DOCS / "rates.md").write_text(rates_page(rows_from_json((DOCS / "rates.json").read_text())))
