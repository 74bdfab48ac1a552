"""Storages: the bytes behind tensors, with a dtype or without one."""

from __future__ import annotations

import errno
import mmap
import operator
import os
import sys

from .. import _C
from .._C import Tensor, UntypedStorage
from .._late import lent
from ._legacy import _LegacyStorage
from ._typed import (
    TypedStorage,
    _by_bytes,
    _dtype_to_storage_type_map,
    _get_always_warn_typed_storage_removal,
    _load_from_bytes,
    _reset_warn_typed_storage_removal,
    _set_always_warn_typed_storage_removal,
    _warn_typed_storage_removal,
    check_memory,
)

__all__ = [
    "TypedStorage",
    "UntypedStorage",
    "_LegacyStorage",
    "_dtype_to_storage_type_map",
    "_get_always_warn_typed_storage_removal",
    "_load_from_bytes",
    "_reset_warn_typed_storage_removal",
    "_set_always_warn_typed_storage_removal",
    "_warn_typed_storage_removal",
]

_StorageBase = _C.StorageBase
_make = UntypedStorage.__new__

_SIGNATURES = """
 * (*, int allocator = None, torch.device device = None)
 * (int size, *, int allocator = None, torch.device device = None)
 * (object sequence, *, int allocator = None, torch.device device = None)
"""


def _new(cls, *args, device=None, **kwargs):
    """An UntypedStorage of that many bytes, or of a sequence of such."""
    name = "torch.UntypedStorage()"
    if kwargs or len(args) > 1:
        given = [type(a).__name__ for a in args]
        given += [f"{k}={type(v).__name__}" for k, v in kwargs.items()]
        raise TypeError(
            f"{name} received an invalid combination of arguments - got "
            f"({', '.join(given)}), but expected one of:{_SIGNATURES}"
        )
    if isinstance(device, str):
        try:
            device = _C.device(device)
        except RuntimeError:
            raise RuntimeError(
                f"{name}: Storage device not recognized: {device}"
            ) from None
    first = args[0] if args else 0
    if hasattr(first, "__index__") and not isinstance(first, (bool, Tensor)):
        first = operator.index(first)  # of numpy, too
    if isinstance(first, (int, _StorageBase)):
        return _make(cls, first, device=device)
    if isinstance(first, Tensor) or not hasattr(first, "__len__"):
        raise RuntimeError(
            f"{name}: Expected a sequence type, but got {type(first).__name__}"
        )
    for item in first:
        if not isinstance(item, int):
            raise RuntimeError(
                f"{name}: tried to construct a storage from a sequence "
                f"({type(first).__name__}), but one of the items was of type "
                f"{type(item).__name__} instead of int"
            )
    made = _make(cls, len(first), device=device)
    if len(first) and made.device.type != "meta":
        values = _C.tensor([v & 255 for v in first], dtype=_C.uint8)
        made._bytes().copy_(values)
    return made


def _index(self, key: int) -> int:
    size = self.nbytes()
    if not -size <= key < size:
        raise IndexError(f"index {key} out of range for storage of size {size}")
    return key


def __getitem__(self, key):
    """A byte, or a storage that shares the bytes of a slice of step 1."""
    check_memory(self)
    if isinstance(key, slice):
        start, stop, step = key.indices(self.nbytes())
        if step != 1:
            raise RuntimeError(
                f"Trying to slice with a step of {step}, but only a step of 1 "
                "is supported"
            )
        return _C._part_of_storage(self, start, max(stop - start, 0))
    if not isinstance(key, int):
        raise TypeError(f"can't index a torch.UntypedStorage with {type(key).__name__}")
    return self._bytes()[_index(self, key)].item()


def __setitem__(self, key, value) -> None:
    check_memory(self)
    if not isinstance(value, int):
        raise RuntimeError(
            "can only set storage content with a int types, but got "
            f"{type(value).__name__} instead"
        )
    if not isinstance(key, slice):
        key = _index(self, key)
    self._bytes()[key] = value & 255


def __iter__(self):
    return (self[i] for i in range(self.nbytes()))


def size(self) -> int:
    return self.nbytes()


def _listing(storage, values) -> str:
    kind = f"[{_name(storage)}(device={storage.device}) of size {len(storage)}]"
    if storage.device.type == "meta":
        return f"...\n{kind}"
    return "".join(f" {v}\n" for v in values) + kind


def _name(storage) -> str:
    cls = type(storage)
    return f"{cls.__module__}.{cls.__name__}".replace("hotaru.", "torch.")


def __repr__(self) -> str:
    return _listing(self, self.tolist() if self.device.type != "meta" else ())


def tolist(self) -> list[int]:
    """The bytes."""
    check_memory(self)
    return self._bytes().tolist()


def fill_(self, value: int):
    self._bytes().fill_(value & 255)
    return self


