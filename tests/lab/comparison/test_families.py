"""The answers of the families, against a conic solver that knows nothing of how they were made."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

import tiebreak as tb
from tiebreak.lab.comparison.families import FAMILIES
from tiebreak.lab.comparison.rate_problems import smallest
from tiebreak.lab.comparison.theorems import regularised, relaxed_value


@pytest.mark.parametrize("name", FAMILIES)
def test_the_answer_is_feasible_and_the_start_is_not_the_answer(name: str) -> None:
    family = FAMILIES[name]()
    assert family.problem.domain.contains(family.x_star, 1e-9)
    assert np.abs(family.gaps(family.x_star)).max() < 1e-9
    assert min(family.units) > 1e-3
    assert family.title


def constraints(domain: tb.Domain, x: cp.Variable) -> list:
    if isinstance(domain, tb.L1Ball):
        return [cp.norm1(x) <= domain.radius]
    if isinstance(domain, tb.L2Ball):
        return [cp.norm(x) <= domain.radius]
    if isinstance(domain, tb.Simplex):
        return [x >= 0, cp.sum(x) == 1]
    if isinstance(domain, tb.Box):
        return [x >= domain.lower, x <= domain.upper]
    shape = domain.shape
    X = cp.reshape(x, shape, order="C")
    if isinstance(domain, tb.NuclearBall):
        return [cp.normNuc(X) <= domain.radius]
    assert isinstance(domain, tb.Spectrahedron)
    return [X == X.T, (X + X.T) / 2 >> 0, cp.trace(X) == 1]


def expression(objective: tb.Objective, x: cp.Variable) -> cp.Expression:
    if isinstance(objective, tb.LeastSquares):
        A = np.asarray(objective.A.todense() if hasattr(objective.A, "todense") else objective.A)
        return objective.scale / 2 * cp.sum_squares(A @ x - objective.b)
    if isinstance(objective, tb.SquaredNorm):
        return cp.sum_squares(x - objective.center) / 2
    if isinstance(objective, tb.Huber):
        return cp.sum(cp.huber(objective.A @ x - objective.b, objective.delta)) / 2
    if isinstance(objective, tb.Linear):
        return objective.c @ x
    assert isinstance(objective, tb.Logistic)
    return cp.sum(cp.logistic(-cp.multiply(objective.y, objective.A @ x))) / objective.y.size


CONVEX = [
    "least-norm", "ill-posed", "regression", "sparse", "robust", "logistic", "weak-sharp", "hoelder-1", "portfolio",
    "knapsack", "completion", "spectral",
]  # fmt: skip


@pytest.mark.parametrize("name", CONVEX)
def test_both_optimal_values_are_those_of_a_conic_solver(name: str) -> None:
    family = FAMILIES[name]()
    upper, lower, domain = family.problem.upper, family.problem.lower, family.problem.domain
    x = cp.Variable(family.problem.dim)
    inside = constraints(domain, x)
    best = cp.Problem(cp.Minimize(expression(lower, x)), inside).solve(solver="CLARABEL")
    assert best == pytest.approx(family.g_star, abs=1e-6 * family.units[1])
    # where g = h(Ax) with a strictly convex h, or g is linear, A x (or g) is the same at all lower solutions
    rows = lower.c[None, :] if isinstance(lower, tb.Linear) else lower.A
    rows = np.asarray(rows.todense() if hasattr(rows, "todense") else rows)
    rows = np.unique(rows, axis=0)
    fixed = [rows @ x == rows @ family.x_star]
    if isinstance(lower, tb.LeastSquares) and family.g_star > 0:  # what the multipliers of the lower level fix
        fixed.append(lower.grad(family.x_star) @ (x - family.x_star) == 0)
    best = cp.Problem(cp.Minimize(expression(upper, x)), [*inside, *fixed]).solve(solver="CLARABEL")
    assert best == pytest.approx(family.f_star, abs=3e-5 * family.units[0])


def test_the_finite_sum_satisfies_its_normal_equations() -> None:
    family = FAMILIES["finite-sum"]()
    f, g = family.problem.upper, family.problem.lower
    assert f.summands == g.summands == 100_000
    assert np.abs(g.grad(family.x_star)).max() < 1e-10
    assert np.abs(family.x_star).sum() < family.problem.domain.radius
    _, values, right = np.linalg.svd(g.A, full_matrices=False)
    free = right[values < 1e-8 * values[0]]
    assert len(free) == 6 and np.abs(free @ f.grad(family.x_star)).max() < 1e-9


def test_the_nonconvex_family_is_convex_where_it_counts() -> None:
    family = FAMILIES["nonconvex"]()
    f, g = family.problem.upper, family.problem.lower
    along = np.linalg.svd(g.A)[2][g.A.shape[0] :]
    assert not f.convex and np.linalg.eigvalsh(along @ f.Q @ along.T)[0] > 0.4
    assert np.abs(along @ f.grad(family.x_star)).max() < 1e-9


@pytest.mark.parametrize("r", [2, 3, 4])
def test_hoelder_families_have_their_order(r: int) -> None:
    family = FAMILIES[f"hoelder-{r}"]()
    g, x = family.problem.lower, family.x_star
    step = -1e-2 * (np.abs(g.grad(x - 1e-3)) > 0)  # out of the minimisers
    assert g.value(x + step) == pytest.approx(g.value(x + 2 * step) / 2**r, rel=1e-6)
    free = (x > -1) & (x < 1)
    assert (family.problem.upper.grad(x)[free & (g.grad(x - 1e-3) == 0)] == 0).all()


def test_regularised_and_relaxed_answers_of_the_rate_problems() -> None:
    p = smallest(n=6)
    A, b = p.problem.lower.A.toarray(), p.problem.lower.b
    np.testing.assert_allclose(regularised(p, 0.1), np.linalg.solve(A.T @ A + 0.1 * np.eye(6), A.T @ b), atol=1e-12)
    x = cp.Variable(6)
    least = cp.Problem(cp.Minimize(cp.sum_squares(x) / 2), [cp.norm(A @ x - b) <= np.sqrt(0.2)]).solve("CLARABEL")
    assert relaxed_value(p, 0.1) == pytest.approx(least, abs=1e-7)


# -- families of one's own ------------------------------------------------------------------------------------------


OWN = """
import numpy as np
import tiebreak as tb
from tiebreak.lab.comparison import families

