"""PyTorch's reference implementations: the same functions as operators.

`_refs.add` is `torch.add`; operators that `torch` has as methods alone are
functions of their tensor here.
"""

from __future__ import annotations

import types

import hotaru

from .._C import Tensor
from .._own_names import no_attribute, share_parts
from .._prims_common.shapes import is_same_shape
from ..functional import broadcast_shapes
from . import reductions

share_parts(__package__, hotaru, ("fft", "linalg", "nn", "nn.functional", "special"))

# Methods, where functions take a shape in one piece.
_METHODS = frozenset(
    ("expand", "flatten", "permute", "repeat", "reshape", "tile", "view")
)
_REFLECTED = {"rpow": "pow", "rtruediv": "true_divide", "rfloordiv": "floor_divide"}


def _broadcast_shapes(*shapes):
    """Returns the shape that shapes broadcast to; a number is a shape, None is
    left out.

    None without shapes, RuntimeError where they do not fit.
    """
    given = [
        (shape,) if isinstance(shape, int) else tuple(shape)
        for shape in shapes
        if shape is not None
    ]
    return list(broadcast_shapes(*given)) if given else None


def _maybe_broadcast(*args, preserve_cpu_scalar_tensors: bool = True) -> tuple:
    """The operands, tensors in the shape that they broadcast to."""
    tensors = [a for a in args if isinstance(a, Tensor)]
    shape = _broadcast_shapes(*(t.shape for t in tensors))

    def broadcast(x):
        if not isinstance(x, Tensor) or is_same_shape(x.shape, shape):
            return x
        single = preserve_cpu_scalar_tensors and x.dim() == 0 and x.is_cpu
        return x if single else x.expand(shape)

    return tuple(map(broadcast, args))


def T(a: Tensor) -> Tensor:  # noqa: N802
    """The transpose of a matrix; fewer dimensions stay."""
    if a.dim() not in (0, 2):
        raise RuntimeError(
            "The use of `x.T` on tensors of dimension other than 0 or 2 to reverse "
            "their shape is not supported."
        )
    return a.T


def trunc_divide(a, b):
    """The quotient, rounded to zero."""
    return hotaru.div(a, b, rounding_mode="trunc")


def swap_axes(a: Tensor, axis0: int, axis1: int) -> Tensor:
    """Two dimensions exchanged."""
    return a.swapaxes(axis0, axis1)


def copy_to(a: Tensor, b: Tensor, *, allow_cross_device: bool = True) -> Tensor:
    """Writes `b` into `a`; RuntimeError from another device, if not allowed."""
    if not allow_cross_device and a.device != b.device:
        raise RuntimeError(
            f"Attempting to copy from device {b.device} to device {a.device}, but "
            "cross-device copies are not allowed!"
        )
    return a.copy_(b)


def zero(input: Tensor) -> Tensor:
    """Zeros in the place of the elements."""
    return hotaru.zeros_like(input)


def _drawn(name: str):
    def function(self: Tensor, *args, **kwargs) -> Tensor:
        return getattr(self.clone(), f"{name}_")(*args, **kwargs)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"A tensor like `self`, drawn as `{name}_` does."
    return function


cauchy, exponential, geometric, log_normal = map(
    _drawn, ("cauchy", "exponential", "geometric", "log_normal")
)


def _usable(value) -> bool:
    return callable(value) and not isinstance(value, (type, types.ModuleType))


def __getattr__(name: str):
    if name in _REFLECTED:
        operator = getattr(hotaru, _REFLECTED[name])
        return lambda a, b: operator(b, a)
    if name in reductions.NAMES:
        return getattr(reductions, name)
    places = (Tensor, hotaru) if name in _METHODS else (hotaru, Tensor)
    if not name.startswith("__"):
        for place in places:
            found = getattr(place, name, None)
            if _usable(found):
                return found
    raise no_attribute(__name__, name)
