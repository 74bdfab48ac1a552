"""TypedStorage: a storage seen as elements of a dtype."""

from __future__ import annotations

import io
import operator
import warnings

from .. import _C
from .._C import Tensor, UntypedStorage
from .._late import lent

_NAMES = {
    _C.float64: "DoubleStorage",
    _C.float32: "FloatStorage",
    _C.float16: "HalfStorage",
    _C.int64: "LongStorage",
    _C.int32: "IntStorage",
    _C.int16: "ShortStorage",
    _C.int8: "CharStorage",
    _C.uint8: "ByteStorage",
    _C.bool: "BoolStorage",
    _C.bfloat16: "BFloat16Storage",
    _C.complex128: "ComplexDoubleStorage",
    _C.complex64: "ComplexFloatStorage",
}
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

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
    "float8_e4m3fn": _C.float8_e4m3fn,
    "float8_e5m2": _C.float8_e5m2,
    "float8_e4m3fnuz": _C.float8_e4m3fnuz,
    "float8_e5m2fnuz": _C.float8_e5m2fnuz,
}


def _dtype_to_storage_type_map() -> dict:
    """From a dtype to the name of its legacy storage."""
    return dict(_NAMES)


class _Removal:
    """Note that is set while the warning of TypedStorage's removal is due."""

    always = False
    given = False


def _get_always_warn_typed_storage_removal() -> bool:
    return _Removal.always


def _set_always_warn_typed_storage_removal(always_warn: bool) -> None:
    _Removal.always = bool(always_warn)


def _reset_warn_typed_storage_removal() -> None:
    _Removal.given = False


def _warn_typed_storage_removal(stacklevel: int = 2) -> None:
    if _Removal.given and not _Removal.always:
        return
    _Removal.given = True
    warnings.warn(
        "TypedStorage is deprecated. It will be removed in the future and "
        "UntypedStorage will be the only storage class. This should only "
        "matter to you if you are using storages directly.  To access "
        "UntypedStorage directly, use tensor.untyped_storage() instead of "
        "tensor.storage()",
        UserWarning,
        stacklevel=stacklevel + 1,
    )


_TYPED = """\
TypedStorage.__init__ received an invalid combination of arguments. \
Expected one of:
 * (*, torch.device device, torch.dtype dtype)
 * (int size, *, torch.device device, torch.dtype dtype)
 * (Sequence data, *, torch.device device, torch.dtype dtype)
 * (*, UntypedStorage wrap_storage, torch.dtype dtype)
"""


def _made(args, dtype, device, intro: str) -> UntypedStorage:
    """Makes a storage of that many elements, or those of a sequence."""
    if len(args) > 1:
        raise RuntimeError(f"{intro}Too many positional arguments")
    if not args:
        return UntypedStorage(device=device)
    first = args[0]
    if hasattr(first, "__index__") and not isinstance(first, (bool, Tensor)):
        first = operator.index(first)  # of numpy, too
        return UntypedStorage(first * dtype.itemsize, device=device)
    if isinstance(first, Tensor) or not hasattr(first, "__len__"):
        raise TypeError(f"{intro}Argument type not recognized: {type(first)}")
    made = UntypedStorage(len(first) * dtype.itemsize, device=device)
    values = _C.tensor(first, dtype=dtype)
    if len(first) and made.device.type != "meta":
        _C.tensor(made, dtype=dtype).copy_(values)
    return made


def _wrapped(args, storage, intro: str) -> UntypedStorage:
    if args:
        raise RuntimeError(
            f"{intro}No positional arguments should be given when using 'wrap_storage'"
        )
    if not isinstance(storage, _C.StorageBase):
        raise TypeError(
            f"{intro}Argument 'wrap_storage' must be UntypedStorage, but got "
            f"{type(storage)}"
        )
    return storage


def check_memory(storage: UntypedStorage) -> None:
    if storage.device.type == "meta":
        raise NotImplementedError("Not available for 'meta' device type")


