"""Wrong inputs by hand over the whole public API: each must raise an error of ours that names what is wrong.

    python benchmarks/bad_inputs.py [--show WORD]

An input is a line of Python and a word that the message must have. It passes with a ``ValueError`` or ``TypeError``
(or ``NotProved``, or, at its door, an error in CVXPY's own terms) that was raised by a ``raise`` of this library, with
that word in it. Everything else is a failure: an error of NumPy, SciPy or HiGHS, another type of error, no error at
all, a hang.
"""

from __future__ import annotations

import argparse
import linecache
import signal
import sys
import tempfile
import traceback
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

import bad_inputs_doors
import bad_inputs_later
import tiebreak as tb
from bad_values import COUNT, MATRIX, NUMBER, POSITIVE, VECTOR

SECONDS = 20

FIRST: list[tuple[str, str, list[str]]] = [
    # -- sets
    ("tb.L1Ball({})", "radius", [*POSITIVE, "None"]),
    ("tb.L1Ball(1.0, weights={})", "weights", [*VECTOR, "[1.0, -1.0]", "[0.0, 1.0]", "np.inf"]),
    ("tb.L2Ball({})", "radius", [*POSITIVE, "None"]),
    ("tb.L2Ball(1.0, center={})", "center", VECTOR),
    ("tb.LpBall({}, 1.0)", "p", ["'2'", "nan", "1.0", "0.5", "-2", "None", "[2.0, 3.0]", "10**400"]),
    ("tb.LpBall(3.0, {})", "radius", POSITIVE),
    ("tb.LpBall(3.0, 1.0, dim={})", "dim", COUNT),
    ("tb.Box({}, np.ones(2))", "lower", [
        "'abc'", "[0.0, nan]", "[1j, 0.0]", "[[0.0, 0.0]]", "[None, 0.0]", "[]", "[2.0, 0.0]", "[0.0, 0.0, 0.0]",
        "{}", "[[1.0], [2.0, 3.0]]"]),
    ("tb.Box(np.zeros(2), {})", "upper", [
        "'abc'", "[1.0, nan]", "[1j, 1.0]", "[[1.0, 1.0]]", "[None, 1.0]", "[]", "[-1.0, 1.0]", "{}"]),
    ("tb.Box(0.0, 1.0, dim={})", "dim", COUNT),
    ("tb.Simplex({})", "total", [*POSITIVE, "None"]),
    ("tb.KSparse({}, 1.0)", "k", [*COUNT, "None"]),
    ("tb.KSparse(2, {})", "radius", POSITIVE),
    ("tb.GroupBall({}, 1.0)", "groups", [
        "[]", "[[0, 1], [1, 2]]", "[[0], []]", "[0.5, 1.5]", "[[0, 5]]", "['a', 'b']", "3", "None", "[[0, 1], 2]",
        "[[[0]]]", "[[-1, 0]]"]),
    ("tb.GroupBall([[0], [1]], {})", "radius", POSITIVE),
    ("tb.NuclearBall({}, 1.0)", "shape", [
        "3", "(2,)", "(2, 3, 4)", "(0, 2)", "(2.5, 2)", "'ab'", "None", "(-1, 2)", "('a', 2)"]),
    ("tb.NuclearBall((2, 3), {})", "radius", POSITIVE),
    ("tb.Spectrahedron({})", "n", [*COUNT, "None"]),
    ("tb.Spectrahedron(2, {})", "trace", POSITIVE),
    ("tb.Birkhoff({})", "n", [*COUNT, "None"]),
    ("tb.Polyhedron(A_ub={}, b_ub=[1.0], bounds=(0, 1))", "A_ub", [m for m in MATRIX if m != "None"]),
    ("tb.Polyhedron(A_ub=[[1.0, 1.0]], b_ub={}, bounds=(0, 1))", "b_ub", [*VECTOR, "None", "[1.0, 2.0]"]),
    ("tb.Polyhedron(A_eq={}, b_eq=[1.0], bounds=(0, 1))", "A_eq", [
        "'abc'", "[1.0, 2.0]", "[[nan, 1.0]]", "[[1j, 1.0]]", "object()"]),
    ("tb.Polyhedron(A_eq=[[1.0, 1.0]], b_eq={}, bounds=(0, 1))", "b_eq", VECTOR),
    ("tb.Polyhedron(A_ub=[[1.0, 1.0]], b_ub=[1.0], bounds={})", "bounds", [
        "(1, 0)", "'ab'", "(0, nan)", "[(0, 1)]", "3", "(0, 1, 2)", "[(0, 1), 2]", "[(0, 1), (None,)]",
        "[(1j, 2), (0, 1)]", "[(0, 1), (2, 1)]"]),
    ("tb.Polyhedron({})", "", ["", "bounds=(0, 1)", "b_ub=[1.0]", "A_eq=[[1.0]]"]),
    ("tb.Polyhedron(A_ub=[[1.0, 0.0]], b_ub=[-1.0], bounds={})", "empty", ["(0, 1)"]),
    ("tb.Polyhedron(A_ub=[[1.0, 0.0]], b_ub=[1.0], A_eq=[[1.0]], b_eq=[1.0]{})", "A_eq", [""]),
    ("tb.Product({})", "blocks", [
        "{}", "[]", "None", "[('x', tb.Simplex())]", "{'x': 3}", "{'x': (tb.Simplex(), 'a')}",
        "{'x': tb.Simplex()}", "{'x': (tb.Box([0, 0], [1, 1]), 3)}", "{'x': (tb.Simplex(), 0)}",
        "{'x': (tb.Simplex(), (2, -1))}"]),
    ("tb.Product({1: {}})", "names", ["tb.Box([0], [1])"]),
    ("tb.Product({'x': (tb.Simplex(), 2)}).join({})", "blocks", [
        "{}", "{'y': [0, 1]}", "{'x': [1.0]}", "{'x': [nan, 0]}", "{'x': 'ab'}", "3"]),
    ("tb.Columns({}, (2, 3))", "each", ["3", "None", "tb.Simplex", "tb.Box([0.0], [1.0])"]),
    ("tb.Columns(tb.Simplex(), {})", "shape", ["3", "(2,)", "(0, 2)", "'ab'", "None", "(1.5, 2)", "(2, 'a')"]),
    ("tb.FromOracles({})", "lmo", ["", "lmo=3", "lmo='f'"]),
    ("tb.FromOracles(lmo=np.sign, {})", "", [
        "project=3", "contains=3", "diameter=nan", "diameter=-1.0", "diameter='2'", "diameter=[1.0, 2.0]",
        "diameter=None", "dim=0", "dim=1.5", "dim='2'", "dim=[2]"]),
    # -- the oracles of sets
    ("tb.L1Ball(1.0).lmo({})", "c", VECTOR),
    ("tb.Box(np.zeros(2), np.ones(2)).lmo({})", "c", ["[1.0]", "[1.0, 2.0, 3.0]", "[nan, 0.0]", "'ab'"]),
    ("tb.Simplex().project({})", "x", VECTOR),
    ("tb.L2Ball(1.0).contains({})", "x", ["'ab'", "[nan, 0.0]", "[]", "3.0"]),
    ("tb.L1Ball(1.0).lmo_cut({})", "", [
        "[1.0], [1.0, 2.0], 1.0", "[1.0], [nan], 1.0", "[1.0], [1.0], nan", "[1.0], [1.0], 'a'", "[], [], 1.0"]),
    ("tb.Simplex().project_cut([1.0, 0.0], [1.0, 0.0], {})", "", ["-1.0", "nan", "'a'"]),
    ("tb.Simplex().with_dim(2).with_dim({})", "length", ["3"]),
    # -- objectives
    ("tb.LeastSquares({}, [1.0])", "A", MATRIX),
    ("tb.LeastSquares([[1.0, 1.0]], {})", "b", [*VECTOR, "[1.0, 2.0]", "None"]),
    ("tb.LeastSquares([[1.0, 1.0]], [1.0], scale={})", "scale", POSITIVE),
    ("tb.Quadratic({}, [1.0, 1.0])", "Q", [*MATRIX, "[[1.0, 2.0]]", "[[1.0, 2.0], [0.0, 1.0]]"]),
    ("tb.Quadratic(np.eye(2), {})", "q", [*VECTOR, "[1.0]", "[1.0, 2.0, 3.0]"]),
    ("tb.Quadratic(np.eye(2), [1.0, 1.0], {})", "c", NUMBER),
    ("tb.Linear({})", "c", [*VECTOR, "None"]),
    ("tb.SquaredNorm({})", "center", VECTOR),
    ("tb.SquaredNorm(dim={})", "dim", COUNT),
    ("tb.SquaredNorm([1.0, 2.0], dim={})", "", ["3"]),
    ("tb.Logistic({}, [1, -1])", "A", MATRIX),
    ("tb.Logistic(np.ones((2, 2)), {})", "y", [*VECTOR, "[1, 2]", "[1, 1]", "[0.5, -0.5]", "[1, 2, 3]"]),
    ("tb.Logistic(np.eye(2), [1, -1], weights={})", "weights", [*VECTOR, "[1.0, -1.0]", "[1.0]", "[0.0, 0.0]"]),
    ("tb.Huber(np.eye(2), [1.0, 1.0], {})", "delta", POSITIVE),
    ("tb.Huber({}, [1.0], 1.0)", "A", MATRIX),
    ("tb.SquaredCovariance({}, [1.0, 0.0])", "A", MATRIX),
    ("tb.SquaredCovariance(np.eye(2), {})", "v", [*VECTOR, "[1.0, 2.0, 3.0]"]),
    ("tb.L1Norm({})", "weights", ["'a'", "nan", "-1.0", "[1.0, -1.0]", "[1j]", "[[1.0]]", "[nan, 1.0]", "object()"]),
    ("tb.L1Norm(1.0, dim={})", "dim", COUNT),
    ("tb.GroupNorm({})", "groups", ["[]", "[[0, 1], [1]]", "'ab'", "None", "[0.5]", "3"]),
    ("tb.GroupNorm([[0], [1]], weights={})", "weights", ["-1.0", "nan", "'a'", "[1.0, 2.0, 3.0]", "[1.0, -1.0]"]),
    ("tb.Reconstruction({}, 2)", "data", [
        "'a'", "[1.0, 2.0]", "[[nan, 1.0]]", "None", "[[1.0], [2.0, 3.0]]", "[[]]"]),
    ("tb.Reconstruction([[1.0, 2.0]], {})", "atoms", COUNT),
    ("tb.Function({}, np.copy)", "value", ["3", "None", "'f'"]),
    ("tb.Function(np.sum, {})", "grad", ["3", "None", "'f'"]),
    ("tb.Function(np.sum, np.copy, dim={})", "dim", COUNT),
    ("tb.Function(np.sum, np.copy, smoothness={})", "smoothness", [*NUMBER, "-1.0"]),
    ("tb.Function(np.sum, np.copy, lower_bound={})", "lower_bound", [*NUMBER, "None"]),
    ("tb.Function(np.sum, np.copy, convex={})", "convex", [
        "'yes'", "None", "[1, 2]", "2", "np.array([True, False])"]),
    ("F.value({})", "x", ["[1.0]", "[[1.0, 2.0]]", "3.0", "'ab'", "[None, 1.0]", "[[1.0], [2.0, 3.0]]", "[1j, 1.0]"]),
    ("G.grad({})", "x", ["[1.0]", "[[1.0, 2.0]]", "3.0", "'ab'", "[1j, 1.0]"]),
    ("F * {}", "factor", ["0", "-1.0", "nan", "inf"]),
    ("{} * F", "factor", ["0.0", "-2", "np.float64('nan')"]),
    ("F + {}", "", ["tb.SquaredNorm(dim=3)"]),
    ("tb.check_gradient({}, [1.0, 2.0])", "objective", ["3", "None", "np.sum", "Z"]),
    ("tb.check_gradient(F, {})", "x", [*VECTOR, "[1.0]"]),
    ("tb.check_gradient(F, [1.0, 2.0], direction={})", "direction", [*VECTOR, "[1.0]", "[0.0, 0.0]"]),
    ("tb.check_gradient(F, [1.0, 2.0], seed={})", "seed", ["'a'", "-1", "1.5"]),
    # -- problems
    ("tb.Problem({}, G, Z)", "upper", ["3", "None", "'f'", "np.sum", "tb.SquaredNorm", "Z", "tb.SquaredNorm(dim=3)"]),
    ("tb.Problem(F, {}, Z)", "lower", [
        "3", "None", "[G, 3]", "'G'", "tb.SquaredNorm(dim=3)", "tb.SquaredCovariance(np.ones((3, 2)), [0, 1, 1])",
        "tb.Function(np.sum, np.copy, dim=2)"]),
    ("tb.Problem(F, G, {})", "domain", ["3", "tb.L1Ball", "[0, 1]", "F", "tb.Box(np.zeros(3), np.ones(3))"]),
    ("tb.Problem(F, G, Z, slack={})", "slack", [*NUMBER, "-1.0", "None"]),
    ("tb.Problem(F, G, Z, error_bound={})", "error_bound", ["3", "(1, 2)", "'a'"]),
    ("tb.Problem(tb.SquaredNorm(), {}, tb.Simplex())", "number of variables", ["tb.SquaredNorm()"]),
    ("P.with_slack({})", "slack", [*NUMBER, "-1.0", "None"]),
    ("tb.ErrorBound({}, 2.0)", "alpha", POSITIVE),
    ("tb.ErrorBound(1.0, {})", "r", [*NUMBER, "0.5", "-1"]),
    ("tb.ErrorBound(1.0, 2.0, gradient_bound={})", "gradient_bound", [*NUMBER, "-1.0"]),
    # -- runs
    ("tb.solve({})", "problem", ["3", "None", "F", "'P'", "[P]"]),
    ("tb.solve(P, {})", "method", ["'cgbio'", "''", "7", "None", "tb.CGBiO", "['cg-bio-anytime']", "'exact '"]),
    ("tb.solve(P, x0={})", "x0", [v for v in VECTOR if v != "'abc'"]),
    ("tb.solve(P, x0={})", "", [
        "[1.0]", "[1.0, 2.0, 3.0]", "'no such file'", "tb.State(x=np.zeros(2))", "object()", "b'abc'"]),
    ("tb.solve(P, tol_upper={})", "tol_upper", [*POSITIVE, "None"]),
    ("tb.solve(P, tol_lower={})", "tol_lower", [*POSITIVE, "None"]),
    ("tb.solve(P, max_iter={})", "max_iter", COUNT),
    ("tb.solve(P, max_time={})", "max_time", [*(p for p in POSITIVE if p != "inf"), "True and 'a'"]),
    ("tb.solve(P, callback={})", "callback", ["3", "'f'", "[3]", "{'a': 1}", "[print, None]"]),
    ("tb.solve(P, seed={})", "seed", ["'a'", "-1", "1.5", "[1, 2]", "nan"]),
    ("tb.solve(P, verbose={})", "verbose", ["'yes'", "[1, 2]"]),
    ("tb.solve(P, on_interrupt={})", "on_interrupt", ["'maybe'", "3", "None"]),
    ("tb.iterate({})", "problem", ["3", "None", "F"]),
    ("tb.iterate(P, {})", "method", ["'cgbio'", "7", "None", "tb.CGBiO"]),
    ("tb.iterate(P, x0={})", "x0", ["[nan, 0.0]", "[1.0]", "[[0.0, 0.0]]"]),
    ("tb.iterate(P, tol_upper={})", "tol_upper", POSITIVE),
    ("tb.iterate(P, seed={})", "seed", ["'a'", "-1", "1.5"]),
    ("tb.tradeoff({})", "problem", ["3", "None", "F"]),
    ("tb.tradeoff(P, {})", "slacks", [
        "[]", "[nan]", "[-1.0]", "'ab'", "[1j]", "[[1.0]]", "3.0", "[None]", "{}", "[inf]"]),
    ("tb.tradeoff(P, [0.1], {})", "method", ["'cgbio'", "7"]),
    ("tb.tradeoff(P, [0.1], max_time={})", "max_time", ["0", "-1", "'a'", "nan"]),
    ("tb.tradeoff(P, [0.1], {})", "", ["tol_upper=0", "max_iter=0", "seed='a'"]),
    ("tb.lexicographic({}, Z)", "levels", ["[]", "3", "None", "F", "[F, 3]", "[3]", "[F, tb.SquaredNorm(dim=3)]"]),
    ("tb.lexicographic([G, F], {})", "domain", ["3", "tb.Simplex", "tb.Box(np.zeros(3), np.ones(3))"]),
    ("tb.lexicographic([G, F], B, tol_upper={})", "tol_upper", POSITIVE),
    ("tb.lexicographic([G, F], B, max_time={})", "max_time", ["0", "-1", "'a'", "nan", "[1.0, 2.0]"]),
    # -- methods, steps, callbacks
    ("tb.CGBiO({})", "", [
        "step=0.5", "initial='x'", "tol_upper=[1.0]", "tol_upper='a'", "tol_lower=nan"]),
    ("tb.AnytimeCGBiO({})", "", ["step=0.5", "lower_steps='x'", "tol_upper=[1.0]", "tol_lower=nan"]),
    ("tb.CG({})", "step", ["step=0.5", "step='a'"]),
    ("tb.MNG({})", "M", ["M=0", "M=-1.0", "M='a'", "M=nan"]),
    ("tb.APDB({})", "", [
        "tau0=0", "gamma=-1", "shrink=1.0", "shrink=0", "shrink='a'", "level='a'", "level=nan", "tol_lower=0",
        "gamma=None"]),
    ("tb.Solodov({})", "", ["sigma0=0", "trial=-1.0", "shrink=1.5", "theta=0", "theta='a'", "shrink=nan"]),
    ("tb.AIRG({})", "", ["gamma0=0", "eta0=-1", "b=0", "b=0.7", "b='a'", "r=1.5", "r=nan"]),
    ("tb.DBGD({})", "", ["step=0", "alpha=-1", "beta=0", "g_hat='a'", "alpha='a'"]),
    ("tb.HSDM({})", "eta_", ["eta_f=0", "eta_g=-1", "eta_f='a'"]),
    ("tb.IRCG({})", "", ["p=0", "p=1.5", "sigma_0=0", "p='a'"]),
    ("tb.PBAPG({})", "", ["gamma=0", "variant='x'", "gamma='a'"]),
    ("tb.APBAPG({})", "", ["gamma=0", "growth=1.0", "growth=0", "tolerance=0", "growth='a'", "tolerance=nan"]),
    ("tb.RAPM({})", "eta", ["eta=0", "eta='a'"]),
    ("tb.SAM({})", "", ["power=0", "power=2.0", "eta_f=0", "power='a'"]),
    ("tb.SBCGI({})", "", ["batch=0", "batch=1.5", "step=1", "slack=-1", "slack='a'", "seed='a'", "tol_lower=0"]),
    ("tb.SBCGF({})", "", ["batch=0", "step=None", "slack=nan"]),
    ("tb.IRSCG({})", "", ["p=0.5", "p='a'", "sigma_0=0", "batch=0", "seed=-1"]),
    ("tb.IRFSCG({})", "", ["p=1", "sigma_0=-1", "batch=1.5", "seed='a'"]),
    ("tb.BiCS({})", "", ["L=0", "L=-1", "L='a'"]),
    ("tb.BiFISTA({})", "", ["delta=0", "alpha=-1", "c=0", "weight_shift=-1", "delta='a'"]),
    ("tb.BiGSAM({})", "", ["eta_f=0", "gamma=0", "gamma='a'"]),
    ("tb.IBiGSAM({})", "", ["alpha=0", "gamma=0", "eta_f='a'"]),
    ("tb.BiSG({})", "", ["exponent=0", "exponent=2.0", "c=0", "exponent='a'"]),
    ("tb.FBiPG({})", "", ["gamma=0", "a=0", "c=-1", "a='a'"]),
    ("tb.FCBiO({})", "tol_", ["tol_upper=0", "tol_lower='a'"]),
    ("tb.BisecBiO({})", "tol_", ["tol_upper=-1", "tol_lower=nan"]),
    ("tb.Cabot({})", "", ["eps0=0", "prox=-1", "eps0='a'"]),
    ("tb.Tikhonov({})", "sigma", ["sigma=0", "sigma=-1", "sigma='a'"]),
    ("tb.Tseng({})", "", ["sigma=0", "tau=0", "tau='a'"]),
    ("tb.steps.Harmonic({}, 2)", "a", POSITIVE),
    ("tb.steps.Harmonic(2, {})", "shift", POSITIVE),
    ("tb.steps.InverseSqrt({})", "c", POSITIVE),
    ("tb.steps.Constant({})", "c", [*POSITIVE, "1.5"]),
    ("tb.steps.Adaptive({})", "", [
        "reference=3", "evaluations=0", "evaluations=1.5", "evaluations='a'", "reference=None"]),
    ("tb.steps.theorem_2({}, 1e-3, 1e-3)", "problem", ["3", "None"]),
    ("tb.steps.theorem_2(P, {}, 1e-3)", "tol_upper", ["0", "-1", "'a'", "nan"]),
    ("tb.Trace(every={})", "every", COUNT),
    ("tb.Progress({})", "", ["tol_upper=0", "tol_lower='a'", "seconds=-1", "seconds='a'"]),
    ("tb.Checkpoint({})", "", ["3", "None", "'a', every=0", "'a', every='b'"]),
    # -- results and checks
    ("tb.Result.load({})", "", ["'no such file'", "3", "None", "HERE", "EMPTY", "TEXT", "b'abc'"]),
    ("R.save({})", "", ["3", "None", "'/no such folder/a.npz'"]),
    ("R.verify({})", "problem", ["3", "None", "F"]),
    ("tb.testing.check_objective({})", "", [
        "3", "None", "tb.SquaredNorm()", "F, dim=0", "F, points=0", "F, seed='a'", "F, dim=3"]),
    ("tb.testing.check_set({})", "", ["3", "None", "tb.Simplex()", "Z, dim=0", "Z, dim=2, trials=0"]),
    ("tb.testing.check_solver({})", "", ["3", "None", "tb.CGBiO", "tb.AnytimeCGBiO(), updates=0"]),
]  # fmt: skip


