"""Chains with smooth losses among their levels, over polyhedra: one more kind of level for ``engines/rows``.

In: levels (objectives whose form has losses that know their terms and their self-concordance) and a set with ``rows``;
asked first: ``refuses.py``. Out: what ``rows`` gives, and by its chain; read that folder first.

1. ``solve.py``: what is asked. ``curves.py`` and ``level.py``: a level with losses, evaluated in extended precision,
   and once it has a point, with second derivatives; ``images.py``: the rows that all its minimisers agree on,
   ``pivots.py``: few of them that do. ``recent.py``: products that are asked for again.
2. ``smooth_level.py``: Newton's method (``newton.py``) proposes, the polish of ``rows`` sharpens; ``kinks.py``: away
   from kinks where minimisers leave room.
3. ``chain.py``: what a smooth level leaves. How far its minimisers are is ``rows/reach.py`` with ``rows/stretch.py``;
   ``sharp_face.py``: what they have at its end for certain, beside rows. ``attained.py``: over an unbounded set,
   rays that show that there are none.
4. ``constant.py``: a last level that they all agree on, convex or not.
"""
