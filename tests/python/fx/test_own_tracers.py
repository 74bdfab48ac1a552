"""Tracers of programs' own, as libraries write them."""

from __future__ import annotations

import pytest

import hotaru as torch
from hotaru import fx


class Scale(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(2))

    def forward(self, x):
        return x * self.weight


class NoFactory(fx.Tracer):
    def create_proxy(
        self, kind, target, args, kwargs, name=None, type_expr=None, *rest
    ):
        return super().create_proxy(kind, target, args, kwargs, name, type_expr)


@pytest.mark.parametrize("constant", [False, True])
@pytest.mark.parametrize("tracer", [NoFactory, fx.Tracer])
def test_parameters_are_nodes(tracer, constant):
    graph = tracer(param_shapes_constant=constant).trace(Scale())
    assert [(node.op, node.target) for node in graph.nodes][1] == ("get_attr", "weight")


def test_shapes_of_parameters_are_constants_where_asked():
    class Shaped(Scale):
        def forward(self, x):
            return x * self.weight.shape[0]

    graph = fx.Tracer(param_shapes_constant=True).trace(Shaped())
    assert [n.args[1] for n in graph.nodes if n.op == "call_function"] == [2]


def test_the_mark_is_found_by_its_older_place():
    from hotaru.fx import _compatibility, _symbolic_trace

    assert _symbolic_trace.compatibility is _compatibility.compatibility
