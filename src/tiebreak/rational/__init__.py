"""Rational proofs: the exact solution of a chain of linear and quadratic levels over a polyhedron, and a file that
``proof_checker.py`` checks without the library.

``data.py`` takes a problem as stored; ``search.py`` goes from the point of a result to the exact solution, with
``multipliers.py`` (signs, or a direction that shows that there are none) and ``linear.py`` (exact equations);
``proof.py`` writes down what was found, and hands out only what the checker takes.
"""

from .data import NotProved
from .proof import Proof, prove

__all__ = ["NotProved", "Proof", "prove"]
