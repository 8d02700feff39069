"""docs/claims.md from what ``tiebreak reproduce all`` has left: python benchmarks/claims_page.py reproduction."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from tiebreak.lab.reproduce import EXPERIMENTS

VERDICTS = {True: "holds", False: "**does not hold**", None: "undecided"}
HEAD = """# The paper's experiments: every claim with its verdict

R. Jiang, N. Abolfazli, A. Mokhtari, E. Yazdandoost Hamedani, AISTATS 2023. Written by `benchmarks/claims_page.py`
from the files that `tiebreak reproduce all` leaves; the claims of the theory with the tests behind them are in
[paper-claims.md](paper-claims.md). *Undecided* is what this run cannot tell: the data are a stand-in, or the run is
shorter than the paper's.
"""


def cell(text: str) -> str:
    """Text inside a table."""
    return " ".join(str(text).replace("|", "\\|").split())


def section(outcome: dict) -> str:
    """One experiment."""
    lines = [f"## {outcome['title']}", "", f"Size {outcome['size']}, seed {outcome['seed']}.", ""]
    lines += ["| verdict | claim | paper | here |", "|---|---|---|---|"]
    for claim in outcome["claims"]:
        why = f" ({cell(claim['why'])})" if claim["why"] else ""
        row = (VERDICTS[claim["holds"]], cell(claim["sentence"]), cell(claim["paper"]), cell(claim["ours"]) + why)
        lines.append("| " + " | ".join(row) + " |")
    return "\n".join(lines) + "\n"


def main(folder: Path) -> None:
    """Write the page."""
    outcomes = [json.loads((folder / name / "outcome.json").read_text()) for name in EXPERIMENTS]
    claims = [claim["holds"] for outcome in outcomes for claim in outcome["claims"]]
    counts = ", ".join(f"{claims.count(holds)} {words.strip('*')}" for holds, words in VERDICTS.items())
    text = "\n".join([HEAD, f"Of {len(claims)} claims: {counts}.", "", *map(section, outcomes)])
    (Path(__file__).parent.parent / "docs" / "claims.md").write_text(text)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python benchmarks/claims_page.py FOLDER, the --out of tiebreak reproduce all")
    main(Path(sys.argv[1]))
