"""Operators in graphs, replaced by what they are made of."""

from __future__ import annotations

import pytest

import hotaru as torch

C = torch._C


def count(graph, name: str) -> int:
    return len(graph.findAllNodes(name))


@pytest.mark.parametrize("unbiased", [True, False])
@pytest.mark.parametrize("dtype", [torch.float64, torch.complex128])
def test_variances_are_made_of_sums(unbiased, dtype):
    def f(x, unbiased: bool):
        return torch.var(x, unbiased) + 1

    graph = torch.jit.script(f).graph.copy()
    assert C._jit_pass_run_decompositions(graph)
    graph.lint()
    assert count(graph, "aten::var") == 0
    again = C._create_function_from_graph("again", graph)
    for x in (torch.randn(4, 5, dtype=dtype), torch.randn(1, dtype=dtype)):
        wanted = f(x, unbiased)
        torch.testing.assert_close(again(x, unbiased), wanted, equal_nan=True)


def test_decompositions_of_ones_own():
    @torch.jit.script
    def made_of(x):
        if x.dim() == 0:
            return x * x
        return torch.pow(x, 2)

    @torch.jit.script
    def other(x, y):
        return x

    op = torch.ops.aten.square.default
    with pytest.raises(RuntimeError, match="takes 2 values"):
        torch.jit._register_decomposition(op, other.graph)
    torch.jit._register_decomposition(op, made_of.graph)

    def f(x):
        y = torch.square(x)
        return torch.square(y) + y

    graph = torch.jit.script(f).graph.copy()
    assert C._jit_pass_run_decompositions(graph)
    graph.lint()
    assert count(graph, "aten::square") == 0
    assert count(graph, "aten::pow") == 2
    again = C._create_function_from_graph("again", graph)
    for x in (torch.randn(3), torch.tensor(2.5)):
        torch.testing.assert_close(again(x), f(x))
    assert not C._jit_pass_run_decompositions(graph)
