"""Chains of linear and quadratic levels over sets given by cones."""
