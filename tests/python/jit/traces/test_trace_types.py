"""Types in graphs of traces: what the example inputs show."""

from __future__ import annotations

import hotaru as torch


def types(graph) -> dict[str, str]:
    return {node.kind(): node.output().type().str() for node in graph.nodes()}


def test_parameters_and_results_have_types():
    def f(x, y):
        return (x * 2).sum(0) + y

    x = torch.rand(3, 2).t()
    graph = torch.jit.trace(f, (x, torch.rand(3, dtype=torch.float64))).graph
    params = [value.type() for value in graph.inputs()]
    assert params[0].strides() == [1, 2]
    assert params[0].sizes() == [2, 3]
    assert params[1].scalarType() == "Double"
    assert types(graph)["aten::sum"].startswith("Float(3, strides=[1]")
    assert types(graph)["aten::add"].startswith("Double(3, strides=[1]")
    assert next(graph.outputs()).isCompleteTensor()


def test_tensors_of_a_module_have_types():
    class Scaled(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = torch.nn.Parameter(torch.rand(4, 3))
            self.register_buffer("shift", torch.rand(3, dtype=torch.float64))

        def forward(self, x):
            return x @ self.scale + self.shift

    traced = torch.jit.trace(Scaled(), torch.rand(2, 4))
    assert types(traced.graph)["aten::matmul"].startswith("Float(2, 3")
    assert types(traced.graph)["aten::add"].startswith("Double(2, 3")


def test_the_program_takes_other_sizes_still():
    traced = torch.jit.trace(lambda x: x + 1, torch.rand(2, 3))
    assert next(traced.graph.outputs()).type().sizes() == [2, 3]
    assert traced(torch.ones(5)).shape == (5,)


def test_random_numbers_are_not_drawn_for_types():
    def f(x):
        return torch.rand_like(x) + torch.rand(3)

    traced = torch.jit.trace(f, torch.rand(2, 3), check_trace=False)
    torch.manual_seed(5)
    wanted = torch.rand(2)
    torch.manual_seed(5)
    assert next(traced.graph.outputs()).type().dtype() == torch.float32
    assert torch.equal(torch.rand(2), wanted)


def test_peepholes_see_the_types():
    def f(x, y):
        return x.type_as(y)

    same = torch.jit.trace(f, (torch.rand(1), torch.rand(1)))
    torch._C._jit_pass_peephole(same.graph)
    assert "aten::type_as" not in types(same.graph)
    other = torch.jit.trace(f, (torch.rand(1), torch.tensor([0], dtype=torch.int32)))
    torch._C._jit_pass_peephole(other.graph)
    assert "aten::type_as" in types(other.graph)
