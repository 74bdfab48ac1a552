"""Loops in a program that is being traced: one graph for all rounds.

A body takes what is carried, then rows, then what it uses of the program
around, and gives what is carried on, then what is stacked. None among the
results is no part of a graph.
"""

from __future__ import annotations

from .. import _C
from .._higher_order_ops.map import map_impl
from .._higher_order_ops.scan import scan_op
from .._higher_order_ops.while_loop import while_loop_op
from .._ops import aten
from .._subclasses.fake_tensor import FakeTensor
from ..utils import _pytree as pytree
from ..utils._python_dispatch import _disable_current_modes
from . import _branches as branches
from ._expressions import Expression
from ._values import Facts

__all__ = ["WRITTEN"]

_WHILE = "torch.while_loop"


def _map(trace, f, xs, pos_args):
    """`map_impl`: what f gives of a row, stacked."""
    masks: list = []

    def body(*row):
        leaves, spec = pytree.tree_flatten(f(*row, *pos_args))
        masks[:] = [x is None for x in leaves], spec
        return [x for x in leaves if x is not None]

    found = _over_rows(trace, map_impl, "body_graph", body, None, xs)
    left = iter(found)
    empty, spec = masks
    leaves = [None if none else next(left) for none in empty]
    return pytree.tree_unflatten(leaves, spec)


def _scan(trace, combine_fn, init, xs, additional_inputs):
    """`scan`: what is carried last, and what else combine_fn gives, stacked."""
    empty: list = []

    def body(*given):
        found = combine_fn(*given, *additional_inputs)
        leaves = pytree.tree_leaves(found)
        empty[:] = [x is None for x in leaves]
        return [x for x in leaves if x is not None]

    found = _over_rows(trace, scan_op, "scan_combine_graph", body, list(init), xs)
    left = iter(found)
    return tuple(None if none else next(left) for none in empty)


def _over_rows(trace, operator, kind: str, body, init, xs) -> list:
    """The node of an operator that runs over rows, and its results."""
    trace.enter_mode()
    carried = init or []
    own = [_as_it_is(trace, x, f"carried_{i}") for i, x in enumerate(carried)]
    own += [_row(trace, x, f"row_{i}") for i, x in enumerate(xs)]
    name = f"torch.ops.higher_order.{operator.name()}"
    branch = branches.written(trace, body, (), name, own)
    outside = branches.give_inputs(trace, [branch])
    lists = [xs] if init is None else [init, xs]
    node = trace.builder.graph.call_function(
        operator,
        (
            branches.place_of(trace, kind, branch),
            *([trace.argument(x) for x in given] for given in lists),
            outside,
        ),
    )
    count = trace.value_of(xs[0]).facts.shape[0]
    looks = [(value.fakes, value.facts) for value in branch.values]
    for place, value in enumerate(branch.values[len(carried) :], len(carried)):
        looks[place] = _stacked(trace, count, value)
    return branches.parts_of(trace, node, looks)


def _while_loop(trace, cond_fn, body_fn, carried_inputs, additional_inputs):
    """`while_loop`: a graph of the condition, and one of the body."""
    if any(not isinstance(x, _C.Tensor) for x in carried_inputs):
        raise NotImplementedError(
            f"export: {_WHILE} carries a number, which changes in each "
            f"round; carry a tensor. At {trace.where()}"
        )
    trace.enter_mode()
    own = [_as_it_is(trace, x, f"carried_{i}") for i, x in enumerate(carried_inputs)]
    test, body = (
        branches.written(trace, f, additional_inputs, _WHILE, own, f is cond_fn)
        for f in (cond_fn, body_fn)
    )
    outside = branches.give_inputs(trace, [test, body])
    node = trace.builder.graph.call_function(
        while_loop_op,
        (
            branches.place_of(trace, "while_loop_cond_graph", test),
            branches.place_of(trace, "while_loop_body_graph", body),
            [trace.argument(x) for x in carried_inputs],
            outside,
        ),
    )
    looks = [(value.fakes, value.facts) for value in body.values]
    return tuple(branches.parts_of(trace, node, looks))


def _as_it_is(trace, tensor, name: str) -> tuple:
    """An input of a graph that looks like a tensor."""
    value = trace.value_of(tensor)
    return name, value.fakes, value.facts


def _row(trace, tensor, name: str) -> tuple:
    """An input of a graph that looks like a row of a tensor."""
    value = trace.value_of(tensor)
    facts = value.facts
    row = trace._run(aten.select.int, (value.fakes[0], 0, 0), {})
    shape, strides = facts.shape[1:], facts.strides[1:]
    with _disable_current_modes():
        fakes = trace._fakes(row, shape, strides)
    return name, fakes, Facts(fakes[0], shape, strides)


def _stacked(trace, count, value) -> tuple:
    """The fakes and facts of as many of a tensor, stacked."""
    shape = [count, *value.facts.shape]
    step, strides = Expression.of(1), []
    for size in reversed(shape):
        strides.insert(0, step if step.number is None else step.number)
        step = step * size
    numbers = [trace.sizes.hint(s) if isinstance(s, Expression) else s for s in shape]
    first = value.fakes[0]
    with _disable_current_modes():
        empty = _C.ops.empty(tuple(numbers), dtype=first.dtype, device="meta")
        like = FakeTensor(trace.fake, empty, first.device)
        fakes = trace._fakes(like, shape, strides)
    return fakes, Facts(like, shape, strides)


#: By their names below `torch.ops.higher_order`.
WRITTEN = {
    "cond": branches.cond,
    "map_impl": _map,
    "scan": _scan,
    "while_loop": _while_loop,
}
