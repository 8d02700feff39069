"""The mutants: one deliberate mistake each, of the kinds that proofs die of.

Allowances for rounding that are dropped, halved sums, flipped signs, max for min, terms forgotten, errors that are not
passed on. ``equivalent`` says why a mutant that survives is no mistake.
"""

from __future__ import annotations

from typing import NamedTuple


class Mutant(NamedTuple):
    file: str
    old: str
    new: str
    equivalent: str = ""


TESTS = {
    "objectives/": ["tests/objectives/test_rounding.py", "tests/objectives/test_scaled_bound.py"],
    "numerics/": ["tests/sets/test_bounds_hold.py", "tests/sets/test_propagation.py"],
    "sets/": ["tests/sets/test_bounds_hold.py", "tests/sets/test_propagation.py", "tests/sets/test_cut_generic.py"],
    "sets/box.py": ["tests/sets/test_descriptions.py"],
    "numerics/extended.py": ["tests/engines/test_extended.py"],
    "engines/columns/evaluated.py": ["tests/engines/test_extended.py"],
    "engines/rows/bracket.py": ["tests/engines/test_levels_solved_badly.py", "tests/engines/test_row_pitfalls.py"],
    "engines/rows/held.py": ["tests/engines/test_levels_solved_badly.py", "tests/engines/test_row_pitfalls.py"],
    "engines/rows/degenerate.py": ["tests/engines/test_degenerate.py"],
    "engines/conic/newton_kantorovich.py": ["tests/engines/test_conic_chains.py"],
    "engines/conic/bracket.py": ["tests/engines/test_conic_chains.py"],
    "engines/columns/bracket.py": ["tests/engines/test_weights_off_theirs.py", "tests/engines/test_column_bracket.py"],
    "engines/columns/face.py": ["tests/engines/test_weights_off_theirs.py", "tests/engines/test_column_bracket.py"],
    "bounds.py": ["tests/test_bounds_by_points.py"],
    "linear_bounds.py": ["tests/test_bounds_by_points.py"],
    "linearisation.py": ["tests/test_bounds_by_points.py"],
}

OBJECTIVES = [
    Mutant("objectives/matrix.py", "unit = (terms + 8) * UNIT_ROUNDOFF", "unit = 8 * UNIT_ROUNDOFF"),
    Mutant("objectives/matrix.py", "return gamma(min(terms, self._longest_row)) * self", "return 0.0 * self"),
    Mutant(
        "objectives/matrix.py",
        "* self.frobenius * length(x)",
        "* length(self.times(x))",
    ),
    Mutant(
        "objectives/linear.py", "return gamma(x.size) * (float(np.abs(self.c)", "return 0.0 * (float(np.abs(self.c)"
    ),
    Mutant("objectives/linear.py", "float(np.abs(self.c) @ np.abs(x)) + abs", "abs(float(self.c @ x)) + abs"),
    Mutant("objectives/linear.py", "return gamma(x.size) * value, 0.0 if", "return 0.0 * value, 0.0 if"),
    Mutant("objectives/linear.py", "4 * UNIT_ROUNDOFF * float(np.linalg.norm(grad))", "0.0"),
    Mutant("objectives/algebra.py", "unit = len(self.terms) * UNIT_ROUNDOFF", "unit = UNIT_ROUNDOFF"),
    Mutant(
        "objectives/algebra.py",
        "value_error += term_value_error + unit * abs(value)",
        "value_error += unit * abs(value)",
    ),
    Mutant(
        "objectives/algebra.py",
        "value_error += term_value_error + unit * abs(value)",
        "value_error += term_value_error",
    ),
    Mutant(
        "objectives/algebra.py",
        "grad_error += term_grad_error + unit * float(np.linalg.norm(grad))",
        "grad_error += unit * float(np.linalg.norm(grad))",
    ),
    Mutant(
        "objectives/algebra.py",
        "grad_error += term_grad_error + unit * float(np.linalg.norm(grad))",
        "grad_error += term_grad_error",
    ),
    Mutant("objectives/algebra.py", "self.factor * (1.01 * value_error + unit", "(1.01 * value_error + unit"),
    Mutant("objectives/algebra.py", "1.01 * grad_error + unit * float(np.linalg.norm(grad))", "1.01 * grad_error"),
    Mutant(
        "objectives/linked.py",
        "value_error += (size + slope_error) * image_error + bend / 2",
        "value_error += bend / 2",
    ),
    Mutant("objectives/linked.py", " + bend / 2 * image_error * image_error", ""),
    Mutant("objectives/linked.py", "        slope_error += bend * image_error\n", ""),
    Mutant("objectives/linked.py", "(gamma(t.size) * size + slope_error)", "slope_error"),
    Mutant("objectives/losses/base.py", "gamma(t.size + LINK_UNITS) * value, ", "0.0 * value, "),
    Mutant("objectives/quadratic.py", "gamma(x.size) * (sizes + abs(self.c))", "gamma(x.size) * sizes"),
    Mutant("objectives/quadratic.py", " + 0.5 * image_error * float(np.linalg.norm(x))", ""),
    Mutant("objectives/quadratic.py", "(0.5 * np.abs(image) + np.abs(self.q))", "(0.5 * np.abs(image))"),
    Mutant("objectives/quadratic.py", "return 1.01 * value_error, image_error + 2", "return 1.01 * value_error, 2"),
    Mutant("objectives/norms.py", "return gamma(x.size) * self.value(x), 0.0", "return 0.0, 0.0"),
    Mutant("objectives/losses/square.py", "+ 1.01 * slack + 8", "- 1.01 * slack + 8"),
    Mutant("objectives/losses/square.py", " + length(pulled) * r_error", ""),
    Mutant("objectives/losses/square.py", " + 1.01 * float(np.sqrt(w.max())) * r_error", ""),
    Mutant("objectives/losses/square.py", "if not B < 0 or norm == 0", "if norm == 0"),
]

