"""An inverse problem through a tied linear programme: what does an operator prefer among equally cheap plans?

Every day all plans of least cost are equally good to the books; the operator runs the one nearest to a schedule that
nobody wrote down. From the plans that were run, the schedule is learned by gradient descent through the answers:
``python examples/learn_costs.py`` prints the loss as it falls.
"""

from __future__ import annotations

import sys

import numpy as np

import tiebreak as tb

HOURS, DAYS, ROUNDS = 6, 8, 60


def plan_of(schedule: np.ndarray, demand: float, price: np.ndarray) -> tb.Result:
    """The plan of least cost nearest to the schedule."""
    supply = tb.Polyhedron(A_eq=np.ones((1, HOURS)), b_eq=[demand], bounds=(0, 1))
    return tb.solve(tb.Problem(tb.SquaredNorm(schedule), tb.Linear(price), supply))


def main() -> int:
    """Learns, prints, and says whether the loss has fallen."""
    rng = np.random.default_rng(0)
    hidden = rng.uniform(0.3, 0.7, size=HOURS)
    days = [(2.1 + 0.2 * day, np.where(rng.permutation(HOURS) < 4, 1.0, 2.0)) for day in range(DAYS)]  # four hours tie
    seen = [plan_of(hidden, *day).x for day in days]
    schedule, losses = np.full(HOURS, 0.5), []
    for _ in range(ROUNDS):
        loss, slope = 0.0, np.zeros(HOURS)
        for day, x in zip(days, seen, strict=True):
            result = plan_of(schedule, *day)
            off = result.x - x
            loss += 0.5 * float(off @ off)
            slope += result.vjp(off).levels[1]["center"]
        losses.append(loss)
        schedule = schedule - 0.25 * slope
    error = np.ptp(schedule - hidden) / np.ptp(hidden)  # the mean of the schedule has no say: demand decides it
    for k in (0, 1, 3, 10, 30, ROUNDS - 1):
        sys.stdout.write(f"round {k:>3}   loss {losses[k]:.3e}\n")
    sys.stdout.write(f"the schedule is known up to {error:.1e} of its range\n")
    return int(not losses[-1] < 1e-6 * losses[0])


if __name__ == "__main__":
    sys.exit(main())
