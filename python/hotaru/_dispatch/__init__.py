"""The protocol `__torch_dispatch__`: who answers operators below autograd.

A subclass of Tensor with this method, or a mode, gets every operator that is
called with its objects: as an overload of `torch.ops.aten`, with arguments in
the order of its schema. What it answers has a history: the derivative of an
operator is an operator, too (`derivative.Derivative`), which the class or mode
is asked for in the backward pass. It sees PyTorch's operators: those that are
whole here and compositions there are taken apart first (`parts`). Derivatives
are hotaru's, one an operator, where PyTorch's are formulas of several.
"""

from __future__ import annotations

from .. import _C
from .._operators import dispatch as defined
from .._ops import arguments_of, namespace
from . import members
from .calls import Call, rules, sees_whole
from .record import run
from .same import gives_itself
from .stack import native

__all__ = ["Call", "add", "answer", "rules"]


def answer(function, args: tuple, kwargs: dict | None):
    """Answers a call of the native function, method or attribute."""
    kwargs = kwargs or {}
    if isinstance(function, _C.Op):
        return _operator(function, args, kwargs)
    if type(function) is _C.Function:  # what it calls is asked for
        return function.__wrapped__(*args, **kwargs)
    member = members.find(function)
    if member is not None:
        return member(*args, **kwargs)
    return native(function, args, kwargs)


def _operator(function, args: tuple, kwargs: dict):
    # No argument of operators, but of the functions that make tensors.
    requires_grad = kwargs.pop("requires_grad", False)
    if kwargs.get("out", kwargs) is None:
        del kwargs["out"]
    if function.__name__ == "detach_":  # of histories alone
        return native(function, args, kwargs)
    if gives_itself(function.__name__, args, kwargs):
        return args[0]  # who answers is not asked
    place = _PLACES.get(function.__name__)
    if place is not None and vars(_C.Tensor).get(function.__name__) is function:
        args, kwargs = _as_operator(place, args, kwargs)
        function = getattr(_C.ops, function.__name__)
    whole = sees_whole(arguments_of(args, kwargs))
    call = Call.of(function, args, kwargs, whole)
    out = kwargs.pop("out", None) if call is None else None
    if out is not None:
        return _written(out, _operator(function, args, kwargs))
    if call is None:
        result = native(function, args, kwargs)
    else:
        result = run(call) if whole else _by_parts(call)
    return result.requires_grad_() if requires_grad else result


def _by_parts(call: Call):
    from . import parts  # a large table, read when somebody first asks

    return parts.send(call)


# Where operators have the tensor that their methods have first.
_PLACES = {"where": 1, "polygamma": 1}


def _as_operator(place: int, args: tuple, kwargs: dict) -> tuple[tuple, dict]:
    """A method's arguments in the order of its operator."""
    self, *rest = args
    if len(rest) < place:
        return tuple(rest), {**kwargs, "input": self}
    return (*rest[:place], self, *rest[place:]), kwargs


def _written(out, results):
    """Writes several results where the caller wants them."""
    several = isinstance(out, (tuple, list))
    pairs = zip(out, results) if several else ((out, results),)
    for place, result in pairs:
        if place.shape != result.shape:
            place.resize_(result.shape)
        place.copy_(result)
    return out


def _defined(operator, args: tuple, kwargs: dict):
    """Answers an operator that a program defined."""
    space, _, name = operator.name.partition("::")
    packet = getattr(namespace(space), name)
    overload = getattr(packet, operator.schema.overload_name or "default")
    return Call(overload, args, kwargs).below()


def add(a, b):
    """The sum of two gradients of which one has no memory of its own."""
    return a + b


_C._set_dispatch(answer, add)
defined.ask = _defined