SETS = [
    Mutant("sets/base.py", "return float(c @ s) - rounding", "return float(c @ s)"),
    Mutant("sets/base.py", "return float(c @ s) - rounding", "return float(c @ s) + rounding"),
    Mutant("sets/base.py", "rounding = (s.size + 8) * UNIT_ROUNDOFF", "rounding = 8 * UNIT_ROUNDOFF"),
    Mutant(
        "sets/product.py",
        "return fsum(bounds) - UNIT_ROUNDOFF * fsum(abs(bound) for bound in bounds)",
        "return max(bounds)",
    ),
    Mutant(
        "numerics/rows.py",
        "fsum(row_terms) + fsum(column_terms) - rounding",
        "fsum(row_terms) + fsum(column_terms)",
    ),
    Mutant("numerics/rows.py", "+ fsum(column_terms) - rounding", "+ fsum(column_terms) + rounding"),
    Mutant("numerics/rows.py", "slopes = reduced - off, reduced + off", "slopes = reduced, reduced"),
    Mutant("numerics/rows.py", "column_terms = np.minimum.reduce", "column_terms = np.maximum.reduce"),
    Mutant(
        "numerics/rows.py",
        "for end in (self.lower, self.upper)])\n        rounding",
        "for end in (self.lower,)])\n        rounding",
    ),
    Mutant(
        "numerics/rows.py",
        "np.where(y > 0, self.low, self.high)[used]",
        "np.where(y > 0, self.high, self.low)[used]",
    ),
    Mutant("numerics/rows.py", "off = 2 * (len(used) + 8) * LONG_ROUNDOFF * size + 2", "off = 2"),
    Mutant(
        "numerics/rows.py",
        " + 2 * UNIT_ROUNDOFF * np.abs(reduced)",
        "",
        "the allowance at the end, 4 units of every term, covers the rounding of the reduced costs",
    ),
    Mutant("numerics/propagation.py", " + (np.bincount(i, minlength=m)[i] + 8) * UNIT_ROUNDOFF * size[i]", ""),
    Mutant("numerics/propagation.py", "(np.bincount(i, minlength=m)[i] + 8) * UNIT_ROUNDOFF", "8 * UNIT_ROUNDOFF"),
    Mutant("numerics/propagation.py", "side[i] - (total[i] - value) +", "side[i] - (total[i] - value) -"),
    Mutant("numerics/propagation.py", "least = np.where(a > 0, a * lower[j], a * upper[j])", "least = a * lower[j]"),
    Mutant("numerics/propagation.py", "high = np.where(a > 0, below, above) / a", "high = below / a"),
    Mutant("numerics/propagation.py", "np.where(unknown[i] - ~finite == 0, room, np.inf)", "room"),
    Mutant("numerics/propagation.py", "better_upper &= new_upper < upper", "better_upper &= new_upper > upper"),
    Mutant("sets/cuts/crossing.py", "gap = value - best", "gap = 0.0 * (value - best)"),
    Mutant("sets/cuts/crossing.py", "(level if new is None else min(level, new.a + lam * new.c))", "level"),
    Mutant(
        "sets/cuts/crossing.py",
        "min(level, new.a + lam * new.c)) - lam * b",
        "max(level, new.a + lam * new.c)) - lam * b",
    ),
    Mutant("sets/cuts/crossing.py", "- lam * b\n        if bound", "\n        if bound"),
    Mutant(
        "sets/cuts/crossing.py",
        "level = min(low.a + lam * low.c, high.a + lam * high.c)",
        "level = max(low.a + lam * low.c, high.a + lam * high.c)",
        "both lines meet at lam; where a bisection puts lam elsewhere, the new vertex lies below both",
    ),
    Mutant(
        "sets/cuts/crossing.py",
        "value = weight * low.a + (1.0 - weight) * high.a",
        "value = weight * high.a + (1.0 - weight) * low.a",
    ),
    Mutant(
        "sets/cuts/crossing.py", "weight = max((b - high.c) / run, 0.0)", "weight = 1.0 - max((b - high.c) / run, 0.0)"
    ),
    Mutant(
        "sets/cuts/crossing.py",
        "if new.c <= b + tol * size_c:\n            high",
        "if new.c >= b + tol * size_c:\n            high",
    ),
    Mutant("sets/cuts/crossing.py", "boundary, b = high.c > b, max(b, high.c)", "boundary, b = False, max(b, high.c)"),
    Mutant("sets/cuts/crossing.py", "if high.c > b + max(tol, SHORTFALL)", "if high.c > b + 1e9 * max(tol, SHORTFALL)"),
    Mutant("sets/cuts/crossing.py", "        if first.c <= b:", "        if first.c > b:"),
    Mutant("sets/cuts/dual.py", "scale * a + (scale * lam) * c", "scale * a + lam * c"),
    Mutant(
        "sets/cuts/dual.py",
        "point = sum(weight * s for weight, s in crossing.mix())",
        "point = sum(s for weight, s in crossing.mix()) / len(crossing.mix())",
    ),
    Mutant("sets/cuts/dual.py", "if least > b + SHORTFALL * size:", "if least > b - SHORTFALL * size:"),
]

