"""Operators defined in Python, in graphs of programs (fx)."""

import pytest

import hotaru as torch
from hotaru import fx, library


def written(x):
    x.zero_()


@pytest.fixture
def lib():
    with library._scoped_library("traced", "FRAGMENT") as made:
        made.define("f(Tensor x, int k=2) -> Tensor")
        made.define("f.two(Tensor x, Tensor y) -> Tensor")
        made.define("w_(Tensor(a!) x) -> ()")
        made.impl("f", lambda x, k=2: x * k, "CPU")
        made.impl("f.two", lambda x, y: x - y, "CPU")
        made.impl("w_", written, "CPU")
        yield made


def test_a_graph_calls_them_by_their_names(lib):
    def program(x):
        y = torch.ops.traced.f(x, k=3)
        return torch.ops.traced.f.two(y, x)

    graph = fx.symbolic_trace(program)
    assert "torch.ops.traced.f(x, k = 3)" in graph.code
    assert "torch.ops.traced.f.two(f, x)" in graph.code
    assert graph(torch.ones(2)).tolist() == [2, 2]


def test_what_writes_is_kept(lib):
    def program(x):
        torch.ops.traced.w_(x)
        torch.ops.traced.f(x)
        return x

    graph = fx.symbolic_trace(program)
    graph.graph.eliminate_dead_code()
    graph.recompile()
    assert "traced.w_" in graph.code
    assert "traced.f(" not in graph.code
    assert graph(torch.ones(2)).tolist() == [0, 0]


def test_signatures_are_found(lib):
    find = fx.operator_schemas.get_signature_for_torch_op
    packet = torch.ops.traced.f
    tensor = f"{torch.Tensor.__module__}.Tensor"
    assert [str(s) for s in find(packet.two)] == [
        f"(x: {tensor}, y: {tensor}) -> {tensor}"
    ]
    assert len(find(packet)) == 2
    assert len(find(torch.ops.aten.add)) == 2
