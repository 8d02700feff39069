"""The loops of the column engine as Python calls them: compiled, where numba is there and it is worth it."""

from __future__ import annotations

from ...kernels import Group, Kernel
from . import descent, tableau
from . import loop as generation_loop

ENGINE = Group("the loops of the column engine", 30.0)

insert = Kernel(tableau.insert, ENGINE)
follow = Kernel(tableau.follow, ENGINE)
write_prices = Kernel(tableau.write_prices, ENGINE)
evaluate = Kernel(descent.evaluate, ENGINE)
rounds = Kernel(descent.rounds, ENGINE)
loop = Kernel(generation_loop.loop, ENGINE)
