"""Two levels whose rows lie in chunks: triangles by passes, the answer on the small problem, the proof in the data.

In: two levels, losses of rows in chunks or in memory, over a bounded set with ``rows``; asked first: ``refuses.py``.
Out: one ``Answer`` with the point and brackets around g* and f*. Nothing that is published rests on a triangle.

The order in which the files are read:

1. ``solve.py``: the way to the answer. ``levels.py``: a level as losses of rows, and what is left of it.
2. ``triangle.py``: the pass that makes a level small. ``newton.py``: from small problem to small problem, each given to
   the other engines.
3. ``multiplier.py``: the multiplier that a proof needs. ``proof.py``: the last pass, from which all bounds come.
"""