def copy_(self, source, non_blocking=None):
    """Takes the bytes of a storage of the same size."""
    if isinstance(source, TypedStorage):
        source = source._untyped_storage
    if source.nbytes() != self.nbytes():
        raise RuntimeError(
            f"size does not match, self was {self.nbytes()} bytes but src was "
            f"{source.nbytes()} bytes"
        )
    self._bytes().copy_(source._bytes())
    return self


def new(self):
    """An empty storage on the same device."""
    return type(self)(device=self.device)


def clone(self):
    return type(self)(self.nbytes(), device=self.device).copy_(self)


def to(self, *, device, non_blocking: bool = False):
    """The storage itself if it is there, else a copy."""
    device = _C.device(device)
    if device.type == self.device.type and device.index in (None, self.device.index):
        return self
    return UntypedStorage(self.nbytes(), device=device).copy_(self)


def cpu(self):
    return self.to(device="cpu")


def cuda(self, device=None, non_blocking: bool = False):
    return self.to(device=_C.device("cuda" if device is None else device))


def _deepcopy(self, memo):
    memo = memo.setdefault("hotaru", {})
    key = self.data_ptr()
    if not self.nbytes():
        return self.clone()
    if key not in memo:
        memo[key] = self._bytes().clone()
    return _C._storage_of(memo[key])


def byteswap(self, dtype) -> None:
    """Turns around the bytes of each number of that dtype, in place.

    Of complex numbers, those of each part.
    """
    item = dtype.to_real().itemsize if dtype.is_complex else dtype.itemsize
    if self.nbytes() % item:
        raise RuntimeError(
            f"a storage of {self.nbytes()} bytes does not hold whole numbers "
            f"of {item} bytes"
        )
    numbers = self._bytes().reshape(-1, item)
    numbers.copy_(numbers.flip(1))


def is_shared(self) -> bool:
    """Tells whether the bytes lie in memory that processes share."""
    return _C._SharedMemory.of(self._bytes()) is not None


def share_memory_(self):
    """Moves the bytes into memory that other processes can map; self."""
    if self.device.type not in ("cpu", "cuda"):
        raise RuntimeError("_share_fd_: only available on CPU")
    lent("share_memory")(self._bytes())
    return self


def is_pinned(self, device="cuda") -> bool:
    return self._bytes().is_pinned(device)


def pin_memory(self, device="cuda"):
    """A copy in page-locked memory. TypeError for a storage of a GPU."""
    if self.device.type != "cpu":
        raise TypeError(f"cannot pin '{self.type()}' only CPU memory can be pinned")
    return _C._storage_of(self._bytes().pin_memory(device))


def _cast(dtype):
    def cast(self):
        typed = TypedStorage(wrap_storage=self, dtype=_C.uint8, _internal=True)
        return typed._to(dtype)

    return cast


@classmethod
def from_buffer(cls, buffer, byte_order=None, count=-1, offset=0, dtype=None):
    """A copy of a buffer's numbers of that dtype.

    Args:
        byte_order: "native", "little" or "big"; not needed for single bytes.
        count: how many, by default all.
        offset: the first one's place in bytes.
    """
    if dtype is None:
        raise RuntimeError("argument 'dtype' cannot be None")
    item = dtype.itemsize
    if byte_order is None and item > 1:
        raise RuntimeError("function missing required argument 'byte_order' (pos 2)")
    if byte_order not in (None, "native", "little", "big"):
        raise ValueError(
            f"invalid byte_order '{byte_order}' (expected 'big', 'little', or 'native')"
        )
    data = memoryview(buffer).cast("B")
    if offset < 0 or offset > len(data):
        raise ValueError(
            "offset must be non-negative and no greater than buffer length "
            f"({offset}) , but got {len(data)}"
        )
    room = len(data) - offset
    if count < 0:
        if room % item:
            raise ValueError(
                f"buffer size ({len(data)}) must be a multiple of element size ({item})"
            )
        count = room // item
    elif count * item > room:
        raise ValueError(
            f"buffer has only {room // item} elements after offset {offset}, "
            f"but specified a size of {count}"
        )
    chosen = data[offset : offset + count * item]
    made = cls(len(chosen))
    if len(chosen):
        taken = _C.frombuffer(bytearray(chosen), dtype=_C.uint8)
        if dtype is _C.bool:
            taken = taken != 0
        made._bytes().copy_(taken)
    if byte_order not in (None, "native", sys.byteorder) and item > 1:
        made.byteswap(dtype)
    return made


def _unmapped(filename, nbytes: int, why: int) -> RuntimeError:
    return RuntimeError(
        f"unable to mmap {nbytes} bytes from file <{filename}>: "
        f"{os.strerror(why)} ({why})"
    )


