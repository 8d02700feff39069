"""Chains of linear and quadratic levels over sets given by cones.

In: levels (objectives whose form is linear or quadratic, by matrices) and a set with ``conic`` rows; asked first:
``refuses.py``. Out: one ``Answer`` a level, with its point and a bracket around its optimal value.

The order in which the files are read:

1. ``solve.py``: one level after the other. ``level.py``: a level without rounding, its values as exact sums.
2. ``face.py``: what earlier levels leave of the set. ``polish.py``: a level over a face, by interior points, then by
   Newton's method with exact residuals.
3. The proof: ``bracket.py`` (multipliers of the cones as given, whatever the face was), ``newton_kantorovich.py`` (one
   minimiser, and how far it is).
"""
