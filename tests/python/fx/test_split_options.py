"""Options of fx's passes that cut and match graphs."""

from __future__ import annotations

import pytest
from hotaru.fx.passes.split_module import split_module
from hotaru.fx.passes.utils.matcher_utils import SubgraphMatcher
from hotaru.fx.subgraph_rewriter import replace_pattern_with_filters

import hotaru as torch


def _traced():
    def f(x, y):
        a = x.sin()
        b = y.cos()
        return a + b, b * 2

    return torch.fx.symbolic_trace(f)


def _parts(node):
    return {"sin": 1, "cos": 0}.get(node.target, 2)


def _calls(split):
    return [n.target for n in split.graph.nodes if n.op == "call_module"]


INPUTS = torch.linspace(0, 1, 3), torch.linspace(1, 2, 3)


@pytest.mark.parametrize("order", [False, True])
@pytest.mark.parametrize("as_tuple", [False, True])
def test_positions_are_pytorchs(order, as_tuple):
    traced = _traced()
    names: dict = {}
    # The fifth is the order, the sixth names of nodes, the seventh of inputs.
    split = split_module(
        traced, traced, _parts, names, order, True, False, tuple_return=as_tuple
    )
    torch.testing.assert_close(split(*INPUTS), traced(*INPUTS))
    assert _calls(split) == ["submod_1", "submod_0", "submod_2"]
    inner = split.submod_1
    assert [n.name for n in inner.graph.nodes][:2] == ["arg_0", "sin"]
    assert isinstance(inner(INPUTS[0]), tuple) == as_tuple
    kept = split_module(traced, traced, _parts)
    assert next(iter(kept.submod_1.graph.nodes)).name == "x"


def test_the_original_order_is_that_of_first_nodes():
    def f(x):
        a = x.sin()
        return a.cos() + x.tan()

    traced = torch.fx.symbolic_trace(f)

    def parts(node):
        return {"sin": "b", "cos": "c", "tan": "a"}.get(node.target, "d")

    for order in (False, True):
        split = split_module(traced, traced, parts, None, order)
        torch.testing.assert_close(split(INPUTS[0]), f(INPUTS[0]))
        assert _calls(split) == [f"submod_{c}" for c in "bcad"]


def test_nodes_match_by_name():
    def f(x):
        return x.sin() + x.cos()

    def pattern(x):
        return x.tan()

    def replacement(x):
        return x * 3

    traced = torch.fx.symbolic_trace(f)
    wanted = torch.fx.symbolic_trace(pattern).graph
    assert SubgraphMatcher(wanted).match(traced.graph) == []
    found = SubgraphMatcher(wanted).match(traced.graph, node_name_match="cos")
    assert [m.returning_nodes[0].name for m in found] == ["cos"]
    replaced = replace_pattern_with_filters(
        traced, pattern, replacement, node_name_match="cos"
    )
    assert len(replaced) == 1
    torch.testing.assert_close(traced(INPUTS[0]), INPUTS[0].sin() + INPUTS[0] * 3)
