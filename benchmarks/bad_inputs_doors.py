"""Wrong inputs to the doors to other packages, as in ``bad_inputs.py``; those of packages that are not here are left
out."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

NOT_A_MODEL = ["3", "None", "'m'", "object", "[]", "{}"]
SLACKS = ["-1.0", "nan", "'a'", "[None]", "[0.1] * 7", "1j", "{}"]

TABLES: dict[str, list[tuple[str, str, list[str]]]] = {
    "cvxpy": [
        ("Lexicographic({}, [])", "objective", [
            "[]", "3", "None", "[3]", "[None]", "cp.sum(u)", "[cp.sum(u)]", "'min'", "[cp.Minimize(cp.sum(u)), 3]",
            "{'a': cp.Minimize(cp.sum(u))}"]),
        ("Lexicographic([cp.Minimize(cp.sum_squares(u))], {})", "constraint", [
            "3", "[3]", "'u >= 0'", "[None]", "[cp.sum(u)]", "[object()]", "[[u >= 0]]"]),
        ("Lexicographic([cp.Minimize(cp.sum(u)), cp.Minimize(cp.sum_squares(u))], [u >= 1], {}).solve()", "", [
            *(f"slack={one}" for one in SLACKS), *(f"relative_slack={one}" for one in SLACKS)]),
        ("Lexicographic([cp.Minimize({})], [u >= 1, u <= 2]).solve()", "", [
            "cp.sqrt(u[0])", "-cp.sum_squares(u)", "u[0] * u[1]", "cp.inv_pos(-u[0])"]),
        ("Lexicographic([cp.Minimize(cp.sum(cp.Variable(2, {})))], []).solve()", "", [
            "integer=True", "boolean=True"]),
        ("Lexicographic([cp.Minimize(cp.sum(u) * cp.Parameter())], [u >= {}]).solve()", "parameter", ["1"]),
        ("Lexicographic([cp.Minimize(cp.sum_squares(u))], [u >= 1]).solve({})", "", [
            "'cgbio'", "7", "None", "tol_upper=0", "max_time='a'", "max_time=-1", "seed='a'"]),
        ("Lexicographic([cp.Minimize(cp.sum(u))], [u >= 1]).dual_values({})", "level", [
            "0", "2", "-1", "'a'", "None", "1.5", "nan"]),
        ("Lexicographic([cp.Minimize(cp.sum(u)), cp.Minimize(cp.sum_squares(u))], [u >= 1]).tradeoff({})", "slack", [
            "[]", "[nan]", "[-1.0]", "'ab'", "3.0", "[None]"]),
        ("cvxpy_problem_from({}, cp.Minimize(cp.sum(u)))", "", ["3", "None", "'a'", "[]", "cp.sum(u)"]),
        ("cvxpy_problem_from(cp.Minimize(cp.sum(u)), {})", "", ["3", "None", "'a'", "[3]"]),
    ],
    "linopy": [
        ("linopy_solve({})", "model", NOT_A_MODEL),
        ("linopy_solve(model(), then={})", "", [
            "3", "'ab'", "[3]", "[(a, 'min')]", "[(None, 'min')]", "[(3, 'min')]",
            "[(model().variables['a'], 'least')]", "[('a', 'min')]", "[model().variables['a']]", "[()]"]),
        ("linopy_solve(M, then=[(M.variables['a'], 'min')], slack={})", "slack", SLACKS),
        ("linopy_solve(M, then=[(M.variables['a'], 'min')], relative_slack={})", "slack", SLACKS),
        ("linopy_solve(M, then=[(M.variables['a'], {})])", "sense", ["'least'", "3", "None"]),
        ("linopy_solve(M, {})", "", ["method='cgbio'", "tol_upper=0", "max_time='a'", "method=3"]),
        ("linopy_tradeoff({}, None)", "", NOT_A_MODEL),
        ("linopy_tradeoff(M, {})", "", ["3", "None", "'a'", "model().variables['a']"]),
        ("linopy_tradeoff(M, M.variables['a'], {})", "", [
            "'least'", "slacks=[]", "slacks=[nan]", "slacks='ab'", "slacks=3", "relative_slacks=[-1.0]",
            "relative_slacks=[nan]", "relative_slacks='ab'", "relative_slacks=3", "relative_slacks=[]",
            "slacks=[0.1], relative_slacks=[0.1]", "relative_slacks=[None]"]),
    ],
    "cobra": [
        ("fba({})", "model", NOT_A_MODEL),
        ("fba(cell(), {})", "level", [
            "[]", "3", "None", "'growth'", "['l2']", "['growth', 'l3']", "['growth', 3]", "['growth', {'none': 1.0}]",
            "['growth', {'ex': nan}]", "['growth', {'ex': 'a'}]", "['growth', {}]", "['growth', {'ex': 1j}]",
            "['growth', {'ex': None}]", "['growth', {3: 1.0}]"]),
        ("fba(cell(), fraction_of_optimum={})", "fraction_of_optimum", [
            "0", "-1", "2", "nan", "'a'", "None", "[1.0]", "inf"]),
        ("fba(cell(), {})", "", ["tol_upper=0", "max_time='a'", "method='cgbio'", "method=3"]),
    ],
    "dask": [
        ("chunked({})", "", [
            "3", "None", "'abc'", "np.zeros((2, 2, 2))", "np.array([['a']])", "np.zeros((0, 2))", "object()",
            "np.zeros(())", "np.ones((2, 2)) * 1j", "da.ones((4, 4), chunks=(2, 2)) * 1j", "da.ones((2, 2, 2))"]),
        ("chunked(np.ones((4, 2)), chunk_rows={})", "chunk_rows", ["0", "-1", "1.5", "'a'", "nan", "[1]", "10**400"]),
        ("chunked(np.ones((4, 2)), scheduler={})", "scheduler", ["'none'", "3", "print"]),
        ("from_memmap({})", "", ["3", "None", "'no such file'", "HERE", "EMPTY", "TEXT", "np.ones((2, 2))"]),
        ("from_memmap(NPY, chunk_rows={})", "chunk_rows", ["0", "-1", "1.5", "'a'", "nan"]),
        ("from_memmap({})", "", ["NPY_WORDS", "NPY_CUT", "NPY_CUBE", "NPY_NONE"]),
        ("from_zarr({})", "", ["3", "None", "'no such file'", "HERE", "TEXT"]),
        ("from_parquet({}, ['a'])", "", ["3", "None", "'no such file'", "HERE", "EMPTY", "TEXT", "[]", "[3]"]),
        ("from_frame({}, ['a'])", "frame", ["3", "None", "'a'", "np.ones((2, 2))", "dict(a=1)"]),
        ("tb.LeastSquares(chunked(np.ones((4, 2))), {})", "b", [
            "[1.0]", "np.full(4, nan)", "'abcd'", "None", "np.ones((4, 1))", "3.0", "1j * np.ones(4)",
            "chunked(np.ones(3))", "chunked(np.ones((4, 2)))"]),
        ("tb.LeastSquares(chunked(np.full((4, 2), {})), np.ones(4)).value([1.0, 1.0])", "", ["nan", "inf"]),
        ("tb.Logistic(chunked(np.ones((4, 2))), {}).value([1.0, 1.0])", "y", [
            "[1, -1, 1]", "[1, 1, 1, 1]", "[1, 2, 3, 1]", "np.ones(4) * nan"]),
        ("tb.solve(tb.Problem(tb.SquaredNorm(), tb.LeastSquares(chunked(np.ones((4, 2))), np.ones(4)), Z), {})", "", [
            "'cgbio'", "'exact', tol_upper=0", "x0=[1.0]"]),
    ],
    "sklearn": [
        ("doors.MinNormRegressor({}).fit(X, Y)", "", [
            "tol=0", "max_time='a'", "norm='l3'", "tol='a'", "max_time=-1"]),
    ],
}  # fmt: skip


def names(folder: Path, packages: Sequence[str] = tuple(TABLES)) -> dict[str, Any]:
    """What the inputs are made of, where the packages are there."""
    found: dict[str, Any] = {}
    if "cvxpy" in packages and _here("cvxpy"):
        import cvxpy as cp

        from tiebreak.cvxpy import Lexicographic, problem_from

        found |= {"cp": cp, "u": cp.Variable(2), "Lexicographic": Lexicographic, "cvxpy_problem_from": problem_from}
    if "linopy" in packages and _here("linopy"):
        import linopy

        import tiebreak.linopy as door

        def model() -> Any:
            made = linopy.Model()
            a, b = (made.add_variables(lower=0, upper=4, name=name) for name in "ab")
            made.add_constraints(a + b >= 6, name="served")
            made.add_objective(3 * a + 3 * b)
            return made

        found |= {"model": model, "M": model(), "linopy_solve": door.solve, "linopy_tradeoff": door.tradeoff}
        found["a"] = found["M"].variables["a"]
    if "cobra" in packages and _here("cobra"):
        import cobra

        from tiebreak.cobra import lexicographic_fba

        def cell() -> Any:
            made = cobra.Model("cell")
            made.add_metabolites([cobra.Metabolite("m", compartment="c")])
            made.add_reactions([cobra.Reaction("ex", lower_bound=0, upper_bound=5), cobra.Reaction("grow")])
            made.reactions.ex.add_metabolites({made.metabolites.m: 1.0})
            made.reactions.grow.add_metabolites({made.metabolites.m: -1.0})
            made.objective = "grow"
            return made

        found |= {"cell": cell, "fba": lexicographic_fba}
    if "dask" in packages and _here("dask"):
        import dask.array as da

        import tiebreak.dask as chunks

        found |= {name: getattr(chunks, name) for name in chunks.__all__} | {"da": da} | _arrays(folder)
    if "sklearn" in packages and _here("sklearn"):
        import tiebreak.sklearn as doors

        found |= {"doors": doors, "X": np.eye(6, 2), "Y": np.arange(6.0)}
    return found


def _arrays(folder: Path) -> dict[str, Path]:
    made = {"NPY": np.ones((3, 2)), "NPY_WORDS": np.array([["a"]]), "NPY_CUBE": np.ones((2, 2, 2))}
    made["NPY_NONE"] = np.zeros((0, 2))
    paths = {name: folder / f"{name}.npy" for name in (*made, "NPY_CUT")}
    for name, array in made.items():
        np.save(paths[name], array)
    paths["NPY_CUT"].write_bytes(paths["NPY"].read_bytes()[:-9])
    return paths


def _here(package: str) -> bool:
    return find_spec(package) is not None


TABLE = [row for package, rows in TABLES.items() if _here(package) for row in rows]
