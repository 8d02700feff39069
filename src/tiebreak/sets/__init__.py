"""Convex sets and their oracles: linear minimisation, with and without a cut, and projection."""
