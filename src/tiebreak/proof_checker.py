"""Checks a proof file of tiebreak with nothing but the standard library: ``python proof_checker.py proof.json``.

The file states a chain of levels over a polyhedron Z in rational numbers, the most important level first,

    level k:  f_k(x) = 1/2 sum of w (<a, x> - t)^2 + 1/2 <x, Q x> + <c, x> + constant,
    Z      =  the points x with low_i <= <a_i, x> <= high_i for all rows i (an end may be missing),

and gives a point x and, for each level k, multipliers y of the rows and vectors v_j for each earlier level j. Checked:

1. x is in Z, all w are positive, Q is symmetric and has no negative eigenvalue: every f_k is convex.
2. At every level, grad f_k(x) = sum of y_i a_i + sum over j < k of H_j v_j, where H_j is the Hessian of f_j.
3. y_i is not zero only where row i is at an end at x. Unless its ends are equal, or an earlier level has such a y_i, it
   is positive at the low end and negative at the high one.

Why this proves that x minimises f_k among the minimisers of the levels before, by induction: let P be their set, and
let it be the points of Z where the rows with a nonzero y of an earlier level stay at their ends and H_j z = H_j x for
all j < k. For z in P, f_k(z) - f_k(x) = <grad f_k(x), z - x> + 1/2 <z - x, H_k (z - x)>; by 2 the first part is the sum
of y_i <a_i, z - x>, none negative by 3, and the second is not negative by 1. So x is a minimiser over P, and z is one
exactly if all these terms are zero: where rows with y_i not zero stay at their ends and H_k z = H_k x.
"""

import json
import re
import sys
from fractions import Fraction
from math import lcm
from typing import Any

MOST_BYTES = 200_000_000
MOST_VARIABLES = 5_000
MOST_DIGITS = 2_000_000
QUOTIENT = re.compile(r"-?[0-9a-f]+/[1-9a-f][0-9a-f]*")


class Refused(Exception):
    """Why a file proves nothing."""


def need(condition: object, reason: str) -> None:
    """Go on only if it holds."""
    if not condition:
        raise Refused(reason)


def field(record: Any, name: str, kind: type) -> Any:
    """A field of a JSON object, of the kind that it has to be."""
    need(type(record) is dict and type(record.get(name)) is kind, f"{name!r} is missing, or no {kind.__name__}")
    return record[name]


def number(text: Any) -> Fraction:
    """A number: p/q in hexadecimal integers."""
    need(type(text) is str and len(text) <= MOST_DIGITS and QUOTIENT.fullmatch(text), "a number is not one")
    return Fraction(*(int(part, 16) for part in text.split("/")))


def sparse(entries: Any, size: int) -> dict[int, Fraction]:
    """A vector given by pairs of a position and a number."""
    found: dict[int, Fraction] = {}
    need(type(entries) is list, "a vector is not a list of pairs")
    need(all(type(pair) is list and len(pair) == 2 for pair in entries), "a vector is not a list of pairs")
    for j, value in entries:
        need(type(j) is int and 0 <= j < size and j not in found, "a position is wrong or given twice")
        found[j] = number(value)
    return found


def dense(entries: Any, size: int) -> list[Fraction]:
    """A vector given by all its numbers."""
    need(type(entries) is list and len(entries) == size, f"a vector has not {size} entries")
    return [number(entry) for entry in entries]


def dot(a: dict[int, Fraction], x: list[Fraction]) -> Fraction:
    """The product of a sparse vector and a dense one."""
    return sum((value * x[j] for j, value in a.items()), Fraction(0))


def add_to(total: list[Fraction], a: dict[int, Fraction], factor: Fraction | int) -> None:
    """Add a multiple of a sparse vector to a dense one."""
    for j, value in a.items():
        total[j] += factor * value


def not_negative(Q: list[dict[int, Fraction]]) -> bool:
    """Whether a symmetric matrix has no negative eigenvalue: fraction-free elimination on integers."""
    used = sorted(i for i in range(len(Q)) if Q[i])
    common = lcm(*(value.denominator for row in Q for value in row.values()))
    M = [[int(Q[i].get(j, 0) * common) for j in used] for i in used]
    before = 1
    for k in range(len(M)):
        pivot = M[k][k]
        if pivot < 0 or (pivot == 0 and any(M[k][k:])):
            return False
        for i in range(k + 1, len(M) if pivot else 0):
            for j in range(i, len(M)):
                M[i][j] = M[j][i] = (pivot * M[i][j] - M[i][k] * M[k][j]) // before
        before = pivot or before
    return True


