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
    "sets/": ["tests/sets/test_bounds_hold.py", "tests/sets/test_propagation.py", "tests/sets/test_cut_generic.py"],
    "exact/extended.py": ["tests/exact/test_extended.py"],
    "exact/evaluated.py": ["tests/exact/test_extended.py"],
    "exact/row_bracket.py": ["tests/exact/test_levels_solved_badly.py", "tests/exact/test_row_pitfalls.py"],
    "exact/held.py": ["tests/exact/test_levels_solved_badly.py", "tests/exact/test_row_pitfalls.py"],
    "exact/column_bracket.py": ["tests/exact/test_weights_off_theirs.py", "tests/exact/test_column_bracket.py"],
    "exact/vertex_face.py": ["tests/exact/test_weights_off_theirs.py", "tests/exact/test_column_bracket.py"],
    "certificate.py": ["tests/test_bounds_by_points.py"],
    "linearisation.py": ["tests/test_bounds_by_points.py"],
}

OBJECTIVES = [
    Mutant("objectives/matrix.py", "unit = (terms + 8) * UNIT_ROUNDOFF", "unit = 8 * UNIT_ROUNDOFF"),
    Mutant("objectives/matrix.py", "return gamma(terms) * self.frobenius * length(x)", "return 0.0 * length(x)"),
    Mutant(
        "objectives/matrix.py",
        "return gamma(terms) * self.frobenius * length(x)",
        "return gamma(terms) * length(self.times(x))",
    ),
    Mutant("objectives/linear.py", "return gamma(x.size) * float(np.abs(self.c) @ np.abs(x)), 0.0", "return 0.0, 0.0"),
    Mutant("objectives/linear.py", "float(np.abs(self.c) @ np.abs(x)), 0.0", "abs(float(self.c @ x)), 0.0"),
    Mutant("objectives/linear.py", "return gamma(x.size) * value, 0.0 if", "return 0.0 * value, 0.0 if"),
    Mutant("objectives/linear.py", "2 * UNIT_ROUNDOFF * float(np.linalg.norm(offset))", "0.0"),
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
    Mutant("objectives/linked.py", " + bend / 2 * image_error**2", ""),
    Mutant("objectives/linked.py", "        slope_error += bend * image_error\n", ""),
    Mutant("objectives/linked.py", "(gamma(t.size) * size + slope_error)", "slope_error"),
    Mutant("objectives/linked.py", "gamma(t.size + LINK_UNITS) * value, ", "0.0 * value, "),
    Mutant("objectives/quadratic.py", "gamma(x.size) * (sizes + abs(self.c))", "gamma(x.size) * sizes"),
    Mutant("objectives/quadratic.py", " + 0.5 * image_error * float(np.linalg.norm(x))", ""),
    Mutant("objectives/quadratic.py", "(0.5 * np.abs(image) + np.abs(self.q))", "(0.5 * np.abs(image))"),
    Mutant("objectives/quadratic.py", "return 1.01 * value_error, image_error + 2", "return 1.01 * value_error, 2"),
    Mutant("objectives/norms.py", "return gamma(x.size) * self.value(x), 0.0", "return 0.0, 0.0"),
    Mutant("objectives/least_squares.py", "+ 1.01 * slack + 8", "- 1.01 * slack + 8"),
    Mutant("objectives/least_squares.py", " + length(self.b) * r_error", ""),
    Mutant("objectives/least_squares.py", "(1 + gamma(r.size)) + 1.01 * r_error", "(1 + gamma(r.size))"),
    Mutant("objectives/least_squares.py", "if not B < 0 or norm == 0", "if norm == 0"),
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
        "sets/lp_model.py", "fsum(row_terms) + fsum(column_terms) - rounding", "fsum(row_terms) + fsum(column_terms)"
    ),
    Mutant("sets/lp_model.py", "+ fsum(column_terms) - rounding", "+ fsum(column_terms) + rounding"),
    Mutant("sets/lp_model.py", "slopes = reduced - off, reduced + off", "slopes = reduced, reduced"),
    Mutant("sets/lp_model.py", "column_terms = np.minimum.reduce", "column_terms = np.maximum.reduce"),
    Mutant(
        "sets/lp_model.py",
        "for end in (self.lower, self.upper)])\n        rounding",
        "for end in (self.lower,)])\n        rounding",
    ),
    Mutant(
        "sets/lp_model.py", "np.where(y > 0, self.low, self.high)[used]", "np.where(y > 0, self.high, self.low)[used]"
    ),
    Mutant("sets/lp_model.py", "off = 2 * (len(used) + 8) * LONG_ROUNDOFF * size + 2", "off = 2"),
    Mutant(
        "sets/lp_model.py",
        " + 2 * UNIT_ROUNDOFF * np.abs(reduced)",
        "",
        "the allowance at the end, 4 units of every term, covers the rounding of the reduced costs",
    ),
    Mutant("sets/propagation.py", " + (np.bincount(i, minlength=m)[i] + 8) * UNIT_ROUNDOFF * size[i]", ""),
    Mutant("sets/propagation.py", "(np.bincount(i, minlength=m)[i] + 8) * UNIT_ROUNDOFF", "8 * UNIT_ROUNDOFF"),
    Mutant("sets/propagation.py", "side[i] - (total[i] - value) +", "side[i] - (total[i] - value) -"),
    Mutant("sets/propagation.py", "least = np.where(a > 0, a * lower[j], a * upper[j])", "least = a * lower[j]"),
    Mutant("sets/propagation.py", "high = np.where(a > 0, below, above) / a", "high = below / a"),
    Mutant("sets/propagation.py", "np.where(unknown[i] - ~finite == 0, room, np.inf)", "room"),
    Mutant("sets/propagation.py", "better_upper &= new_upper < upper", "better_upper &= new_upper > upper"),
    Mutant("sets/crossing.py", "gap = value - best", "gap = 0.0 * (value - best)"),
    Mutant("sets/crossing.py", "(level if new is None else min(level, new.a + lam * new.c))", "level"),
    Mutant(
        "sets/crossing.py", "min(level, new.a + lam * new.c)) - lam * b", "max(level, new.a + lam * new.c)) - lam * b"
    ),
    Mutant("sets/crossing.py", "- lam * b\n        if bound", "\n        if bound"),
    Mutant(
        "sets/crossing.py",
        "level = min(low.a + lam * low.c, high.a + lam * high.c)",
        "level = max(low.a + lam * low.c, high.a + lam * high.c)",
        "both lines meet at lam; where a bisection puts lam elsewhere, the new vertex lies below both",
    ),
    Mutant(
        "sets/crossing.py",
        "value = weight * low.a + (1.0 - weight) * high.a",
        "value = weight * high.a + (1.0 - weight) * low.a",
    ),
    Mutant("sets/crossing.py", "weight = max((b - high.c) / run, 0.0)", "weight = 1.0 - max((b - high.c) / run, 0.0)"),
    Mutant(
        "sets/crossing.py",
        "if new.c <= b + tol * size_c:\n            high",
        "if new.c >= b + tol * size_c:\n            high",
    ),
    Mutant("sets/crossing.py", "boundary, b = high.c > b, max(b, high.c)", "boundary, b = False, max(b, high.c)"),
    Mutant("sets/crossing.py", "if high.c > b + max(tol, SHORTFALL)", "if high.c > b + 1e9 * max(tol, SHORTFALL)"),
    Mutant("sets/crossing.py", "        if first.c <= b:", "        if first.c > b:"),
    Mutant("sets/cut.py", "scale * a + (scale * lam) * c", "scale * a + lam * c"),
    Mutant(
        "sets/cut.py",
        "point = sum(weight * s for weight, s in vertices)",
        "point = sum(s for weight, s in vertices) / len(vertices)",
    ),
    Mutant("sets/cut.py", "if least > b + SHORTFALL * size:", "if least > b - SHORTFALL * size:"),
]

