"""Names of classes and functions in files: PyTorch's, so it finds them too."""

from __future__ import annotations

import copyreg
import importlib
import pickle
import sys

from .. import _C
from .._own_names import is_own
from .._quantized.dtypes import STORAGE_NAMES
from ..storage._typed import _NAMES, UntypedStorage

_MODULES = "hotaru.nn.modules"
_MOVED = {"torch.tensor": "torch._tensor"}


class StorageType:
    """Stand-in for the name of a legacy storage in a file: its dtype."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.dtype: _C.dtype = _DTYPES[name]

    def __str__(self) -> str:
        return f"StorageType(dtype={self.dtype})"


_DTYPES = {name: dtype for dtype, name in (*_NAMES.items(), *STORAGE_NAMES.items())}


def storage_type(name: str):
    """The StorageType of a name, UntypedStorage, or None."""
    if name == "UntypedStorage":
        return UntypedStorage
    return StorageType(name) if name in _DTYPES else None


class Marker:
    """Stands in pickles for the class of a storage, written by its name."""

    def __init__(self, name: str) -> None:
        self.name = name
        # Picklers that know nothing of it look there, and find it.
        self.__module__ = _markers_home

    def __reduce__(self) -> str:
        return self.name


_markers: dict[str, Marker] = {}
_markers_home = __name__.rpartition(".")[0] + "._markers"


def marker(name: str) -> Marker:
    """One Marker for each name, so a file has it once."""
    return _markers.setdefault(name, Marker(name))


def written(obj, name: str | None = None) -> tuple[str, str]:
    """The module and name by which files know a class or function."""
    if isinstance(obj, Marker):
        # PyTorch's reader of plain data knows this one by its home alone.
        home = ".storage" if obj.name == "UntypedStorage" else ""
        return "torch" + home, obj.name
    if name is None:
        name = getattr(obj, "__qualname__", None) or obj.__name__
    module = pickle.whichmodule(obj, name)
    if not is_own(module) or "." in name:
        return module, name
    return _public(module, name, obj).replace("hotaru", "torch", 1), name


def check_reference(saved) -> None:
    if not isinstance(saved, tuple):
        raise AssertionError(f"saved_id must be a tuple, got {type(saved).__name__}")


def check_found(found, obj, module: str, name: str) -> None:
    if found is not obj:
        raise pickle.PicklingError(
            f"Can't pickle {obj!r}: it's not the same object as {module}.{name}"
        )


def _public(module: str, name: str, obj) -> str:
    """The package that offers an object of a private file of it."""
    found = importlib.import_module(module)
    check_found(getattr(found, name, None), obj, module, name)
    parts = module.split(".")
    for i, part in enumerate(parts):
        if part.startswith("_"):
            above = ".".join(parts[:i])
            if getattr(importlib.import_module(above), name, None) is obj:
                return above
    return module


def found(module: str, name: str, find_class):
    """The object of a name in a file.

    Args:
        find_class: how pickle finds an object of a module and a name.

    Raises:
        ImportError, AttributeError: there is none such.
    """
    module = _MOVED.get(module, module)
    if module.split(".")[0] != "torch":
        return find_class(module, name)
    here = "hotaru" + module[len("torch") :]
    if here.startswith("hotaru._C."):  # modules of operators
        return getattr(find_class("hotaru._C", here.split(".")[-1]), name)
    try:
        return find_class(here, name)
    except (ImportError, AttributeError):
        if module in sys.modules:  # somebody's own, of a name like PyTorch's
            return find_class(module, name)
        if not here.startswith(f"{_MODULES}."):
            raise
        return find_class(_MODULES, name)


def text_of(name) -> str:
    """A word of the format, which may have been read as bytes."""
    return name.decode("ascii") if isinstance(name, bytes) else name


def _get_layout(name: str) -> _C.layout:
    """The layout of a name in a file."""
    found = getattr(_C, name.split(".")[-1], None)
    if not isinstance(found, _C.layout):
        raise KeyError(name)
    return found


# Pickles know it by the package's name.
_get_layout.__module__ = __name__.rpartition(".")[0]

for _kind in (_C.layout, _C._SparseLayout):
    copyreg.pickle(_kind, lambda layout: (_get_layout, (str(layout),)))
