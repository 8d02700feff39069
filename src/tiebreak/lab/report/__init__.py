"""What a reader gets of the experiments: figures, curves and claims as files, one page, a table on the terminal."""

from .write import Report

__all__ = ["Report"]
