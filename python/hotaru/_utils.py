"""Small helpers shared by the Python part of the package."""

from __future__ import annotations

from . import Tensor


def typename(obj: object) -> str:
    """Name of `obj`'s type as error texts spell it.

    A tensor gives its legacy type string ("torch.FloatTensor"), anything else
    its qualified class name, without the module for builtins.
    """
    if isinstance(obj, Tensor):
        return obj.type()
    cls = obj if isinstance(obj, type) else type(obj)
    module = getattr(cls, "__module__", "")
    # Where a native type is defined is no part of its public name.
    module = module.removesuffix("._C")
    name = getattr(cls, "__qualname__", cls.__name__)
    return name if module in ("", "builtins") else f"{module}.{name}"


def _rebuild_parameter(data: Tensor, requires_grad: bool, backward_hooks):
    """Rebuilds a pickled parameter; `backward_hooks` belongs to the format."""
    from .nn.parameter import Parameter

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


def _rebuild_operator(name: str, method: bool):
    """The operator or method of that name; what pickles of one refer to."""
    import hotaru

    return getattr(hotaru.Tensor if method else hotaru.ops, name)