ARITHMETIC = [
    Mutant("exact/extended.py", "return terms + 2.0 if terms <= 16 else 24.0 + float(np.log2(terms))", "return 2.0"),
    Mutant("exact/extended.py", "else 24.0 + float(np.log2(terms))", "else 2.0 + float(np.log2(terms))"),
    Mutant(
        "exact/extended.py",
        "return self._units * UNIT * np.asarray(self.size @",
        "return 0 * UNIT * np.asarray(self.size @",
    ),
    Mutant("exact/extended.py", "np.asarray(self.size @ np.abs(double(x)))", "np.abs(double(self.times(x)))"),
    Mutant("exact/extended.py", "return self._transposed_units * UNIT *", "return 0 * UNIT *"),
    Mutant("exact/extended.py", "self.size.T @ np.abs(double(y))", "self.size.T @ double(y)"),
    Mutant(
        "exact/extended.py",
        "return np.asarray(np.diff(A.indptr) + 4.0)",
        "return np.asarray(0 * np.diff(A.indptr) + 4.0)",
    ),
    Mutant("exact/extended.py", "return (terms + 8) * UNIT if WIDE else 3 * UNIT", "return UNIT"),
    Mutant("exact/extended.py", "return np.asarray(A.astype(np.longdouble) @ x)", "return ext(A @ double(x))"),
    Mutant("exact/extended.py", "parts[0] + (parts[1] + (parts[2] + rest))", "parts[0] + (parts[1] + parts[2])"),
    Mutant("exact/extended.py", "weights=high + low, minlength=rows)", "weights=high, minlength=rows)"),
    Mutant(
        "exact/extended.py", "+ a_high * b_low + a_low * b_high) + a_low * b_low", "+ a_high * b_low + a_low * b_high)"
    ),
    Mutant("exact/extended.py", "+ a_high * b_low + a_low * b_high)", "+ a_high * b_low)"),
    Mutant("exact/extended.py", "scaled = 134217729.0 * a", "scaled = 134217.0 * a"),
    Mutant(
        "exact/evaluated.py",
        "slope_error = LINK_UNITS * UNIT_ROUNDOFF * steep + most * image_error",
        "slope_error = LINK_UNITS * UNIT_ROUNDOFF * steep",
    ),
    Mutant("exact/evaluated.py", "value_error = float(steep @ image_error) + float((most", "value_error = float((most"),
    Mutant("exact/evaluated.py", " + float((most * image_error) @ image_error) / 2", ""),
    Mutant("exact/evaluated.py", "value_error += gamma(t.size + LINK_UNITS) * value", "value_error += 0.0"),
    Mutant(
        "exact/evaluated.py",
        "level.sizes_pulled(gamma(t.size) * steep + slope_error)",
        "level.sizes_pulled(slope_error)",
    ),
    Mutant(
        "exact/evaluated.py",
        "level.sizes_pulled(gamma(t.size) * steep + slope_error)",
        "level.sizes_pulled(gamma(t.size) * steep)",
    ),
    Mutant(
        "exact/evaluated.py", "value_error += gamma(x.size) * float(np.abs(level.p) @ np.abs(x))", "value_error += 0.0"
    ),
    Mutant("exact/evaluated.py", "1.01 * (grad_error + 4 * UNIT_ROUNDOFF * np.abs(grad))", "1.01 * grad_error"),
    Mutant(
        "exact/evaluated.py", "slope_error = 1.01 * image_error + 2 * UNIT * steep", "slope_error = 2 * UNIT * steep"
    ),
    Mutant(
        "exact/evaluated.py",
        "(product_units(t.size) + UNIT_ROUNDOFF) * float(value)",
        "product_units(t.size) * float(value)",
    ),
    Mutant(
        "exact/evaluated.py",
        "value_error = float(steep @ slope_error) + float(slope_error @ slope_error)",
        "value_error = 0.0",
    ),
    Mutant("exact/evaluated.py", "    grad_error += 2 * UNIT_ROUNDOFF * np.abs(double(grad))\n", ""),
    Mutant("exact/evaluated.py", "    image_error += UNIT_ROUNDOFF * np.abs(double(t))\n", ""),
    Mutant(
        "exact/evaluated.py",
        "return float((size * atoms.extents).max()) * (1 + 4 * UNIT_ROUNDOFF)",
        "return float((size * atoms.extents).max())",
    ),
    Mutant("exact/evaluated.py", "return least - 4 * UNIT_ROUNDOFF * abs(least)", "return least"),
    Mutant(
        "exact/evaluated.py",
        "return least - 4 * UNIT_ROUNDOFF * abs(least)",
        "return least + 4 * UNIT_ROUNDOFF * abs(least)",
    ),
    Mutant("exact/evaluated.py", "np.maximum(np.abs(domain.lower), np.abs(domain.upper))", "np.abs(domain.upper)"),
]

