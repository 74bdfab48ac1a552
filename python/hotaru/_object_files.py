"""Files of `torch.save` that hold objects of any class, by Python's pickle.

Their layout and the names of classes are PyTorch's: its files can be read, and
it reads those of objects whose attributes are the same there. Reading such a
file runs what it says: only for files that one trusts.
"""

from __future__ import annotations

import importlib
import io
import pickle
import zipfile
from collections import OrderedDict

from . import _C
from ._dtypes import TYPES

_DTYPES = {name.replace("Tensor", "Storage"): d for name, d in TYPES.items()}


_MODULES = "hotaru.nn.modules"


def _marker(name: str) -> type:
    return type(name, (), {"__module__": "torch"})


# Stand in pickles for the dtype of a storage.
_MARKERS = {dtype: _marker(name) for name, dtype in _DTYPES.items()}


class _Storage:
    """Memory of tensors of one dtype: bytes (nbytes,) of uint8."""

    def __init__(self, dtype, data: _C.Tensor) -> None:
        self.dtype = dtype
        self.data = data


def save(obj, file, protocol: int = 2) -> None:
    """Writes `obj` to a file opened for bytes.

    Raises:
        pickle.PicklingError, TypeError, AttributeError: what pickle refuses.
        RuntimeError: memory that tensors of several dtypes share.
    """
    text = io.BytesIO()
    pickler = _Pickler(text, protocol)
    pickler.dump(obj)
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("archive/data.pkl", text.getvalue())
        archive.writestr("archive/byteorder", "little")
        for key, storage in pickler.storages.values():
            data = _C._tensor_bytes(storage.data.cpu())
            archive.writestr(f"archive/data/{key}", data)
        archive.writestr("archive/version", "3\n")


def load(file, place):
    """Reads what `save`, or PyTorch, wrote to a file opened for bytes.

    Args:
        file: a seekable file.
        place: a function of the name of the device where a storage was and of
            its bytes, which gives them where they belong.

    Raises:
        pickle.UnpicklingError, ImportError, AttributeError: what is no such
            file, or of classes that are not there.
    """
    with zipfile.ZipFile(file) as archive:
        name = next(n for n in archive.namelist() if n.endswith("/data.pkl"))
        root = name[: -len("data.pkl")]
        text = io.BytesIO(archive.read(name))
        return _Unpickler(text, archive, root, place).load()


class _Pickler(pickle._Pickler):
    """In Python, as the names of globals are written anew."""

    def __init__(self, file, protocol: int) -> None:
        super().__init__(file, protocol)
        # By address: key and storage, kept alive until they are written.
        self.storages: dict[int, tuple[str, _Storage]] = {}

    def persistent_id(self, obj):
        if not isinstance(obj, _Storage):
            return None
        address = obj.data._storage_ptr() or -1 - len(self.storages)
        key, known = self.storages.setdefault(
            address, (str(len(self.storages)), obj)
        )
        if known.dtype is not obj.dtype:
            raise RuntimeError(
                "Cannot save multiple tensors or storages that view the same "
                "data as different types"
            )
        count = obj.data.numel() // obj.dtype.itemsize
        where = str(obj.data.device)
        return ("storage", _MARKERS[obj.dtype], key, where, count)

    def reducer_override(self, obj):
        if not isinstance(obj, _C.Tensor):
            return NotImplemented
        from .nn.parameter import Buffer, Parameter, is_lazy

        if isinstance(obj, Parameter) or is_lazy(obj):
            return NotImplemented  # they know how
        plain = _reduced(obj)
        if type(obj) in (_C.Tensor, Buffer):
            return plain
        from ._tensor import _rebuild_from_type_v2

        state = getattr(obj, "__dict__", None) or None
        return _rebuild_from_type_v2, (plain[0], type(obj), plain[1], state)

    def save_global(self, obj, name=None):
        name = name or getattr(obj, "__qualname__", obj.__name__)
        module = getattr(obj, "__module__", None) or ""
        native = isinstance(obj, type) and obj in _MARKERS.values()
        if not native:
            if module.split(".")[0] != "hotaru" or "." in name:
                super().save_global(obj, name)
                return
            module = _public(module, name, obj)
        where = module.replace("hotaru", "torch", 1)
        self.write(pickle.GLOBAL + f"{where}\n{name}\n".encode())
        self.memoize(obj)

    dispatch = dict(pickle._Pickler.dispatch)  # noqa: RUF012  (its protocol)
    dispatch[type(save)] = save_global

    def save_type(self, obj):
        if obj in (type(None), type(NotImplemented), type(...)):
            pickle._Pickler.save_type(self, obj)
        else:
            self.save_global(obj)

    dispatch[type] = save_type


def _public(module: str, name: str, obj) -> str:
    """The package that offers an object of a private file of it."""
    found = importlib.import_module(module)
    if getattr(found, name, None) is not obj:
        raise pickle.PicklingError(
            f"Can't pickle {obj!r}: it's not the same object as {module}.{name}"
        )
    # All modules are offered there; which file is whose differs.
    offered = importlib.import_module(_MODULES)
    if getattr(offered, name, None) is obj:
        return _MODULES
    parts = module.split(".")
    for i, part in enumerate(parts):
        if part.startswith("_"):
            above = ".".join(parts[:i])
            if getattr(importlib.import_module(above), name, None) is obj:
                return above
    return module


def _reduced(tensor: _C.Tensor) -> tuple:
    from ._utils import _rebuild_tensor_v2

    storage = _Storage(tensor.dtype, _C._whole_storage(tensor.detach()))
    return _rebuild_tensor_v2, (
        storage,
        tensor.storage_offset(),
        tuple(tensor.shape),
        tensor.stride(),
        tensor.requires_grad,
        OrderedDict(),
    )


class _Unpickler(pickle.Unpickler):
    def __init__(self, text, archive, root: str, place) -> None:
        super().__init__(text, encoding="utf-8")
        self._archive = archive
        self._root = root
        self._place = place
        self._storages: dict[str, _Storage] = {}

    def find_class(self, module: str, name: str):
        if module in ("torch", "torch.storage") and name in _DTYPES:
            return _DTYPES[name]
        if module.split(".")[0] == "torch":
            module = "hotaru" + module[len("torch") :]
        try:
            return super().find_class(module, name)
        except (ImportError, AttributeError):
            if not module.startswith(f"{_MODULES}."):
                raise
            return super().find_class(_MODULES, name)

    def persistent_load(self, found):
        _, dtype, key, where, _ = found
        if key not in self._storages:
            data = bytearray(self._archive.read(f"{self._root}data/{key}"))
            whole = _C.ops.empty([0], dtype=_C.uint8)
            if data:
                whole = _C.frombuffer(data, dtype=_C.uint8)
            self._storages[key] = _Storage(dtype, self._place(where, whole))
        return self._storages[key]
