"""Compares what operators return with what they return on the meta device."""

from __future__ import annotations

from collections.abc import Callable

from .. import _ops
from .._library.opcheck import check_meta
from ..overrides import TorchFunctionMode


class CrossRefFakeMode(TorchFunctionMode):
    """Inside, an AssertionError where an operator called through `torch.ops`
    returns other shapes, dtypes or strides than on the meta device, which is
    hotaru's counterpart of fake tensors.

    Args:
        ignore_op_fn: whether an overload is not compared.
    """

    def __init__(self, ignore_op_fn: Callable | None = None) -> None:
        super().__init__()
        self.ignore_op_fn = ignore_op_fn

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if isinstance(func, _ops.OpOverloadPacket):
            func = getattr(func, func.resolve(args, kwargs))
        if isinstance(func, _ops.OpOverload) and not (
            self.ignore_op_fn is not None and self.ignore_op_fn(func)
        ):
            check_meta(func, args, kwargs)
        return func(*args, **kwargs)
