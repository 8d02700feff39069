"""The methods of the dictionary experiment, with the paper's parameters."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...arrays import Vector
from ...methods import Solver
from ...methods.a_irg import AIRG, AIRGState
from ...methods.big_sam import BiGSAM
from ...methods.cg import CG
from ...methods.cg_bio import CGBiO
from ...methods.dbgd import DBGD
from ...methods.shared.cut_state import CutState
from ...problem import Problem
from ...sets import FromOracles, Product
from ...steps import InverseSqrt

CG_BIO, BIG_SAM, A_IRG, A_IRG_JACOBI, DBGD_, PLAIN_CG, FIXED = (
    "CG-BiO",
    "BiG-SAM",
    "a-IRG",
    "a-IRG, both blocks at once",
    "DBGD",
    "CG without cut",
    "old atoms fixed",
)
METHODS = (CG_BIO, BIG_SAM, A_IRG, A_IRG_JACOBI, DBGD_, PLAIN_CG, FIXED)

PAPER_UPDATES = 4409
"""What CG-BiO made in the 39 s that each method had in the authors' figures, counted there."""

NEVER = 1e-300
"""A tolerance that no stopping test meets: the released code runs until its time is up."""


@dataclass(frozen=True)
class LastIterate(CGBiO):
    """CG-BiO as the experiments report it: the last iterate, not the one with the smallest gap of Theorem 2."""

    def solution(self, state: CutState) -> Vector:
        return state.x


@dataclass(frozen=True)
class SequentialAIRG(AIRG):
    """a-IRG as released: the blocks step one after the other, each with gradients at the point reached so far.

    Nothing is projected before all have stepped.
    """

    def advance(self, problem: Problem, state: AIRGState) -> AIRGState:
        domain, k = problem.domain, state.k
        assert isinstance(domain, Product)
        eta, step = state.eta0 / (k + 1) ** self.b, state.gamma0 / (k + 1) ** 0.5
        x = state.x.copy()
        for name in domain.names:
            slope = problem.lower.grad(x) + eta * problem.upper.grad(x)
            domain.split(x)[name][...] -= step * domain.split(slope)[name]
        return replace(state, k=k + 1, x=domain.project(x), multiplier=1 / eta)


def method(name: str, authors_weights: bool = False) -> Solver[Any]:
    """The method with the paper's parameters; ``authors_weights``: BiG-SAM with 2 gamma/k, as released."""
    if name == CG_BIO:
        return LastIterate(InverseSqrt(0.3), tol_upper=NEVER, tol_lower=NEVER)
    if name == BIG_SAM:
        return BiGSAM(0.1, 0.1, 20.0 if authors_weights else 10.0)
    if name == A_IRG:
        return SequentialAIRG(0.01, 1.0, average=False)
    if name == A_IRG_JACOBI:
        return AIRG(0.01, 1.0, average=False)
    if name == DBGD_:
        return DBGD(0.1, g_hat=0.0)
    return CG(InverseSqrt(0.3))


def task(name: str, problem: Problem, x0: Vector) -> Problem:
    """The problem that the method runs on: for the simple baseline, without the freedom to move the old atoms."""
    return holding_old_atoms(problem, x0) if name == FIXED else problem


def holding_old_atoms(problem: Problem, x0: Vector) -> Problem:
    """The same problem over the points of Z with the atoms that x0 has; its zero columns are free."""
    domain = problem.domain
    assert isinstance(domain, Product)
    held = domain.split(x0)["D"].copy()
    old = held.any(axis=0)

    def lmo(c: Vector) -> Vector:
        s = domain.lmo(c)
        domain.split(s)["D"][:, old] = held[:, old]
        return s

    def contains(x: Vector, tol: float) -> bool:
        D = domain.split(x)["D"]
        return domain.contains(x, tol) and bool(np.abs(D[:, old] - held[:, old]).max() <= tol)

    return replace(problem, domain=FromOracles(lmo=lmo, contains=contains, diameter=domain.diameter, dim=domain.dim))
