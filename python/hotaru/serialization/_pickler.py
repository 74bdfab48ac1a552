"""Pickles of objects of any class, with their storages apart.

Their layout and the names of classes are PyTorch's: it reads those of objects
whose attributes are the same there.
"""

from __future__ import annotations

import contextlib
import io
import pickle
import sys
import threading

from .. import _C
from .._C import StorageBase
from .._quantized.dtypes import STORAGE_NAMES
from ..storage._typed import _NAMES, TypedStorage
from ._foreign import renamed
from ._names import marker, written
from ._places import location_tag


class Storages:
    """The storages that a pickle refers to, by key, in order."""

    def __init__(self) -> None:
        self.by_key: dict[str, tuple] = {}
        self._keys: dict[int, str] = {}
        self._dtypes: dict[int, object] = {}

    def entry(self, obj) -> tuple | None:
        """Entry that names a storage in the file; None for other objects.

        RuntimeError: its bytes are there as numbers of another dtype.
        """
        if isinstance(obj, TypedStorage):
            untyped, dtype = obj._untyped_storage, obj._dtype
            name, count = _NAMES.get(dtype), obj._size()
            name = name or STORAGE_NAMES[dtype]
        elif isinstance(obj, StorageBase):
            untyped, dtype = obj, _C.uint8
            name, count = "UntypedStorage", obj.nbytes()
        else:
            return None
        self._check(untyped, dtype)
        key = self._keys.setdefault(untyped._cdata, str(len(self._keys)))
        self.by_key[key] = (untyped, dtype)
        return ("storage", marker(name), key, location_tag(untyped), count)

    def _check(self, untyped, dtype) -> None:
        if untyped.device.type == "meta" or not untyped.data_ptr():
            return
        known = self._dtypes.setdefault(untyped.data_ptr(), dtype)
        if known is not dtype:
            raise RuntimeError(
                "Cannot save multiple tensors or storages that view the same "
                "data as different types"
            )


class _Apart:
    """Names storages in place of their bytes, whatever the pickler."""

    entry = staticmethod(lambda obj: None)

    def persistent_id(self, obj):
        return self.entry(obj)


class _Pickler(_Apart, pickle._Pickler):
    """In Python, as the names of globals are written anew."""

    def save_global(self, obj, name=None):
        module, name = written(obj, name)
        if module.split(".")[0] != "torch" or "." in name:
            super().save_global(obj, name)
            return
        self.write(pickle.GLOBAL + f"{module}\n{name}\n".encode())
        self.memoize(obj)

    dispatch = dict(pickle._Pickler.dispatch)  # noqa: RUF012  (its protocol)
    dispatch[type(written)] = save_global

    def save_type(self, obj):
        if obj in (type(None), type(NotImplemented), type(...)):
            pickle._Pickler.save_type(self, obj)
        else:
            self.save_global(obj)

    dispatch[type] = save_type


# A pickler in Python calls three functions for what C's does in one.
_CALLS = 3
_lock = threading.Lock()
_deep: list[int] = []  # the interpreter's own limit, once for each dump


@contextlib.contextmanager
def _deeper():
    """Objects may be nested here as deep as a pickler in C takes them.

    The limit is the interpreter's: the last of several threads restores it.
    """
    with _lock:
        _deep.append(_deep[0] if _deep else sys.getrecursionlimit())
        sys.setrecursionlimit(_CALLS * _deep[0])
    try:
        yield
    finally:
        with _lock:
            own = _deep.pop()
            if not _deep:
                sys.setrecursionlimit(own)


def dump(obj, file, storages: Storages, protocol: int, module=None) -> None:
    """Pickles an object whose storages are named only.

    Args:
        module: whose Pickler is used, by default one like Python's.

    Raises:
        pickle.PicklingError, TypeError, AttributeError: what pickle refuses.
        RecursionError: nests deeper than a pickler in C would take.
        RuntimeError: memory that tensors of several dtypes share.
    """
    if module in (None, pickle):
        kind, text = _Pickler, file
    else:
        kind = type("_Pickler", (_Apart, module.Pickler), {})
        text = io.BytesIO()
    pickler = kind(text, protocol)
    pickler.entry = storages.entry
    with _deeper():
        pickler.dump(obj)
    if text is not file:
        file.write(renamed(text.getvalue()))
