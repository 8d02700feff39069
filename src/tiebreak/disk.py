"""Files that appear whole or not at all, and archives of arrays that are read without trust.

An archive is an NPZ file: a zip of arrays in NumPy's format (and texts). What an array claims to be (its size, its
type) is compared with the bytes that are there before memory is taken for it, and nothing in it is ever run.
"""

from __future__ import annotations

import errno
import os
import secrets
import zipfile
from collections.abc import Callable
from math import prod
from pathlib import Path
from types import TracebackType
from typing import IO, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

T = TypeVar("T")

UNPACKED = 2**28
"""An archive may claim this many bytes (256 MiB) in memory, or 20 times its size on disk where that is more."""

EXPANSION = 20


class ArchiveError(ValueError):
    """A file is not an archive of arrays, or not the one that it claims to be."""


def write_whole(path: str | Path, write: Callable[[IO[bytes]], object]) -> None:
    """Let ``write`` fill a new file and put it at ``path``, over what is there: whole, or not at all.

    Raises
    ------
    OSError
        Where that is impossible; ``path`` is as it was, and nothing is left beside it.
    """
    path = Path(path)
    if path.exists() and not path.is_file():
        raise OSError(errno.EINVAL, f"cannot write {path}: it is there, and no file")
    part = path.with_name(f".{os.getpid()}-{secrets.token_hex(8)}.part")  # several runs may write at the same time
    try:
        try:
            with open(part, "xb") as file:
                write(file)
                file.flush()
                os.fsync(file.fileno())
            os.replace(part, path)
        except BaseException:
            part.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise OSError(error.errno, f"cannot write {path}: {error.strerror or error}") from error
    _remember(path.parent)


def _remember(folder: Path) -> None:
    """Make the new name of a file outlive a power failure, where the system can say so."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(handle)
    except OSError:
        pass
    finally:
        os.close(handle)


class Archive:
    """An NPZ file, open for reading. All sizes it claims are checked first; ``names`` are those of its arrays.

    Parameters
    ----------
    path : path
        The file.
    expansion : int
        It may claim so many times its size on disk; 1 for files that are written without compression.
    unpacked : int
        Or so many bytes, where that is more.
    """

    def __init__(self, path: str | Path, expansion: int = EXPANSION, unpacked: int = UNPACKED) -> None:
        self.name = Path(path).name
        self._file = open(path, "rb")  # noqa: SIM115 (closed by __exit__)
        try:
            self._zip = self._opened(expansion, unpacked)
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> Archive:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._zip.close()
        self._file.close()

    @property
    def names(self) -> list[str]:
        return [name.removesuffix(".npy") for name in self._zip.namelist() if name.endswith(".npy")]

    def __contains__(self, member: str) -> bool:
        return member in self._zip.namelist()

    def text(self, member: str) -> str:
        """The text of a member, in UTF-8."""
        return self._read(member, _text)

    def array(self, name: str) -> NDArray[Any]:
        """An array of numbers."""
        return self._read(f"{name}.npy", _array)

    def word(self, name: str) -> str:
        """A single short text that NumPy has saved, such as the format of a sparse matrix."""
        return self._read(f"{name}.npy", _word)

    def _opened(self, expansion: int, unpacked: int) -> zipfile.ZipFile:
        on_disk = os.fstat(self._file.fileno()).st_size
        try:
            archive = zipfile.ZipFile(self._file)
        except Exception:  # bytes that are no archive make zipfile raise whatever its parser stumbles over
            raise ArchiveError(f"{self.name} is not an NPZ file, or not all of it is there") from None
        members = archive.infolist()
        claimed = sum(one.file_size for one in members)
        allowed = max(unpacked, expansion * on_disk)
        if claimed > allowed or any(one.compress_size > on_disk for one in members):
            raise ArchiveError(
                f"{self.name} has {on_disk} bytes and claims to hold {claimed}, which is too much: the limit for it is "
                f"{allowed}; save large data without compression, or as a sparse matrix"
            )
        if len({one.filename for one in members}) < len(members):
            raise ArchiveError(f"{self.name} holds two things of the same name")
        return archive

    def _read(self, member: str, read: Callable[[IO[bytes], int], T]) -> T:
        if member not in self:
            raise ArchiveError(f"{self.name} holds no {member}")
        info = self._zip.getinfo(member)
        try:
            with self._zip.open(info) as file:
                return read(file, info.file_size)
        except ArchiveError as error:
            raise ArchiveError(f"{member} in {self.name} {error}") from None
        except MemoryError:
            raise ArchiveError(f"{member} in {self.name} has {info.file_size} bytes, too much for the memory") from None
        except Exception as error:  # zlib, zipfile, NumPy's header parser: whatever they stumble over, the file is bad
            raise ArchiveError(f"{member} in {self.name} is damaged: {error or type(error).__name__}") from None


def _text(file: IO[bytes], size: int) -> str:
    return file.read(size).decode("utf-8")


def _array(file: IO[bytes], size: int) -> NDArray[Any]:
    shape, by_columns, dtype = _header(file)
    if dtype.kind not in "biuf" or dtype.itemsize > 8:
        raise ArchiveError(f"holds no numbers but {dtype}")
    if any(type(side) is not int or side < 0 for side in shape):
        raise ArchiveError(f"claims the shape {shape}")
    need = prod(shape) * dtype.itemsize
    if need != size - file.tell():
        raise ArchiveError(f"claims the shape {shape} of {dtype}, {need} bytes, and has {size - file.tell()}")
    values = np.empty(need, dtype=np.uint8)
    if file.readinto(values.data) != need or file.read(1):  # type: ignore[attr-defined]
        raise ArchiveError("ends too early")
    native = values.view(dtype).reshape(shape, order="F" if by_columns else "C")
    return native if dtype.isnative else native.astype(dtype.newbyteorder("="))


def _word(file: IO[bytes], size: int) -> str:
    shape, _, dtype = _header(file)
    if shape != () or dtype.kind not in "SU" or dtype.itemsize > 64 or dtype.itemsize != size - file.tell():
        raise ArchiveError("is no short text")
    word = np.frombuffer(file.read(size), dtype=dtype)[0]
    return word.decode("ascii") if isinstance(word, bytes) else str(word)


def _header(file: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    version = np.lib.format.read_magic(file)
    if version == (1, 0):
        return np.lib.format.read_array_header_1_0(file)
    if version == (2, 0):
        return np.lib.format.read_array_header_2_0(file)
    raise ArchiveError(f"is in version {version} of NumPy's format, which is for tables, not for numbers")
