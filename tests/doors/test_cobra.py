"""The COBRApy door: unique fluxes, growth as the objective value, prices, and sentences."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

cobra = pytest.importorskip("cobra", reason="COBRApy is not installed: pip install 'tiebreak[cobra]'")
from cobra.exceptions import Infeasible, Unbounded  # noqa: E402
from cobra.io import read_sbml_model  # noqa: E402

import tiebreak as tb  # noqa: E402
from tiebreak.cobra import lexicographic_fba, problem_from  # noqa: E402


@pytest.fixture(scope="module")
def textbook():
    return read_sbml_model(str(Path(cobra.__file__).parent / "data" / "textbook.xml.gz"))


def two_ways(first: float = 10.0, second: float = 10.0):
    """uptake -> a; a -> b in two ways of the same length; b -> growth, half of it."""
    model = cobra.Model("two ways")
    a, b = cobra.Metabolite("a"), cobra.Metabolite("b")
    made = {"uptake": {a: 1}, "one": {a: -1, b: 1}, "other": {a: -1, b: 1}, "growth": {b: -2}}
    for (name, parts), most in zip(made.items(), (10.0, first, second, 1000.0), strict=True):
        reaction = cobra.Reaction(name, lower_bound=0.0, upper_bound=most)
        reaction.add_metabolites(parts)
        model.add_reactions([reaction])
    model.objective = "growth"
    return model


def test_fluxes_that_pfba_leaves_open_are_unique() -> None:
    """Both ways have the same total flux; the sum of squares divides them as the bounds allow."""
    model = two_ways(first=3.0)
    before = model.objective.expression, model.objective_direction
    found = lexicographic_fba(model)
    assert found.status == "optimal" and found.unique is True
    assert found.fluxes.to_dict() == pytest.approx({"uptake": 10.0, "one": 3.0, "other": 7.0, "growth": 5.0})
    assert found.objective_value == pytest.approx(5.0)
    assert found.levels["value"].tolist() == pytest.approx([5.0, 25.0, 100.0 + 9.0 + 49.0 + 25.0])
    assert (found.levels["lower"] <= found.levels["upper"]).all()
    assert found.result.named["one"] == found.fluxes["one"]
    assert (model.objective.expression, model.objective_direction) == before
    assert lexicographic_fba(model, ["growth", "total_flux"]).unique is None


def test_shadow_prices_are_those_of_growth() -> None:
    """Another unit of a makes half a unit of growth; in COBRApy's own signs."""
    model = two_ways()
    own = model.optimize().shadow_prices
    found = lexicographic_fba(model).shadow_prices
    assert abs(own["a"]) == pytest.approx(0.5)
    np.testing.assert_allclose(found[own.index], own, atol=1e-9)


def test_the_textbook_model(textbook) -> None:
    """pFBA is right about growth and total flux; prices satisfy the optimality conditions of growth alone."""
    found = lexicographic_fba(textbook)
    usual = cobra.flux_analysis.pfba(textbook)
    growth = textbook.slim_optimize()
    assert found.unique and found.objective_value == pytest.approx(growth, rel=1e-9)
    assert found.levels.loc["total_flux", "lower"] <= usual.fluxes.abs().sum() * (1 + 1e-9)
    assert found.levels.loc["total_flux", "value"] == pytest.approx(usual.fluxes.abs().sum(), rel=1e-8)
    S = cobra.util.array.create_stoichiometric_matrix(textbook)
    c = np.array([one.objective_coefficient for one in textbook.reactions])
    v = found.fluxes.to_numpy()
    low, high = np.array([one.bounds for one in textbook.reactions]).T
    rest = c - S.T @ found.shadow_prices.to_numpy()
    assert np.abs(S @ v).max() < 1e-9
    assert (rest[v < high - 1e-7] <= 1e-9).all() and (rest[v > low + 1e-7] >= -1e-9).all()


