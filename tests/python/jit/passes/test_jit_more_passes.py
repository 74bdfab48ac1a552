"""Passes that write loops out, that change activations, and that take out what
nobody reads: the graphs give what the functions give.
"""

from __future__ import annotations

import pytest

import hotaru as torch

C = torch._C


def count(graph, *names: str) -> int:
    return sum(len(graph.findAllNodes(name)) for name in names)


def same(graph, function, *inputs) -> None:
    graph.lint()
    again = C._create_function_from_graph("again", graph)
    torch.testing.assert_close(again(*inputs), function(*inputs))


def powers(x):
    y = x
    for i in range(5):
        for j in range(2):
            y = y * x + float(i - j)
    return y


def branching(x):
    for i in range(3):
        if i > 1:
            x = x + 1
            x = -x
        else:
            x = x * 2
    return x


def no_turns(x):
    for _ in range(-2):
        x = x + 1
    return x


@pytest.mark.parametrize("function", [powers, branching, no_turns])
def test_loops_of_few_turns_are_written_out(function):
    graph = torch.jit.script(function).graph.copy()
    assert C._jit_pass_loop_unrolling(graph)
    assert count(graph, "prim::Loop") == 0
    same(graph, function, torch.randn(3))


def many(x):
    for _ in range(65):
        x = x + 1
    return x


def endless(x, n: int):
    while n > 0:
        x = x + 1
        n = n - 1
    return x


def some(x, n: int):
    for _ in range(n):
        x = x + 1
    return x


def leaves(x):
    for i in range(4):
        if bool(x > 2):
            break
        x = x + i
    return x


@pytest.mark.parametrize("function", [many, endless, some, leaves])
def test_other_loops_stay(function):
    graph = torch.jit.script(function).graph.copy()
    assert not C._jit_pass_loop_unrolling(graph)
    assert count(graph, "prim::Loop") == 1


def test_lists_that_a_loop_fills_are_constants():
    def f():
        return [2 * i for i in range(4)]

    graph = torch.jit.script(f).graph.copy()
    C._jit_pass_loop_unrolling(graph)
    C._jit_pass_remove_mutation(graph)
    C._jit_pass_constant_propagation(graph)
    assert [node.kind() for node in graph.nodes()] == ["prim::Constant"]
    again = C._create_function_from_graph("again", graph)
    again().append(5)
    assert again() == [0, 2, 4, 6]


def test_lists_that_are_changed_or_hold_parameters_are_no_constants():
    def f(n: int):
        a = [1, 2]
        a.append(3)
        return a, [n, 1]

    graph = torch.jit.script(f).graph.copy()
    C._jit_pass_constant_propagation(graph)
    assert count(graph, "prim::ListConstruct") == 2
    again = C._create_function_from_graph("again", graph)
    assert again(7) == ([1, 2, 3], [7, 1])
    assert again(7) == ([1, 2, 3], [7, 1])


def test_equal_lists_that_are_given_stay_two():
    def f():
        return [1, 2], [1, 2]

    graph = torch.jit.script(f).graph.copy()
    C._jit_pass_constant_propagation(graph)
    C._jit_pass_cse(graph)
    first, second = next(graph.outputs()).node().inputs()
    assert first is not second


ACTIVATIONS = [
    "celu",
    "elu",
    "hardsigmoid",
    "hardswish",
    "hardtanh",
    "leaky_relu",
    "relu",
    "relu6",
    "selu",
]


def _applied(name: str):
    return torch.jit.CompilationUnit(
        f"""
def f(x):
    y = x + 1
    return torch.ops.aten.{name}(y)
"""
    ).f


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations_change_what_the_graph_has_made(name):
    function = _applied(name)
    graph = function.graph.copy()
    assert C._jit_pass_functional_to_inplace_activation(graph)
    assert count(graph, f"aten::{name}_") == 1
    x = torch.randn(5) * 3
    given = x.clone()
    same(graph, function, x)
    assert torch.equal(x, given)
    assert C._jit_pass_inplace_to_functional_activation(graph)
    assert count(graph, f"aten::{name}") == 1
    same(graph, function, x)