FIRST_SPECIAL: list[tuple[str, str]] = [
    ("tb.Polyhedron(A_ub=[[1.0, 1.0]], b_ub=[1.0], bounds=(0, None)).lmo([-1.0, 'a'])", "c"),
    ("tb.Polyhedron(A_eq=[[1.0, 1.0], [1.0, 1.0]], b_eq=[1.0, 2.0], bounds=(0, 1))", "empty"),
    ("tb.Polyhedron(A_ub=[[0.0, 0.0]], b_ub=[-1.0], bounds=(0, 1))", "empty"),
    ("tb.Polyhedron(A_ub=np.eye(2), b_ub=[1.0, 1.0], bounds=[(0, 1)] * 3)", "bounds"),
    ("tb.Polyhedron(A_ub=np.eye(2), b_ub=[1.0, 1.0], bounds=(0, 1)).lmo([1.0])", "c"),
    ("tb.Polyhedron(A_ub=np.eye(2), b_ub=[1.0, 1.0], bounds=(0, 1)).project([1.0, nan])", "x"),
    ("tb.Box(inf, inf, dim=2)", "lower"),
    ("tb.Box([0.0, nan], [1.0, 1.0])", "lower"),
    ("tb.Box([0.0], [1.0], dim=3)", "dim"),
    ("tb.Box(0.0, 1.0).lmo([])", "c"),
    ("tb.LpBall(inf, 1.0)", "p"),
    ("tb.L1Ball(1.0, weights=[1.0, 2.0]).lmo([1.0, 2.0, 3.0])", "c"),
    ("tb.L2Ball(1.0, center=[1.0, 2.0]).project([1.0])", "x"),
    ("tb.GroupBall([[0], [1]], 1.0).lmo([1.0, 2.0, 3.0])", "c"),
    ("tb.NuclearBall((2, 3), 1.0).lmo(np.ones(5))", "c"),
    ("tb.Spectrahedron(2).project(np.ones(3))", "x"),
    ("tb.Birkhoff(2).lmo(np.ones(3))", "c"),
    ("tb.Columns(tb.Simplex(), (2, 3)).lmo(np.ones(5))", "c"),
    ("tb.Product({'x': (tb.Simplex(), 2)}).lmo(np.ones(3))", "c"),
    ("tb.Product({'x': (tb.Simplex(), 2)}).split(np.ones(3))", "x"),
    ("tb.Product({'x': (tb.Simplex(), 2)}).factor('y')", "y"),
    ("tb.FromOracles(lmo=np.sign).project([1.0])", "project"),
    ("tb.FromOracles(project=np.sign).lmo([1.0])", "lmo"),
    ("tb.FromOracles(lmo=lambda c: c[:1]).lmo([1.0, 2.0])", "lmo"),
    ("tb.FromOracles(lmo=lambda c: None).lmo([1.0, 2.0])", "lmo"),
    ("tb.FromOracles(lmo=lambda c: c * nan).lmo([1.0, 2.0])", "lmo"),
    ("tb.FromOracles(lmo=lambda c: c + 1j).lmo([1.0, 2.0])", "lmo"),
    ("tb.FromOracles(lmo=lambda c: [[1], [1, 2]]).lmo([1.0, 2.0])", "lmo"),
    ("tb.FromOracles(lmo=np.sign, contains=lambda x, t: x > 0).contains([1.0, 2.0])", "contains"),
    ("tb.FromOracles(lmo=np.sign, contains=lambda x, t: 'no').contains([1.0, 2.0])", "contains"),
    ("tb.Function(lambda x: x, np.copy).value([1.0, 2.0])", "value"),
    ("tb.Function(lambda x: 'a', np.copy).value([1.0, 2.0])", "value"),
    ("tb.Function(np.sum, lambda x: x[:1]).grad([1.0, 2.0])", "grad"),
    ("tb.Function(np.sum, lambda x: [[1], [1, 2]]).grad([1.0, 2.0])", "grad"),
    ("tb.Function(np.sum, lambda x: np.ma.masked_array(x, [True, False])).grad([1.0, 2.0])", "grad"),
    ("tb.solve(tb.Problem(F, tb.Function(lambda x: 0.0, lambda x: x[:1], dim=2, convex=True), Z))", "grad"),
    ("tb.solve(tb.Problem(F, tb.Function(lambda x: x @ x, lambda x: x, dim=2, convex=True), Z))", "lower"),
    ("tb.solve(tb.Problem(tb.Function(lambda x: x @ x, lambda x: x, dim=2), G, Z))", "upper"),
    ("tb.solve(tb.Problem(F, tb.Function(lambda x: -x @ x, lambda x: -2 * x, dim=2, convex=True), Z))", "lower"),
    ("tb.solve(tb.Problem(F, G, tb.FromOracles(project=np.sign, dim=2)), 'cg-bio-anytime')", "lmo"),
    ("tb.solve(tb.Problem(F, G, tb.FromOracles(lmo=np.sign, dim=2)), 'cg-bio-anytime')", "lmo"),
    ("tb.solve(tb.Problem(F + tb.L1Norm(), G, Z), 'cg-bio-anytime')", "upper"),
    ("tb.solve(tb.Problem(tb.Function(np.sum, np.ones_like, dim=2, convex=True), G, Z), 'big-sam')", "smoothness"),
    ("tb.solve(tb.Problem(tb.Logistic(np.eye(2), [1, -1]), G, Z), 'mng')", "mng"),
    ("tb.solve(tb.Problem(tb.Logistic(np.eye(2), [1, -1]), G, Z), 'bisec-bio')", "bisec-bio"),
    ("tb.solve(tb.Problem(tb.GroupNorm([[0], [1]]), G, tb.L2Ball(1.0)), 'exact')", "exact"),
    ("tb.solve(P, 'cg-bio-anytime', x0=tb.solve(P, 'big-sam', max_iter=3).state)", "x0"),
    (
        "tb.solve(P, 'cg-bio-anytime', x0=tb.solve(tb.Problem(F, G, tb.L1Ball(3.0)), 'cg', max_iter=3).state)",
        "x0",
    ),
    ("tb.solve(P, x0=tb.solve(tb.Problem(tb.SquaredNorm(dim=3), tb.Linear([1, 1, 1]), Z)))", "x0"),
    ("tb.solve(P, callback=lambda: None)", "callback"),
    ("tb.solve(P, callback=lambda a, b: None)", "callback"),
    ("tb.solve(P, 'cg-bio-anytime', callback=tb.Trace)", "callback"),
    ("tb.lexicographic([G, F, G], tb.L2Ball(1.0))", "exact"),
    ("tb.lexicographic([tb.Function(lambda x: x @ x, lambda x: 2 * x, convex=True), F, G], B)", "chain"),
    ("tb.lexicographic([tb.SquaredNorm(), tb.SquaredNorm()], tb.Simplex())", "variables"),
    ("tb.tradeoff(P, [1e-3, 0.0])", "slacks"),
    ("tb.tradeoff(tb.Problem(F, G, tb.FromOracles(project=np.sign, dim=2)))", "lmo"),
    ("tb.Problem(F, G, Z).with_slack([1.0])", "slack"),
    ("tb.Problem(tb.Linear([1.0]), tb.Linear([1.0, 2.0]), tb.Simplex())", "upper"),
    ("tb.check_gradient(tb.Function(lambda x: 1j, np.copy), [1.0])", "value"),
    ("tb.check_gradient(tb.Function(lambda x: nan, np.copy), [1.0])", "finite"),
    ("tb.LeastSquares(sp.csr_array((0, 2)), [])", "A"),
    ("tb.LeastSquares(sp.coo_array(([1.0], ([0], [0])), shape=(1, 2)) * 1j, [1.0])", "A"),
    ("tb.Quadratic(sp.csr_array((2, 3)), [1.0, 1.0])", "Q"),
    ("tb.Reconstruction([[1.0, 2.0]], 2, codes=[[1.0]])", "codes"),
    ("tb.Reconstruction([[1.0, 2.0]], 2, rest=-1)", "rest"),
]