class TypedStorage:
    """An UntypedStorage seen as elements of a dtype.

    TypedStorage(size), TypedStorage(sequence) or
    TypedStorage(wrap_storage=untyped), each with dtype=. Warns once that it
    is deprecated. RuntimeError or TypeError for other arguments, in PyTorch's
    words.
    """

    is_sparse = False

    if TYPE_CHECKING:  # set on the class below

        def cpu(self) -> TypedStorage: ...
        def cuda(self, device: Any = None, non_blocking: bool = False) -> Any: ...
        def clone(self) -> TypedStorage: ...
        def to(self, *, device: Any, non_blocking: bool = False) -> TypedStorage: ...
        def get_device(self) -> int: ...
        def resizable(self) -> bool: ...
        def is_pinned(self, device: Any = "cuda") -> bool: ...
        def pin_memory(self, device: Any = "cuda") -> TypedStorage: ...
        def size(self) -> int: ...
        def nbytes(self) -> int: ...
        def element_size(self) -> int: ...
        def data_ptr(self) -> int: ...
        def resize_(self, size: int) -> Any: ...
        def is_shared(self) -> bool: ...
        def share_memory_(self) -> TypedStorage: ...
        def pickle_storage_type(self) -> str: ...
        def double(self) -> TypedStorage: ...
        def float(self) -> TypedStorage: ...
        def half(self) -> TypedStorage: ...
        def long(self) -> TypedStorage: ...
        def int(self) -> TypedStorage: ...
        def short(self) -> TypedStorage: ...
        def char(self) -> TypedStorage: ...
        def byte(self) -> TypedStorage: ...
        def bool(self) -> TypedStorage: ...
        def bfloat16(self) -> TypedStorage: ...
        def complex_float(self) -> TypedStorage: ...
        def complex_double(self) -> TypedStorage: ...
        def float8_e4m3fn(self) -> TypedStorage: ...
        def float8_e5m2(self) -> TypedStorage: ...
        def float8_e4m3fnuz(self) -> TypedStorage: ...
        def float8_e5m2fnuz(self) -> TypedStorage: ...

    def __new__(
        cls, *args, wrap_storage=None, dtype=None, device=None, _internal=False
    ):
        return super().__new__(cls)

    def __init__(
        self, *args, device=None, dtype=None, wrap_storage=None, _internal: bool = False
    ) -> None:
        if not _internal:
            _warn_typed_storage_removal()
        if wrap_storage is not None:
            if args:
                _wrapped(args, wrap_storage, _TYPED)
            if dtype is None:
                raise RuntimeError(f"{_TYPED}Argument 'dtype' must be specified")
        elif dtype is None:
            dtype = _C.get_default_dtype()
        if not isinstance(dtype, _C.dtype):
            raise TypeError(
                f"{_TYPED}Argument 'dtype' must be torch.dtype, not {type(dtype)}"
            )
        self._dtype = dtype
        if wrap_storage is None:
            self._untyped_storage = _made(args, dtype, device, _TYPED)
            return
        if device is not None:
            raise RuntimeError(
                f"{_TYPED}Argument 'device' should not be specified when "
                "'wrap_storage' is given"
            )
        self._untyped_storage = _wrapped(args, wrap_storage, _TYPED)

    # Without a warning, for whoever implements something by them.

    def _tensor(self) -> Tensor:
        return _C.tensor(self._untyped_storage, dtype=self._dtype)

    def _wrap(self, untyped) -> TypedStorage:
        return TypedStorage(wrap_storage=untyped, dtype=self._dtype, _internal=True)

    def _to(self, dtype) -> TypedStorage:
        values = self._tensor().to(dtype, copy=True)
        return TypedStorage(
            wrap_storage=_C._storage_of(values), dtype=dtype, _internal=True
        )

    def _size(self) -> int:
        return self._untyped_storage.nbytes() // self._dtype.itemsize

    def _nbytes(self) -> int:
        return self._untyped_storage.nbytes()

    def _element_size(self) -> int:
        return self._dtype.itemsize

    def _data_ptr(self) -> int:
        return self._untyped_storage.data_ptr()

    def _resize_(self, size: int) -> None:
        self._untyped_storage.resize_(size * self._dtype.itemsize)

    def _is_shared(self) -> bool:
        return self._untyped_storage.is_shared()

    def _share_memory_(self) -> TypedStorage:
        self._untyped_storage.share_memory_()
        return self

    def _new_shared(self, size: int, *, device="cpu") -> TypedStorage:
        """That many elements of the same kind in memory of all processes."""
        return self._wrap(
            UntypedStorage._new_shared(
                size * self._dtype.itemsize, device=device or "cpu"
            )
        )

    def _pickle_storage_type(self) -> str:
        if self._dtype not in _NAMES:
            raise KeyError(f"dtype {self._dtype} is not recognized")
        return _NAMES[self._dtype]

    def _deepcopy(self, memo) -> TypedStorage:
        return self._wrap(self._untyped_storage.__deepcopy__(memo))

    def _getitem(self, key):
        check_memory(self._untyped_storage)
        if isinstance(key, slice):
            raise RuntimeError(
                "slices are only supported in UntypedStorage.__getitem__"
            )
        self._check_key(key, int)
        return self._tensor()[key].item()

    def _check_key(self, key, kinds) -> None:
        if not isinstance(key, kinds):
            raise RuntimeError(f"can't index a {type(self)} with {type(key)}")

    def _setitem(self, key, value) -> None:
        self._check_key(key, (int, slice))
        if isinstance(value, TypedStorage):
            raise RuntimeError(f"cannot set item with value type {type(value)}")
        self._tensor()[key] = value

    # With it.

    @property
    def dtype(self):
        _warn_typed_storage_removal()
        return self._dtype

    @property
    def device(self):
        _warn_typed_storage_removal()
        return self._untyped_storage.device

    @property
    def is_cuda(self) -> bool:
        _warn_typed_storage_removal()
        return self._untyped_storage.is_cuda

    @property
    def filename(self):
        _warn_typed_storage_removal()
        return self._untyped_storage.filename

    @property
    def _cdata(self) -> int:
        return self._untyped_storage._cdata

    def untyped(self) -> UntypedStorage:
        """The storage itself."""
        _warn_typed_storage_removal()
        return self._untyped_storage

    def fill_(self, value) -> TypedStorage:
        _warn_typed_storage_removal()
        self._setitem(slice(0, self._size()), value)
        return self

    def copy_(self, source, non_blocking=None) -> TypedStorage:
        """Takes the elements of a storage of the same size."""
        _warn_typed_storage_removal()
        if not isinstance(source, TypedStorage) or source._dtype is self._dtype:
            self._untyped_storage.copy_(source, non_blocking)
            return self
        if source._size() != self._size():
            raise RuntimeError(
                f"size does not match, self has {self._size()} elements but "
                f"src has {source._size()}"
            )
        self._tensor().copy_(source._tensor())
        return self

    def type(self, dtype=None, non_blocking: bool = False):
        """The name of the legacy class, or a storage of that class."""
        _warn_typed_storage_removal()
        if dtype is None:
            cls = self._legacy_class()
            if cls is None:
                return "torch.storage.TypedStorage"
            return f"{cls.__module__}.{cls.__name__}"
        name = dtype if isinstance(dtype, str) else dtype.__name__
        for known, legacy in _NAMES.items():
            if legacy == name.rsplit(".", 1)[-1]:
                return self._to(known)
        raise AttributeError(f"there is no storage class {name!r}")

    def tolist(self) -> list:
        """The elements."""
        _warn_typed_storage_removal()
        check_memory(self._untyped_storage)
        return self._tensor().tolist()

    def __getitem__(self, key):
        _warn_typed_storage_removal()
        return self._getitem(key)

    def __setitem__(self, key, value) -> None:
        _warn_typed_storage_removal()
        self._setitem(key, value)

    def __len__(self) -> int:
        _warn_typed_storage_removal()
        return self._size()

    def __iter__(self):
        _warn_typed_storage_removal()
        return iter([self._getitem(i) for i in range(self._size())])

    def __repr__(self) -> str:
        _warn_typed_storage_removal()
        device = self._untyped_storage.device
        kind = (
            f"[torch.storage.TypedStorage(dtype={self._dtype}, "
            f"device={device}) of size {self._size()}]"
        )
        if device.type == "meta":
            return f"...\n{kind}"
        return "".join(f" {v}\n" for v in self._tensor().tolist()) + kind

    def __eq__(self, other) -> bool:
        return (
            isinstance(other, TypedStorage)
            and self._untyped_storage._cdata == other._untyped_storage._cdata
            and self._dtype is other._dtype
        ) or NotImplemented

    __hash__ = object.__hash__

    def __copy__(self) -> TypedStorage:
        return self._wrap(self._untyped_storage.clone())

    def __deepcopy__(self, memo) -> TypedStorage:
        _warn_typed_storage_removal()
        return self._deepcopy(memo)

    def __sizeof__(self) -> int:
        _warn_typed_storage_removal()
        return object.__sizeof__(self) + self._nbytes()

    def __reduce__(self):
        return _by_bytes(self)

    def _new_wrapped_storage(self, untyped) -> TypedStorage:
        return self._wrap(untyped)

    def _write_file(self, *args):
        return self._untyped_storage._write_file(*args)

    @classmethod
    def from_buffer(cls, *args, **kwargs):
        return cls._from_buffer(*args, **kwargs)

    @classmethod
    def from_file(cls, filename, shared: bool, size: int) -> TypedStorage:
        """RuntimeError: it takes a class with a dtype, as `FloatStorage`."""
        raise RuntimeError("from_file can only be called on derived classes")

    @classmethod
    def _from_buffer(cls, *args, dtype=None, device=None, **kwargs):
        untyped = UntypedStorage.from_buffer(
            *args, dtype=dtype or _C.get_default_dtype(), **kwargs
        )
        return TypedStorage(
            wrap_storage=untyped, dtype=dtype or _C.get_default_dtype(), _internal=True
        )