ROWS = [
    Mutant("exact/row_bracket.py", "float(f.value) - gap - rounding", "float(f.value) - gap"),
    Mutant("exact/row_bracket.py", "float(f.value) - gap - rounding", "float(f.value) + gap - rounding"),
    Mutant(
        "exact/row_bracket.py",
        "upper = float(float(f.value) + allowance + rounding)",
        "upper = float(float(f.value) + allowance)",
    ),
    Mutant(
        "exact/row_bracket.py",
        "allowance = 2 * loss + 2 * f.value_error if trusted else np.inf",
        "allowance = 2 * f.value_error",
    ),
    Mutant("exact/row_bracket.py", "2 * f.value_error if trusted else np.inf", "2 * f.value_error"),
    Mutant("exact/row_bracket.py", "trusted &= violation <= FEASIBLE", "trusted &= True"),
    Mutant(
        "exact/row_bracket.py",
        "gap += lam * (record.allowance + float(total(products))",
        "gap += lam * (float(total(products))",
    ),
    Mutant(
        "exact/row_bracket.py",
        "gap += lam * (record.allowance + float(total(products))",
        "gap += lam * (record.allowance - float(total(products))",
    ),
    Mutant("exact/row_bracket.py", "gap += reach - float(total(products))", "gap -= float(total(products))"),
    Mutant("exact/row_bracket.py", "gap += reach - float(total(products))", "gap += reach + float(total(products))"),
    Mutant("exact/row_bracket.py", "reach = record.level.dual_size(part) * record.reach", "reach = 0.0"),
    Mutant(
        "exact/row_bracket.py",
        "row_terms = np.where(y == 0, 0, y * distance)",
        "row_terms = np.where(y == 0, 0, -y * distance)",
    ),
    Mutant(
        "exact/row_bracket.py",
        "np.where(y > 0, given.low, np.where(y < 0, given.high, 0.0))",
        "np.where(y > 0, given.high, np.where(y < 0, given.low, 0.0))",
    ),
    Mutant("exact/row_bracket.py", "- float(total(row_terms)) + float(row_error.sum())", "+ float(row_error.sum())"),
    Mutant("exact/row_bracket.py", "r = grad - face.A.transpose_times(y)", "r = grad + face.A.transpose_times(y)"),
    Mutant("exact/row_bracket.py", "            r = r - image\n", ""),
    Mutant("exact/row_bracket.py", "            r = r + lam * record.grad\n", ""),
    Mutant(
        "exact/row_bracket.py", "(np.maximum(-(r - error), 0), double(above))", "(np.maximum(-r, 0), double(above))"
    ),
    Mutant(
        "exact/row_bracket.py",
        "least = np.minimum(least, (mu / 2 * best - slope) * best)",
        "least = (mu / 2 * best - slope) * best",
    ),
    Mutant("exact/row_bracket.py", "(mu / 2 * best - slope) * best", "(mu * best - slope) * best"),
    Mutant(
        "exact/row_bracket.py",
        "y[((y > 0) & np.isinf(given.low)) | ((y < 0) & np.isinf(given.high))] = 0",
        "y[((y > 0) & np.isinf(given.low))] = 0",
        "the rows of a Polyhedron have finite upper ends",
    ),
    Mutant("exact/held.py", "parts.append(moved + record.reach * record.level.image_size)", "parts.append(moved)"),
    Mutant(
        "exact/held.py",
        "parts.append(moved + record.reach * record.level.image_size)",
        "parts.append(record.reach * record.level.image_size)",
    ),
]

