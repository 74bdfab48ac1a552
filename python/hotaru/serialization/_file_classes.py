"""`torch._C.PyTorchFileWriter` and `PyTorchFileReader`: records of archives."""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress

from .. import _C
from .._extension.new_file import NewFile
from ._archive import Reader, Writer, archive_name, storage_view
from ._options import get_crc32_options

_VERSION = ".data/version"
_ID = ".data/serialization_id"
_OLDEST = 3


class PyTorchFileWriter:
    """Writes the records of an archive one by one; not for several threads.

    The archive is complete behind `write_end_of_file`, which also happens when
    nobody holds the writer any more.

    Args:
        file: a path or a file opened for writing bytes.
        compute_crc32: whether records get checksums; by default what
            `set_crc32_options` says.

    Raises:
        RuntimeError: a path whose folder is not there.
    """

    def __init__(self, file, compute_crc32: bool | None = None) -> None:
        self._writer = None
        self._own = isinstance(file, (str, os.PathLike))
        name = "archive"
        if self._own:
            path = os.fspath(file)
            name = archive_name(path)
            self._new = NewFile(path)
            file = self._new.file
        self._version = _OLDEST
        if compute_crc32 is None:
            compute_crc32 = get_crc32_options()
        self._writer = Writer(file, name, compute_crc32)

    def set_min_version(self, version: int) -> None:
        """The archive says at least this version of itself."""
        self._version = max(self._version, version)

    def archive_name(self) -> str:
        """The folder of all records."""
        return self._open().archive_name()

    def get_all_written_records(self) -> set[str]:
        """The names of the records so far."""
        return self._open().get_all_written_records()

    def write_record(self, name: str, data, size: int) -> None:
        """Writes bytes, a text or a storage. RuntimeError: it is there."""
        self._open().write_record(name, data, size)

    def write_record_metadata(self, name: str, size: int) -> None:
        """Leaves room of that many bytes for a record."""
        self._open().write_record_metadata(name, size)

    def serialization_id(self) -> str:
        """A number of 40 digits that says what is in the archive so far."""
        return _fingerprint(self._open().checksums())

    def write_end_of_file(self) -> None:
        """Writes version and directory; the writer takes no more."""
        writer, self._writer = self._open(), None
        written = writer.get_all_written_records()
        if not written & {"version", _VERSION}:
            text = f"{self._version}\n"
            name = _VERSION if self._version >= 6 else "version"
            writer.write_record(name, text, len(text))
        if "byteorder" not in written:
            writer.write_record("byteorder", "little", 6)
        if _ID not in written:
            text = _fingerprint(writer.checksums())
            writer.write_record(_ID, text, len(text))
        writer.write_end_of_file()
        if self._own:
            self._new.finish()

    def _open(self) -> Writer:
        if self._writer is None:
            raise RuntimeError("PyTorchFileWriter: the file is complete")
        return self._writer

    def __del__(self) -> None:
        if getattr(self, "_writer", None) is not None:
            with suppress(OSError, ValueError):  # the file is closed already
                self.write_end_of_file()


def _fingerprint(checksums: dict[str, int]) -> str:
    text = repr(sorted(checksums.items())).encode()
    halves = hashlib.blake2b(text, digest_size=16).digest()
    numbers = (int.from_bytes(half, "big") for half in (halves[:8], halves[8:]))
    return "".join(f"{number:020d}" for number in numbers)


class PyTorchFileReader:
    """Reads the records of an archive; not for several threads.

    Args:
        file: a path, or a file opened for reading bytes that can seek.

    Raises:
        RuntimeError: what is no such archive, a record that is not there.
    """

    def __init__(self, file) -> None:
        if not isinstance(file, (str, os.PathLike)):
            self._reader = Reader(file)
            return
        path = os.fspath(file)
        try:
            self._reader = Reader(path)
        except OSError as error:
            raise RuntimeError(
                f"open file failed because of errno {error.errno} on fopen: "
                f"{error.strerror}, file path: {path}"
            ) from None

    def get_record(self, key: str) -> bytes:
        """The bytes of a record."""
        return self._reader.get_record(key)

    def has_record(self, key: str) -> bool:
        """Tells whether there is such a record."""
        return self._reader.has_record(key)

    def get_all_records(self) -> list[str]:
        """The names of the records."""
        return self._reader.get_all_records()

    def get_record_offset(self, key: str) -> int:
        """Where in the file the bytes of a record begin."""
        return self._reader.get_record_offset(key)

    def get_storage_from_record(self, key: str, numel: int, dtype: _C.dtype):
        """The bytes of a record as a tensor of `numel` elements, which are
        bytes where `dtype` is UntypedStorage.
        """
        if dtype is _C.UntypedStorage:
            dtype = _C.uint8
        made = _C.ops.empty((numel,), dtype=dtype)
        if numel:
            view = storage_view(made.untyped_storage())
            self._reader.read_into(key, view[: numel * dtype.itemsize])
        return made

    def version(self) -> int:
        """The version that the archive says of itself."""
        for name in (_VERSION, "version"):
            if self.has_record(name):
                return int(self.get_record(name))
        raise RuntimeError(
            "PytorchStreamReader failed locating file version: file not found"
        )

    def serialization_id(self) -> str:
        """Value that `PyTorchFileWriter.serialization_id` had; "" for none."""
        return self.get_record(_ID).decode() if self.has_record(_ID) else ""


for _kind in (PyTorchFileReader, PyTorchFileWriter):
    _kind.__module__ = "torch._C"
    setattr(_C, _kind.__name__, _kind)