ARITHMETIC = [
    Mutant("numerics/extended.py", "return terms + 2.0 if terms <= 16 else 24.0 + float(np.log2(terms))", "return 2.0"),
    Mutant("numerics/extended.py", "else 24.0 + float(np.log2(terms))", "else 2.0 + float(np.log2(terms))"),
    Mutant(
        "numerics/extended.py",
        "return self._units * UNIT * np.asarray(self.size @",
        "return 0 * UNIT * np.asarray(self.size @",
    ),
    Mutant("numerics/extended.py", "np.asarray(self.size @ np.abs(double(x)))", "np.abs(double(self.times(x)))"),
    Mutant("numerics/extended.py", "return self._transposed_units * UNIT *", "return 0 * UNIT *"),
    Mutant("numerics/extended.py", "self.size_transposed @ np.abs(double(y))", "self.size_transposed @ double(y)"),
    Mutant(
        "numerics/extended.py",
        "return np.asarray(np.diff(A.indptr) + 4.0)",
        "return np.asarray(0 * np.diff(A.indptr) + 4.0)",
    ),
    Mutant("numerics/extended.py", "return (terms + 8) * UNIT if WIDE else 3 * UNIT", "return UNIT"),
    Mutant("numerics/extended.py", "return np.asarray(A.astype(np.longdouble) @ x)", "return ext(A @ double(x))"),
    Mutant("numerics/extended.py", "parts[0] + (parts[1] + (parts[2] + rest))", "parts[0] + (parts[1] + parts[2])"),
    Mutant("numerics/extended.py", "weights=high + low, minlength=rows)", "weights=high, minlength=rows)"),
    Mutant(
        "numerics/extended.py",
        "+ a_high * b_low + a_low * b_high) + a_low * b_low",
        "+ a_high * b_low + a_low * b_high)",
    ),
    Mutant("numerics/extended.py", "+ a_high * b_low + a_low * b_high)", "+ a_high * b_low)"),
    Mutant("numerics/extended.py", "scaled = 134217729.0 * a", "scaled = 134217.0 * a"),
    Mutant(
        "engines/columns/evaluated.py",
        "slope_error = LINK_UNITS * UNIT_ROUNDOFF * added + most * image_error",
        "slope_error = LINK_UNITS * UNIT_ROUNDOFF * added",
    ),
    Mutant(
        "engines/columns/evaluated.py",
        "value_error = float(steep @ image_error) + float((most",
        "value_error = float((most",
    ),
    Mutant("engines/columns/evaluated.py", " + float((most * image_error) @ image_error) / 2", ""),
    Mutant("engines/columns/evaluated.py", "value_error += gamma(t.size + LINK_UNITS) * size", "value_error += 0.0"),
    Mutant(
        "engines/columns/evaluated.py",
        "level.sizes_pulled(gamma(t.size) * steep + slope_error)",
        "level.sizes_pulled(slope_error)",
    ),
    Mutant(
        "engines/columns/evaluated.py",
        "level.sizes_pulled(gamma(t.size) * steep + slope_error)",
        "level.sizes_pulled(gamma(t.size) * steep)",
    ),
    Mutant(
        "engines/columns/evaluated.py",
        "value_error += gamma(x.size) * float(np.abs(level.p) @ np.abs(x))",
        "value_error += 0.0",
    ),
    Mutant(
        "engines/columns/evaluated.py", "1.01 * (grad_error + 4 * UNIT_ROUNDOFF * np.abs(grad))", "1.01 * grad_error"
    ),
    Mutant(
        "engines/columns/evaluated.py",
        "slope_error = 1.01 * image_error + 2 * UNIT * steep",
        "slope_error = 2 * UNIT * steep",
    ),
    Mutant(
        "engines/columns/evaluated.py",
        "(product_units(t.size) + UNIT_ROUNDOFF) * float(value)",
        "product_units(t.size) * float(value)",
    ),
    Mutant(
        "engines/columns/evaluated.py",
        "value_error = float(steep @ slope_error) + float(slope_error @ slope_error)",
        "value_error = 0.0",
    ),
    Mutant("engines/columns/evaluated.py", "    grad_error += 2 * UNIT_ROUNDOFF * np.abs(double(grad))\n", ""),
    Mutant("engines/columns/evaluated.py", "    image_error += UNIT_ROUNDOFF * np.abs(double(t))\n", ""),
    Mutant(
        "engines/columns/evaluated.py",
        "return float((size * atoms.extents).max()) * (1 + 4 * UNIT_ROUNDOFF)",
        "return float((size * atoms.extents).max())",
    ),
    Mutant("engines/columns/evaluated.py", "return least - 4 * UNIT_ROUNDOFF * abs(least)", "return least"),
    Mutant(
        "engines/columns/evaluated.py",
        "return least - 4 * UNIT_ROUNDOFF * abs(least)",
        "return least + 4 * UNIT_ROUNDOFF * abs(least)",
    ),
    Mutant("sets/box.py", "np.maximum(np.abs(self.lower), np.abs(self.upper))", "np.abs(self.upper)"),
]

