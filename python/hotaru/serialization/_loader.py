"""Reading what `_pickler` wrote: objects, and the storages they refer to."""

from __future__ import annotations

import io
import sys
import warnings

from .. import _C, _weights_only_unpickler
from ..storage._typed import TypedStorage, UntypedStorage
from ._names import Marker, check_reference, found, storage_type, text_of
from ._options import LoadEndianness, _serialization_tls, get_default_load_endianness
from ._places import is_meta, placement


def unpickler(module, file, persistent_load, **arguments):
    """An unpickler that finds PyTorch's names and these storages.

    Args:
        module: whose Unpickler finds and makes objects.
        persistent_load: a function of what the pickle says of a storage.
    """

    class Unpickler(module.Unpickler):
        def find_class(self, module: str, name: str):
            inner = super().find_class
            if careful:
                return inner(module, name)  # it goes by the names of files
            if isinstance(name, str) and module.split(".")[0] == "torch":
                known = storage_type(name)
                if known is not None:
                    return known
            made = found(module, name, inner)
            return storage_type(made.name) if type(made) is Marker else made

    careful = module is _weights_only_unpickler
    made = Unpickler(file, **arguments)
    made.persistent_load = persistent_load
    return made


class _ArchiveStorages:
    """The storages of an archive, each read once.

    Args:
        mapped: a storage of the whole file, mapped, or None.
    """

    def __init__(self, reader, map_location, mapped=None) -> None:
        self._reader = reader
        self._mapped = mapped
        self._place = placement(map_location)
        self._meta = is_meta(map_location)
        self._swap = _byte_order(reader) != sys.byteorder
        self._known: dict[str, TypedStorage] = {}

    def load(self, found_id):
        """The storage that a pickle refers to."""
        check_reference(found_id)
        kind = text_of(found_id[0])
        if kind != "storage":
            raise AssertionError(
                "Unknown typename for persistent_load, expected 'storage' but "
                f"got '{kind}'"
            )
        _, stands_for, key, location, count = found_id
        untyped = stands_for is UntypedStorage
        dtype = _C.uint8 if untyped else stands_for.dtype
        if key in self._known:
            return self._known[key]
        made = TypedStorage(
            wrap_storage=self._storage(
                f"data/{key}", count * dtype.itemsize, dtype, text_of(location)
            ),
            dtype=dtype,
            _internal=True,
        )
        if made._data_ptr():
            self._known[key] = made
        return made

    def _storage(self, name: str, nbytes: int, dtype, location: str):
        if self._meta:
            return UntypedStorage(nbytes, device="meta")
        if self._mapped is not None:
            self._reader.check_size(name, nbytes)
            start = self._reader.get_record_offset(name)
            storage = self._mapped[start : start + nbytes]
        else:
            storage = self._reader.get_storage_from_record(name, nbytes)
        if self._swap:
            storage.byteswap(dtype)
        return self._place(storage, location)


def _byte_order(reader) -> str:
    if reader.has_record("byteorder"):
        order = reader.get_record("byteorder")
        if order not in (b"little", b"big"):
            raise ValueError(f"Unknown endianness type: {order.decode()}")
        return order.decode()
    default = get_default_load_endianness()
    if default is None and sys.byteorder == "big":
        warnings.warn(
            "The default load endianness for checkpoints without a byteorder "
            "mark on big endian machines was changed from 'native' to 'little' "
            "endian, to avoid this behavior please use "
            "torch.serialization.set_default_load_endianness to set the "
            "desired default load endianness",
            UserWarning,
            stacklevel=2,
        )
    if default is LoadEndianness.NATIVE:
        return sys.byteorder
    return "big" if default is LoadEndianness.BIG else "little"


def load_archive(reader, map_location, module, mapped=None, **arguments) -> object:
    """The object of an archive.

    Raises:
        RuntimeError: under skip_data, or a record that is not there.
        pickle.UnpicklingError, ImportError, AttributeError: what is no such
            file, or of classes that are not there.
    """
    if _serialization_tls.skip_data:
        raise RuntimeError(
            "`torch.load` called within a torch.serialization.skip_data "
            "context manager is not supported yet. "
            "Please call torch.load outside the skip_data context manager."
        )
    storages = _ArchiveStorages(reader, map_location, mapped)
    text = io.BytesIO(reader.get_record("data.pkl"))
    before = _serialization_tls.map_location
    _serialization_tls.map_location = map_location
    try:
        return unpickler(module, text, storages.load, **arguments).load()
    finally:
        _serialization_tls.map_location = before