TABLE = FIRST + bad_inputs_later.TABLE
SPECIAL = FIRST_SPECIAL + bad_inputs_later.SPECIAL


def cases() -> list[tuple[str, str]]:
    """Each input, and the word its message must have."""
    table = TABLE + bad_inputs_doors.TABLE
    found = [(template.replace("{}", value, 1), word) for template, word, values in table for value in values]
    return found + SPECIAL


def names(folder: Path) -> dict[str, Any]:
    """What the inputs are made of."""
    empty, text = folder / "empty.npz", folder / "text.npz"
    empty.write_bytes(b"")
    text.write_text("this is no archive")
    F, G, Z = tb.SquaredNorm(dim=2), tb.LeastSquares([[1.0, 1.0]], [1.0]), tb.L1Ball(2.0)
    P = tb.Problem(F, G, Z)
    return {
        "tb": tb, "np": np, "sp": sp, "nan": float("nan"), "inf": float("inf"), "F": F, "G": G, "Z": Z, "P": P,
        "B": tb.Box(-np.ones(2), np.ones(2)), "R": tb.solve(P), "HERE": folder, "EMPTY": empty, "TEXT": text,
    }  # fmt: skip


class Hang(BaseException):
    """An input that was not answered in time."""


MISSING = "a package is not here, and the sentence says which"


