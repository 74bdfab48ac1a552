"""Kernels that say what results look like, without values.

They run where arguments are on the meta device; hotaru has no other fake
tensors.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass

from .._operators import keys, table

_DATA_DEPENDENT = (
    "{} ({}): You're trying to run this operator with meta Tensors (as "
    "opposed to FakeTensors), but this operator may return an output Tensor "
    "with data-dependent shape. Meta Tensors don't support operators with "
    "outputs that have data-dependent shapes but FakeTensors do. If your "
    "operator does not return an output with data-dependent shape, make sure "
    "the FakeTensor and/or meta kernel does not call torch.library.get_ctx(). "
    "Otherwise, please use FakeTensors."
)
_HAS_META = (
    "register_fake(...): the operator {} already has a DispatchKey::Meta "
    "implementation via a pre-existing torch.library or TORCH_LIBRARY "
    "registration. Please either remove that registration or don't call "
    "register_fake."
)
_IS_COMPOSITE = (
    "register_fake(...): the operator {} already has an implementation for "
    "this device type via a pre-existing registration to "
    "DispatchKey::CompositeImplicitAutograd.CompositeImplicitAutograd "
    "operators do not need a fake impl; instead, the operator will decompose "
    "into its constituents and those can have fake impls defined on them."
)


@dataclass(frozen=True)
class Kernel:
    """A function and the line that registered it."""

    func: Callable
    source: str

    def __call__(self, /, *args, **kwargs):
        return self.func(*args, **kwargs)


class FakeImplHolder:
    """The fake kernel of one operator."""

    def __init__(self, qualname: str) -> None:
        self.qualname = qualname
        self.kernel: Kernel | None = None

    def register(
        self, func: Callable, source: str, *, allow_override: bool = False
    ) -> Callable:
        """Registers a kernel; returns what takes it away.

        RuntimeError where there is one already, or the operator needs none.
        """
        if not allow_override:
            self._check()
        made = Kernel(func, source)
        before, self.kernel = self.kernel, made
        undo = table.register(self.qualname, "Meta", self._meta(made))

        def remove() -> None:
            undo()
            if self.kernel is made:
                self.kernel = before

        return remove

    def _check(self) -> None:
        if self.kernel is not None:
            raise RuntimeError(
                f"register_fake(...): the operator {self.qualname} already has "
                f"a fake impl registered at {self.kernel.source}."
            )
        operator = table.find(self.qualname)
        if operator is None:
            return
        if operator.has("Meta"):
            raise RuntimeError(_HAS_META.format(self.qualname))
        if operator.has(keys.COMPOSITE):
            raise RuntimeError(_IS_COMPOSITE.format(self.qualname))

    def _meta(self, kernel: Kernel) -> Callable:
        def meta(*args, **kwargs):
            before = _current.context
            _current.context = FakeImplCtx(self.qualname, kernel.source)
            try:
                return kernel(*args, **kwargs)
            finally:
                _current.context = before

        return meta


class FakeImplCtx:
    """Context that `get_ctx` gives inside a fake kernel."""

    def __init__(self, qualname: str, source: str) -> None:
        self._qualname = qualname
        self._source = source

    def new_dynamic_size(self, *, min: int = 0, max: int | None = None):
        """Would be a size that depends on values: RuntimeError, as sizes of
        meta tensors are numbers.
        """
        raise RuntimeError(_DATA_DEPENDENT.format(self._qualname, self._source))

    create_unbacked_symint = new_dynamic_size


class _Current(threading.local):
    context: FakeImplCtx | None = None


_current = _Current()


def get_ctx() -> FakeImplCtx | None:
    """The context of the fake kernel that runs; None outside of one."""
    return _current.context
