"""Which vertices depend on others in what the levels see of them: decided on the data as they are stored.

Rows [1, A v, <c, v>] of vertices v, for all data A, Q and costs c of some levels: where they have rank r, so have the
images. Rounding cannot tell dependent rows from nearly dependent ones; the rank modulo a prime can (``rank.py``).
"""

from __future__ import annotations

import numpy as np

from ...arrays import Matrix
from ...numerics.rank import LARGEST, exact_rank
from .atoms import Atoms, Codes, OnAxes
from .level import Smooth

RANKS = "vertices depend on one another as they do modulo a random prime of 31 bits, where rounding leaves it open"


def rank_of(atoms: Atoms, codes: Codes, levels: list[Smooth]) -> int | None:
    """The rank of the rows of some vertices; None where that is too much to ask."""
    width = 1 + sum(_width(level) for level in levels)
    if codes.size * width > LARGEST or atoms.dim * width > 4 * LARGEST:
        return None
    blocks = [block for level in levels for block in _blocks(level, atoms.dim)]
    if isinstance(atoms, OnAxes):  # a row times the weight of its axis: no quotient is rounded
        index = codes % atoms.dim
        signs = np.where(codes < atoms.dim, 1.0, -1.0)[:, None]
        parts = [np.broadcast_to(atoms.weights, atoms.dim)[index][:, None]]
        parts += [signs * _dense(block[index]) for block in blocks]
        return exact_rank(np.hstack(parts))
    M = np.zeros((atoms.dim + 1, width))
    M[-1, 0] = 1.0
    start = 1
    for block in blocks:
        M[:-1, start : start + block.shape[1]] = _dense(block)
        start += block.shape[1]
    left = np.ones((codes.size, atoms.dim + 1))
    for row, code in enumerate(codes):
        left[row, :-1] = atoms.mixed(np.array([code]), np.ones(1))
    return exact_rank(M, left)


def _dense(block: Matrix) -> np.ndarray:
    return block if isinstance(block, np.ndarray) else np.asarray(block.toarray())


def _width(level: Smooth) -> int:
    """How many columns ``_blocks`` has."""
    form = level.form
    rows = sum(level.dim if data is None else data.shape[0] for _, data, _ in form.losses)
    return rows + level.dim * len(form.bends) + len(form.linear)


def _blocks(level: Smooth, dim: int) -> list[Matrix]:
    """The data of a level, one row a variable."""
    form = level.form
    blocks: list[Matrix] = [np.eye(dim) if data is None else data.raw.T for _, data, _ in form.losses]
    blocks += [bend.Q for bend in form.bends] + [slope.c[:, None] for slope in form.linear]
    return [block if isinstance(block, np.ndarray) else block.tocsr() for block in blocks]
