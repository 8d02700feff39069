"""Chains of mixed levels against decimal arithmetic of 120 digits (``benchmarks/decimals.py``)."""

from __future__ import annotations

import numpy as np
import pytest

import reference as ref
import tiebreak as tb
import tiebreak.engines.rows.face as face_module
import tiebreak.engines.rows.level as level_module
import tiebreak.engines.rows.step as step_module
from decimals import chain
from tiebreak.engines.rows.solve import solve_rows


def drawn_levels(
    rng: np.random.Generator, n: int, count: int, tied: np.ndarray
) -> list[tuple[tb.Objective, dict[str, np.ndarray]]]:
    """Linear levels, many of them sums of rows of ``tied``, and least squares with dependent rows; small integers."""
    levels: list[tuple[tb.Objective, dict[str, np.ndarray]]] = []
    for _ in range(count):
        kind = rng.integers(0, 4)
        if kind == 0:
            c = rng.integers(-2, 3, n).astype(float)
            if rng.random() < 0.7:
                c = -(rng.integers(0, 3, tied.shape[0]) * (rng.random(tied.shape[0]) < 0.4)) @ tied
            levels.append((tb.Linear(c), {"q": c}))
        elif kind == 1:
            center = rng.integers(-2, 3, n).astype(float)
            levels.append((tb.SquaredNorm(center), {"F": np.eye(n), "y": center}))
        else:
            F = rng.integers(-2, 3, (int(rng.integers(1, n)), n)).astype(float)
            if F.shape[0] > 2:
                F[-1] = F[0] + F[1]
            y = F @ rng.uniform(-1, 4, n)
            levels.append((tb.LeastSquares(F, y), {"F": F, "y": y}))
    return levels


@pytest.mark.parametrize(("seed", "dense"), [(seed, 100 if seed % 3 else 2) for seed in range(60)])
def test_mixed_chains_over_polyhedra(seed, dense, monkeypatch):
    """Rows A x <= b become A x + s = b for the reference, which knows equations and bounds only.

    With ``DENSE`` at 2, these small problems take the way of large ones.
    """
    for module in (step_module, face_module, level_module):
        monkeypatch.setattr(module, "DENSE", dense)
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(3, 8)), int(rng.integers(1, 8))
    A = rng.integers(-2, 3, (m, n)).astype(float)
    b = A @ rng.integers(0, 4, n) + rng.integers(0, 2, m)
    drawn = drawn_levels(rng, n, int(rng.integers(2, 5)), A)
    high = np.append(np.full(n, 3.0), np.full(m, np.inf))
    tasks = []
    for _, parts in drawn:
        wide = {
            name: np.pad(part, [(0, 0)] * (part.ndim - 1) + [(0, m)]) for name, part in parts.items() if name != "y"
        }
        tasks.append(ref.level(n + m, **wide, y=parts.get("y"), A=np.hstack([A, np.eye(m)]), b=b, low=0.0, high=high))
    try:
        found = chain(tasks)
    except ref.Inaccurate as error:
        pytest.skip(f"no reference: {error}")
    answers = solve_rows([level for level, _ in drawn], tb.Polyhedron(A_ub=A, b_ub=b, bounds=(0, 3)))
    for answer, known in zip(answers, found, strict=True):
        tol = 1e-12 * (1 + abs(known.value))
        assert answer.f_lower <= known.value + tol
        assert answer.f_upper >= known.value - tol
    last = found[-1].value
    assert drawn[-1][0].value(answers[-1].x) == pytest.approx(last, rel=1e-8, abs=1e-8)


@pytest.mark.parametrize(("n", "reach"), [(21, 2.0), (13, 1.0)])
def test_a_chain_that_finite_weights_get_wrong(n, reach):
    """Holding earlier tasks by rows of weight 1e5 is off by 1e-2 in the third level here: the price is that high."""
    rng = np.random.default_rng(736)
    tasks = []
    for _ in range(3):
        A = rng.normal(size=(int(rng.integers(3, min(n, 7))), n))
        b = np.vstack([A[:-1], A[0] + A[1]]) @ rng.uniform(-reach, reach, n) + 0.05 * rng.normal(size=A.shape[0])
        A = np.round(A * 2**30) / 2**30  # so that the sum of two rows is exact
        A[-1] = A[0] + A[1]
        tasks.append(tb.LeastSquares(A, b))
    found = chain([ref.level(n, task.A, task.b, low=-1.0, high=1.0) for task in tasks])
    for answer, known in zip(solve_rows(tasks, tb.Box(-1, 1, n)), found, strict=True):
        assert answer.f_lower <= known.value + 1e-14 * (1 + known.value)
        assert answer.f_upper >= known.value - 1e-14 * (1 + known.value)
        assert answer.width < 1e-11


@pytest.mark.parametrize("seed", range(2, 8))
def test_rows_whose_multipliers_are_rounding_do_not_widen_what_is_left(seed: int) -> None:
    """A semidefinite level planted over degenerate rows, then a linear one: brackets are linear in the residual."""
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(50, 80)), int(rng.integers(20, 40))
    rows, point = rng.integers(-2, 3, (m, n)).astype(float), rng.integers(-4, 5, n) * (rng.random(n) < 0.5) / 2.0
    tight, at = rng.random(m) < 0.6, rng.integers(0, 3, n)
    M = rng.integers(-2, 3, (int(rng.integers(n // 3, n)), n)).astype(float)

    def push() -> np.ndarray:
        """A sum of normals of the set at the point."""
        prices = rng.integers(0, 3, n) * (rng.random(n) < 0.3)
        return (rng.integers(0, 3, m) * tight * (rng.random(m) < 0.3)) @ rows + np.choose(at, [-prices, prices, 0])

    g = tb.Quadratic(M.T @ M, -(M.T @ (M @ point)) - push())
    f = tb.Linear(-push() - rng.integers(-1, 2, len(M)) @ M)
    domain = tb.Polyhedron(
        A_ub=rows,
        b_ub=rows @ point + np.where(tight, 0.0, 2.0),
        bounds=np.column_stack([point - 16.0 * (at != 0), point + 16.0 * (at != 1)]),
    )
    answer = solve_rows([g, f], domain)[-1]
    assert answer.f_lower <= f.value(point) <= answer.f_upper
    assert f.value(point) - answer.f_lower <= 1e-9 * (1 + abs(f.value(point)))
