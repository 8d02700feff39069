"""Chains with smooth losses among their levels, over polyhedra: one more kind of level for ``engines/rows``."""
