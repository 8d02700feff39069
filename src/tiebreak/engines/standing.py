"""What every proof rests on: said once here and in docs/certificates.md, and in no certificate."""

from __future__ import annotations

from ..numerics.extended import EXTENDED

DOUBLE = "double-precision arithmetic follows the standard rounding model"
INSIDE = "a point that misses no constraint by more than rounding can tell is in the domain"

BY_ROWS = (
    EXTENDED,
    "multipliers of linear levels that vanish modulo two random primes are zero; where more than 700 rows of a basis "
    "depend on each other, also those below 1e-18 of the costs they are made of, or 1e-30 of the largest",
    "matrices have the rank that they have modulo a random prime of 31 bits, where rounding leaves it open",
    "points that violate constraints by rounding only count as feasible, at the price their multipliers and the rows "
    "nearby give",
)

STANDING = (DOUBLE, INSIDE, *BY_ROWS)


def unusual(assumed: tuple[str, ...]) -> tuple[str, ...]:
    """What is assumed beyond that, each once.

    Examples
    --------
    >>> unusual((DOUBLE, "lower level: value and gradient are as given"))
    ('lower level: value and gradient are as given',)
    """
    return tuple(dict.fromkeys(one for one in assumed if one not in STANDING))
