"""Hypothesis draws the same examples in every run; ``--hypothesis-profile=default`` looks for new ones."""

from hypothesis import settings

import tiebreak  # noqa: F401  before a module of it is collected for its examples: names such as tiebreak.plan are functions

settings.register_profile("steady", derandomize=True, deadline=None)
settings.load_profile("steady")
