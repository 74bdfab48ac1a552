"""The old classes of tensors in coordinates: `torch.sparse.FloatTensor`."""

from __future__ import annotations

import warnings

import hotaru

from .._extension.dtypes import TYPES

_MADE: dict[str, type] = {}
_warned = False


def _warn(old: str, new: str) -> None:
    global _warned
    if not _warned:
        _warned = True
        warnings.warn(
            f"torch.sparse.SparseTensor({old}) is deprecated.  Please use "
            f"torch.sparse_coo_tensor({new}).",
            stacklevel=4,
        )


def _make(dtype, args: tuple, device=None):
    if not args:
        _warn("", "(0,), dtype=")
        return hotaru.sparse_coo_tensor((0,), dtype=dtype, device=device)
    if all(isinstance(a, int) for a in args):
        _warn("shape, *, device=", "shape, dtype=, device=")
        return hotaru.sparse_coo_tensor(args, dtype=dtype, device=device)
    if len(args) == 1:
        _warn("shape, *, device=", "shape, dtype=, device=")
        return hotaru.sparse_coo_tensor(tuple(args[0]), dtype=dtype, device=device)
    shape = ", shape" if len(args) == 3 else ""
    _warn(
        f"indices, values{shape}, *, device=",
        f"indices, values{shape}, dtype=, device=",
    )
    return hotaru.sparse_coo_tensor(*args, dtype=dtype, device=device)


class _Type(type):
    """isinstance asks for the layout and the dtype."""

    def __instancecheck__(cls, tensor) -> bool:
        return (
            isinstance(tensor, hotaru.Tensor)
            and tensor.layout is hotaru.sparse_coo
            and tensor.dtype is cls.dtype
        )

    def __call__(cls, *args, device=None, cdata=None):
        if cdata is not None:
            raise TypeError(
                "a tensor is not made of another's cdata here: use "
                "torch.sparse_coo_tensor(x._indices(), x._values(), x.shape)"
            )
        return _make(cls.dtype, args, device)


def named(name: str) -> type | None:
    """The class FloatTensor and its like; None for other names. It makes
    tensors as `sparse_coo_tensor` does, of its dtype, and warns once.
    """
    dtype = TYPES.get(name)
    if dtype is None:
        return None
    if name not in _MADE:
        space = {"dtype": dtype, "__module__": "hotaru.sparse"}
        _MADE[name] = _Type(name, (), space)
    return _MADE[name]
