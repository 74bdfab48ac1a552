"""Graphs that Python made, run; traces as graphs; frozen modules' graphs."""

from __future__ import annotations

import pytest

import hotaru as torch

LOOP = """graph(%x : Tensor, %n : int, %c : bool):
  %t : bool = prim::Constant[value=1]()
  %one : int = prim::Constant[value=1]()
  %y : Tensor = prim::Loop(%n, %t, %x)
    block0(%i : int, %z : Tensor):
      %w : Tensor = prim::If(%c)
        block0():
          %v : Tensor = aten::add(%z, %i, %one)
          -> (%v)
        block1():
          -> (%z)
      -> (%t, %w)
  %l : Tensor[] = prim::ListConstruct(%y, %x)
  %r : Tensor = aten::cat(%l, %one)
  return (%y, %r)
"""


def run(graph, *args):
    return torch._C._create_function_from_graph("unit.forward", graph)(*args)


def test_loops_branches_and_lists_run():
    graph = torch._C.parse_ir(LOOP)
    x = torch.ones(1, 2)
    y, joined = run(graph, x, 4, True)
    assert y.tolist() == [[7, 7]]  # 1 + 0 + 1 + 2 + 3
    assert joined.tolist() == [[7, 7, 1, 1]]
    assert run(graph, x, 4, False)[0].tolist() == [[1, 1]]


def test_graphs_built_node_by_node_run():
    graph = torch._C.Graph()
    x = graph.addInput("x")
    two = graph.insertConstant(2.5)
    node = graph.appendNode(graph.create("aten::mul", [x, two]))
    graph.registerOutput(node.output())
    assert run(graph, torch.ones(1)).item() == 2.5


def test_what_does_not_run_says_why():
    unknown = torch._C.parse_ir("graph(%a):\n  %b = foo::x(%a)\n  return (%b)")
    with pytest.raises(NotImplementedError, match="foo::x"):
        run(unknown, torch.ones(1))
    graph = torch._C.Graph()
    graph.registerOutput(torch._C.Graph().addInput("x"))
    with pytest.raises(RuntimeError, match="not in scope"):
        run(graph)


def test_a_programs_graph_runs_as_the_program_does():
    @torch.jit.script
    def f(x, n: int):
        out = []
        while n > 0:
            out.append(x * n)
            n -= 1
        return torch.cat(out), (n, "done", [1.5], None)

    x = torch.ones(2)
    got, want = run(f.graph, x, 3), f(x, 3)
    assert got[0].tolist() == want[0].tolist()
    assert got[1] == want[1]


@pytest.mark.parametrize("training", [False, True])
def test_a_traced_modules_tensors_become_parameters(training):
    net = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.BatchNorm1d(2)).train(
        training
    )
    x = torch.rand(4, 3)
    graph, result, inputs = torch.jit._get_trace_graph(net, x, return_inputs=True)
    # The input, then weights, biases and statistics.
    assert len(list(graph.inputs())) == len(inputs) == 1 + 2 + 5
    assert graph.findNode("prim::GetAttr") is None
    assert inputs[0] is x
    torch.testing.assert_close(run(graph, *inputs), result)


def test_shared_tensors_are_one_parameter():
    class Tied(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.a = torch.nn.Parameter(torch.ones(1))
            self.b = self.a

        def forward(self, x):
            return x + self.a + self.b

    net = Tied()
    assert list(torch.jit._unique_state_dict(net)) == ["a"]
    graph, _ = torch.jit._get_trace_graph(net, (torch.ones(1),))
    assert len(list(graph.inputs())) == 2


class Inner(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = 1, 2

    @torch.jit.export
    def other(self, x):
        return x + self.b

    def forward(self, x):
        return x * self.a


class Outer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Inner()

    def forward(self, x):
        return self.inner(x) + 1


def frozen(*names):
    module = torch.jit.script(Outer()).eval()
    return torch.jit.freeze(module, preserved_attrs=list(names))


def test_frozen_code_is_one_piece():
    module = frozen()
    kinds = [n.kind() for n in module.graph.nodes()]
    assert "prim::CallMethod" not in kinds
    assert "prim::GetAttr" not in kinds
    assert not module._c.hasattr("inner")
    assert module(torch.ones(1)) == 2


def test_freeze_keeps_what_is_named_in_submodules():
    assert frozen("inner.a").inner.a == 1
    assert not frozen("inner.a").inner._c.hasattr("b")
    assert frozen("inner.other").inner.other(torch.ones(1)) == 3
    whole = frozen("inner").inner
    assert (whole.a, whole.b) == (1, 2)
    assert whole(torch.ones(1)) == 1
    with pytest.raises(RuntimeError, match=r"Unknown name: inner\.z"):
        frozen("inner.z")
    with pytest.raises(RuntimeError, match=r"Unknown name: z\.a"):
        frozen("z.a")


def test_constants_of_text_have_their_types():
    text = """graph():
      %1 : Double(1, 1, device=cpu) = prim::Constant[value={3}]()
      %2 : int[] = prim::Constant[value=annotate(List[int], [])]()
      return (%1, %2)
    """
    graph = torch._C.parse_ir(text, True)
    tensor, numbers = run(graph)
    assert tensor.dtype is torch.float64
    assert tensor.tolist() == [[3.0]]
    assert numbers == []
    with pytest.raises(RuntimeError, match="parse_tensor_constants"):
        torch._C.parse_ir(text)


def test_names_of_graphs_are_torchs_too():
    assert torch.Graph is torch._C.Graph
    assert torch.TensorType is torch._C.TensorType
    assert torch.FileCheck is torch.testing.FileCheck
    schema = torch.ops.aten.add.Tensor._schema
    assert isinstance(schema, torch.FunctionSchema)
    assert [a.name for a in schema.arguments if a.kwarg_only] == ["alpha"]
