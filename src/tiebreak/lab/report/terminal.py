"""What the terminal shows at the end of a run: claims, differences, additions, each counted apart."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap

from ..reproduce.outcome import Claim, Decided, Outcome
from .page import VERDICTS, tally

MARGIN = len("✗ does not hold  ")


def claims_table(outcomes: Sequence[Outcome], width: int) -> str:
    """The paper's claims and our additions with their verdicts, for a terminal of so many columns, and the counts."""
    lines = []
    for outcome in outcomes:
        lines += ["", outcome.title, "-" * len(outcome.title)]
        for kind, found in (("The paper's claims", outcome.claims), ("Our additions", outcome.additions)):
            lines += [f"{kind}:"] if found else []
            for one in found:
                lines += _decided(one, max(width, 60))
    claims, additions = (
        ", ".join(f"{count} {words}" for words, count in tally(found).items())
        for found in ([c for o in outcomes for c in o.claims], [a for o in outcomes for a in o.additions])
    )
    differences = sum(len(outcome.differences) for outcome in outcomes)
    return "\n".join(
        [
            *lines,
            "",
            f"The paper's claims: {claims}.",
            f"Differences between its text and the released code: {differences} (on the page).",
            f"Our additions: {additions}.",
        ]
    )


def _decided(one: Decided, width: int) -> list[str]:
    _, sign, words = VERDICTS[one.holds]
    said = f"“{one.sentence}” ({one.where})" if isinstance(one, Claim) else one.sentence
    wrapped = [
        line
        for text in (said, f"here: {one.here}", one.why)
        for line in wrap(text, width - MARGIN, subsequent_indent="  ")
    ]
    first = f"{sign} {words}".ljust(MARGIN)
    return [(first if i == 0 else " " * MARGIN) + line for i, line in enumerate(wrapped)]
