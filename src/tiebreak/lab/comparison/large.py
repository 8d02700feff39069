"""Large sets with a cheap linear minimum, where a projection costs much more: planted answers as in ``planted.py``.

The upper level is the squared distance to a point c, the lower one least squares that can be met (g* = 0). x* minimises
f over {z in Z : A z = A x*} if x* - c = A'w + v with <v, z - x*> >= 0 for all z in Z.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy import sparse

from ...arrays import Matrix, Vector
from ...objectives import LeastSquares, SquaredNorm
from ...problem import Problem
from ...sets import Birkhoff, Domain, FromOracles, NuclearBall, Polyhedron, Spectrahedron
from .families import Family


def _family(title: str, domain: Domain, A: Matrix, x: Vector, outward: Vector, rng: np.random.Generator) -> Family:
    """The problem whose answer is x, where ``outward`` is the v of the module's first lines."""
    w = rng.standard_normal(A.shape[0])
    mixed = A.T @ w
    centre = x - mixed * float(np.linalg.norm(x) / np.linalg.norm(mixed)) - outward
    return Family(title, Problem(SquaredNorm(centre), LeastSquares(A, A @ x), domain), x, 0.0)


def _seen(rng: np.random.Generator, n: int, share: float) -> sparse.csr_array:
    """The rows of the identity that are observed."""
    columns = np.flatnonzero(rng.random(n) < share)
    return sparse.csr_array((np.ones(columns.size), (np.arange(columns.size), columns)), shape=(columns.size, n))


def nuclear(n: int = 1000, rank: int = 5, share: float = 0.1) -> Family:
    """Completion of a matrix of low rank; v is a multiple of -(U V' + W), ||W|| < 1."""
    rng = np.random.default_rng(21)
    U, V = (np.linalg.qr(rng.standard_normal((n, 2 * rank)))[0] for _ in range(2))
    values = rng.uniform(1, 3, rank)
    x = (U[:, :rank] * values @ V[:, :rank].T).ravel()
    inner = U[:, rank:] * rng.uniform(0, 0.8, rank) @ V[:, rank:].T
    subgradient = (U[:, :rank] @ V[:, :rank].T + inner).ravel()
    domain = NuclearBall((n, n), float(values.sum()))
    title = f"completion of a {n} x {n} matrix, nuclear-norm ball"
    return _family(title, domain, _seen(rng, n * n, share), x, -0.5 * subgradient, rng)


def spectrahedron(n: int = 600, rank: int = 4, rows: int = 20) -> Family:
    """Quadratic measurements u'Xu of a matrix of trace 1; v is a positive semidefinite matrix orthogonal to it."""
    rng = np.random.default_rng(22)
    Q = np.linalg.qr(rng.standard_normal((n, 2 * rank)))[0]
    x = (Q[:, :rank] * rng.dirichlet(np.ones(rank)) @ Q[:, :rank].T).ravel()
    outward = (Q[:, rank:] * rng.uniform(0.1, 0.5, rank) @ Q[:, rank:].T).ravel()
    U = Q[:, :rank] @ rng.standard_normal((rank, rows)) + rng.standard_normal((n, rows)) / np.sqrt(n)
    A = np.array([np.outer(u, u).ravel() for u in U.T])
    return _family(f"measurements of a {n} x {n} matrix, spectrahedron", Spectrahedron(n), A, x, outward, rng)


def birkhoff(n: int = 300, permutations: int = 12, share: float = 0.02) -> Family:
    """Some entries of a mean of permutations; v = u_i + w_j + a price at the entries that are zero."""
    rng = np.random.default_rng(23)
    X = np.zeros((n, n))
    for weight in rng.dirichlet(np.ones(permutations)):
        X[np.arange(n), rng.permutation(n)] += weight
    prices = np.where(X == 0, rng.uniform(0, 0.1, (n, n)), 0.0)
    outward = (prices + 0.1 * rng.standard_normal((n, 1)) + 0.1 * rng.standard_normal(n)).ravel()
    title = f"some entries of a doubly stochastic {n} x {n} matrix"
    return _family(title, Birkhoff(n), _seen(rng, n * n, share), X.ravel(), outward, rng)


