"""Convex sets and their oracles: linear minimisation, with and without a cut, and projection."""

from .base import Cut, CutStatus, Domain, MissingOracle
from .birkhoff import Birkhoff
from .box import Box
from .columns import Columns
from .cone import Cone
from .group import GroupBall
from .ksparse import KSparse
from .l1 import L1Ball
from .l2 import L2Ball
from .lp import LpBall
from .oracles import FromOracles
from .polyhedron import Polyhedron
from .product import Product
from .simplex import Simplex
from .space import Space
from .spectral import NuclearBall, Spectrahedron

__all__ = [
    "Birkhoff",
    "Box",
    "Columns",
    "Cone",
    "Cut",
    "CutStatus",
    "Domain",
    "FromOracles",
    "GroupBall",
    "KSparse",
    "L1Ball",
    "L2Ball",
    "LpBall",
    "MissingOracle",
    "NuclearBall",
    "Polyhedron",
    "Product",
    "Simplex",
    "Space",
    "Spectrahedron",
]
