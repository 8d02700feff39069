"""A PyPSA network with ties: what its store does, by HiGHS and with two further levels.

    python benchmarks/pypsa_store.py [--hours 24]

A gas unit, an oil unit and a store over a day with two peaks: the store may fill in any of the hours in which gas has
room, at the same cost. HiGHS is asked in several ways (simplex, interior points, without presolve, another seed); then
tiebreak minimises what the store moves, and then the squares of filling and drawing, over all cheapest plans. For each:
cost, energy that the store takes in, the hours in which it fills, the largest filling, and the prices.
"""

from __future__ import annotations

import argparse
import logging
import time
import warnings

import numpy as np
import pandas as pd
import pypsa

import tiebreak.linopy

ASKED = {
    "simplex": {"solver": "simplex"},
    "simplex, seed 7": {"solver": "simplex", "random_seed": 7},
    "simplex without presolve": {"solver": "simplex", "presolve": "off"},
    "interior points": {"solver": "ipm"},
    "interior points, no crossover": {"solver": "ipm", "run_crossover": "off"},
}


def network(hours: int) -> pypsa.Network:
    """Two units, one store, demand with two peaks a day."""
    n = pypsa.Network()
    n.set_snapshots(pd.date_range("2026-01-01", periods=hours, freq="h"))
    n.add("Bus", "town")
    n.add("Generator", "gas", bus="town", p_nom=8, marginal_cost=50)
    n.add("Generator", "oil", bus="town", p_nom=20, marginal_cost=120)
    n.add("StorageUnit", "store", bus="town", p_nom=4, max_hours=4, efficiency_store=1, efficiency_dispatch=1)
    hour = np.arange(hours) % 24
    n.add("Load", "demand", bus="town", p_set=np.where((hour == 8) | (hour == 18), 12.0, np.where(hour < 6, 3.0, 5.0)))
    return n


def described(n: pypsa.Network, seconds: float) -> str:
    """What there is to say of a solved network."""
    fill = np.maximum(-n.storage_units_t.p["store"].to_numpy(), 0.0)
    prices = n.buses_t.marginal_price["town"].to_numpy()
    return (
        f"{n.objective:>9.2f} {fill.sum():>9.2f} {int((fill > 1e-6).sum()):>7} {fill.max():>9.3f}  "
        f"{prices.min():.2f} to {prices.max():.2f}  {seconds:>6.2f}"
    )


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--hours", type=int, default=24)
    hours = parser.parse_args().hours
    logging.disable(logging.WARNING)
    warnings.simplefilter("ignore")
    print(f"{'':<30} {'cost':>9} {'taken in':>9} {'hours':>7} {'largest':>9}  prices           seconds")
    fills = []
    for name, options in ASKED.items():
        n = network(hours)
        start = time.process_time()
        n.optimize(solver_name="highs", output_flag=False, **options)
        print(f"{name:<30} {described(n, time.process_time() - start)}")
        fills.append(n.storage_units_t.p["store"].to_numpy())
    n = network(hours)
    start = time.process_time()
    model = n.optimize.create_model()
    store, dispatch = (model.variables[f"StorageUnit-p_{what}"] for what in ("store", "dispatch"))
    solved = tiebreak.linopy.solve(
        model, then=[((store + dispatch).sum(), "min"), ((store * store + dispatch * dispatch).sum(), "min")]
    )
    n.optimize.assign_solution()
    n.optimize.assign_duals()
    print(f"{'tiebreak, three levels':<30} {described(n, time.process_time() - start)}")
    print(solved.levels.to_string())
    apart = max(float(np.abs(one - other).max()) for one in fills for other in fills)
    print(f"between what HiGHS says in different ways, an hour of the store differs by up to {apart:.2f}")


if __name__ == "__main__":
    main()
