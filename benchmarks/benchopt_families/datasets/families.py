"""The problem families of ``tiebreak bench``, with answers that are formulas or planted."""

from typing import ClassVar

from benchopt import BaseDataset

from tiebreak.lab.comparison.families import FAMILIES


class Dataset(BaseDataset):
    """One family; those that a user has registered as well."""

    name = "families"
    parameters: ClassVar = {"family": list(FAMILIES)}

    def get_data(self):
        """Made anew."""
        return {"family": FAMILIES[self.family]()}
