"""Who answers operators defined in Python: classes and modes."""

from __future__ import annotations

from .. import _ops
from .._dispatch import calls, stack
from . import arguments, dispatch
from .keys import AutoDispatchBelowAutograd
from .table import Operator


def answer(operator: Operator, args: tuple, kwargs: dict, kernel):
    """What `__torch_dispatch__` of a mode or of the arguments' classes gives
    for a call, or where there is neither what `kernel()` gives.

    TypeError where all of them give NotImplemented.
    """
    kinds = calls.types(arguments.tensors_in(args, kwargs))
    if not kinds and not stack.modes():
        return kernel()
    space, _, name = operator.name.partition("::")
    packet = getattr(_ops.namespace(space), name)
    overload = getattr(packet, operator.schema.overload_name or "default")
    with AutoDispatchBelowAutograd():
        return calls.Call(overload, args, kwargs).below()


dispatch.ask_with(answer)
