"""With slack over round sets: the multiplier is found by Newton's method on the set, not by a search."""

import numpy as np
import pytest

import tiebreak as tb
from tiebreak.engines.choice import choose_engine
from tiebreak.engines.relaxed import Path, solve_relaxed

SETS = {
    "L2": lambda: tb.L2Ball(0.5).with_dim(12),
    "L2, inside": lambda: tb.L2Ball(50.0).with_dim(12),
    "l3": lambda: tb.LpBall(3, 0.5, dim=12),
    "groups": lambda: tb.GroupBall(np.arange(12) // 3, 0.5),
    "nuclear": lambda: tb.NuclearBall((4, 3), 0.5),
    "product": lambda: tb.Product({"ball": (tb.L2Ball(0.5), 6), "box": (tb.Box(-1.0, 1.0), 6)}),
}
SLACKS = np.geomspace(1e-3, 1.0, 12)


def path(name: str, seed: int) -> Path:
    rng = np.random.default_rng(seed)
    f = tb.LeastSquares(rng.standard_normal((14, 12)), rng.standard_normal(14))
    g = tb.LeastSquares(rng.standard_normal((6, 12)), 3 * rng.standard_normal(6))
    choice = choose_engine(tb.Problem(f, g, SETS[name](), slack=1.0))
    assert choice.engine is not None and choice.engine.name == "cones"
    return Path(choice)


@pytest.mark.parametrize("name", SETS)
def test_the_guess_meets_the_level(name: str) -> None:
    """From a corner at another level; what is active may differ, so some guesses are none, but most are to 1e-9."""
    hits = 0
    for seed in range(4):
        shared = path(name, seed)
        solve_relaxed(shared, 0.01)
        start = min(shared.corners, key=lambda corner: abs(corner.g - shared.least - 0.01))
        lam = shared.guess(shared.least + 0.012, start)
        if lam > 0:
            hits += abs(shared.corner(lam).g - shared.least - 0.012) <= 1e-9
    assert hits >= 3


@pytest.mark.parametrize("name", SETS)
def test_a_curve_takes_few_minimisers_a_point(name: str) -> None:
    shared = path(name, 0)
    found = [solve_relaxed(shared, slack) for slack in SLACKS]
    free = found[-1].multiplier == 0
    assert len(shared.corners) <= 3 * SLACKS.size
    for one, slack in zip(found, SLACKS, strict=True):
        answer = one.answer
        assert answer is not None and answer.f_upper - answer.f_lower <= 1e-9 * (1 + abs(answer.f_upper))
        assert free or abs(shared.g.value(one.x) - shared.least - slack) <= 1e-9
