"""Exact solves: the optimal face of the lower levels, then the upper level on it; no row g(x) <= g* anywhere.

``choice.py`` decides which engine takes a problem, through which reductions, and keeps why the others do not. There are
three, each a folder: ``rows`` (chains of linear and quadratic levels over polyhedra, through their constraints),
``smooth`` (the same with levels of smooth losses, on top of rows) and ``columns`` (two levels over polytopes with few
vertices, through the linear oracle). All return
``Answer``s with their own proofs. ``lifted.py`` is the reduction that makes l1 norms linear; ``relaxed.py`` solves
problems with slack by any of them; ``interrupt.py`` keeps what was proved until a limit.
"""

from .answer import Answer
from .choice import Choice, choose_engine

__all__ = ["Answer", "Choice", "choose_engine"]
