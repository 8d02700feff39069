"""Wrong inputs to sets by cones, later losses, chains, comparisons, proofs and derivatives, as in ``bad_inputs.py``."""

from __future__ import annotations

from bad_values import COUNT, MATRIX, VECTOR

TABLE: list[tuple[str, str, list[str]]] = [
    ("tb.Cone({}, [1.0], [('nonnegative', 1)])", "A", MATRIX),
    ("tb.Cone([[1.0, 1.0]], {}, [('nonnegative', 1)])", "b", [*VECTOR, "None", "[1.0, 2.0]"]),
    ("tb.Cone(np.eye(2), [1.0, 1.0], {})", "cone", [
        "None", "3", "'zero'", "[]", "[('zero', 1)]", "[('zero', 3)]", "[('round', 2)]", "[('zero', -2)]",
        "[('nonnegative', 'a')]", "[('nonnegative', 2.5)]", "[('second-order', 0)]", "[('exponential', 2)]",
        "[('power', 0.5)]", "[('zero', 2, 3)]", "[(2, 'zero')]", "[('nonnegative', nan)]", "{'zero': 2}", "[None]",
        "[('semidefinite', 2)]", "[('triangle', 1.5)]", "[('zero', [2])]", "[('zero', 10**30)]"]),
    ("tb.Cone(np.eye(3), np.ones(3), [('power', {})])", "", ["0", "1", "-1.0", "2", "nan", "inf", "'a'", "1j"]),
    ("tb.Cone(np.eye(2), np.ones(2), [('nonnegative', 2)], names={})", "names", [
        "['a']", "['a', 'a']", "3", "'ab'", "[1, 2]", "['a', 'b', 'c']", "[None, 'b']"]),
    ("tb.Cone([[1.0], [-1.0]], [0.0, -1.0], [('nonnegative', {})])", "empty", ["2"]),
    ("tb.Cone(np.eye(3), -np.ones(3), [('second-order', 3)]).lmo({})", "c", VECTOR),
    ("tb.Space({})", "dim", COUNT),
    ("tb.MaxAffine({})", "A", MATRIX),
    ("tb.MaxAffine([[1.0, 1.0]], {})", "b", [*VECTOR, "[1.0, 2.0]"]),
    ("tb.Softmax({}, [0.0, 1.0])", "A", MATRIX),
    ("tb.Softmax(np.eye(2), {})", "y", [*VECTOR, "[0.5, 1]", "[-1, 1]", "[0, 1, 2]"]),
    ("tb.Softmax(np.eye(2), [0, {}])", "classes", ["1e300", "2**53", "10**7"]),
    ("tb.Softmax(np.eye(2), [0, 1], classes={})", "classes", [*COUNT, "1"]),
    ("tb.Softmax(np.eye(2), [0, 1], weights={})", "weights", [*VECTOR, "[1.0, -1.0]", "[0.0, 0.0]"]),
    ("tb.Poisson({}, [1.0])", "A", MATRIX),
    ("tb.Poisson(np.eye(2), {})", "y", [*VECTOR, "[-1.0, 1.0]", "[1.0]"]),
    ("tb.SquaredHinge(np.eye(2), {})", "y", [*VECTOR, "[1, 2]", "[1]", "[2, 3]"]),
    ("tb.SquaredHinge({}, [1])", "A", MATRIX),
    ("tb.LeastSquares(np.eye(2), [1.0, 1.0], weights={})", "weights", [*VECTOR, "[1.0, -1.0]", "[1.0]"]),
    ("tb.Huber(np.eye(2), [1.0, 1.0], 1.0, weights={})", "weights", [*VECTOR, "[1.0, -1.0]"]),
    ("tb.LossOf({}, np.eye(2))", "loss", ["3", "None", "np.sum", "tb.Loss"]),
    ("tb.Problem(F, [G, G], B, slack={})", "slack", [
        "[0.1]", "[0.1, 0.2, 0.3]", "[-1.0, 0.0]", "[nan, 0.0]", "'ab'", "[[0.1, 0.2]]", "[None, 0.0]", "{}"]),
    ("tb.Problem(F, G, Z, relative_slack={})", "slack", ["-0.1", "nan", "'a'", "inf", "[0.1, 0.2]", "1j", "{}"]),
    ("tb.Problem(F, G, B, names={})", "names", ["['a']", "['a', 'a']", "3", "'ab'", "[1, 2]", "['a', 'b', 'c']"]),
    ("tb.Problem(F, {}, B)", "lower", ["[G, None]", "(G, 'G')", "{'a': G}", "[[G]]", "[tb.SquaredNorm]"]),
    ("tb.lexicographic([G, F], B, slack={})", "slack", ["[0.1, 0.2]", "-1.0", "nan", "'a'", "[None]", "{}"]),
    ("tb.lexicographic([G, F], B, relative_slack={})", "slack", ["-1.0", "nan", "'a'", "[None]", "[0.1, 0.1]"]),
    ("tb.plan({})", "problem", ["3", "None", "F", "[P]"]),
    ("tb.plan(P, {})", "method", ["'cgbio'", "7", "None", "tb.CGBiO"]),
    ("tb.compare({})", "problem", ["3", "None", "F", "[P, P]"]),
    ("tb.compare(P, {})", "method", [
        "3", "[]", "['cgbio']", "[3]", "[None]", "[tb.CGBiO]"]),
    ("tb.compare(P, ['exact'], max_time={})", "max_time", ["0", "-1", "'a'", "nan", "[1.0]"]),
    ("tb.compare(P, ['exact'], {})", "", [
        "callback=print", "verbose=True", "on_interrupt='return'", "x0=[1.0]", "tol_upper=0", "seed='a'"]),
    ("R.vjp({})", "dx", [*VECTOR, "None", "[1.0]", "[1.0, 2.0, 3.0]"]),
    ("R.vjp([1.0, 0.0], {})", "problem", ["3", "F", "tb.Problem(tb.SquaredNorm(dim=3), tb.Linear([1, 1, 1]), Z)"]),
    ("R.vjp([1.0, 0.0], side={})", "side", ["'both'", "3", "None", "['held']"]),
    ("R.prove({})", "problem", [
        "3", "None", "F", "tb.Problem(tb.SquaredNorm(dim=3), tb.Linear([1, 1, 1]), tb.Simplex())"]),
    ("R.prove(tb.Problem(F, G, B), max_time={})", "max_time", ["0", "-1", "'a'", "nan", "None", "[1.0]"]),
    ("R.prove({})", "", ["tb.Problem(F, G, tb.L2Ball(1.0))", "tb.Problem(tb.Logistic(np.eye(2), [1, -1]), G, B)"]),
    ("tb.register({})", "", ["3", "None", "tb.CGBiO()", "object"]),
    ("tb.IRSCG(batch={})", "batch", COUNT),
]  # fmt: skip

SPECIAL: list[tuple[str, str]] = [
    ("tb.solve(tb.Problem(F, G, tb.Space()), 'cg-bio-anytime')", "lmo"),
    ("tb.solve(tb.Problem(F, tb.Linear([1.0, 1.0]), tb.Space(2)), 'cg')", "lmo"),
    ("tb.solve(tb.Problem(tb.MaxAffine(np.eye(2)), G, Z), 'cg-bio')", "upper"),
    ("tb.solve(tb.Problem(F, tb.MaxAffine(np.eye(2)), B), 'big-sam')", "lower"),
    ("tb.solve(tb.Problem(F, G, tb.Cone(np.eye(2), np.ones(2), [('nonnegative', 2)])), 'cg-bio-anytime')", "lmo"),
    ("tb.solve(tb.Problem(F, [G, F], B), 'big-sam')", "levels"),
    ("tb.solve(P, 'cg-bio-anytime', max_iter=1).vjp([1.0, 0.0])", "no derivative is proved"),
    ("tb.Softmax(np.eye(2), [0, 1], classes=10**9)", "classes"),
]
