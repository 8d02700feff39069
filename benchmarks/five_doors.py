"""The same problem through every door: NumPy, JAX, PyTorch, CVXPY, linopy, TOML and MPS files.

The same x is to come out of each, and the time is shown.

    python benchmarks/five_doors.py [--hours 24] [--units 4]

Units of equal price share a demand in every hour, so that many plans cost the least; of these the one nearest to a
plan that is wanted. Each door makes the problem from arrays and solves it; what differs from the answer by NumPy is its
largest entry. Times are those of the processor, least of several in turns: of all that a user waits for at a second
call, making the problem included. A door whose package is not installed is left out and named. Ends with code 1 where
some x is off by more than 1e-8.
"""

from __future__ import annotations

import harness  # isort: skip  (before NumPy: one thread)

import argparse
import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

import tiebreak as tb
from tiebreak.files import read_model_file, read_task

CLOSE = 1e-8
Door = Callable[[], np.ndarray]


class Data(NamedTuple):
    """Costs, the sums over units by hour, their demand, capacities, and the plan that is wanted."""

    cost: np.ndarray
    sums: np.ndarray
    demand: np.ndarray
    capacity: np.ndarray
    wanted: np.ndarray


def data(hours: int, units: int, seed: int = 0) -> Data:
    rng = np.random.default_rng(seed)
    cost = np.tile(np.where(np.arange(units) % 2, 3.0, 2.0), hours)
    sums = np.kron(np.eye(hours), np.ones(units))
    capacity = np.full(hours * units, 5.0)
    demand = np.round(rng.uniform(0.3, 0.7, hours) * 5 * units, 2)
    return Data(cost, sums, demand, capacity, np.round(rng.uniform(0, 5, hours * units), 2))


def problem(d: Data, wanted: Any) -> tb.Problem:
    domain = tb.Polyhedron(A_eq=sp.csr_array(d.sums), b_eq=d.demand, bounds=[(0.0, end) for end in d.capacity])
    return tb.Problem(tb.SquaredNorm(np.asarray(wanted)), tb.Linear(d.cost), domain)


def by_numpy(d: Data) -> Door:
    return lambda: tb.solve(problem(d, d.wanted)).x


def by_jax(d: Data) -> Door:
    import jax

    jax.config.update("jax_enable_x64", True)
    from tiebreak.jax import layer

    def solve() -> np.ndarray:  # a layer of its own each time: one remembers its answers
        plan = layer(lambda wanted: problem(d, wanted), [(-1, "center")], dim=d.cost.size)
        return np.asarray(plan(jax.numpy.asarray(d.wanted)))

    return solve


def by_torch(d: Data) -> Door:
    import torch

    from tiebreak.torch import Layer

    def solve() -> np.ndarray:
        plan = Layer(lambda wanted: problem(d, wanted), [(-1, "center")])
        return plan(torch.tensor(d.wanted, dtype=torch.float64)).detach().numpy()

    return solve


def by_cvxpy(d: Data) -> Door:
    import cvxpy as cp

    from tiebreak.cvxpy import Lexicographic

    def solve() -> np.ndarray:
        x = cp.Variable(d.cost.size, bounds=[0, d.capacity])
        nearest = cp.Minimize(cp.sum_squares(x - d.wanted))
        Lexicographic([cp.Minimize(d.cost @ x), nearest], [sp.csr_array(d.sums) @ x == d.demand]).solve()
        return np.asarray(x.value)

    return solve


def by_linopy(d: Data) -> Door:
    import linopy
    import pandas as pd
    import xarray as xr

    import tiebreak.linopy

    hours = d.demand.size
    index = [pd.RangeIndex(hours, name="hour"), pd.RangeIndex(d.cost.size // hours, name="unit")]

    def solve() -> np.ndarray:
        def shaped(values: np.ndarray) -> xr.DataArray:
            return xr.DataArray(values.reshape(hours, -1), coords=index)

        model = linopy.Model()
        x = model.add_variables(lower=0, upper=shaped(d.capacity), coords=index, name="x")
        model.add_constraints(x.sum("unit") == xr.DataArray(d.demand, coords=index[:1]), name="demand")
        model.add_objective((shaped(d.cost) * x).sum())
        nearest = (x * x).sum() - (shaped(2 * d.wanted) * x).sum()
        tiebreak.linopy.solve(model, [(nearest, "min")])
        return model.solution["x"].values.ravel()

    return solve


def by_toml(d: Data, folder: Path) -> Door:
    file = folder / "plan.toml"
    np.savez(folder / "plan.npz", **d._asdict())
    taken = {name: f'{{ file = "plan.npz", array = "{name}" }}' for name in d._fields}
    bounds = json.dumps([[0.0, float(end)] for end in d.capacity])
    text = f"""
upper = {{ type = "SquaredNorm", center = {taken["wanted"]} }}
lower = {{ type = "Linear", c = {taken["cost"]} }}
[domain]
type = "Polyhedron"
A_eq = {taken["sums"]}
b_eq = {taken["demand"]}
bounds = {bounds}
"""
    file.write_text(text)
    return lambda: read_task(file).run().x  # type: ignore[union-attr]


def by_mps(d: Data, folder: Path) -> Door:
    file = folder / "plan.mps"
    hours = d.demand.size
    lines = ["NAME plan", "ROWS", " N cost", *(f" E hour{i}" for i in range(hours)), "COLUMNS"]
    for j, price in enumerate(d.cost.tolist()):
        lines.append(f" x{j} cost {price!r} hour{j * hours // d.cost.size} 1")
    lines += ["RHS", *(f" RHS hour{i} {end!r}" for i, end in enumerate(d.demand.tolist()))]
    lines += ["BOUNDS", *(f" UP BND x{j} {end!r}" for j, end in enumerate(d.capacity.tolist())), "ENDATA"]
    file.write_text("\n".join(lines))
    squares = " + ".join(f"x{j}^2" for j in range(d.cost.size))
    line = " ".join(f"- {wanted!r} x{j}" for j, wanted in enumerate(d.wanted.tolist()))
    return lambda: read_model_file(file, [f"[ {squares} ] / 2 {line}"]).run().x  # type: ignore[union-attr]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hours", type=int, default=24)
    parser.add_argument("--units", type=int, default=4)
    asked = parser.parse_args()
    d = data(asked.hours, asked.units)
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        doors: dict[str, Callable[[], Door]] = {
            "NumPy": lambda: by_numpy(d),
            "JAX": lambda: by_jax(d),
            "PyTorch": lambda: by_torch(d),
            "CVXPY": lambda: by_cvxpy(d),
            "linopy": lambda: by_linopy(d),
            "TOML": lambda: by_toml(d, folder),
            "MPS": lambda: by_mps(d, folder),
        }
        ready = {}
        for name, door in doors.items():
            try:
                ready[name] = door()
            except ImportError as missing:
                print(f"{name} is left out: {missing}")
        found = harness.side_by_side(ready, rounds=3, budget=10.0)
    first = found["NumPy"][1]
    print(f"{d.cost.size} variables, {d.demand.size} equations, two levels; x by NumPy costs {d.cost @ first:.6f}")
    print(f"{'door':<10}{'off by':>10}{'ms':>8}{'times NumPy':>13}")
    worst = 0.0
    for name, (seconds, x) in found.items():
        off = float(np.abs(np.asarray(x) - first).max())
        worst = max(worst, off)
        print(f"{name:<10}{off:>10.1e}{1e3 * seconds:>8.1f}{seconds / found['NumPy'][0]:>13.1f}")
    return 0 if worst <= CLOSE else 1


if __name__ == "__main__":
    sys.exit(main())
