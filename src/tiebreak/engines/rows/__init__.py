"""Chains of linear and quadratic levels over a polyhedron, solved face by face."""
