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


def _element_size(dtype) -> int:
    """Bytes of an element."""
    return dtype.itemsize


def _rebuild_operator(name: str, method: bool):
    """The operator or method of that name; what pickles of one refer to."""
    import hotaru

    return getattr(hotaru.Tensor if method else hotaru.ops, name)


def _rebuild_tensor_v2(storage, offset, size, stride, requires_grad, *_):
    """The tensor of a storage in files of `torch.save`, by the name that they
    know it by; what follows in the format is not used.
    """
    typed = storage.data.view(storage.dtype)
    tensor = typed.as_strided(tuple(size), tuple(stride), offset).detach()
    tensor.requires_grad = requires_grad
    return tensor


def __getattr__(name: str):
    # By these names, which belong to the format, files of pickles know them.
    if name in ("_rebuild_parameter", "_rebuild_parameter_with_state"):
        from .nn import parameter

        return getattr(parameter, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