def judge(line: str, word: str, known: dict[str, Any]) -> str:
    """What is wrong with the answer to this input; empty where nothing is."""

    def stop(*_: Any) -> None:
        raise Hang

    if hasattr(signal, "SIGALRM"):
        signal.signal(signal.SIGALRM, stop)
        signal.alarm(SECONDS)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            answer = eval(line, dict(known))  # the lines above
    except Hang:
        return "hang"
    except (ValueError, TypeError, OSError) as error:
        return _complaint(error, word)
    except ImportError as error:
        return MISSING if "pip install" in str(error) else f"{type(error).__name__}: {error}"
    except Exception as error:
        if type(error).__module__ == "cvxpy.error" or isinstance(error, tb.NotProved):
            return _complaint(error, word)
        return f"{type(error).__name__}: {error}"
    finally:
        if hasattr(signal, "SIGALRM"):
            signal.alarm(0)
    return f"taken: {str(answer)[:60]!r}"


def _complaint(error: Exception, word: str) -> str:
    if isinstance(error, OSError):  # of the system, which names the file
        return "" if error.filename is not None or "cannot write" in str(error) else f"{type(error).__name__}: {error}"
    place = traceback.extract_tb(error.__traceback__)[-1]
    source = linecache.getline(place.filename, place.lineno or 0).strip()
    if "tiebreak" not in Path(place.filename).parts or not source.startswith("raise"):
        return f"foreign {type(error).__name__}: {error}"
    return "" if word in str(error) else f"without {word!r}: {error}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--show", default="", help="only inputs with this in them")
    options = parser.parse_args()
    chosen = [(line, word) for line, word in cases() if options.show in line]
    failures = missing = 0
    with tempfile.TemporaryDirectory() as folder:
        known = names(Path(folder)) | bad_inputs_doors.names(Path(folder))
        for line, word in chosen:
            if (complaint := judge(line, word, known)) == MISSING:
                missing += 1
            elif complaint:
                failures += 1
                print(f"{line}\n    {complaint}", flush=True)
    print(f"{len(chosen)} inputs, {failures} not answered as they should be; {missing} ask for packages not here")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
