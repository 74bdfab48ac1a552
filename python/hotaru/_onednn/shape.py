"""Shapes of tensors of the layout `_mkldnn`."""

from __future__ import annotations

from .. import _C
from .._answering.table import answers
from .kind import HANDLERS, refused
from .tensor import around, plain


@answers("reshape", "flatten", "_mkldnn_reshape", of=HANDLERS, asked=True)
def _reshape(function, x, *args, **kwargs):
    name = function.__name__.partition(".")[0]
    way = "flatten" if name == "flatten" else "reshape"
    return around(getattr(_C.ops, way)(plain(x), *_sizes(way, args), **kwargs))


def _sizes(way: str, args: tuple) -> tuple:
    numbers = way == "reshape" and args and isinstance(args[0], int)
    return (args,) if numbers else args


@answers("reshape_as", "view", "view_as", "ravel", "diagflat", of=HANDLERS, asked=True)
def _view(function, x, *args, **kwargs):
    if function.__name__ == "reshape_as":
        return around(plain(x).reshape(args[0].shape))
    raise RuntimeError(
        "Currently Mkldnn tensor does not support view. Change to use reshape instead"
    )


@answers("transpose", "swapdims", "swapaxes", "_mkldnn_transpose", of=HANDLERS)
def _transpose(x, *args, **kwargs):
    return around(_C.ops.transpose(plain(x), *args, **kwargs))


@answers("transpose_", "swapdims_", "swapaxes_", "t_", of=HANDLERS)
@answers("_mkldnn_transpose_", of=HANDLERS)
def _transpose_in_place(x, *args):
    raise RuntimeError(
        "mkldnn_transpose_: in-place mkldnn operations are not supported yet"
    )


@answers("t", of=HANDLERS)
def _t(x):
    return around(_C.ops.t(plain(x)))


@answers("mT", "mH", "H", "T", of=HANDLERS, asked=True)
def _turned(accessor, x):
    if accessor.__self__.__name__ == "T":
        raise refused("as_strided")
    return around(accessor(plain(x)))


@answers("adjoint", of=HANDLERS)
def _adjoint(x):
    return around(_C.ops.adjoint(plain(x)))
