"""Chains of linear and quadratic levels over a polyhedron, solved face by face.

In: levels (objectives whose form is linear or quadratic) and a set with ``rows``; asked first: ``refuses.py``. Out: one
``Answer`` a level, with its point, a bracket around its optimal value among the solutions of the levels before, and
what is known of uniqueness. In between everything is in units where variables and values have size 1.

The order in which the files are read:

1. ``solve.py``: what is asked, a second time where a tie is within rounding. ``level.py``: a level as squares, bends
   and a slope, evaluated in extended precision; ``doubt.py``: what it may be off by where the data are elsewhere.
   ``face.py``: where a chain stands, and the record that each level leaves; ``sizes.py`` and ``terms.py``: what
   numbers are compared with.
2. ``chain.py``: one level after the other. Each is solved on its face, proved, and leaves a smaller face.
3. A linear level: ``linear_level.py`` (one hot HiGHS model, refined vertices). A quadratic one: ``quadratic_level.py``
   over ``step.py`` (the level as a programme in the step d), ``reduce.py`` (without what cannot move) and ``polish.py``
   (from a solver's guess to the last digit), with ``sides.py``, ``equality.py``, ``kkt.py`` and ``descend.py``.
4. The proof: ``bracket.py`` (weak duality with the multipliers of all levels), sharpened by ``sharp.py`` and
   ``slope.py``. What a level leaves: ``left.py``, ``reach.py``. True solutions near the point: ``held.py``,
   ``nearby.py``, ``pinned.py``; where what is tight is so to rounding only, all true solutions: ``degenerate.py``.
   One solution or many, a say or none: ``unique.py``.
5. Unbounded sets: ``open_box.py`` (the part that brackets are about), ``whole.py`` (when they hold for the whole),
   ``rays.py`` (levels that fall for ever). ``least_norm.py``: the one problem that has a
   formula where its set does not bind (``gram.py``, ``orthogonal.py``).
"""