ROWS = [
    Mutant("engines/rows/bracket.py", "float(f.value) - gap - rounding", "float(f.value) - gap"),
    Mutant("engines/rows/bracket.py", "float(f.value) - gap - rounding", "float(f.value) + gap - rounding"),
    Mutant(
        "engines/rows/bracket.py",
        "upper = float(float(f.value) + allowance + 2 * f.value_error + rounding)",
        "upper = float(float(f.value) + allowance)",
    ),
    Mutant(
        "engines/rows/bracket.py",
        "allowance = 2 * loss if trusted else np.inf",
        "allowance = 0.0",
    ),
    Mutant("engines/rows/bracket.py", "2 * loss if trusted else np.inf", "2 * loss"),
    Mutant("engines/rows/degenerate.py", "return most * 1.01", "return most * 0.01"),
    Mutant("engines/rows/degenerate.py", "if exactly and _met(A, double(x), ends):", "if exactly:"),
    Mutant("engines/rows/degenerate.py", "return bool((A @ x == ends).all())", "return True"),
    Mutant(
        "engines/rows/degenerate.py",
        "return with_ends is not None and exact_rank(dense(own)) == with_ends",
        "return with_ends is not None",
    ),
    Mutant("engines/rows/degenerate.py", "np.maximum(most, np.abs(np.linalg.pinv(B)) @ kept)", "most + 0.0 * kept[0]"),
    Mutant("engines/rows/bracket.py", "trusted &= violation <= FEASIBLE", "trusted &= True"),
    Mutant(
        "engines/rows/bracket.py",
        "gap += lam * (record.allowance + float(total(products))",
        "gap += lam * (float(total(products))",
    ),
    Mutant(
        "engines/rows/bracket.py",
        "gap += lam * (record.allowance + float(total(products))",
        "gap += lam * (record.allowance - float(total(products))",
    ),
    Mutant("engines/rows/bracket.py", "gap += reach - float(total(products))", "gap -= float(total(products))"),
    Mutant("engines/rows/bracket.py", "gap += reach - float(total(products))", "gap += reach + float(total(products))"),
    Mutant("engines/rows/bracket.py", "reach = record.dual_size(part) * record.reach", "reach = 0.0"),
    Mutant(
        "engines/rows/bracket.py",
        "row_terms = np.where(y == 0, 0, y * distance)",
        "row_terms = np.where(y == 0, 0, -y * distance)",
    ),
    Mutant(
        "engines/rows/bracket.py",
        "np.where(y > 0, given.low, np.where(y < 0, given.high, 0.0))",
        "np.where(y > 0, given.high, np.where(y < 0, given.low, 0.0))",
    ),
    Mutant("engines/rows/bracket.py", "- float(total(row_terms)) + float(row_error.sum())", "+ float(row_error.sum())"),
    Mutant("engines/rows/bracket.py", "r = grad - face.A.transpose_times(y)", "r = grad + face.A.transpose_times(y)"),
    Mutant("engines/rows/bracket.py", "            r = r - image\n", ""),
    Mutant("engines/rows/bracket.py", "            r = r + lam * record.grad\n", ""),
    Mutant(
        "engines/rows/bracket.py", "(np.maximum(-(r - error), 0), double(above))", "(np.maximum(-r, 0), double(above))"
    ),
    Mutant(
        "engines/rows/bracket.py",
        "least = np.minimum(least, (mu / 2 * best - slope) * best)",
        "least = (mu / 2 * best - slope) * best",
    ),
    Mutant("engines/rows/bracket.py", "(mu / 2 * best - slope) * best", "(mu * best - slope) * best"),
    Mutant(
        "engines/rows/bracket.py",
        "y[((y > 0) & np.isinf(given.low)) | ((y < 0) & np.isinf(given.high))] = 0",
        "y[((y > 0) & np.isinf(given.low))] = 0",
        "the rows of a Polyhedron have finite upper ends",
    ),
    Mutant(
        "engines/rows/held.py", "parts.append(moved + record.reach * record.level.image_size)", "parts.append(moved)"
    ),
    Mutant(
        "engines/rows/held.py",
        "parts.append(moved + record.reach * record.level.image_size)",
        "parts.append(record.reach * record.level.image_size)",
    ),
]

