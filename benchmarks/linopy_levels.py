"""Three levels of a dispatch model in linopy: ours, and linopy with HiGHS and value rows; prices; what storage does.

Units of the same price in every hour, and stores that may fill in any of the cheap hours: the cost says nothing about
which. Second level: least use of stores; third: most even output (quadratic). By hand, each level is a solve with a row
that keeps the values before, with a slack of its own; prices are those of a first solve.

    python benchmarks/linopy_levels.py [--hours 1000] [--units 14] [--stores 2]
"""

from __future__ import annotations

import argparse
import logging
import time

import linopy
import numpy as np
import pandas as pd
import xarray as xr

import tiebreak.linopy


def dispatch(hours: int, units: int, stores: int, seed: int = 0):
    """A model, its second and its third objective."""
    rng = np.random.default_rng(seed)
    hour, unit, store = (
        pd.RangeIndex(n, name=name) for n, name in ((hours, "hour"), (units, "unit"), (stores, "store"))
    )
    model = linopy.Model()
    size = xr.DataArray(rng.integers(5, 15, units).astype(float), coords=[unit])
    p = model.add_variables(lower=0, upper=size, coords=[hour, unit], name="p")
    fill = model.add_variables(lower=0, upper=4, coords=[hour, store], name="fill")
    draw = model.add_variables(lower=0, upper=4, coords=[hour, store], name="draw")
    level = model.add_variables(lower=0, upper=12, coords=[hour, store], name="level")
    wave = 1 + 0.5 * np.sin(np.arange(hours) * 2 * np.pi / 24) + 0.1 * rng.random(hours)
    demand = xr.DataArray(np.round(0.5 * float(size.sum()) * wave, 2), coords=[hour])
    model.add_constraints(p.sum("unit") + draw.sum("store") - fill.sum("store") == demand, name="balance")
    first = (hour == 0)[:, None] & np.ones(stores, dtype=bool)
    later = xr.DataArray(~first, coords=[hour, store])
    before = level.roll(hour=1)
    model.add_constraints(level - before - fill + draw == 0, name="store", mask=later)
    model.add_constraints(level.isel(hour=0) - fill.isel(hour=0) + draw.isel(hour=0) == 0, name="empty at first")
    price = xr.DataArray(np.sort(rng.integers(2, 7, units)).astype(float), coords=[unit])
    model.add_objective((price * p).sum())
    return model, (fill + draw).sum(), (p * p).sum()


def by_hand(model, second, third, eps: float):
    """The usual way: value rows. Returns how it ended, the values, and the prices of the first solve."""
    cost = model.objective.expression
    said = [model.solve("highs", output_flag=False, log_to_console=False)]
    prices = model.dual["balance"].copy()
    values = [model.objective.value]
    for k, (one, last) in enumerate(((second, cost), (third, second))):
        model.add_constraints(last <= values[-1] + eps * max(1, abs(values[-1])), name=f"value row {k}")
        model.add_objective(1 * one, overwrite=True, sense="min")
        said.append(model.solve("highs", output_flag=False, log_to_console=False, time_limit=150))
        values.append(model.objective.value)
    return said, values, prices


def main() -> None:
    """Both ways on the same model."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name, default in (("hours", 1000), ("units", 14), ("stores", 2)):
        parser.add_argument(f"--{name}", type=int, default=default)
    chosen = vars(parser.parse_args())
    logging.getLogger("linopy").setLevel(logging.ERROR)
    model, second, third = dispatch(**chosen)
    start = time.process_time()
    solved = tiebreak.linopy.solve(model, then=[(second, "min"), (third, "min")], max_time=300)
    ours = time.process_time() - start
    print(f"{model.nvars} variables, {model.ncons} constraints")
    print(f"tiebreak: {ours:.1f} s of processor time, {tuple(solved)}\n{solved.levels.to_string()}")
    prices = model.dual["balance"].copy() if "balance" in model.dual else None
    for eps in (0.0, 1e-9, 1e-6):
        again, *levels = dispatch(**chosen)
        start = time.process_time()
        said, values, theirs = by_hand(again, *levels, eps)
        took = time.process_time() - start
        print(f"by hand, eps {eps:g}: {took:.1f} s, {said}, {values}")
        if prices is not None:
            print(f"  prices: largest difference from the first solve {float(abs(prices - theirs).max()):.1e}")


if __name__ == "__main__":
    main()
