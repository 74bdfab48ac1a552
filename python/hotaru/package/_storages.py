"""The storages of a package: written once, whoever refers to them."""

from __future__ import annotations

from .. import _C
from ..serialization._pickler import Storages


class WrittenStorages:
    """Numbers the storages of a package, and writes each of them once.

    Args:
        writer: where records are written.
    """

    def __init__(self, writer) -> None:
        self._writer = writer
        # Kept, as a storage that is gone could give its address to another.
        self._numbers: dict[int, tuple[int, object]] = {}
        self._plain = 0

    def number(self, storage) -> int:
        """The number of a storage, which is in the package from then on."""
        known = self._numbers.get(storage._cdata)
        if known is None:
            known = self._numbers[storage._cdata] = (self._next(), storage)
            self._write(known[0], storage, storage.nbytes())
        return known[0]

    def add_bytes(self, data: bytes) -> int:
        """The number of a new storage of these bytes."""
        number = self._next()
        self._write(number, data, len(data))
        return number

    def _next(self) -> int:
        self._plain += 1
        return self._plain - 1

    def _write(self, number: int, data, size: int) -> None:
        self._writer.write_record(f".data/{number}.storage", data, size)

    def entry(self, obj) -> tuple | None:
        """Returns a pickle's entry for a storage; None for other objects."""
        named = Storages().entry(obj)
        if named is None:
            return None
        kind, marker, _, location, count = named
        untyped = obj if isinstance(obj, _C.StorageBase) else obj._untyped_storage
        return kind, marker, self.number(untyped), location, count