COLUMNS = [
    Mutant("engines/conic/newton_kantorovich.py", "> cone.thick * moved:", "> -1e9:"),
    Mutant(
        "engines/conic/bracket.py",
        "if before else 0.0) + own.lost + images",
        "if before else 0.0) * 0 + own.lost + images",
    ),
    Mutant("engines/columns/bracket.py", "self.g_upper = g + self.g_error", "self.g_upper = g"),
    Mutant("engines/columns/bracket.py", "tangent = g - at_x + least - error", "tangent = g - at_x + least"),
    Mutant("engines/columns/bracket.py", "tangent = g - at_x + least - error", "tangent = g + at_x + least - error"),
    Mutant("engines/columns/bracket.py", "self.gap = at_x - least + error", "self.gap = error"),
    Mutant("engines/columns/bracket.py", "value_gap = max(self.g_upper - self.g_lower, 0.0)", "value_gap = 0.0"),
    Mutant(
        "engines/columns/bracket.py",
        "paid = self.f_error + length(y) * self.delta * (1 + 1e-12)",
        "paid = self.f_error",
    ),
    Mutant("engines/columns/bracket.py", "paid = self.f_error + length(y)", "paid = length(y)"),
    Mutant(
        "engines/columns/bracket.py",
        "least = self._lowest(slope) - float(slope @ self.x)",
        "least = self._lowest(slope) + float(slope @ self.x)",
    ),
    Mutant(
        "engines/columns/bracket.py",
        "best = max(best, f + least - paid - 2 * error - self._dot_error(slope))",
        "best = max(best, f - paid)",
    ),
    Mutant(
        "engines/columns/bracket.py",
        "return float(self.f.value + self.f_error + rise + 8",
        "return float(self.f.value - self.f_error + rise - 8",
    ),
    Mutant(
        "engines/columns/face.py",
        "codes = np.flatnonzero(slope - doubt <= np.min(slope + doubt))",
        "codes = np.flatnonzero(slope + doubt <= np.min(slope + doubt))",
    ),
    Mutant(
        "engines/columns/face.py",
        "plus, minus = slope - doubt <= most, -slope - doubt <= most",
        "plus, minus = slope - doubt <= most, slope + doubt <= most",
    ),
]

