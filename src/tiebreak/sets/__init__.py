"""Convex sets and their oracles: linear minimisation, with and without a cut, and projection."""

from typing import TYPE_CHECKING

from ..lazy import lazily

if TYPE_CHECKING:  # for type checkers and editors, which do not follow ``__getattr__``
    from .base import Cut as Cut
    from .base import CutStatus as CutStatus
    from .base import Domain as Domain
    from .base import MissingOracle as MissingOracle
    from .birkhoff import Birkhoff as Birkhoff
    from .box import Box as Box
    from .columns import Columns as Columns
    from .cone import Cone as Cone
    from .group import GroupBall as GroupBall
    from .ksparse import KSparse as KSparse
    from .l1 import L1Ball as L1Ball
    from .l2 import L2Ball as L2Ball
    from .lp import LpBall as LpBall
    from .oracles import FromOracles as FromOracles
    from .polyhedron import Polyhedron as Polyhedron
    from .product import Product as Product
    from .simplex import Simplex as Simplex
    from .space import Space as Space
    from .spectral import NuclearBall as NuclearBall
    from .spectral import Spectrahedron as Spectrahedron

__getattr__, __all__ = lazily(
    __name__,
    {
        "base": ("Cut", "CutStatus", "Domain", "MissingOracle"),
        "birkhoff": ("Birkhoff",),
        "box": ("Box",),
        "columns": ("Columns",),
        "cone": ("Cone",),
        "group": ("GroupBall",),
        "ksparse": ("KSparse",),
        "l1": ("L1Ball",),
        "l2": ("L2Ball",),
        "lp": ("LpBall",),
        "oracles": ("FromOracles",),
        "polyhedron": ("Polyhedron",),
        "product": ("Product",),
        "simplex": ("Simplex",),
        "space": ("Space",),
        "spectral": ("NuclearBall", "Spectrahedron"),
    },
)