def _mapped(filename, shared: bool, nbytes: int) -> Tensor:
    """A file's first bytes as a tensor that maps them.

    RuntimeError for a file that cannot be opened, or is too short.
    """
    flags = os.O_RDWR | os.O_CREAT if shared else os.O_RDONLY
    if nbytes < 0:
        raise _unmapped(filename, nbytes, errno.ENOMEM)
    try:
        descriptor = os.open(filename, flags, 0o600)
    except OSError as error:
        mode = "read-write" if shared else "read-only"
        raise RuntimeError(
            f"unable to open file <{filename}> in {mode} mode: "
            f"{error.strerror} ({error.errno})"
        ) from error
    try:
        there = os.fstat(descriptor).st_size
        if there < nbytes:
            if not shared:
                raise RuntimeError(
                    f"file <{filename}> size <{there}> is smaller than the "
                    f"required mapping size <{nbytes}>"
                )
            os.ftruncate(descriptor, nbytes)
        if nbytes == 0:
            return _C.ops.empty([0], dtype=_C.uint8)
        kind = mmap.MAP_SHARED if shared else mmap.MAP_PRIVATE
        memory = mmap.mmap(descriptor, nbytes, flags=kind)
    except OSError as error:
        raise _unmapped(filename, nbytes, error.errno) from error
    finally:
        os.close(descriptor)
    return _C.frombuffer(memory, dtype=_C.uint8)


@classmethod
def from_file(cls, filename, shared: bool = False, nbytes: int = 0):
    """A file's bytes, mapped into memory.

    Args:
        shared: writes go to the file, which is made as long as needed.
        nbytes: how many bytes; by default all of a file that is not shared.
    """
    if nbytes == 0 and not shared:
        nbytes = os.stat(filename).st_size
    storage = _C._storage_of(_mapped(filename, shared, nbytes))
    if shared:
        storage._filename = os.fspath(filename)
    return storage


@classmethod
def _new_shared(cls, size: int, *, device="cpu"):
    """That many bytes in memory that processes share, as a collate function of
    one's own asks for.
    """
    made = cls(size, device=device)
    return made.share_memory_() if made.device.type == "cpu" else made


def _only_on_cpu(name):
    def refuse(self, *args):
        if self.device.type != "cpu":
            raise RuntimeError(f"{name}: only available on CPU")
        raise RuntimeError(
            f"{name}: storages are shared through share_memory_() and "
            "hotaru.multiprocessing"
        )

    return refuse


def _fix_weakref(self) -> None:
    """Needless: weak references stay valid as long as the memory lives."""


def _write_file(self, f, is_real_file, save_size, element_size) -> None:
    """Writes the bytes to a file, behind their number if `save_size`."""
    data = _C._tensor_bytes(self._bytes().cpu())
    if save_size:
        f.write((len(data) // element_size).to_bytes(8, sys.byteorder))
    f.write(data)


_METHODS = (
    __getitem__,
    __setitem__,
    __iter__,
    size,
    __repr__,
    tolist,
    fill_,
    copy_,
    new,
    clone,
    to,
    cpu,
    cuda,
    byteswap,
    is_shared,
    share_memory_,
    is_pinned,
    pin_memory,
    _write_file,
    _fix_weakref,
)


def _install() -> None:
    cls = _StorageBase
    for method in _METHODS:
        setattr(cls, method.__name__, method)
    UntypedStorage.__new__ = staticmethod(_new)
    UntypedStorage.from_buffer = from_buffer
    UntypedStorage.from_file = from_file
    UntypedStorage._new_shared = _new_shared
    cls.__len__ = size
    cls.__str__ = __repr__
    cls.__copy__ = clone
    cls.__reduce__ = _by_bytes
    cls.__deepcopy__ = _deepcopy
    cls.__sizeof__ = lambda self: object.__sizeof__(self) + self.nbytes()
    cls.element_size = lambda self: 1
    cls.type = lambda self, dtype=None, non_blocking=False: (
        _name(self) if dtype is None else self._typed_as(dtype)
    )
    cls.get_device = lambda self: -1 if self.device.index is None else self.device.index
    cls.is_cuda = property(lambda self: self.device.type == "cuda")
    cls.is_sparse = property(lambda self: False)
    cls.filename = property(
        lambda self: self.__dict__.get("_filename"),
        doc="The file that writes go to, or None.",
    )
    cls.untyped = lambda self: self
    cls._share_fd_cpu_ = _only_on_cpu("_share_fd_")
    cls._share_filename_cpu_ = _only_on_cpu("_share_filename_")
    for name, dtype in _CASTS.items():
        setattr(cls, name, _cast(dtype))
    # Pickles name them.
    for name, method in vars(cls).items():
        if "<" in getattr(method, "__qualname__", ""):
            method.__name__ = name
            method.__qualname__ = f"UntypedStorage.{name}"


_CASTS = {
    "double": _C.float64,
    "float": _C.float32,
    "half": _C.float16,
    "long": _C.int64,
    "int": _C.int32,
    "short": _C.int16,
    "char": _C.int8,
    "byte": _C.uint8,
    "bool": _C.bool,
    "bfloat16": _C.bfloat16,
    "complex_float": _C.complex64,
    "complex_double": _C.complex128,
}

_install()
