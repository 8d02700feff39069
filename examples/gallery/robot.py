"""
A robot arm with task priorities
================================

An arm with five joints draws a circle. Which of the many ways to do that is left to less important tasks: keep the
gripper level, stay near a comfortable pose. With weights every task spoils every other; with priorities none does.
"""

# %%
# The arm
# -------
# Five links in the plane. Near a pose, the motion of the gripper is linear in the joint velocities; the matrix is the
# Jacobian. The control loop solves one small hierarchy a step, with limits on the velocities.

import matplotlib.pyplot as plt
import numpy as np

import tiebreak as tb
from tiebreak.pictures import BLUE, ORANGE

links = np.array([1.0, 0.9, 0.8, 0.6, 0.4])
comfortable = np.array([1.9, -0.7, -0.7, -0.5, 0.3])
step, steps, fastest = 0.05, 126, 2.0


def joints(angles: np.ndarray) -> np.ndarray:
    """Where the joints are, from the shoulder to the gripper."""
    along = np.cumsum(angles)
    return np.vstack([[0, 0], np.cumsum(links[:, None] * np.column_stack([np.cos(along), np.sin(along)]), axis=0)])


def jacobian(angles: np.ndarray) -> np.ndarray:
    places = joints(angles)
    arms = places[-1] - places[:-1]
    return np.vstack([-arms[:, 1], arms[:, 0]])


def target(time: float) -> np.ndarray:
    return np.array([1.9, 1.2]) + 0.6 * np.array([np.cos(time), np.sin(time)])


# %%
# Two controllers
# ---------------
# The tasks, the most important first: follow the target, keep the gripper level (the angles add up to 0), return to
# the comfortable pose. The naive controller adds them up with weights 10, 3 and 1.


def tasks(angles: np.ndarray, time: float) -> list[tb.LeastSquares]:
    ahead = (target(time + step) - target(time)) / step
    follow = ahead + 4 * (target(time) - joints(angles)[-1])
    return [
        tb.LeastSquares(jacobian(angles), follow),
        tb.LeastSquares(np.ones((1, 5)), [-2 * angles.sum()]),
        tb.LeastSquares(np.eye(5), 2 * (comfortable - angles)),
    ]


speeds = tb.Box(-fastest * np.ones(5), fastest)


def by_weights(angles: np.ndarray, time: float) -> np.ndarray:
    first, second, third = tasks(angles, time)
    return tb.lexicographic([10 * first + 3 * second + third], speeds).x


def by_priority(angles: np.ndarray, time: float) -> np.ndarray:
    return tb.lexicographic(tasks(angles, time), speeds).x


def run(controller) -> np.ndarray:
    path = [np.array([1.6, -0.6, -0.6, -0.4, 0.0])]
    for k in range(steps):
        path.append(path[-1] + step * controller(path[-1], k * step))
    return np.array(path)


weighted, ordered = run(by_weights), run(by_priority)
times = step * np.arange(steps + 1)
wanted = np.array([target(time) for time in times])
off = {}
for name, path in (("weights", weighted), ("priorities", ordered)):
    off[name] = np.linalg.norm(np.array([joints(angles)[-1] for angles in path]) - wanted, axis=1)
    late = times > 3
    print(
        f"{name:10s}: after 3 s off by at most {off[name][late].max():.1e},"
        f" level to {np.abs(path[late].sum(1)).max():.1e} rad"
    )

chain = tb.lexicographic(tasks(ordered[60], 3.0), speeds)
for name, level in zip(("follow", "level", "comfort"), chain.levels, strict=True):
    print(f"at 3 s, {name}: value {level.value:.9f}, optimum in [{level.lower:.9f}, {level.upper:.9f}]")

# %%
# The picture
# -----------
# What is left of the distance with priorities is the length of a time step, over which the arm bends and the Jacobian
# does not.

fig = plt.figure(figsize=(9, 6.6), layout="constrained")
axes = fig.subplot_mosaic([["weights", "priorities"], ["off", "level"]], height_ratios=[1.7, 1])
for name, path, colour in (("weights", weighted, ORANGE), ("priorities", ordered, BLUE)):
    ax = axes[name]
    ax.plot(*wanted.T, color="black", linewidth=1, linestyle=":")
    for k in (40, 65, 90, 115):
        ax.plot(*joints(path[k]).T, "o-", color=colour, alpha=0.25 + 0.75 * k / 115, linewidth=2.5, markersize=4)
        ax.plot(*wanted[k], "*", color="black", markersize=10)
    ax.plot(*np.array([joints(angles)[-1] for angles in path]).T, color=colour, linewidth=1.5)
    ax.set_aspect("equal", "box")
    ax.set_xlim(-0.9, 3.1)
    ax.set_ylim(-0.3, 2.5)
    ax.set_title(f"By {name}", loc="left")
    axes["off"].semilogy(times, off[name], color=colour, linewidth=2, label=name)
    axes["level"].plot(times, np.degrees(path.sum(1)), color=colour, linewidth=2, label=name)
axes["off"].set_xlabel("seconds")
axes["off"].set_ylabel("distance to the target")
axes["off"].legend(frameon=False)
axes["level"].set_xlabel("seconds")
axes["level"].set_ylabel("degrees from level")
plt.show()
