"""Mapped functions that are one call of a Function with its own `vmap`."""

from __future__ import annotations

import functools

from .. import Tensor
from .._trees import flat as _tree
from ..autograd._transforms import applied, check_one_rule
from ..autograd.function import Function, bound_arguments
from .slices import Given, Inputs
from .wholes import is_whole


class OneCall(Exception):  # noqa: N818
    """Ends the loop over slices whose first one was one call of a Function: the
    arguments are its rule and what the rule is given.
    """


def function_call(func, inputs: Inputs, kwargs: dict) -> tuple | None:
    """(rule, its arguments) for the `apply` of a Function with a rule of its
    own, else None.

    RuntimeError: the class asks for a rule to be made, too.
    """
    cls = getattr(func, "__self__", None)
    if not (
        isinstance(cls, type)
        and issubclass(cls, Function)
        and func == cls.apply
        and cls.vmap is not Function.vmap
    ):
        return None
    check_one_rule(cls)
    args, dims = inputs.whole()
    bound = bound_arguments(cls.forward, args, kwargs)
    missing = (None,) * (len(bound) - len(dims))
    return cls.vmap, Given(bound, (*dims, *missing), inputs.size)


def watching(func, inputs: Inputs):
    """The function, which raises `OneCall` after a call that shows that it is
    one call of a Function with slices and numbers, whose result it returns.
    """
    first = True

    @functools.wraps(func, updated=())
    def watched(*args, **kwargs):
        nonlocal first
        result = func(*args, **kwargs)
        if first and inputs.size and len(applied()) == 1:
            cls, given, returned = applied()[0]
            if returned is result:
                whole = _whole(given, args, inputs)
                if whole is not None:
                    raise OneCall(cls.vmap, whole)
        first = False
        return result

    return watched


def _whole(given: tuple, slices: tuple, inputs: Inputs) -> Given | None:
    """Gives the call the whole arguments for their slices; None where a tensor
    is neither of them, and nothing is known of it.
    """
    whole, dims = inputs.whole()
    arguments, structure = _tree.flatten(whole, is_whole)
    leaves = zip(
        _tree.flatten(slices, is_whole)[0], arguments, _tree.spread(dims, structure)
    )
    known = {id(part): (argument, dim) for part, argument, dim in leaves}
    found = []
    for value in given:
        if isinstance(value, Tensor) and id(value) not in known:
            return None
        found.append(known[id(value)] if isinstance(value, Tensor) else (value, None))
    if all(dim is None for _, dim in found):
        return None
    args, places = zip(*found)
    return Given(args, places, inputs.size)