def read_level(record: Any, n: int) -> Any:
    """The squares, the rows of Q, and gradient and value at zero of a level, found to be convex."""
    q, constant = [Fraction(0)] * n, number(field(record, "constant", str))
    add_to(q, sparse(field(record, "linear", list), n), 1)
    squares = []
    for square in field(record, "squares", list):
        weight, target = (number(field(square, name, str)) for name in ("weight", "target"))
        need(weight > 0, "the weight of a square is not positive: the level may not be convex")
        squares.append((weight, sparse(field(square, "a", list), n)))
        add_to(q, squares[-1][1], -weight * target)
        constant += weight * target * target / 2
    Q = [sparse(row, n) for row in field(record, "quadratic", list)]
    need(len(Q) in (0, n), "the quadratic has not as many rows as there are variables")
    need(all(Q[j].get(i) == value for i, row in enumerate(Q) for j, value in row.items()), "Q is not symmetric")
    need(not_negative(Q), "Q has a negative eigenvalue: the level is not convex")
    return squares, Q, q, constant


def hessian_times(level: Any, v: list[Fraction]) -> list[Fraction]:
    """H v."""
    total = [dot(row, v) for row in level[1]] or [Fraction(0)] * len(v)
    for weight, a in level[0]:
        add_to(total, a, weight * dot(a, v))
    return total


def value_and_gradient(level: Any, x: list[Fraction]) -> tuple[Fraction, list[Fraction]]:
    """f(x) = f(0) + <grad f(0) + H x / 2, x>, and its gradient."""
    both = list(zip(hessian_times(level, x), level[2], strict=True))
    value = level[3] + sum((q + h / 2) * xi for (h, q), xi in zip(both, x, strict=True))
    return value, [h + q for h, q in both]


def read_rows(records: Any, n: int) -> list[Any]:
    """The rows of Z, each with its ends, None where one is missing."""
    rows = []
    for record in records:
        need(type(record) is dict and "low" in record and "high" in record, "a row has no ends")
        ends = [None if record[end] is None else number(record[end]) for end in ("low", "high")]
        rows.append((sparse(field(record, "a", list), n), *ends))
    return rows


def check(file: Any) -> list[Fraction]:
    """The proved optimal values, the most important level first; ``Refused`` where something is not as it must be."""
    need(type(file) is dict and file.get("format") == "tiebreak proof 1", "this is no proof file of tiebreak")
    n = field(file, "variables", int)
    need(0 < n <= MOST_VARIABLES, f"the number of variables is not between 1 and {MOST_VARIABLES}")
    rows = read_rows(field(file, "rows", list), n)
    levels = [read_level(record, n) for record in field(file, "levels", list)]
    x, witness, claims = dense(file.get("x"), n), field(file, "multipliers", list), field(file, "values", list)
    need(0 < len(levels) == len(witness) == len(claims), "levels, multipliers and values differ in number")
    activity = [dot(a, x) for a, _, _ in rows]
    for i, (_, low, high) in enumerate(rows):
        need((low is None or low <= activity[i]) and (high is None or activity[i] <= high), f"x violates row {i}")
    at_low, at_high = ({i for i, row in enumerate(rows) if row[end] == activity[i]} for end in (1, 2))
    held, values = at_low & at_high, []
    for k, level in enumerate(levels):
        value, rest = value_and_gradient(level, x)
        need(value == number(claims[k]), f"level {k + 1} has not the value that is claimed")
        y = sparse(field(witness[k], "rows", list), len(rows))
        for i, price in y.items():
            right = i in held or (i in at_low and price >= 0) or (i in at_high and price <= 0) or price == 0
            need(right, f"at level {k + 1} the multiplier of row {i} has the wrong sign, or the row is not at its end")
            add_to(rest, rows[i][0], -price)
        images = field(witness[k], "images", list)
        need(len(images) == k, f"level {k + 1} has not one vector for each earlier level")
        for j, entries in enumerate(images):
            v = [Fraction(0)] * n
            add_to(v, sparse(entries, n), 1)
            rest = [r - h for r, h in zip(rest, hessian_times(levels[j], v), strict=True)] if entries else rest
        need(not any(rest), f"at level {k + 1} the gradient is not the sum that the multipliers give")
        held |= {i for i, price in y.items() if price}
        values.append(value)
    return values


def main(arguments: list[str]) -> int:
    """Print what a file proves, or why it proves nothing; 0 or 1."""
    try:
        need(len(arguments) == 1, "usage: python proof_checker.py proof.json")
        with open(arguments[0], encoding="ascii") as handle:
            text = handle.read(MOST_BYTES + 1)
        need(len(text) <= MOST_BYTES, "the file is too large")
        values = check(json.loads(text))
        exact = [f" = {value}" if value.denominator < 10**9 else ", rounded" for value in values]
        both = zip(values, exact, strict=True)
        lines = [f"level {k}: the optimal value is {float(v)!r}{more}" for k, (v, more) in enumerate(both, 1)]
    except (Refused, OSError, ValueError, RecursionError, ArithmeticError, MemoryError) as why:
        sys.stdout.write(f"refused: {why}\n" if type(why) is Refused else "refused: the file cannot be read\n")
        return 1
    sys.stdout.write("proved\n" + "\n".join(lines) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