@dataclass(frozen=True)
class Layers:
    """The unit flows from the first to the last of so many layers, each with ``width`` nodes joined to all of the next.

    Edges are in the order (layer, from, to); the first edges leave the source, the last ones enter the sink.
    """

    layers: int
    width: int

    @property
    def edges(self) -> int:
        return 2 * self.width + (self.layers - 1) * self.width**2

    def parts(self, costs: Vector) -> tuple[Vector, Vector, Vector]:
        """The costs of the first edges, of those between layers, and of the last ones."""
        w = self.width
        return costs[:w], costs[w:-w].reshape(self.layers - 1, w, w), costs[-w:]

    def cheapest(self, costs: Vector) -> Vector:
        """The cheapest path, from the last layer to the first: the linear minimum over all flows."""
        first, between, last = self.parts(costs)
        value, choices = last, []
        for matrix in between[::-1]:
            total = matrix + value
            choices.append(np.argmin(total, axis=1))
            value = total[np.arange(self.width), choices[-1]]
        nodes = [int(np.argmin(first + value))]
        for choice in choices[::-1]:
            nodes.append(int(choice[nodes[-1]]))
        return self.path(nodes)

    def path(self, nodes: list[int]) -> Vector:
        """The flow along one path."""
        flow = np.zeros(self.edges)
        first, between, last = self.parts(flow)
        first[nodes[0]] = last[nodes[-1]] = 1.0
        between[np.arange(self.layers - 1), nodes[:-1], nodes[1:]] = 1.0
        return flow

    def conservation(self) -> sparse.csr_array:
        """One row for the source and one for each node: what comes in less what goes out."""
        w, tail, head = self.width, [], []
        node = 1 + np.arange(self.layers * w).reshape(self.layers, w)
        tail.append(np.zeros(w, int))
        head.append(node[0])
        for here, there in pairwise(node):
            tail.append(np.repeat(here, w))
            head.append(np.tile(there, w))
        tail.append(node[-1])
        source = sparse.csr_array((np.ones(self.edges), (np.concatenate(tail), np.arange(self.edges))))
        ends = np.concatenate(head)
        arrive = sparse.csr_array((np.ones(ends.size), (ends, np.arange(ends.size))), shape=source.shape)
        return sparse.csr_array(arrive - source)


def flows(layers: int = 40, width: int = 20, paths: int = 30, share: float = 0.02) -> Family:
    """Counts on some roads of a network; v = differences of potentials + a price at the roads without flow."""
    rng = np.random.default_rng(24)
    network = Layers(layers, width)
    x = np.zeros(network.edges)
    for weight in rng.dirichlet(np.ones(paths)):
        x += weight * network.path([int(node) for node in rng.integers(0, width, layers)])
    B = network.conservation()
    balance = np.zeros(B.shape[0])
    balance[0] = -1.0
    outward = np.where(x == 0, rng.uniform(0, 0.1, network.edges), 0.0) + 0.1 * (B.T @ rng.standard_normal(B.shape[0]))
    polyhedron = Polyhedron(A_eq=B, b_eq=balance, bounds=(0, 1))
    domain = FromOracles(
        lmo=network.cheapest, project=polyhedron.project, contains=polyhedron.contains,
        diameter=float(np.sqrt(2 * (layers + 1))), dim=network.edges,
    )  # fmt: skip
    title = f"counts on some of {network.edges} roads, unit flows"
    return _family(title, domain, _seen(rng, network.edges, share), x, outward, rng)


LARGE: dict[str, Callable[[], Family]] = {
    "nuclear": nuclear,
    "spectrahedron": spectrahedron,
    "birkhoff": birkhoff,
    "flows": flows,
}
"""What each large family is made by; ``benchmarks/projection_free.py`` runs them."""
