"""Write the data of the examples that are too long to write by hand: ``python examples/make_data.py``.

Every file is small, made up, and the same each time. The hand-written ones are not touched.
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

DATA = Path(__file__).resolve().parent / "data"
Array = NDArray[np.float64]


def write_csv(name: str, columns: dict[str, Array], digits: int = 3) -> None:
    """One named column after the other."""
    with open(DATA / name, "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows([[f"{cell:.{digits}f}" for cell in row] for row in zip(*columns.values(), strict=True)])


def houses(rng: np.random.Generator) -> None:
    """Prices of houses from 20 measurements, of which three matter: 12 rows to fit, 15 to validate, two mistyped."""
    effects = np.zeros(20)
    effects[[1, 6, 13]] = 0.9, -0.6, 0.4
    for name, rows in (("houses_train.csv", 12), ("houses_validation.csv", 15)):
        A = rng.standard_normal((rows, 20))
        price = A @ effects + 0.1 * rng.standard_normal(rows)
        if rows == 15:
            price[[3, 9]] += 4.0, -5.0
        write_csv(name, {**{f"m{j:02d}": A[:, j] for j in range(20)}, "price": price})


def funds(rng: np.random.Generator) -> None:
    """By how much ten funds beat an index on each of five days, and their fees."""
    names = [f"fund_{letter}" for letter in "ABCDEFGHIJ"]
    excess = rng.standard_normal((5, 10))
    write_csv("fund_excess.csv", {name: excess[:, j] for j, name in enumerate(names)})
    write_csv("fund_fees.csv", {"fee": rng.uniform(0.1, 1.0, 10)})


def shifts(_: np.random.Generator) -> None:
    """Limits of the working hours of 14 days, and the matrix of the squared changes from day to day."""
    day = np.arange(14.0)
    weekend = day % 7 >= 5
    write_csv("shift_limits.csv", {"day": day, "least": 2.0 - 2.0 * weekend, "most": 10.0 - 6.0 * weekend}, 0)
    changes = sparse.diags_array([-np.ones(13), np.ones(13)], offsets=[0, 1], shape=(13, 14))
    sparse.save_npz(DATA / "shift_changes.npz", sparse.csr_array(2 * changes.T @ changes))


def patients(rng: np.random.Generator) -> None:
    """40 patients: two tests that agree where the model is fitted but not where it is audited, and an age."""
    for name, differs in (("patients_train.csv", 0.0), ("patients_audit.csv", 1.0)):
        group = (rng.random(40) < 0.5).astype(float)
        test = rng.standard_normal(40)
        other = test + differs * (0.8 * group - 0.4 + 0.3 * rng.standard_normal(40))
        age = rng.standard_normal(40)
        ill = (1.2 * test - 0.6 * age + 1.5 * rng.standard_normal(40) > 0).astype(float)
        columns = {"test_1": test, "test_2": other, "age": age}
        write_csv(name, {**columns, "group": group} if differs else {**columns, "ill": ill})


def speakers(rng: np.random.Generator) -> None:
    """What eight loudspeakers do at three seats, and the loudness that is wanted there."""
    np.savez(DATA / "speakers.npz", response=rng.uniform(0.2, 1.0, (3, 8)), wanted=np.array([2.0, 1.5, 2.2]))


def genes(rng: np.random.Generator) -> None:
    """Twelve genes in four pathways: five patients to fit, ten to validate."""
    fit, validate = rng.standard_normal((5, 12)), rng.standard_normal((10, 12))
    effects = np.repeat([0.0, 0.5, 0.0, -0.3], 3)
    np.savez(DATA / "genes.npz", fit=fit, validate=validate)
    write_csv("genes_fit.csv", {"response": fit @ effects})
    write_csv("genes_validate.csv", {"response": validate @ effects + 0.3 * rng.standard_normal(10)})


def ratings(rng: np.random.Generator) -> None:
    """Which of 5 x 6 ratings are known (a sparse matrix that picks them), and what they are: nearly of rank one."""
    known = np.sort(rng.permutation(30)[:14])
    table = np.outer(rng.uniform(1, 2, 5), rng.uniform(1, 2, 6))
    picks = sparse.csr_array((np.ones(14), (np.arange(14), known)), shape=(14, 30))
    sparse.save_npz(DATA / "ratings_known.npz", picks)
    write_csv("ratings.csv", {"rating": table.ravel()[known]})


def spectra(rng: np.random.Generator) -> None:
    """Two colours of three pixels in a row, each a mix of four materials; x holds the shares, material by material."""
    colours = rng.uniform(0.0, 1.0, (2, 4))
    shares = rng.dirichlet(np.ones(4), 3).T
    np.savez(DATA / "spectra.npz", A=np.kron(colours, np.eye(3)), b=(colours @ shares).ravel())


def leaks(rng: np.random.Generator) -> None:
    """What a leak at each of 20 places does to 6 pressures, the pressures that three leaks cause, and odds."""
    effect, size = rng.uniform(0.0, 1.0, (6, 20)), np.zeros(20)
    size[[2, 9, 15]] = 1.0, 2.5, 0.5
    np.savez(DATA / "leaks.npz", effect=effect, pressure=effect @ size, unlikely=rng.uniform(0.5, 1.5, 20))


def dictionary(rng: np.random.Generator) -> None:
    """Old data from two atoms, their codes, and new data from these and a third atom."""
    atoms = rng.standard_normal((4, 3))
    atoms /= np.linalg.norm(atoms, axis=0)
    old_codes, new_codes = rng.uniform(-1.0, 1.0, (2, 8)), rng.uniform(-0.6, 0.6, (3, 5))
    np.savez(DATA / "dictionary.npz", old=atoms[:, :2] @ old_codes, codes=old_codes, new=atoms @ new_codes)


def make_all() -> None:
    """Write every file."""
    for i, make in enumerate((houses, funds, shifts, patients, speakers, genes, ratings, spectra, leaks, dictionary)):
        make(np.random.default_rng(i))


if __name__ == "__main__":
    make_all()