def test_reverse_fluxes_of_their_own_change_no_level(textbook) -> None:
    """The same levels with absolute values and squares of the fluxes themselves: no reaction runs both ways at once."""
    found = lexicographic_fba(textbook)
    v = found.fluxes.to_numpy()
    assert found.levels.loc["total_flux", "value"] == pytest.approx(np.abs(v).sum(), rel=1e-10)
    assert found.levels.loc["l2", "value"] == pytest.approx(v @ v, rel=1e-10)
    S = cobra.util.array.create_stoichiometric_matrix(textbook)
    domain = tb.Polyhedron(A_eq=S, b_eq=np.zeros(len(S)), bounds=[one.bounds for one in textbook.reactions])
    c = np.array([one.objective_coefficient for one in textbook.reactions])
    n = c.size
    same = tb.lexicographic([tb.Linear(-c), tb.L1Norm(np.ones(n)), tb.SquaredNorm(dim=n)], domain)
    np.testing.assert_allclose(v, same.x, atol=1e-7)
    both = textbook.copy()
    both.reactions.PFK.bounds = (-5.0, -1.0)  # runs backwards only
    squares = lexicographic_fba(both, ["growth", "l2"]), lexicographic_fba(both, ["growth", "l2", "total_flux"])
    np.testing.assert_allclose(squares[0].fluxes, squares[1].fluxes, atol=1e-6)
    assert -5.0 <= squares[1].fluxes["PFK"] <= -1.0


def test_a_part_of_the_optimum(textbook) -> None:
    """As pFBA with the same fraction; objective_value is growth, not the total flux."""
    found = lexicographic_fba(textbook, fraction_of_optimum=0.9)
    usual = cobra.flux_analysis.pfba(textbook, fraction_of_optimum=0.9)
    assert found.status == "optimal"
    assert found.objective_value == pytest.approx(0.9 * textbook.slim_optimize(), rel=1e-6)
    assert found.levels.loc["total_flux", "value"] == pytest.approx(usual.fluxes.abs().sum(), rel=1e-6)


def test_reactions_with_coefficients_and_minimised_objectives() -> None:
    """A level of one's own decides between the two ways; "min" models keep their direction."""
    model = two_ways()
    found = lexicographic_fba(model, ["growth", {"other": 2.0, model.reactions.one: 1.0}])
    assert found.fluxes["one"] == pytest.approx(10.0) and found.levels.index[1] == "2 other + 1 one"
    model.reactions.growth.lower_bound = 2.0
    model.objective = {model.reactions.uptake: 1.0}
    model.objective_direction = "min"
    assert lexicographic_fba(model).objective_value == pytest.approx(4.0)
    np.testing.assert_allclose(lexicographic_fba(model).shadow_prices, model.optimize().shadow_prices, atol=1e-9)


def test_what_cannot_be_solved_is_raised_as_cobrapy_does() -> None:
    """Infeasible, and growth without end."""
    model = two_ways()
    model.reactions.growth.lower_bound = 6.0
    with pytest.raises(Infeasible):
        lexicographic_fba(model)
    endless = two_ways()
    for one in endless.reactions:
        one.upper_bound = np.inf
    with pytest.raises(Unbounded):
        lexicographic_fba(endless)


def test_sentences() -> None:
    """What cannot be taken is refused, each in a sentence."""
    model = two_ways()
    with pytest.raises(ValueError, match='begin with "growth"'):
        lexicographic_fba(model, ["l2"])
    with pytest.raises(ValueError, match='level 2 must be "total_flux"'):
        lexicographic_fba(model, ["growth", "l3"])
    with pytest.raises(ValueError, match="at most 1"):
        lexicographic_fba(model, fraction_of_optimum=1.5)
    with pytest.raises(ValueError, match="leaves room"):
        problem_from(model, ["growth"], 0.5)
    row = model.problem.Constraint(model.reactions.one.flux_expression, ub=1.0, name="more")
    model.add_cons_vars([row])
    with pytest.raises(ValueError, match="1 further constraints"):
        lexicographic_fba(model)
    model.remove_cons_vars([row])
    model.objective = {}
    with pytest.raises(ValueError, match="no objective"):
        lexicographic_fba(model)
