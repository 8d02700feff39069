"""A failing case as a script that needs nothing but tiebreak."""

from __future__ import annotations

from fractions import Fraction

from .recipes import Case
from .truth import Truth

HEAD = '''"""{title}

Found by: python benchmarks/audit.py --family {family} --seed {seed} --only {number}
Ends with code 1 while a bracket misses the exact optimal value or a success is off; see what it prints.
"""

import sys
from fractions import Fraction
from math import inf

import tiebreak as tb

domain = {domain}
levels = [  # the most important first
{levels}
]
exact = [{exact}]  # each level's optimal value lies between these fractions
bounded = {bounded}  # whether all levels have a minimum
'''
CHAIN = """
done = tb.lexicographic(levels, domain, tol_upper={tol!r}, tol_lower={tol!r})
print(done)
brackets, values, wrong = [(o.lower, o.upper) for o in done.levels], [o.value for o in done.levels], []
tolerances = [{tol!r}] * len(values)
"""
SOLVE = """
problem = tb.Problem(levels[1], levels[0], domain, slack={slack!r})
done = tb.solve(problem, {method!r}, tol_upper={tol!r}, tol_lower={tol!r}, seed=1{options})
print(done)
c = done.certificate
print(f"lower_unique {{c.lower_unique}} (exactly: {unique}), upper_constant {{c.upper_constant}} (exactly: {constant})")
brackets, values = [(c.g_lower, c.g_upper), (c.f_lower, c.f_upper)], [done.g, done.f]
tolerances = [{slack!r} or {tol!r}, {tol!r}]
wrong = ["lower_unique is wrong"] if c.lower_unique not in (None, {unique}) and {unique} is not None else []
wrong += ["upper_constant is wrong"] if c.upper_constant and {constant} is False else []
"""
TAIL = """for k, ((low, high), (least, most)) in enumerate(zip(brackets, exact)):
    print(f"level {k + 1}: exactly {float(least)!r}, bracket [{low!r}, {high!r}], at x {values[k]!r}")
    if low > float("-inf") and Fraction(low) > most or high < float("inf") and Fraction(high) < least:
        wrong.append(f"the bracket of level {k + 1} misses")
    if done.success and abs(values[k] - float(least)) > tolerances[k] + 1e-13 * (1 + abs(values[k])):
        wrong.append(f"success, and level {k + 1} is off by {values[k] - float(least):.3g}")
if done.status == "unbounded" if bounded else done.success:
    wrong.append("all levels have a minimum" if bounded else "a level has no minimum")
print("success:", done.success, "x =", done.x.tolist())
sys.exit("; ".join(wrong) or 0)
"""


def script(case: Case, truth: Truth, faults: list[tuple[str, str]], seed: int, number: int) -> str:
    title = f"{case.family}: " + "; ".join(f"{kind}: {words}" for kind, words in faults)
    text = HEAD.format(
        title=title.replace('"""', "'''").replace("\\", "/"),
        family=case.family,
        seed=seed,
        number=number,
        domain=case.domain.code(),
        levels="\n".join(f"    {level.code()}," for level in case.levels),
        exact=", ".join(f"({_fraction(low)}, {_fraction(high)})" for low, high in truth.values),
        bounded=not truth.unbounded,
    )
    if case.method == "lexicographic":
        return text + CHAIN.format(tol=case.tol) + TAIL
    method = "auto" if case.method == "tradeoff" else case.method
    options = "".join(f", {name}={value!r}" for name, value in case.options.items())
    solve = SOLVE.format(
        slack=case.slack,
        method=method,
        tol=case.tol,
        options=options,
        unique=truth.unique,
        constant=truth.constant,
    )
    return text + solve + TAIL


def _fraction(one: Fraction) -> str:
    return f"Fraction({one.numerator}, {one.denominator})"
