"""Settings of files: byte order, checksums, mapping, files without data."""

from __future__ import annotations

import mmap as _mmap
import threading
from enum import Enum

MAP_PRIVATE = getattr(_mmap, "MAP_PRIVATE", None)
MAP_SHARED = getattr(_mmap, "MAP_SHARED", None)
DEFAULT_PROTOCOL = 2


class LoadEndianness(Enum):
    """The byte order of files that do not say theirs."""

    NATIVE = 1
    LITTLE = 2
    BIG = 3


class _Settings:
    endianness: LoadEndianness | None = None
    crc32 = True
    mmap = False
    mmap_flags = MAP_PRIVATE


class _SerializationLocal(threading.local):
    """Options of this thread while a file is written or read."""

    def __init__(self) -> None:
        super().__init__()
        self.map_location = None
        self.skip_data = False
        self.materialize_fake_tensors = False
        # Calls for the end of a file whose bytes come last, or None.
        self.when_filled = None


_serialization_tls = _SerializationLocal()


def get_default_load_endianness() -> LoadEndianness | None:
    """The byte order of files without a mark; None stands for little."""
    return _Settings.endianness


def set_default_load_endianness(endianness: LoadEndianness | None) -> None:
    """Sets the byte order of files without a mark.

    TypeError for anything but a LoadEndianness or None.
    """
    if not isinstance(endianness, (LoadEndianness, type(None))):
        raise TypeError("Invalid argument type in function set_default_load_endianness")
    _Settings.endianness = endianness


def get_crc32_options() -> bool:
    """Tells whether `save` computes the checksums of records."""
    return _Settings.crc32


def set_crc32_options(compute_crc32: bool) -> None:
    """Sets whether `save` computes checksums, which `zipfile` asks for and
    `load` does not.
    """
    _Settings.crc32 = compute_crc32


def get_default_mmap_options() -> int | None:
    """How `load(mmap=True)` maps files: mmap.MAP_PRIVATE or MAP_SHARED."""
    return _Settings.mmap_flags


class set_default_mmap_options:  # noqa: N801  (PyTorch's name)
    """Sets how `load(mmap=True)` maps files; in a with statement, for it.

    With MAP_SHARED what is written to the tensors goes to the file.
    ValueError for flags that are neither of the two.
    """

    def __init__(self, flags: int) -> None:
        if flags not in (MAP_PRIVATE, MAP_SHARED):
            raise ValueError(
                "Invalid argument in function set_default_mmap_options, "
                f"expected mmap.MAP_PRIVATE or mmap.MAP_SHARED, but got {flags}"
            )
        self.prev = _Settings.mmap_flags
        _Settings.mmap_flags = flags

    def __enter__(self) -> None:
        pass

    def __exit__(self, *raised) -> None:
        _Settings.mmap_flags = self.prev


class skip_data:  # noqa: N801  (PyTorch's name)
    """Within it `save` leaves room for the bytes of storages, all zero.

    materialize_fake_tensors: not there, as there are no fake tensors.
    """

    def __init__(self, materialize_fake_tensors: bool = False) -> None:
        if materialize_fake_tensors:
            raise NotImplementedError(
                "skip_data: there are no fake tensors to materialize; save "
                "tensors of the CPU instead"
            )
        self.materialize_fake_tensors = materialize_fake_tensors

    def __enter__(self) -> None:
        self._before = _serialization_tls.skip_data
        _serialization_tls.skip_data = True

    def __exit__(self, *raised) -> None:
        _serialization_tls.skip_data = self._before
