"""A page to move the slack on: the trade-off curve of a problem in one file that needs nothing else."""

from .page import explore

__all__ = ["explore"]
