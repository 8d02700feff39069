"""Public data files, fetched once and only when the user asks for it; their checksums are part of the library."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases/adult/"


@dataclass(frozen=True)
class Remote:
    """A file on the web."""

    name: str
    url: str
    sha256: str


WIKIPEDIA = Remote(
    "wikivital_mathematics.json",
    "https://raw.githubusercontent.com/benedekrozemberczki/pytorch_geometric_temporal/master/dataset/"
    "wikivital_mathematics.json",
    "eb2196bd8ff033bc0518bc070301f249438025a60bd4db2463052d63ce323d0a",
)
"""Daily visits of 1068 Wikipedia articles on mathematics over two years (Rozemberczki et al., CIKM 2021)."""

ADULT = (
    Remote("adult.data", UCI + "adult.data", "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d"),
    Remote("adult.test", UCI + "adult.test", "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05"),
)
"""The Adult income data of the UCI repository, both parts (Becker, Kohavi, 1996)."""


def fetch(remote: Remote) -> Path:
    """The file in the user's cache, downloaded if it is not there; a wrong checksum is an error.

    Returns
    -------
    Path
        Where the file is now.
    """
    try:
        import pooch
    except ImportError as error:
        raise ImportError("downloads need pooch: pip install 'tiebreak[data]'") from error
    place = pooch.retrieve(
        url=remote.url, known_hash=f"sha256:{remote.sha256}", fname=remote.name, path=pooch.os_cache("tiebreak")
    )
    return Path(place)
