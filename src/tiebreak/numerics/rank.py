"""The rank of a matrix of doubles as they are stored: dyadic rationals, eliminated modulo a random prime.

A rank modulo p is at most the exact one, and less only if p divides all minors of that size, which few of the fifty
million primes between 2^30 and 2^31 do. Where it equals the number of singular values that arithmetic can tell from
zero, the others are zero for certain, but for that probability.
"""

from __future__ import annotations

from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from ..arrays import Matrix, Vector

EPS = float(np.finfo(np.float64).eps)
LARGEST = 2_000_000
"""Up to this many entries a rank is worth its time."""
CHUNK = 2**19  # so many products of 16 by 16 bits are summed exactly by doubles
PANEL = 32  # columns that are eliminated together


def resolved(values: Vector, shape: tuple[int, ...]) -> float:
    """What singular values may be off by, as LAPACK computes them (largest first, from a matrix of this shape)."""
    return (10 + max(shape)) * EPS * float(values.max(initial=0.0))


def exact_rank(M: Matrix, left: Matrix | None = None) -> int | None:
    """The rank of a dense matrix, or of its exact product with one on the left, with overwhelming probability; None
    where it is too large to ask."""
    if 0 in M.shape:
        return 0
    if M.size > LARGEST or (left is not None and left.shape[0] * (left.shape[1] + M.shape[1]) > LARGEST):
        return None
    rng = np.random.default_rng(crc32(np.ascontiguousarray(M).tobytes()))
    p = prime(rng)
    whole = residues(M, p) if left is None else _product(residues(left, p), residues(M, p), p)
    whole = whole if whole.shape[0] >= whole.shape[1] else whole.T.copy()
    if whole.shape[0] > whole.shape[1] + 4:
        whole = _mixed(whole, p, rng)
    return eliminated(whole, p)


def prime(rng: np.random.Generator) -> int:
    """One of those between 2^30 and 2^31."""
    candidate = int(rng.integers(2**30, 2**31 - 1000)) | 1
    while not _is_prime(candidate):
        candidate += 2
    return candidate


def _is_prime(n: int) -> bool:
    """Miller and Rabin, to bases that settle all numbers below 3e9."""
    odd, twos = n - 1, 0
    while odd % 2 == 0:
        odd, twos = odd // 2, twos + 1
    for base in (2, 3, 5, 7):
        power = pow(base, odd, n)
        if power in (1, n - 1):
            continue
        if not any((power := power * power % n) == n - 1 for _ in range(twos - 1)):
            return False
    return True


def residues(M: Matrix | Vector, p: int) -> NDArray[np.int64]:
    """The doubles, which are dyadic, modulo p."""
    mantissa, exponent = np.frexp(M)
    whole = np.ldexp(mantissa, 53).astype(np.int64) % p
    kinds, where = np.unique(exponent, return_inverse=True)
    powers = np.array([pow(2, int(e) - 53, p) for e in kinds], dtype=np.int64)
    return np.asarray(whole * powers[where.reshape(M.shape)] % p)


def _mixed(M: NDArray[np.int64], p: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """As many random combinations of the rows as there are columns: their rank is the same but for one case in 2^25."""
    return _product(rng.integers(0, p, (M.shape[1], M.shape[0])), M, p)


def _product(L: NDArray[np.int64], M: NDArray[np.int64], p: int) -> NDArray[np.int64]:
    """L M modulo p, by products of doubles: halves of 16 bits, whose sums are exact."""
    total = np.zeros((L.shape[0], M.shape[1]), dtype=np.int64)
    for start in range(0, M.shape[0], CHUNK):
        part = slice(start, start + CHUNK)
        left, right = _halves(L[:, part]), _halves(M[part])
        middle = (left[0] @ right[1]).astype(np.int64) + (left[1] @ right[0]).astype(np.int64)
        high = (left[0] @ right[0]).astype(np.int64) % p * 2**16 + middle
        total = (total + high % p * 2**16 + (left[1] @ right[1]).astype(np.int64)) % p
    return total


def _halves(M: NDArray[np.int64]) -> tuple[Matrix, Matrix]:
    return (M >> 16).astype(np.float64), (M & 0xFFFF).astype(np.float64)


def eliminated(M: NDArray[np.int64], p: int) -> int:
    """The rank, by elimination a few columns at a time: what is to the right of them is one product."""
    rank = 0
    for start in range(0, M.shape[1], PANEL):
        if rank == M.shape[0]:
            break
        below = M[rank:]
        found, factors = _panel(below, start, min(start + PANEL, M.shape[1]), p)
        right = slice(start + PANEL, None)
        if found and right.start < M.shape[1]:
            below[:found, right] = _product(_inverse(factors[:found], p), below[:found, right], p)
            below[found:, right] = (below[found:, right] - _product(factors[found:], below[:found, right], p)) % p
        rank += found
    return rank


def _inverse(factors: NDArray[np.int64], p: int) -> NDArray[np.int64]:
    """That of the triangular matrix with ones on its diagonal and these entries below."""
    found = np.eye(len(factors), dtype=np.int64)
    for k in range(1, len(factors)):
        found[k, :k] = -(factors[k, :k, None] * found[:k, :k] % p).sum(axis=0) % p
    return found


def _panel(M: NDArray[np.int64], start: int, end: int, p: int) -> tuple[int, NDArray[np.int64]]:
    """Elimination within some columns, with whole rows exchanged: how many pivots, and the factors of their rows."""
    found = 0
    factors = np.zeros((M.shape[0], end - start), dtype=np.int64)
    for column in range(start, end):
        nonzero = np.flatnonzero(M[found:, column])
        if not nonzero.size:
            continue
        pivot = found + int(nonzero[0])
        if pivot != found:
            M[[found, pivot]], factors[[found, pivot]] = M[[pivot, found]], factors[[pivot, found]]
        own = M[found + 1 :, column] * pow(int(M[found, column]), -1, p) % p
        factors[found + 1 :, found] = own
        rest = M[found + 1 :, column:end]
        M[found + 1 :, column:end] = (rest - own[:, None] * M[found, column:end]) % p  # below 2^62 in size
        found += 1
        if found == M.shape[0]:
            break
    return found, factors[:, :found]
