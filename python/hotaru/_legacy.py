"""The legacy constructors: FloatTensor and its kin."""

from __future__ import annotations

from . import _C
from ._dtypes import TYPES
from ._size import Size


def tensor_class(name: str, device: str = "cpu"):
    """A constructor class for a legacy type name on a device, or None."""
    dtype = TYPES.get(name)
    if dtype is None:
        return None

    class Meta(type):
        def __instancecheck__(cls, obj) -> bool:
            return (
                isinstance(obj, _C.Tensor)
                and obj.dtype is dtype
                and obj.device.type == device
            )

    def __new__(cls, *args):
        if not args:
            return _C.ops.empty([0], dtype=dtype, device=device)
        if len(args) == 1 and isinstance(args[0], Size):
            return _C.ops.empty(list(args[0]), dtype=dtype, device=device)
        if len(args) == 1 and not isinstance(args[0], int):
            return _C.tensor(args[0], dtype=dtype, device=device)
        return _C.ops.empty(list(args), dtype=dtype, device=device)

    return Meta(name, (), {"__new__": __new__, "dtype": dtype})
