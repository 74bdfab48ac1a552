"""Exchange of what two tensors are."""

from __future__ import annotations

import itertools
import weakref

from .. import _C, Tensor, no_grad
from .attributes import SWAPPED

_drawn = itertools.count(1, 2)  # odd, as no address is


def swap_tensors(t1: Tensor, t2: Tensor) -> None:
    """Exchanges values, class and attributes of two leaves; whoever holds one
    of the objects sees what the other was.

    Views that exist keep sharing memory with the values they are views of, and
    graphs recorded before keep accumulating into the objects.

    Raises:
        RuntimeError: a tensor that operators computed with gradients, that is
            weakly referred to, or classes with different slots.
    """
    for name, tensor in (("t1", t1), ("t2", t2)):
        if weakref.getweakrefs(tensor):
            raise RuntimeError(
                f"Cannot swap {name} because it has weakref associated with it"
            )
        if tensor.grad_fn is not None:
            raise RuntimeError(
                f"Cannot swap {name} because it is part of a graph: pass "
                f"{name}.detach()"
            )
    if _slots(type(t1)) != _slots(type(t2)):
        raise RuntimeError("Cannot swap t1 and t2 if they have different slots")
    first, second = _parts(t1), _parts(t2)
    numbers = _number(t1), _number(t2)
    _become(t1, second)
    _become(t2, first)
    for tensor, number in zip((t1, t2), reversed(numbers), strict=True):
        setattr(tensor, SWAPPED, number)


def _number(tensor: Tensor) -> int:
    """Returns what `_cdata` of a tensor was; the address of one that never was
    asked may become another's, so it draws one that is none.
    """
    given = getattr(tensor, "__dict__", {}).get(SWAPPED)
    return next(_drawn) if given is None else given


def _slots(kind: type) -> set:
    return {
        name
        for base in kind.__mro__
        if base is not Tensor and issubclass(base, Tensor)
        for name in base.__dict__.get("__slots__", ())
    }


def _parts(tensor: Tensor) -> tuple:
    attributes = getattr(tensor, "__dict__", None)
    named = {
        name: getattr(tensor, name)
        for name in _slots(type(tensor))
        if hasattr(tensor, name)
    }
    return (
        type(tensor),
        _C._answering_class(tensor),
        attributes,
        named,
        tensor.data,
        tensor.grad,
        tensor.requires_grad,
    )


def _become(tensor: Tensor, parts: tuple) -> None:
    kind, answering, attributes, named, data, grad, requires_grad = parts
    with no_grad():
        tensor.grad = None
        # Integers take no gradients: off before, on behind.
        tensor.requires_grad_(False)
        tensor.data = data
        tensor.requires_grad_(requires_grad)
        tensor.grad = grad
    tensor.__class__ = kind
    _C._set_answering_class(tensor, answering)
    if attributes is not None:
        tensor.__dict__ = attributes
    for name in _slots(kind):
        if name in named:
            setattr(tensor, name, named[name])
        elif hasattr(tensor, name):
            delattr(tensor, name)
