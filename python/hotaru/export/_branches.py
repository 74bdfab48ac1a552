"""`torch.cond` in a program that is being traced."""

from __future__ import annotations

import operator

from .. import Tensor
from ..utils import _pytree as pytree
from . import _operators as names
from ._builder import Builder
from ._values import Traced, Value

__all__ = ["cond"]


def cond(trace, pred, true_fn, false_fn, operands):
    """Both branches as graphs, and the operator that chooses.

    RuntimeError where they give different things.
    """
    if type(pred) is bool:
        return (true_fn if pred else false_fn)(*operands)
    trace.enter_mode()
    test = trace.argument(pred)
    (first, a, a_spec), (second, b, b_spec) = (
        _branch(trace, function, operands) for function in (true_fn, false_fn)
    )
    if a_spec != b_spec:
        raise RuntimeError(
            "Unmatched output spec from torch.cond branches: true branch "
            f"tree_spec {a_spec} vs false branch tree_spec {b_spec}."
        )
    for x, y in zip(a, b):
        _check_same(trace, x._value.facts, y._value.facts)
    inputs = list(dict.fromkeys([*first.inputs, *second.inputs]))
    for branch in (first, second):
        _give_inputs(trace, branch, inputs)
    outside = tuple(map(trace.outside, inputs))
    graph = trace.builder.graph
    places = [
        graph.get_attr(trace.named(kind, branch))
        for kind, branch in (("true_graph", first), ("false_graph", second))
    ]
    node = graph.call_function(names.cond, (test, *places, outside))
    trace.note(node)
    results = []
    for place, tensor in enumerate(a):
        part = graph.call_function(operator.getitem, (node, place))
        found = tensor._value
        value = Value(trace.builder, part, found.fakes, found.facts)
        part.meta["stack"] = node.meta["stack"]
        trace.describe(part, value)
        results.append(Traced.of(trace, value))
    node.meta["val"] = tuple(r._value.fakes[0] for r in results)
    return pytree.tree_unflatten(results, a_spec)


def _check_same(trace, x, y) -> None:
    if (x.shape, x.dtype, x.device) != (y.shape, y.dtype, y.device):
        raise RuntimeError(
            "Expect outputs of both branches of torch.cond to have the same "
            f"metadata: {x!r} and {y!r}; at {trace.where()}"
        )


def _branch(trace, function, operands) -> tuple:
    """A branch's graph, its results and their structure."""
    outer = trace.builder
    branch = Builder(trace, outer, outer.modes)
    trace.builder = branch
    try:
        leaves, spec = pytree.tree_flatten(function(*operands))
        if not leaves or any(not isinstance(x, Tensor) for x in leaves):
            raise RuntimeError(
                "Expect branches of torch.cond to return (containers of) "
                f"tensors; at {trace.where()}"
            )
        found = []
        for leaf in leaves:
            # A result that is an input is a copy, as an operator's would be.
            node = branch.node_of(trace.value_of(leaf))
            found.append(leaf.clone() if node.op == "placeholder" else leaf)
        trace.leave_parts()
        branch.graph.output(tuple(branch.node_of(x._value) for x in found))
    finally:
        trace.builder = outer
    return branch, found, spec


def _give_inputs(trace, branch: Builder, inputs: list) -> None:
    """Gives a branch the inputs of both, in the same order."""
    for value in inputs:
        if value not in branch.inputs:
            outer = trace.outside(value)
            branch.nodes[value] = node = branch._input(outer.name, value)
            node.meta.update(outer.meta)
    nodes = [n for n in branch.graph.nodes if n.op == "placeholder"]
    by_value = dict(zip(branch.inputs, nodes))
    for value in reversed(inputs):
        first = next(iter(branch.graph.nodes))
        if by_value[value] is not first:
            first.prepend(by_value[value])
    branch.inputs = list(inputs)
