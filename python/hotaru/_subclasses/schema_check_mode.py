"""Compares what operators do with their schemas, while it is entered."""

from __future__ import annotations

from .. import _ops
from .._library.opcheck import check_schema
from ..overrides import TorchFunctionMode


class SchemaCheckMode(TorchFunctionMode):
    """Inside, RuntimeError where an operator called through `torch.ops` writes
    to what its schema does not say, or returns memory that it does not say.

    Calls by other names, `torch.add`, are not looked at. `ops` has the names
    of those that were.
    """

    def __init__(self) -> None:
        super().__init__()
        self.ops: list[str] = []

    def reset_cache(self) -> None:
        """Forgets the names."""
        self.ops.clear()

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if isinstance(func, _ops.OpOverloadPacket):
            func = getattr(func, func.resolve(args, kwargs))
        if not isinstance(func, _ops.OpOverload):
            return func(*args, **kwargs)
        self.ops.append(func._name)
        return check_schema(func, args, kwargs)
