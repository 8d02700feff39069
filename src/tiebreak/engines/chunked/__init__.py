"""Two levels whose rows lie in chunks: triangles by passes, the answer on the small problem, the proof in the data.

``triangle.py`` is the pass that makes a level small; ``newton.py`` goes from small problem to small problem;
``multiplier.py`` finds the multiplier that a proof needs; ``proof.py`` is the last pass, from which all bounds come.
Nothing that is published rests on a triangle.
"""

from .solve import chunks_apply, solve_chunks

__all__ = ["chunks_apply", "solve_chunks"]
