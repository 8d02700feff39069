"""
Traffic: flows on roads are known, routes are not
=================================================

In a traffic equilibrium the flow on each *road* is unique; how many drivers take each *route* is not. Planners need
routes: who is hit by a toll, whose noise is it? An equilibrium solver gives some routes, depending on where it
starts. The most even ones are a property of the network.
"""

# %%
# The network
# -----------
# A grid of one-way streets, 5 x 5 crossings, from one corner to the other and between two middle points: all routes
# that go right and down. The time on a road grows with its flow.

from itertools import combinations

import matplotlib.pyplot as plt
import numpy as np

import tiebreak as tb
from tiebreak.pictures import BLUE, ORANGE, RED

size = 5
roads = {}
for i in range(size):
    for j in range(size):
        for to in ((i + 1, j), (i, j + 1)):
            if max(to) < size:
                roads[(i, j), to] = len(roads)


def routes(start: tuple[int, int], end: tuple[int, int]) -> list[list[int]]:
    down, right = end[0] - start[0], end[1] - start[1]
    found = []
    for turns in combinations(range(down + right), down):
        place, route = start, []
        for k in range(down + right):
            to = (place[0] + 1, place[1]) if k in turns else (place[0], place[1] + 1)
            route.append(roads[place, to])
            place = to
        found.append(route)
    return found


trips = [(((0, 0), (4, 4)), 10.0), (((0, 1), (4, 3)), 6.0), (((1, 0), (3, 4)), 6.0)]
lists = [routes(*ends) for ends, _ in trips]
every = [route for some in lists for route in some]
uses = np.zeros((len(roads), len(every)))
for k, route in enumerate(every):
    uses[route, k] = 1.0
of_trip = np.repeat(np.arange(len(trips)), [len(some) for some in lists])
belongs = (of_trip[None, :] == np.arange(len(trips))[:, None]).astype(float)
demand = np.array([amount for _, amount in trips])

rng = np.random.default_rng(1)
free, slope = rng.uniform(1, 2, len(roads)), rng.uniform(0.2, 0.6, len(roads))

# %%
# The equilibrium minimises the sum over roads of free * flow + slope * flow^2 / 2, which is a sum of squares:

equilibrium = tb.LeastSquares(uses, -free / slope, weights=slope)
flows = tb.Polyhedron(A_eq=belongs, b_eq=demand, bounds=(0, None))

# %%
# The naive way
# -------------
# An equilibrium solver from two starts: drivers change from the slowest route that is used to the fastest one, until
# there is none.


def equilibrate(flow: np.ndarray) -> np.ndarray:
    """Pairwise conditional gradient, trip by trip."""
    flow = flow.copy()
    for _ in range(2000):
        for trip in range(len(trips)):
            own = np.flatnonzero(of_trip == trip)
            times = (free + slope * (uses @ flow)) @ uses[:, own]
            cheap = own[np.argmin(times)]
            used = own[flow[own] > 0]
            dear = used[np.argmax(times[np.searchsorted(own, used)])]
            change = uses[:, cheap] - uses[:, dear]
            gain = times.max(where=flow[own] > 0, initial=-np.inf) - times.min()
            if cheap == dear:
                continue
            moved = min(flow[dear], gain / (slope @ change**2))
            flow[cheap] += moved
            flow[dear] -= moved
    return flow


def start(first: int) -> np.ndarray:
    """All drivers on one route of each trip."""
    flow = np.zeros(len(every))
    for trip, amount in enumerate(demand):
        own = np.flatnonzero(of_trip == trip)
        flow[own[first % own.size]] = amount
    return flow


one, other = equilibrate(start(0)), equilibrate(start(-1))
print(
    f"largest difference on a road {np.abs(uses @ (one - other)).max():.1e}, on a route {np.abs(one - other).max():.2f}"
)

# %%
# The most even routes
# --------------------

result = tb.solve(tb.Problem(upper=tb.SquaredNorm(), lower=equilibrium, domain=flows))
ours, c = result.x, result.certificate
print(f"largest difference on a road from the solver's: {np.abs(uses @ (one - ours)).max():.1e}")
print(
    f"sum of squares / 2: {one @ one / 2:.3f} and {other @ other / 2:.3f}, least in [{c.f_lower:.6f}, {c.f_upper:.6f}]"
)
print("route flows are unique without the second level:", c.lower_unique)

# %%
# The picture
# -----------

fig, (left, right) = plt.subplots(1, 2, figsize=(10, 4.4), layout="constrained", width_ratios=[1, 1.35])
total = uses @ ours
for ((i, j), (k, m)), road in roads.items():
    left.plot([j, m], [-i, -k], color=BLUE, linewidth=0.5 + 1.3 * total[road], solid_capstyle="round", alpha=0.8)
    left.text(
        (j + m) / 2,
        -(i + k) / 2,
        f"{total[road]:.1f}",
        fontsize=7,
        ha="center",
        va="center",
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.5},
    )
left.set_aspect("equal")
left.axis("off")
left.set_title("On roads: unique", loc="left")
order = np.lexsort((-ours, of_trip))
places = np.arange(len(every))
right.plot(places, one[order], "s", color=ORANGE, markersize=4, label="solver, first start")
right.plot(places, other[order], "x", color=RED, markersize=5, label="solver, second start")
right.plot(places, ours[order], "o", color=BLUE, markersize=4, label="most even, proved")
for trip in range(1, len(trips)):
    right.axvline(np.searchsorted(of_trip[order], trip) - 0.5, color="lightgrey")
right.set_xlabel("route, by trip")
right.set_ylabel("drivers")
right.set_title("On routes: not", loc="left")
right.legend(frameon=False, fontsize="small")
plt.show()
