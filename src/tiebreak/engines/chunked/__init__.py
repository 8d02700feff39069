"""Two levels whose rows lie in chunks: triangles by passes, the answer on the small problem, the proof in the data.

In: chains of quadratic levels, some rows of which lie in chunks, over a set with ``rows``; or two levels, losses of
rows in chunks or in memory, over a bounded one; asked first: ``refuses.py``. Out: one ``Answer`` with the point and
brackets around all optimal values. Nothing that is published rests on a triangle.

The order in which the files are read:

1. ``solve.py``: the way to the answer. ``levels.py``: a level as losses of rows, and what is left of it.
2. ``triangle.py``: the pass that makes a level small. ``newton.py``: from small problem to small problem, each given to
   the other engines.
3. ``multiplier.py``: the multiplier that a proof needs. ``proof.py``: the last pass, from which all bounds come.
4. ``quadratic.py``: where all levels are quadratic, that pass shows how well a few rows stand for the data
   (``frame.py``, ``known.py``), and the engine by rows proves the rest.
"""
