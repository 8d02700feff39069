"""Hypothesis draws the same examples in every run; ``--hypothesis-profile=default`` looks for new ones."""

from hypothesis import settings

settings.register_profile("steady", derandomize=True, deadline=None)
settings.load_profile("steady")