def line(answer=(0.5, 0.5), g_star=0.0):
    problem = tb.Problem(tb.SquaredNorm(), tb.LeastSquares([[1.0, 1.0]], [1.0]), tb.L1Ball(2.0))
    return families.Family("nearest point of a line", problem, np.array(answer), g_star)

families.register("line", line)
"""


def test_a_family_of_ones_own_is_run_by_the_command(tmp_path, monkeypatch, capfd) -> None:
    from tiebreak.cli import main
    from tiebreak.lab.comparison.families import ADDED
    from tiebreak.lab.comparison.results import Results

    (tmp_path / "own_line_family.py").write_text(OWN)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    command = "bench methods --load own_line_family --families line,toy --methods exact,fbi-pg --quick --jobs 1 --out o"
    try:
        assert main(command.split()) == 0
        results = Results.load(tmp_path / "o" / "comparison.json")
        assert results.titles["line"] == "nearest point of a line"
        assert results.solved("exact", 1e-6, "default") == results.solved("fbi-pg", 1e-2, "default") == 2
    finally:
        FAMILIES.pop("line", None), ADDED.pop("line", None)


@pytest.mark.parametrize(
    ("answer", "g_star", "why"),
    [
        ((3.0, -2.0), 0.0, "does not lie in the domain"),
        ((0.5, 0.25), 0.0, "g at x_star is 0.03125, and g_star is 0"),
        ((0.5, 0.25), 0.03125, "g_star is 0.03125, and proved is a value between"),
        ((1.0, 0.0), 0.0, "f at x_star is 0.5, and proved is a value between"),
        ((0.0, 0.0), 0.5, "g_star is 0.5, and proved"),
    ],
)
def test_an_answer_that_is_none_is_refused(answer, g_star, why) -> None:
    from tiebreak.lab.comparison.families import Family, contradiction, register

    problem = tb.Problem(tb.SquaredNorm(), tb.LeastSquares([[1.0, 1.0]], [1.0]), tb.L1Ball(2.0))
    family = Family("a line", problem, np.array(answer), g_star)
    assert why in contradiction(family)
    with pytest.raises(ValueError, match="is none"):
        register("line", lambda: family)
    assert "line" not in FAMILIES
    with pytest.raises(ValueError, match="already"):
        register("toy", lambda: family)
    with pytest.raises(TypeError, match="Family"):
        register("line", lambda: 3)