def _by_bytes(storage) -> tuple:
    """Pickles a storage as a small file of `torch.save`, in the format before
    archives, as PyTorch does.
    """
    made = io.BytesIO()
    lent("save")(storage, made, _use_new_zipfile_serialization=False)
    return _load_from_bytes, (made.getvalue(),)


def _load_from_bytes(data: bytes):
    """The storage of such a file."""
    return lent("load")(io.BytesIO(data), weights_only=False)


# Pickles know it by the package's name.
_load_from_bytes.__module__ = __name__.rpartition(".")[0]


def _forward(name: str):
    """A method that the untyped storage has."""

    def call(self, *args, **kwargs):
        _warn_typed_storage_removal()
        result = getattr(self._untyped_storage, name)(*args, **kwargs)
        if result is self._untyped_storage:
            return self
        if isinstance(result, _C.StorageBase):
            return self._wrap(result)
        return result

    call.__name__ = name
    return call


def _renamed(name: str):
    """The public form of a method without warning."""
    quiet = getattr(TypedStorage, "_" + name)

    def call(self, *args, **kwargs):
        _warn_typed_storage_removal()
        return quiet(self, *args, **kwargs)

    call.__name__ = name
    return call


def _cast(dtype):
    def cast(self):
        _warn_typed_storage_removal()
        return self._to(dtype)

    return cast


for _name in (
    "cpu",
    "cuda",
    "clone",
    "to",
    "get_device",
    "resizable",
    "is_pinned",
    "pin_memory",
    "_share_fd_cpu_",
    "_share_filename_cpu_",
):
    setattr(TypedStorage, _name, _forward(_name))
for _name in (
    "size",
    "nbytes",
    "element_size",
    "data_ptr",
    "resize_",
    "is_shared",
    "share_memory_",
    "pickle_storage_type",
):
    setattr(TypedStorage, _name, _renamed(_name))
for _name, _dtype in _CASTS.items():
    setattr(TypedStorage, _name, _cast(_dtype))

# Pickles name the module that offers it.
TypedStorage.__module__ = __package__
