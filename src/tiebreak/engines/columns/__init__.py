"""Two levels over a polytope with few vertices in use, solved by column generation.

In: a problem of two levels with smooth forms, the lower one h(Ax) + <q, x> with h strictly convex, over a polytope
whose linear oracle returns vertices; asked first: ``refuses.py``. Out: one ``Answer`` with the point, brackets
around g* and f*, and what is known of uniqueness; ``Elsewhere`` where the answer turns out to mix many vertices.

The order in which the files are read:

1. ``solve.py``: the lower level, then the upper one over mixes of vertices that keep A x. ``level.py``: a level as
   h(Fx) + <p, x>; ``atoms.py``: vertices by number; ``vertices.py``: those in use, with weights and images.
2. ``generation.py``: minimise over the vertices in use, price all, let better ones enter; ``loop.py`` is its loop,
   ``sweep.py`` the same where vertices lie on the axes. ``master.py``: the problem over the vertices in use, by
   ``tableau.py`` (the basis, kept up to date), ``descent.py`` (reduced-gradient steps), ``pseudo_inverse.py``;
   ``compiled.py``: these loops as Python calls them; ``interior.py``: a start for answers that mix many vertices.
3. The proof: ``bracket.py``, with ``evaluated.py`` (the rounding of each number), ``slope_bound.py`` (how far A x is
   from its optimum), ``face.py`` and ``linear_face.py`` (the optimal face of the lower level), ``dependence.py`` (ranks
   of the data as stored) and ``solutions.py`` (one solution or many, and whether f is the same at all of them).
"""
