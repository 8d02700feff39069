"""Data beyond one machine's memory: matrices in chunks, which objectives take as they are.

Needs the extra ``dask``. Passes run on the cluster of the current ``distributed.Client``, or on threads or processes of
this machine without any.
"""

try:
    import dask as _dask  # noqa: F401
except ImportError as _missing:
    raise ImportError('tiebreak.dask needs the package dask: pip install "tiebreak[dask]"') from _missing

from .errors import ChunkError
from .matrix import ChunkedMatrix, Pass
from .sources import chunked, from_frame, from_memmap, from_parquet, from_zarr

__all__ = ["ChunkError", "ChunkedMatrix", "Pass", "chunked", "from_frame", "from_memmap", "from_parquet", "from_zarr"]
