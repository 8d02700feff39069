"""What the terminal shows at the end of a run: the claims."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap

from ..reproduce.outcome import Claim, Outcome
from .page import VERDICTS, tally


def claims_table(outcomes: Sequence[Outcome], width: int) -> str:
    """Every claim with its verdict, for a terminal of so many columns."""
    lines = []
    for outcome in outcomes:
        lines += ["", outcome.title, "-" * len(outcome.title)]
        for claim in outcome.claims:
            lines += _claim(claim, max(width, 60))
    counted = ", ".join(f"{count} {words}" for words, count in tally(outcomes).items())
    return "\n".join([*lines, "", f"Of the paper's claims {counted}."])


def _claim(claim: Claim, width: int) -> list[str]:
    _, sign, words = VERDICTS[claim.holds]
    margin = len("✗ does not hold  ")
    texts = [claim.sentence, f"paper: {claim.paper}", f"here:  {claim.ours}", claim.why]
    wrapped = [line for text in texts if text for line in wrap(text, width - margin, subsequent_indent="  ")]
    first = f"{sign} {words}".ljust(margin)
    return [(first if i == 0 else " " * margin) + line for i, line in enumerate(wrapped)]
