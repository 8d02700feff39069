"""Eight threads on shared sets and objectives: the answers of one thread, and no crash.

    python benchmarks/threads.py [--threads 8] [--rounds 1]

Every thread solves all problems, each in an order of its own, with the same objects. An answer is equal when its
brackets of g* and f* meet those found alone and both objectives differ by no more than the two certificates allow.
Prints how many were equal, and how many bit for bit; exits with 1 where one was not.
"""

from __future__ import annotations

import argparse
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import scipy.sparse as sp

import tiebreak as tb

N = 24


def sets() -> dict[str, tb.Domain]:
    """Sets of every type, in N variables."""
    r = np.random.default_rng(1)
    A = r.uniform(0, 1, (10, N))
    halves = {"a": tb.L1Ball(1.0, np.ones(N // 2)), "b": tb.Box(-np.ones(N // 2), np.ones(N // 2))}
    return {
        "polyhedron": tb.Polyhedron(A_ub=A, b_ub=np.full(10, 4.0), bounds=(0, 1)),
        "polyhedron by rows alone": tb.Polyhedron(A_ub=np.vstack([np.eye(N), -np.eye(N)]), b_ub=np.ones(2 * N)),
        "simplex by rows": tb.Polyhedron(A_eq=np.ones((1, N)), b_eq=[1.0], bounds=(0, 1)),
        "box": tb.Box(-np.ones(N), np.ones(N)),
        "simplex": tb.Simplex(),
        "l1": tb.L1Ball(1.5),
        "l2": tb.L2Ball(1.0),
        "lp": tb.LpBall(3, 1.0),
        "k-sparse": tb.KSparse(4, 1.0),
        "groups": tb.GroupBall(np.repeat(np.arange(6), 4), 1.0),
        "nuclear": tb.NuclearBall((4, 6), 1.0),
        "product": tb.Product(halves),
    }


def objectives() -> dict[str, tuple[tb.Objective, tb.Objective]]:
    """Pairs (upper, lower), shared by all sets."""
    r = np.random.default_rng(2)
    A, B = r.standard_normal((8, N)), r.standard_normal((40, N))
    labels = np.where(r.random(40) < 0.5, 1.0, -1.0)
    squares = tb.LeastSquares(A, r.standard_normal(8))
    wide = tb.LeastSquares(sp.csr_array(B), r.standard_normal(40))
    hand = tb.Function(squares.value, squares.grad, dim=N, convex=True, smoothness=squares.smoothness)
    return {
        "squares, squares": (wide, squares),
        "norm, linear": (tb.SquaredNorm(dim=N), tb.Linear(np.round(3 * r.uniform(size=N)))),
        "linear, squares": (tb.Linear(r.standard_normal(N)), squares),
        "quadratic, squares": (tb.Quadratic(B.T @ B, np.ones(N)), squares),
        "norm, logistic": (tb.SquaredNorm(dim=N), tb.Logistic(B, labels)),
        "huber, squares": (tb.Huber(B, np.ones(40), 0.5), squares),
        "l1 norm, squares": (tb.L1Norm(), squares),
        "norm, by hand": (tb.SquaredNorm(dim=N), hand),
        "covariance, logistic": (tb.SquaredCovariance(B, r.standard_normal(40)), tb.Logistic(B, labels)),
    }


def tasks() -> list[tuple[str, tb.Problem, str]]:
    """All combinations that some method takes: the automatic choice, and one of another kind."""
    found = []
    for set_name, Z in sets().items():
        for pair_name, (upper, lower) in objectives().items():
            problem = tb.Problem(upper, lower, Z)
            for method in ("auto", "bi-sg"):
                try:
                    tb.solve(problem, method, max_iter=1)
                except ValueError:
                    continue
                found.append((f"{pair_name} over {set_name}, {method}", problem, method))
    return found


def answer(task: tuple[str, tb.Problem, str]) -> tb.Result:
    """Ten updates: what matters is that they are the same."""
    return tb.solve(task[1], task[2], max_iter=10, max_time=None)


def differs(one: tb.Result, other: tb.Result) -> str:
    """Empty where the answers are equal up to what their certificates leave open."""
    a, b = one.certificate, other.certificate
    for name, x, y, gap in (("g", one.g, other.g, a.lower_gap + b.lower_gap), ("f", one.f, other.f, np.inf)):
        low = max(getattr(a, f"{name}_lower"), getattr(b, f"{name}_lower"))
        high = min(getattr(a, f"{name}_upper"), getattr(b, f"{name}_upper"))
        if low > high + 1e-9 * (1 + abs(high)):
            return f"the brackets of {name}* do not meet: {low!r} > {high!r}"
        if abs(x - y) > max(gap, 0.0) + 1e-6 * (1 + abs(x)):
            return f"{name} = {x!r} and {y!r}"
    return "" if one.success == other.success else f"{one.status} and {other.status}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=1, help="how often each thread solves everything")
    chosen = parser.parse_args()
    sys.setswitchinterval(1e-4)
    todo = tasks()
    alone = [answer(task) for task in todo]

    def work(seed: int) -> list[tuple[int, tb.Result]]:
        order = np.random.default_rng(seed).permutation(np.tile(np.arange(len(todo)), chosen.rounds))
        return [(int(i), answer(todo[i])) for i in order]

    started = time.perf_counter()
    with ThreadPoolExecutor(chosen.threads) as pool:
        found = [pair for part in pool.map(work, range(chosen.threads)) for pair in part]
    wrong = [(todo[i][0], why) for i, result in found if (why := differs(result, alone[i]))]
    same = sum(bool(np.array_equal(result.x, alone[i].x)) for i, result in found)
    for name, why in wrong[:20]:
        print(f"  {name}: {why}")
    took = time.perf_counter() - started
    print(
        f"{chosen.threads} threads, {len(todo)} problems, {len(found)} answers in {took:.0f} s: "
        f"{len(found) - len(wrong)} equal, {same} bit for bit, {len(wrong)} different"
    )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
