"""The format before archives: pickles in a row, then the storages' bytes."""

from __future__ import annotations

import pickle
import sys

from .. import _C, _weights_only_unpickler
from ..storage._typed import TypedStorage, UntypedStorage
from ._archive import _read_all, storage_view
from ._files import check_seekable
from ._loader import unpickler
from ._names import check_reference, text_of
from ._options import _serialization_tls
from ._pickler import Storages, dump
from ._places import placement

MAGIC_NUMBER = 0x1950A86A20F9469CFC6C
PROTOCOL_VERSION = 1001
_SYSTEM = {
    "protocol_version": PROTOCOL_VERSION,
    "little_endian": sys.byteorder == "little",
    "type_sizes": {"short": 2, "int": 4, "long": 4},
}


class _LegacyStorages(Storages):
    """In this format a storage may also be part of another; none here is."""

    def entry(self, obj) -> tuple | None:
        made = super().entry(obj)
        return None if made is None else (*made, None)


def save_legacy(obj, file, module, protocol: int) -> None:
    """Writes an object to a file opened for bytes; errors as of `save`."""
    plain = module or pickle
    for head in (MAGIC_NUMBER, PROTOCOL_VERSION, _SYSTEM):
        plain.dump(head, file, protocol=protocol)
    storages = _LegacyStorages()
    dump(obj, file, storages, protocol, module)
    keys = sorted(storages.by_key)
    plain.dump(keys, file, protocol=protocol)
    file.flush()
    for key in keys:
        untyped, dtype = storages.by_key[key]
        untyped = untyped.cpu()
        count = untyped.nbytes() // dtype.itemsize
        file.write(count.to_bytes(8, "little"))
        file.write(storage_view(untyped))


class _Storages:
    """The storages of such a file: made when named, filled afterwards."""

    def __init__(self, map_location) -> None:
        self._place = placement(map_location)
        self._known: dict[object, TypedStorage] = {}
        # Filled storages lie on the CPU, and go where they belong after it.
        self._raw: dict[object, UntypedStorage] = {}

    def load(self, found_id):
        """The storage, or the class, that a pickle refers to."""
        check_reference(found_id)
        kind = text_of(found_id[0])
        if kind == "module":
            return found_id[1]
        if kind != "storage":
            raise RuntimeError(f"Unknown saved id type: {found_id[0]}")
        _, stands_for, key, location, count, part = found_id
        if stands_for is UntypedStorage:
            whole = self._typed_storage(key, location, count, _C.uint8, part)
            return whole._untyped_storage
        return self._typed_storage(key, location, count, stands_for.dtype, part)

    def _typed_storage(self, key, location, count: int, dtype, part):
        if key not in self._known:
            raw = UntypedStorage(count * dtype.itemsize, device="cpu")
            self._raw[key] = raw
            self._known[key] = _typed(self._place(raw, text_of(location)), dtype)
        if part is None:
            typed = self._known[key]
            if dtype is not typed._dtype and not typed._data_ptr():
                return _typed(typed._untyped_storage, dtype)  # empty: shared
            return typed
        key_of_part, offset, size = part
        if key_of_part not in self._known:
            start = offset * dtype.itemsize
            whole = self._known[key]._untyped_storage
            bytes_of_part = whole[start : start + size * dtype.itemsize]
            self._known[key_of_part] = _typed(bytes_of_part, dtype)
        return self._known[key_of_part]

    def fill(self, key, file) -> None:
        """Reads the bytes of a storage, which come next in the file: always
        in little-endian order.
        """
        if key not in self._known:
            raise AssertionError(
                f"storage key {key!r} not found in deserialized_objects"
            )
        typed, raw = self._known[key], self._raw[key]
        count = int.from_bytes(file.read(8), "little")
        size = count * typed._dtype.itemsize
        if size != raw.nbytes():
            raise RuntimeError(
                f"storage {key} of the file has {count} elements, not "
                f"{raw.nbytes() // typed._dtype.itemsize}"
            )
        there = _read_all(file, storage_view(raw))
        if there < size:
            raise RuntimeError(
                f"unexpected EOF: storage {key} has {size} bytes, and "
                f"{size - there} of them are not there. "
                "The file might be corrupted."
            )
        if sys.byteorder != "little":
            raw.byteswap(typed._dtype)
        placed = typed._untyped_storage
        if placed is not raw and placed.device.type != "meta":
            placed.copy_(raw)


def _typed(untyped, dtype) -> TypedStorage:
    return TypedStorage(wrap_storage=untyped, dtype=dtype, _internal=True)


def load_legacy(file, map_location, module, **arguments):
    """The object that comes next in a file.

    Raises:
        AttributeError, io.UnsupportedOperation: a file that cannot seek.
        RuntimeError: another format; files of before PyTorch 0.1.10, which
            are tar archives.
        pickle.UnpicklingError, EOFError: what is no pickle.
    """
    check_seekable(file)
    start = file.tell()
    if start == 0 and _is_tar(file):
        raise RuntimeError(_TAR_SAFE if module is _weights_only_unpickler else _TAR)
    magic = module.load(file, **arguments)
    if magic != MAGIC_NUMBER:
        raise RuntimeError("Invalid magic number; corrupt file?")
    version = module.load(file, **arguments)
    if version != PROTOCOL_VERSION:
        raise RuntimeError(f"Invalid protocol version: {version}")
    module.load(file, **arguments)  # the system that wrote it
    storages = _Storages(map_location)
    before, later = _serialization_tls.when_filled, []
    _serialization_tls.when_filled = later
    try:
        result = unpickler(module, file, storages.load, **arguments).load()
    finally:
        _serialization_tls.when_filled = before
    for key in module.load(file, **arguments):
        storages.fill(key, file)
    for call in later:
        call()
    return result


def _is_tar(file) -> bool:
    head = file.read(262)
    file.seek(0)
    return head[257:262] == b"ustar"


_TAR = (
    "files in the .tar format of PyTorch before 0.1.10 are not read here: load "
    "this one with PyTorch and save it anew"
)
_TAR_SAFE = (
    "Cannot use ``weights_only=True`` with files saved in the legacy .tar "
    "format. " + _TAR
)
