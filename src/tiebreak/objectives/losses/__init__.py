"""Losses, one a file: the function h, and the objective h(Ax) under its public name."""
