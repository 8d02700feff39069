"""Derivatives of the answer of a chain with respect to the data of its levels and of its set."""

from __future__ import annotations

from .pulled import Derivatives, vjp

__all__ = ["Derivatives", "vjp"]
