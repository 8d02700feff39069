"""Exact solves: the optimal face of the lower level, then the upper level on it."""
