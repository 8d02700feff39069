"""The cut oracle: linear minimisation over a set and one half-space."""
