"""docs/claims.md from what ``tiebreak reproduce all`` has left: python benchmarks/claims_page.py reproduction."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tiebreak.lab.reproduce import EXPERIMENTS
from tiebreak.lab.reproduce.evidence import RULE

VERDICTS = {True: "holds", False: "**does not hold**", None: "undecided"}
HEAD = f"""# The paper's experiments: every claim with its verdict

R. Jiang, N. Abolfazli, A. Mokhtari, E. Yazdandoost Hamedani, "A conditional gradient-based method for simple bilevel
optimization with convex lower-level problem", AISTATS 2023; its released code is Raymond30/CG-BiO (MATLAB). Written by
`benchmarks/claims_page.py` from the files that `tiebreak reproduce all` leaves ([reproduce.md](reproduce.md)); the
tests behind the theory are in [paper-claims.md](paper-claims.md).

{RULE}

Three tables, never mixed: what the paper claims, where its text and its code differ, and what this library adds.
"""
Row = dict[str, Any]


def cell(text: str) -> str:
    """Text inside a table."""
    return " ".join(str(text).replace("|", "\\|").split())


def counted(found: list[Row]) -> str:
    """How many of each verdict."""
    verdicts = [one["holds"] for one in found]
    return ", ".join(f"{verdicts.count(holds)} {words.strip('*')}" for holds, words in VERDICTS.items())


def table(outcomes: list[Row], key: str, header: tuple[str, ...], row: Callable[[Row], tuple[str, ...]]) -> list[str]:
    """One of the three, experiment after experiment."""
    lines = []
    for outcome in outcomes:
        if outcome[key]:
            lines += [f"### {outcome['title']}", "", f"Size {outcome['size']}, seed {outcome['seed']}.", ""]
            lines += ["| " + " | ".join(header) + " |", "|---" * len(header) + "|"]
            lines += ["| " + " | ".join(map(cell, row(one))) + " |" for one in outcome[key]] + [""]
    return lines


def main(folder: Path) -> None:
    """Write the page."""
    outcomes = [json.loads((folder / name / "outcome.json").read_text()) for name in EXPERIMENTS]
    claims, additions = ([one for outcome in outcomes for one in outcome[key]] for key in ("claims", "additions"))
    differences = sum(len(outcome["differences"]) for outcome in outcomes)

    def claim(one: Row) -> tuple[str, ...]:
        return VERDICTS[one["holds"]], f"“{one['quote']}” ({one['where']})", one["here"], one["why"]

    def addition(one: Row) -> tuple[str, ...]:
        return VERDICTS[one["holds"]], one["statement"], one["here"], one["why"]

    def difference(one: Row) -> tuple[str, ...]:
        return one["text"], one["code"], f"`{one['file']}`", one["changes"]

    lines = [HEAD, "## The paper's claims", "", f"Of {len(claims)}: {counted(claims)}.", ""]
    lines += table(outcomes, "claims", ("verdict", "the paper says", "here", "why"), claim)
    lines += ["## Text and released code", "", f"{differences} places.", ""]
    lines += table(outcomes, "differences", ("text", "released code", "file", "what changes"), difference)
    lines += ["## Our additions", "", f"Of {len(additions)}: {counted(additions)}.", ""]
    lines += table(outcomes, "additions", ("verdict", "we say", "here", "why"), addition)
    (Path(__file__).parent.parent / "docs" / "claims.md").write_text("\n".join(lines))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python benchmarks/claims_page.py FOLDER, the --out of tiebreak reproduce all")
    main(Path(sys.argv[1]))
