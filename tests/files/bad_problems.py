"""Problem files with one mistake each.

Each case changes a good file; the comment ``# here`` marks the line that the message must name.
"""

from __future__ import annotations

GOOD = """\
[upper]
type = "SquaredNorm"

[lower]
type = "LeastSquares"
A = [[1.0, 1.0, 1.0]]
b = [1.0]

[domain]
type = "L1Ball"
radius = 2.0
"""

A = "A = [[1.0, 1.0, 1.0]]"
DOMAIN = 'type = "L1Ball"\nradius = 2.0'
UPPER = 'type = "SquaredNorm"'

# name: (what is replaced, by what, the key, words of the message)
CASES = {
    # the file as a whole
    "syntax": (A, "A = [[1.0, 1.0 1.0]] # here", "", ["not valid TOML"]),
    "unclosed": ("b = [1.0]", 'b = "1.0 # here', "", ["not valid TOML"]),
    "twice": ("radius = 2.0", "radius = 2.0\nradius = 3.0 # here", "", ["not valid TOML"]),
    "unknown table": ("[domain]", "[domian] # here", "domian", ["did you mean 'domain'?"]),
    "unknown key": ("[upper]", "tol_upper = 1e-3 # here\n[upper]", "tol_upper", ["no key 'tol_upper'"]),
    "not a table": ("[upper]\n" + UPPER, "upper = 3 # here", "upper", ["must be a table"]),
    "no lower": ("[lower]", "[levels] # here", "upper", ["chain of levels has no key 'upper'"]),
    # names
    "no type": (UPPER, "dim = 3", "upper", ["type is missing", "LeastSquares"]),
    "objective": (UPPER, 'type = "SquareNorm" # here', "upper.type", ["did you mean 'SquaredNorm'?"]),
    "bare objective": ("[upper]\n" + UPPER, 'upper = "L2" # here', "upper.type", ["no objective 'L2'"]),
    "set": ('type = "L1Ball"', 'type = "L1ball" # here', "domain.type", ["did you mean 'L1Ball'?", "Birkhoff"]),
    "set as objective": (UPPER, 'type = "L1Ball" # here', "upper.type", ["no objective 'L1Ball'"]),
    "type no text": (UPPER, "type = 3 # here", "upper.type", ["must be a text, got 3"]),
    "function": (UPPER, 'type = "Function" # here', "upper.type", ["no objective 'Function'"]),
    # parameters
    "parameter": ("radius = 2.0", "radus = 2.0 # here", "domain.radus", ["did you mean 'radius'?", "weights"]),
    "dotted": ("radius = 2.0", "radius = 2.0\nweights.fiel = 1 # here", "domain.weights", ["needs file"]),
    "quoted": ("radius = 2.0", 'radius = 2.0\n"my key" = 1 # here', "domain.'my key'", ["no parameter 'my key'"]),
    "missing parameter": ("radius = 2.0", "", "domain", ["L1Ball needs radius"]),
    "negative": ("radius = 2.0", "radius = -2.0 # here", "domain.radius", ["must be positive"]),
    "infinite": ("radius = 2.0", "radius = inf # here", "domain.radius", ["infinite"]),
    "text for number": ("radius = 2.0", 'radius = "2" # here', "domain.radius", ["must be a number, got '2'"]),
    "boolean": ("radius = 2.0", "radius = true # here", "domain.radius", ["must be a number, got True"]),
    "array for number": ("radius = 2.0", "radius = [2.0] # here", "domain.radius", ["must be a number"]),
    "whole number": (UPPER, UPPER + "\ndim = 2.5 # here", "upper.dim", ["must be a whole number"]),
    "no whole number": (UPPER, UPPER + "\ndim = true # here", "upper.dim", ["must be a whole number, got True"]),
    "weight": (UPPER, UPPER + "\nweight = -1.0 # here", "upper.weight", ["weight must be positive"]),
    "weight no number": (UPPER, UPPER + '\nweight = "1" # here', "upper.weight", ["must be a number"]),
    "p = 1": (DOMAIN, 'type = "LpBall"\nradius = 1.0\np = 1 # here', "domain.p", ["use L1Ball(radius)"]),
    # objectives
    "minus a square": (
        'type = "LeastSquares"',
        'type = "LeastSquares"\nweight = -1 # here',
        "lower.weight",
        ["minus Least"],
    ),
    "negative count": (
        'type = "LeastSquares"\n' + A + "\nb = [1.0]",
        'type = "Poisson"\n' + A + "\ny = [-1.0] # here",
        "lower.y",
        ["must not be negative", "-1"],
    ),
    "half a class": (
        'type = "LeastSquares"\n' + A + "\nb = [1.0]",
        'type = "Softmax"\nA = [[1], [1]]\ny = [0, 0.5] # here',
        "lower.y",
        ["classes 0, 1, ..., K - 1"],
    ),
    "negative weight of a row": ("b = [1.0]", "b = [1.0]\nweights = [-1] # here", "lower.weights", ["not be negative"]),
    "targets without data": (
        "[upper]\n" + UPPER,
        '[upper]\ntype = "L1Norm"\nb = [1.0] # here',
        "upper.b",
        ["b goes with A"],
    ),
    "written in Python": (UPPER, 'type = "LossOf" # here', "upper.type", ["no objective 'LossOf'"]),
    # arrays
    "ragged": (A, "A = [\n  [1.0, 1.0, 1.0],\n  [1.0, 1.0], # here\n]", "lower.A[1]", ["differ in length"]),
    "mixed": (A, "A = [\n  [1.0, 1.0, 1.0],\n  1.0, # here\n]", "lower.A[1]", ["differ in length"]),
    "nan": (A, "A = [\n  [1.0, 1.0, 1.0],\n  [1.0,\n  nan, 1.0], # here\n]", "lower.A[1][1]", ["NaN"]),
    "infinite entry": (A, "A = [[1.0, inf, 1.0]] # here", "lower.A", ["NaN or infinite"]),
    "text": (A, 'A = [["a", "b", "c"]] # here', "lower.A", ["must hold real numbers"]),
    "shape": (A, "A = [1.0, 1.0, 1.0] # here", "lower.A", ["2-D"]),
    "length": ("b = [1.0]", "b = [1.0, 2.0] # here", "lower.b", ["has length 2, expected 1"]),
    "empty": (A, "A = [] # here", "lower.A", ["2-D"]),
    "huge": ("b = [1.0]", f"b = [{10**400}] # here", "lower.b", ["real numbers"]),
    "date": ("b = [1.0]", "b = 2024-01-01 # here", "lower.b", ["real numbers"]),
    # the problem
    "dimensions": (
        "[upper]\n" + UPPER,
        '[upper] # here\ntype = "Linear"\nc = [1.0]',
        "upper",
        ["upper has 1, lower has 3"],
    ),
    "below a table": (
        '[lower]\ntype = "LeastSquares"\n' + A + "\nb = [1.0]",
        'lower = "SquaredNorm" # here',
        "upper.lower",
        ["SquaredNorm has no parameter 'lower'", "must stand above the first [table]"],
    ),
    "nonconvex": (
        '[lower]\ntype = "LeastSquares"\n' + A + "\nb = [1.0]",
        '[lower] # here\ntype = "Quadratic"\nQ = [[-1.0]]\nq = [0.0]',
        "lower",
        ["not known to be convex"],
    ),
    "slack": ("[upper]", "slack = -1.0 # here\n[upper]", "slack", ["must not be negative"]),
    "slack and slacks": ("[upper]", "slack = 0.1\nslacks = [0.1] # here\n[upper]", "slacks", ["not both"]),
    "slacks": ("[upper]", "slacks = [0.1, 0.0] # here\n[upper]", "slacks", ["positive"]),
    "error bound": (
        "[domain]",
        "[error_bound]\nalpha = 1.0\nr = 0.5 # here\n[domain]",
        "error_bound.r",
        ["r must be at least 1"],
    ),
    "x0": ("[upper]", "x0 = [[1.0]] # here\n[upper]", "x0", ["1-D"]),
    # sets of sets, sums, polyhedra
    "terms": ("[upper]\n" + UPPER, "[upper]\nterms = [] # here", "upper.terms", ["list of objectives"]),
    "term": (
        "[upper]\n" + UPPER,
        '[[upper.terms]]\ntype = "SquaredNorm"\n[[upper.terms]]\ntype = "Linear"\nd = [1, 1, 1] # here',
        "upper.terms[1].d",
        ["Linear has no parameter 'd'"],
    ),
    "sum of sizes": (
        "[upper]\n" + UPPER,
        '[upper]\nterms = [ # here\n{ type = "Linear", c = [1] },\n{ type = "Linear", c = [1, 2] } ]',
        "upper.terms",
        ["one dimension"],
    ),
    "terms and type": (
        UPPER,
        'terms = ["SquaredNorm"]\ntype = "Linear" # here',
        "upper.type",
        ["a sum has no parameter"],
    ),
    "no blocks": (DOMAIN, 'type = "Product"', "domain", ["Product needs blocks"]),
    "block": (
        DOMAIN,
        'type = "Product"\n[domain.blocks]\nw = { type = "Box", lower = 0,\nx = 1 } # here'.replace(",\n", ", "),
        "domain.blocks.w.x",
        ["Box has no parameter 'x'"],
    ),
    "no shape": (
        DOMAIN,
        'type = "Product"\n[domain.blocks] # here\nw = "Simplex"',
        "domain.blocks",
        ["blocks['w'] needs a shape"],
    ),
    "shape of block": (
        DOMAIN,
        'type = "Product"\n[domain.blocks.w]\ntype = "Simplex"\nshape = "3" # here',
        "domain.blocks.w.shape",
        ["must be a whole number"],
    ),
    "empty polyhedron": (
        DOMAIN,
        'type = "Polyhedron"\nA_ub = [[1.0, 1.0, 1.0]]\nb_ub = [-1.0]\nbounds = [0, 1] # here',
        "domain.bounds",
        ["no point satisfies"],
    ),
    "bounds": (
        DOMAIN,
        'type = "Polyhedron"\nA_ub = [[1, 1, 1]]\nb_ub = [1]\nbounds = [[1, 0], [0, 1], [0, 1]] # here',
        "domain.bounds",
        ["low 1 above high 0"],
    ),
    "box": (DOMAIN, 'type = "Box"\nlower = 0\nupper = [1, nan, 1] # here', "domain.upper[1]", ["NaN"]),
    "groups": (
        DOMAIN,
        'type = "GroupBall"\nradius = 1\ngroups = [[0, 1], [1]] # here',
        "domain.groups",
        ["exactly once"],
    ),
    # methods
    "method": ("[upper]", 'method = "cg-boi" # here\n[upper]', "method", ["did you mean 'cg-bio'?"]),
    "method no text": ("[upper]", "method = 3 # here\n[upper]", "method", ["the name of a method"]),
    "method without name": ("[upper]", 'method = { initial = "exact" } # here\n[upper]', "method", ["name is missing"]),
    "auto": (
        "[domain]",
        '[method]\nname = "auto"\nstep = 1 # here\n[domain]',
        "method.step",
        ["auto has no parameters"],
    ),
    "parameter of method": (
        "[domain]",
        '[method]\nname = "cg-bio-anytime"\nstpe = 1 # here\n[domain]',
        "method.stpe",
        ["cg-bio-anytime has no parameter 'stpe'; did you mean 'step'?", "lower_steps"],
    ),
    "method without parameters": (
        "[domain]",
        '[method]\nname = "exact"\ntol = 1 # here\n[domain]',
        "method.tol",
        ["exact has no parameter 'tol'; it has none"],
    ),
    "choice": (
        "[domain]",
        '[method]\nname = "cg-bio"\ninitial = "exat" # here\n[domain]',
        "method.initial",
        ["one of 'harmonic', 'exact', 'backtracking'"],
    ),
    "step": (
        "[domain]",
        '[method]\nname = "cg-bio-anytime"\nstep = { type = "Harmonc" } # here\n[domain]',
        "method.step.type",
        ["no step rule 'Harmonc'; did you mean 'Harmonic'?"],
    ),
    "step size": (
        "[domain]",
        '[method]\nname = "cg-bio-anytime"\n[method.step]\ntype = "Constant"\nc = 2 # here\n[domain]',
        "method.step.c",
        ["c must be in (0, 1]"],
    ),
    "value of parameter": (
        "[domain]",
        '[method]\nname = "mng"\nM = -1.0 # here\n[domain]',
        "method.M",
        ["M must be positive"],
    ),
    # limits and output
    "limit": ("[domain]", "[limits]\nmaxiter = 5 # here\n[domain]", "limits.maxiter", ["did you mean 'max_iter'?"]),
    "no limit": ("[domain]", "[limits]\nmax_iter = 0 # here\n[domain]", "limits.max_iter", ["at least 1"]),
    "half an update": ("[domain]", "[limits]\nmax_iter = 1.5 # here\n[domain]", "limits.max_iter", ["whole number"]),
    "tolerance": ("[domain]", "[limits]\ntol_upper = 0.0 # here\n[domain]", "limits.tol_upper", ["positive"]),
    "limits no table": ("[upper]", "limits = 3 # here\n[upper]", "limits", ["must be a table"]),
    "output": ("[upper]", "output = 3 # here\n[upper]", "output", ["name of a file"]),
    # chains
    "levels": ("[upper]\n" + UPPER, "levels = 3 # here", "lower", ["chain of levels has no key 'lower'"]),
}
