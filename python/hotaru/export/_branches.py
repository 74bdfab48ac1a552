"""Functions in a program that is being traced, as graphs of their own."""

from __future__ import annotations

import operator

from .. import Tensor
from .._higher_order_ops._checks import check_specs, refuse_change, shares
from .._higher_order_ops.cond import cond_op
from ..utils import _pytree as pytree
from ._builder import Builder
from ._values import Traced, Value

__all__ = ["Branch", "cond", "give_inputs", "parts_of", "place_of", "written"]


class Branch:
    """The graph of a function, and what it returned."""

    def __init__(self, builder: Builder, own: list) -> None:
        self.builder = builder
        # The nodes of its first inputs, that are not of the program around.
        self.own = own
        self.results: list[Traced] = []
        self.spec = None

    @property
    def values(self) -> list[Value]:
        """Values of the results."""
        return [x._value for x in self.results]


def cond(trace, pred, true_fn, false_fn, operands):
    """Both branches as graphs, and the operator that chooses.

    RuntimeError where they give different things.
    """
    if type(pred) is bool:
        return (true_fn if pred else false_fn)(*operands)
    trace.enter_mode()
    test = trace.argument(pred)
    first, second = (
        written(trace, function, operands, "torch.cond")
        for function in (true_fn, false_fn)
    )
    check_specs(first.spec, second.spec)
    for x, y in zip(first.values, second.values):
        _check_same(trace, x.facts, y.facts)
    outside = give_inputs(trace, [first, second])
    places = [
        place_of(trace, kind, branch)
        for kind, branch in (("true_graph", first), ("false_graph", second))
    ]
    node = trace.builder.graph.call_function(cond_op, (test, *places, tuple(outside)))
    looks = [(value.fakes, value.facts) for value in first.values]
    results = parts_of(trace, node, looks)
    trace.chosen(pred, results, first, second)
    return pytree.tree_unflatten(results, first.spec)


def _check_same(trace, x, y) -> None:
    if (x.shape, x.dtype, x.device) != (y.shape, y.dtype, y.device):
        raise RuntimeError(
            "Expect outputs of both branches of torch.cond to have the same "
            f"metadata: {x!r} and {y!r}; at {trace.where()}"
        )


def written(trace, function, operands, called: str, own=(), alone=False) -> Branch:
    """The graph of a function.

    Args:
        operands: what it is called with after its own inputs.
        called: the operator, as errors have it.
        own: the names, fakes and facts of inputs of the graph alone.
        alone: the graph gives the one result, and not a tuple of it.

    RuntimeError: it returns other things than tensors, or changes an input of
    its own.
    """
    outer = trace.builder
    builder = trace.builder = Builder(trace, outer, outer.modes)
    try:
        values = [_own_input(builder, *facts) for facts in own]
        branch = Branch(builder, [value.node for value in values])
        given = [Traced.of(trace, value) for value in values]
        leaves, branch.spec = pytree.tree_flatten(function(*given, *operands))
        if not leaves or any(not isinstance(x, Tensor) for x in leaves):
            raise RuntimeError(
                f"Expect branches of {called} to return (containers of) "
                f"tensors; at {trace.where()}"
            )
        for value, node in zip(values, branch.own):
            if value.node is not node:
                refuse_change(called)
        branch.results = _own_results(trace, values, leaves)
        trace.leave_parts()
        nodes = tuple(map(builder.node_of, branch.values))
        builder.graph.output(nodes[0] if alone else nodes)
    finally:
        trace.builder = outer
    return branch


def _own_results(trace, own: list[Value], leaves: list) -> list[Traced]:
    """Results of the graph that is written; copies of those that share memory
    with an input or one another, as an operator's would be.
    """
    results = list(map(trace.value_of, leaves))
    for value in results:
        trace.builder.node_of(value)  # makes it an input where it is none
    inputs = [*own, *(x for x in trace.builder.inputs if type(x) is Value)]
    seen = [value.fakes[0] for value in inputs]
    found = []
    for leaf, value in zip(leaves, results):
        fake = value.fakes[0]
        found.append(leaf.clone() if shares(fake, seen) else leaf)
        seen.append(fake)
    return found


def _own_input(builder: Builder, name: str, fakes: list, facts) -> Value:
    """An input that nothing of the program around is."""
    node = builder.graph.placeholder(name)
    node.meta.update(val=fakes[0], facts=facts)
    return Value(builder, node, fakes, facts)


def give_inputs(trace, branches: list[Branch]) -> list:
    """Gives each branch what any of them uses of the program around, in the
    same order, after its own inputs. Returns the nodes there.
    """
    inputs = list(
        dict.fromkeys(x for branch in branches for x in branch.builder.inputs)
    )
    for branch in branches:
        _give_inputs(trace, branch, inputs)
    return list(map(trace.outside, inputs))


def _give_inputs(trace, branch: Branch, inputs: list) -> None:
    builder = branch.builder
    for value in inputs:
        if value not in builder.inputs:
            outer = trace.outside(value)
            builder.nodes[value] = node = builder._input(outer.name, value)
            node.meta.update(outer.meta)
    nodes = [n for n in builder.graph.nodes if n.op == "placeholder"]
    own = len(branch.own)
    by_value = dict(zip(builder.inputs, nodes[own:]))
    # Before what was the first of them, each before the one that follows it.
    for place, value in enumerate(inputs, own):
        nodes = [n for n in builder.graph.nodes if n.op == "placeholder"]
        if by_value[value] is not nodes[place]:
            nodes[place].prepend(by_value[value])
    builder.inputs = list(inputs)


def place_of(trace, kind: str, branch: Branch):
    """The node that names a branch's graph."""
    name = trace.named(kind, branch.builder)
    return trace.builder.graph.get_attr(name)


def parts_of(trace, node, looks: list) -> list[Traced]:
    """The results of an operator that gives several, from their fakes and
    facts.
    """
    trace.note(node)
    results = []
    for place, (fakes, facts) in enumerate(looks):
        part = trace.builder.graph.call_function(operator.getitem, (node, place))
        value = Value(trace.builder, part, fakes, facts)
        part.meta["stack"] = node.meta["stack"]
        trace.describe(part, value)
        results.append(Traced.of(trace, value))
    node.meta["val"] = tuple(r._value.fakes[0] for r in results)
    return results