COLUMNS = [
    Mutant("exact/column_bracket.py", "self.g_upper = g + self.g_error", "self.g_upper = g"),
    Mutant("exact/column_bracket.py", "tangent = g - at_x + least - error", "tangent = g - at_x + least"),
    Mutant("exact/column_bracket.py", "tangent = g - at_x + least - error", "tangent = g + at_x + least - error"),
    Mutant("exact/column_bracket.py", "self.gap = at_x - least + error", "self.gap = error"),
    Mutant("exact/column_bracket.py", "value_gap = max(self.g_upper - self.g_lower, 0.0)", "value_gap = 0.0"),
    Mutant(
        "exact/column_bracket.py", "paid = self.f_error + length(y) * self.delta * (1 + 1e-12)", "paid = self.f_error"
    ),
    Mutant("exact/column_bracket.py", "paid = self.f_error + length(y)", "paid = length(y)"),
    Mutant(
        "exact/column_bracket.py",
        "least = self._lowest(slope) - float(slope @ self.x)",
        "least = self._lowest(slope) + float(slope @ self.x)",
    ),
    Mutant(
        "exact/column_bracket.py",
        "best = max(best, f + least - paid - 2 * error - self._dot_error(slope))",
        "best = max(best, f - paid)",
    ),
    Mutant(
        "exact/column_bracket.py",
        "return float(self.f.value + self.f_error + rise + 8",
        "return float(self.f.value - self.f_error + rise - 8",
    ),
    Mutant(
        "exact/vertex_face.py",
        "codes = np.flatnonzero(slope - doubt <= np.min(slope + doubt))",
        "codes = np.flatnonzero(slope + doubt <= np.min(slope + doubt))",
    ),
    Mutant(
        "exact/vertex_face.py",
        "plus, minus = slope - doubt <= most, -slope - doubt <= most",
        "plus, minus = slope - doubt <= most, slope + doubt <= most",
    ),
]