def of_parameter(x):
    return torch.relu(x)


def of_view(x):
    return torch.relu(x[0])


def read_later(x):
    y = x + 1
    return torch.relu(y) + y


def of_list(x):
    y = x + 1
    held = [y]
    return torch.relu(y), held


def promotes(x):
    return torch.sigmoid(x + 1)


@pytest.mark.parametrize(
    "function", [of_parameter, of_view, read_later, of_list, promotes]
)
def test_other_activations_stay(function):
    graph = torch.jit.script(function).graph.copy()
    before = str(graph)
    assert not C._jit_pass_functional_to_inplace_activation(graph)
    assert str(graph) == before


@torch.jit.script
class Box:
    def __init__(self, x: torch.Tensor):
        self.x = x


def test_objects_that_nobody_reads_go():
    def unread(x):
        box = Box(x)
        box.x = x + 1
        return x

    def read(x):
        box = Box(x)
        box.x = x + 1
        return box.x

    left = []
    for function in (unread, read):
        graph = torch.jit.script(function).inlined_graph.copy()
        C._jit_pass_dce(graph)
        left.append(count(graph, "prim::SetAttr", "prim::CreateObject"))
    assert left[0] == 0
    assert left[1] > 1


def test_attributes_of_modules_stay_assigned():
    class Counts(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.n = 0

        def forward(self, x):
            self.n = self.n + 1
            return x

    module = torch.jit.script(Counts())
    C._jit_pass_dce(module.graph)
    assert count(module.graph, "prim::SetAttr") == 1


def test_nodes_that_a_pass_has_taken_out_say_so():
    graph = torch.jit.script(of_view).graph.copy()
    node = graph.insertNode(graph.create("prim::profile"))
    value = node.output()
    assert "prim::profile" in str(node)
    C._jit_pass_dce(graph)
    for gone in (node, value):
        with pytest.raises(RuntimeError, match="invalidated"):
            str(gone)
    with pytest.raises(ValueError, match="None"):
        graph.create("aten::relu", [None])


def test_results_that_equal_a_number_are_it():
    def f(x: int):
        y = 1
        if x == 1:
            return y
        return x

    graph = torch.jit.script(f).graph.copy()
    assert C._jit_pass_refine_integer_values(graph)
    C._jit_pass_dce(graph)
    assert not list(graph.nodes())
    again = C._create_function_from_graph("again", graph)
    assert [again(n) for n in (0, 1, 2)] == [0, 1, 2]


def with_bias(x, w, b):
    return torch.relu(torch.matmul(x, w.t()) + b)


def with_bias_in_place(x, w, b):
    y = torch.matmul(x, w.t())
    y.add_(b)
    return y


def without_bias(x, w, b):
    return torch.matmul(x, w.t()) * b


def of_addmm(x, w, b):
    return torch.addmm(b, x, w.t())


@pytest.mark.parametrize(
    "function", [with_bias, with_bias_in_place, without_bias, of_addmm]
)
def test_products_with_transposed_weights_are_linear_layers(function):
    inputs = torch.randn(2, 3), torch.randn(4, 3), torch.randn(4)
    graph = torch.jit.trace(function, inputs).graph.copy()
    assert C._jit_pass_fuse_linear(graph)
    assert count(graph, "aten::linear") == 1
    assert count(graph, "aten::matmul", "aten::addmm", "aten::add", "aten::add_") == 0
    assert count(graph, "aten::t") == 0
    same(graph, function, *inputs)


def test_what_is_added_and_no_bias_stays_added():
    inputs = torch.randn(2, 3), torch.randn(4, 3), torch.randn(2, 4)
    graph = torch.jit.trace(with_bias, inputs).graph.copy()
    assert C._jit_pass_fuse_linear(graph)
    assert count(graph, "aten::linear") == 1
    assert count(graph, "aten::add") == 1
    same(graph, with_bias, *inputs)
    plain = torch.jit.script(with_bias).graph.copy()  # of any sizes
    assert not C._jit_pass_fuse_linear(plain)
