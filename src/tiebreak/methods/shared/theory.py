"""What a method's theory asks for: said once, at the start of a run, where the problem does not have it."""

from __future__ import annotations

import logging

from ...problem import Problem

logger = logging.getLogger("tiebreak")


def expect(holds: bool, method: str, assumption: str) -> None:
    """Warn that ``method`` runs outside its theory, unless the assumption holds.

    Examples
    --------
    >>> expect(True, "big-sam", "a strongly convex upper level")
    """
    if not holds:
        logger.warning("%s runs outside its theory, which assumes %s", method, assumption)


def expect_convex(problem: Problem, method: str) -> None:
    """What almost all methods assume: a convex upper level, and the bilevel problem itself (no slack)."""
    expect(problem.upper.convex, method, "a convex upper level")
    expect(problem.slack == 0, method, "slack = 0; it solves the problem without slack")
