"""The legacy constructors: FloatTensor, FloatStorage and their kin."""

from __future__ import annotations

from .. import _C, tensor
from .._extension.dtypes import TYPES, options_text
from .._extension.size import Size

_classes: dict[tuple[str, str], type] = {}


def _from(args, dtype, device: str):
    """What a legacy constructor makes of its arguments.

    Nothing, sizes, a torch.Size, data, or a tensor or storage to share.
    TypeError and RuntimeError as PyTorch's for those of another dtype.
    """
    first = args[0] if args else None
    if not args:
        return _C.ops.empty([0], dtype=dtype, device=device)
    if len(args) == 1 and isinstance(first, _C.Tensor):
        if first.dtype is not dtype or first.device.type != device:
            raise TypeError(
                f"expected {options_text(dtype, device)} (got "
                f"{options_text(first.dtype, first.device)})"
            )
        return first.view_as(first) if first.requires_grad else first.detach()
    if len(args) == 1 and isinstance(first, Size):
        return _C.ops.empty(list(first), dtype=dtype, device=device)
    if len(args) == 1 and not isinstance(first, int):
        return tensor(first, dtype=dtype, device=device)
    return _C.ops.empty(list(args), dtype=dtype, device=device)


def new(like, *args, device=None):
    """A tensor of another one's dtype and device, by the legacy arguments."""
    where = like.device.type
    _check_device(where, device)
    if len(args) == 1 and isinstance(args[0], str):
        raise TypeError("new(): invalid data type 'str'")
    return _from(args, like.dtype, where)


def _check_device(mine: str, given) -> None:
    if given is not None and _C.device(given).type != mine:
        raise RuntimeError(
            f"legacy constructor expects device type: {mine} but device "
            f"type: {_C.device(given).type} was passed"
        )


def tensor_class(name: str, device: str = "cpu"):
    """A constructor class for a legacy type name on a device, or None."""
    dtype = TYPES.get(name)
    if dtype is None:
        return None
    if (name, device) not in _classes:
        _classes[name, device] = _make_class(name, dtype, device)
    return _classes[name, device]


def _make_class(name: str, dtype, own: str):
    class Meta(type):
        def __instancecheck__(cls, obj) -> bool:
            return (
                isinstance(obj, _C.Tensor)
                and obj.dtype is dtype
                and obj.device.type == own
            )

    def __new__(cls, *args, device=None):
        _check_device(own, device)
        return _from(args, dtype, own)

    def __init_subclass__(cls, **kwargs):
        raise TypeError(f"type 'torch.{name}' is not an acceptable base type")

    module = "torch" if own == "cpu" else f"torch.{own}"
    members = {
        "__new__": __new__,
        "__init_subclass__": classmethod(__init_subclass__),
        "dtype": dtype,
        "is_cuda": own == "cuda",
        "is_xpu": False,
        "__module__": module,
    }
    return Meta(name, (), members)


def named(name: str):
    """What the top level has by a legacy name, or None."""
    from .. import storage  # noqa: F401 its classes are complete
    from ..storage._legacy import legacy_storage, storage_classes

    if name == "_storage_classes":
        return storage_classes()
    if name == "_tensor_classes":
        return {
            tensor_class(known, device)
            for known in TYPES
            if not known.startswith("Complex")
            for device in ("cpu", "cuda")
        }
    if name == "Storage":
        return legacy_storage("FloatStorage")
    if name.endswith("Storage"):
        return legacy_storage(name)
    return tensor_class(name)