POINTS = [
    Mutant("bounds.py", "level = self._most(g, self.problem.lower)", "level = g.value"),
    Mutant("bounds.py", "return h.value + h.value_error + outside\n", "return h.value\n"),
    Mutant("bounds.py", "(h.slope + 0.5 * bend * outside) * outside", "0.0"),
    Mutant(
        "linear_bounds.py", "model = g.smooth - at_x + minimum - error - 4", "model = g.smooth - at_x + minimum - 4"
    ),
    Mutant(
        "linear_bounds.py", "model = g.smooth - at_x + minimum - error", "model = g.smooth + at_x + minimum - error"
    ),
    Mutant("linear_bounds.py", "return sum(terms) - error", "return sum(terms)"),
    Mutant("linear_bounds.py", "return sum(terms) - error", "return sum(terms) + error"),
    Mutant("linear_bounds.py", "lam * (g.smooth - level), -lam", "lam * (g.smooth + level), -lam"),
    Mutant("linear_bounds.py", "slope = f.grad + lam * g.grad", "slope = f.grad - lam * g.grad"),
    Mutant(
        "bounds.py",
        "level, guesses = self.g_upper + self.problem.slack",
        "level, guesses = self.g_lower + self.problem.slack",
    ),
    Mutant("bounds.py", "level, guesses = self.g_upper + self.problem.slack", "level, guesses = self.g_upper"),
    Mutant(
        "linear_bounds.py",
        "return average.constant + minimum - average.error - ulps(average.constant) - ulps(minimum)",
        "return average.constant + minimum",
    ),
    Mutant("linear_bounds.py", "(1 - weight) * old.constant + weight * new.constant", "old.constant"),
    Mutant(
        "bounds.py",
        "allowed = self.g_lower + self.problem.slack\n",
        "allowed = self.g_upper + 2 * self.problem.slack\n",
    ),
    Mutant(
        "bounds.py",
        "slope * delta + 0.5 * problem.upper.smoothness * delta**2",
        "slope * delta - 0.5 * problem.upper.smoothness * delta**2",
    ),
    Mutant("bounds.py", "rises.append(bound.gradient_bound * delta)", "rises.append(0.0 * delta)"),
    Mutant(
        "bounds.py",
        "g_lower, g_upper = max(self.g_lower, answer.g_lower), min(self.g_upper, answer.g_upper)",
        "g_lower, g_upper = min(self.g_lower, answer.g_lower), max(self.g_upper, answer.g_upper)",
    ),
]

MUTANTS = [*OBJECTIVES, *SETS, *ARITHMETIC, *ROWS, *COLUMNS, *POINTS]