POINTS = [
    Mutant("certificate.py", "level = self._most(g, self.problem.lower.smoothness)", "level = g.value"),
    Mutant("certificate.py", "return h.value + h.value_error + outside\n", "return h.value\n"),
    Mutant("certificate.py", "(h.slope + 0.5 * (smoothness or 0.0) * outside) * outside", "0.0"),
    Mutant("certificate.py", "return g.smooth - at_x + minimum - error - 4", "return g.smooth - at_x + minimum - 4"),
    Mutant("certificate.py", "return g.smooth - at_x + minimum - error", "return g.smooth + at_x + minimum - error"),
    Mutant("certificate.py", "return sum(terms) - error", "return sum(terms)"),
    Mutant("certificate.py", "return sum(terms) - error", "return sum(terms) + error"),
    Mutant("certificate.py", "lam * (g.smooth - level), -lam", "lam * (g.smooth + level), -lam"),
    Mutant("certificate.py", "slope = f.grad + lam * g.grad", "slope = f.grad - lam * g.grad"),
    Mutant("certificate.py", "level = self.g_upper + self.problem.slack", "level = self.g_lower + self.problem.slack"),
    Mutant("certificate.py", "level = self.g_upper + self.problem.slack", "level = self.g_upper"),
    Mutant(
        "certificate.py",
        "bound = average.constant + minimum - average.error - ulps(average.constant) - ulps(minimum)",
        "bound = average.constant + minimum",
    ),
    Mutant("certificate.py", "(1 - weight) * old.constant + weight * new.constant", "old.constant"),
    Mutant(
        "certificate.py",
        "allowed = self.g_lower + self.problem.slack\n",
        "allowed = self.g_upper + 2 * self.problem.slack\n",
    ),
    Mutant(
        "certificate.py",
        "slope * delta + 0.5 * problem.upper.smoothness * delta**2",
        "slope * delta - 0.5 * problem.upper.smoothness * delta**2",
    ),
    Mutant("certificate.py", "rises.append(bound.gradient_bound * delta)", "rises.append(0.0 * delta)"),
    Mutant(
        "certificate.py",
        "g_lower, g_upper = max(self.g_lower, answer.g_lower), min(self.g_upper, answer.g_upper)",
        "g_lower, g_upper = min(self.g_lower, answer.g_lower), max(self.g_upper, answer.g_upper)",
    ),
]

MUTANTS = [*OBJECTIVES, *SETS, *ARITHMETIC, *ROWS, *COLUMNS, *POINTS]
