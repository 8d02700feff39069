"""Two levels over sets with curved boundaries: balls, spectrahedra, and products of these with polyhedra.

In: two levels whose form is known, over a set that describes itself as ``round``; asked first: ``refuses.py``. Out: one
``Answer`` with the point, brackets around g* and f*, and whether the lower level has one solution.

The order in which the files are read:

1. ``solve.py``: the lower level, then the upper one in the regime that holds. ``level.py``: a level in extended
   precision; ``kinks.py``: what of it is piecewise linear. ``conic.py``: a start, by an interior-point method.
2. ``polish.py``: Newton's method on a chart of the set, down to residuals in extended precision. ``growth.py``: how far
   minimisers are from its point, which is what makes brackets.
3. What the lower level leaves: one point; a face (``face.py``), where a linear level has a slope; or, where the slope
   vanishes, an affine part of the set (``solutions.py``), over which ``slater.py`` solves the upper level.
"""
