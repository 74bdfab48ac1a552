"""Tensors that a `Module` collects by assignment."""

from __future__ import annotations

from collections import OrderedDict

from .. import Tensor, empty


class Parameter(Tensor):
    """A tensor that is a module's parameter.

    Assigned as an attribute of a `Module` it joins `Module.parameters()`.

    Args:
        data: values, shared and not copied; an empty tensor when left out.
        requires_grad: whether gradients are accumulated; True also inside
            `no_grad()`. RuntimeError for integer data.
    """

    def __new__(cls, data: Tensor | None = None, requires_grad: bool = True):
        if data is None:
            data = empty(0)
        return Tensor._make_subclass(cls, data, requires_grad)

    def __deepcopy__(self, memo: dict) -> Parameter:
        key = id(self)
        if key not in memo:
            memo[key] = type(self)(self.data.clone(), self.requires_grad)
        return memo[key]

    def __repr__(self) -> str:
        return "Parameter containing:\n" + super().__repr__()

    def __reduce_ex__(self, protocol: int):
        # The empty mapping stands for backward hooks, which are not pickled.
        args = (self.data, self.requires_grad, OrderedDict())
        if self.__dict__:
            state = dict(self.__dict__)
            return (_rebuild_parameter_with_state, (*args, state))
        return (_rebuild_parameter, args)


class Buffer(Tensor):
    """A tensor that is a module's buffer: state that is not trained.

    Args:
        data: values, shared and not copied; an empty tensor when left out.
        persistent: whether `Module.state_dict()` contains it.
    """

    def __new__(cls, data: Tensor | None = None, *, persistent: bool = True):
        if data is None:
            data = empty(0)
        buffer = Tensor._make_subclass(cls, data.detach(), data.requires_grad)
        buffer.persistent = persistent
        return buffer


def _rebuild_parameter(data: Tensor, requires_grad: bool, backward_hooks):
    """Rebuilds a pickled parameter; `backward_hooks` belongs to the format."""
    param = Parameter(data, requires_grad)
    param._backward_hooks = backward_hooks
    return param


def _rebuild_parameter_with_state(
    data: Tensor, requires_grad: bool, backward_hooks, state
):
    """As `_rebuild_parameter`, then restores the instance attributes."""
    param = _rebuild_parameter(data, requires_grad, backward_hooks)
    param.__dict__.update(state)
    return param


for _function in (_rebuild_parameter, _rebuild_parameter_with_state):
    _function.__module__ = "hotaru._utils"  # see there
