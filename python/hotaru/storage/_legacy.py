"""The legacy storages: FloatStorage and its kin."""

from __future__ import annotations

from .._C import UntypedStorage
from ._typed import _NAMES, TypedStorage, _made, _warn_typed_storage_removal, _wrapped

_LEGACY = """\
{}.__new__ received an invalid combination of arguments. Expected one of:
 * no arguments
 * (int size)
 * (Sequence data)
 * (*, UntypedStorage wrap_storage)
"""


class _LegacyMeta(type):
    """Instances are TypedStorages of the class's dtype and device."""

    @property
    def dtype(cls):
        _warn_typed_storage_removal()
        return cls._dtype

    def __instancecheck__(cls, instance) -> bool:
        if cls is _LegacyStorage or not isinstance(instance, TypedStorage):
            return type.__instancecheck__(cls, instance)
        return (
            instance._dtype is cls._dtype
            and instance._untyped_storage.device.type == cls._device
        )


def refuse_text(args: tuple) -> None:
    if args and isinstance(args[0], str):
        raise TypeError("new(): invalid data type 'str'")


class _LegacyStorage(TypedStorage, metaclass=_LegacyMeta):
    """FloatStorage and its kin: they make TypedStorages."""

    _dtype = None
    _device = "cpu"

    def __new__(cls, *args, wrap_storage=None, _internal=False, **kwargs):
        if cls is _LegacyStorage:
            raise RuntimeError(
                "Only child classes of _LegacyStorage can be instantiated"
            )
        if not _internal:
            _warn_typed_storage_removal()
        intro = _LEGACY.format(cls)
        for name in kwargs:
            if name not in ("device", "dtype"):
                raise TypeError(
                    "TypedStorage.__new__() got an unexpected keyword "
                    f"argument '{name}'"
                )
            raise RuntimeError(f"{intro}Keyword argument '{name}' cannot be specified")
        if wrap_storage is None:
            refuse_text(args)
            untyped = _made(args, cls._dtype, cls._device, intro)
        else:
            untyped = _wrapped(args, wrap_storage, intro)
            if untyped.device.type != cls._device:
                raise RuntimeError(
                    f"{intro}Device of 'wrap_storage' must be {cls._device}, "
                    f"but got {untyped.device.type}"
                )
        return TypedStorage(wrap_storage=untyped, dtype=cls._dtype, _internal=True)

    @classmethod
    def from_buffer(cls, *args, **kwargs):
        """A copy of a buffer's numbers; see UntypedStorage.from_buffer."""
        cls._check_host("from_buffer")
        return cls._from_buffer(*args, dtype=cls._dtype, **kwargs)

    @classmethod
    def from_file(cls, filename, shared: bool = False, size: int = 0):
        """`size` elements of a file, mapped into memory."""
        cls._check_host("from_file")
        untyped = UntypedStorage.from_file(filename, shared, size * cls._dtype.itemsize)
        return cls(wrap_storage=untyped)

    @classmethod
    def _new_with_weak_ptr(cls, *args):
        cls._check_host("_new_with_weak_ptr")
        raise RuntimeError("_new_with_weak_ptr: not supported")

    @classmethod
    def _new_shared_filename(cls, *args):
        cls._check_host("_new_shared_filename")
        raise RuntimeError(
            "_new_shared_filename: shared memory has no names here; send the "
            "storage through hotaru.multiprocessing"
        )

    @classmethod
    def _check_host(cls, name: str) -> None:
        if cls._device != "cpu":
            raise RuntimeError(f"{name}: Not available for CUDA storage")


_classes: dict[tuple[str, str], type] = {}


def legacy_storage(name: str, device: str = "cpu"):
    """The class of a legacy name such as "FloatStorage", or None."""
    dtype = next((d for d, known in _NAMES.items() if known == name), None)
    if dtype is None:
        return None
    key = (name, device)
    if key not in _classes:
        module = "torch" if device == "cpu" else f"torch.{device}"
        _classes[key] = _LegacyMeta(
            name,
            (_LegacyStorage,),
            {"_dtype": dtype, "_device": device, "__module__": module},
        )
    return _classes[key]


def _legacy_class(self):
    """The legacy class that a TypedStorage counts as, or None."""
    name = _NAMES.get(self._dtype)
    if name is None:
        return None
    return legacy_storage(name, self._untyped_storage.device.type)


TypedStorage._legacy_class = _legacy_class


def storage_classes() -> set:
    """All storages a program can make."""
    legacy = {
        legacy_storage(name, device)
        for name in _NAMES.values()
        for device in ("cpu", "cuda")
    }
    return legacy | {UntypedStorage, TypedStorage}
