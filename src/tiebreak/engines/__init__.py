"""Exact solves: the optimal face of the lower levels, then the upper level on it; no row g(x) <= g* anywhere.

``task.py`` is what an engine is asked, ``offered.py`` lists the engines with the question each of them has, and
``choice.py`` decides which takes a problem, through which reductions, and keeps why the others do not. An engine is a
folder; all return ``Answer``s with their own proofs. ``lifted.py`` is the reduction that makes l1 norms linear;
``relaxed.py`` solves problems with slack by any of them; ``explicit.py`` goes along the lower solutions where the upper
level is not convex; ``interrupt.py`` keeps what was proved until a limit.
"""

from .answer import Answer
from .choice import Choice, choose_engine

__all__ = ["Answer", "Choice", "choose_engine"]
