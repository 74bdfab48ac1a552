"""Programs of sizes that graphs give, and tuples that become several values."""

from __future__ import annotations

import hotaru as torch

C = torch._C


def program(graph):
    compute = C._jit_pass_propagate_shapes_on_graph_and_build_compute(graph)
    made = compute.partial_eval_shape_graph()
    made.lint()
    symbols = compute.graph_output_to_symbolic_shape_dim()
    names = [symbols[value] for value in made.outputs()]
    made.makeMultiOutputIntoTuple()
    return C._create_function_from_graph("sizes", made), names


def sizes_by_program(function, *sizes):
    """The result's sizes as the program of sizes gives them."""
    graph = torch.jit.script(function).graph.copy()
    for value, size in zip(graph.inputs(), sizes):
        value.setType(value.type().with_sizes([None] * len(size)))
    compute, names = program(graph)
    found = compute(*map(list, sizes))
    found = found if isinstance(found, tuple) else (found,)
    known = dict(zip(names, found, strict=True))
    result = next(graph.outputs()).type().symbolic_sizes()
    return [n if n >= 0 else known[n] for n in result]


def convolved(x, w):
    return torch.conv2d(x, w, None, [2, 2], [1, 1]) + 1


def broadcast(a, b, x, y):
    return (a / b) + torch.cat([x, y])


def pooled(x):
    y = torch.relu(x)
    return torch.max_pool2d(y, [3, 3], [2, 2]).flatten(1)


def test_programs_compute_sizes():
    cases = [
        (convolved, (2, 3, 9, 11), (4, 3, 3, 3)),
        (broadcast, (1, 10), (20, 10), (15, 1), (5, 1)),
        (pooled, (2, 3, 13, 10)),
    ]
    for function, *sizes in cases:
        wanted = function(*(torch.rand(size) for size in sizes))
        assert sizes_by_program(function, *sizes) == list(wanted.shape), function


def test_frozen_weights_are_part_of_the_program():
    module = torch.jit.freeze(torch.jit.script(torch.nn.Conv2d(3, 8, 3).eval()))
    value = list(module.graph.inputs())[1]
    value.setType(value.type().with_sizes([None] * 4))
    compute, names = program(module.graph)
    assert compute([5, 3, 10, 12]) == (5, 3, 10, 12, 8, 10)
    result = next(module.graph.outputs()).type().symbolic_sizes()
    assert result == [names[0], 8, names[4], names[5]]


def test_one_operator_gives_one_symbol_for_one_size():
    def f(x, v, w):
        return torch.conv1d(x, v), torch.conv1d(x, w), torch.conv1d(x, w, None, 2)

    graph = torch.jit.script(f).graph.copy()
    for value, size in zip(graph.inputs(), [[2, 3, None], [4, 3, 2], [4, 3, 2]]):
        value.setType(value.type().with_sizes(size))
    results = list(next(graph.outputs()).node().inputs())
    C._jit_pass_propagate_shapes_on_graph(graph)
    apart = [value.type().symbolic_sizes()[2] for value in results]
    assert len(set(apart)) == 3
    C._jit_pass_propagate_shapes_on_graph_and_build_compute(graph)
    first, second, third = (value.type().symbolic_sizes()[2] for value in results)
    assert first == second
    assert first != third


def test_graphs_of_more_than_operators_have_no_program():
    def f(x, c: bool):
        if c:
            return x + 1
        return x

    graph = torch.jit.script(f).graph.copy()
    next(graph.inputs()).setType(C.TensorType.get().with_sizes([None]))
    assert C._jit_pass_propagate_shapes_on_graph_and_build_compute(graph) is None


def test_tuples_become_several_values():
    def f(x: tuple[torch.Tensor, tuple[torch.Tensor, int]]):
        a, (b, c) = x
        return (a + b, (b * c, c)), a

    graph = torch.jit.script(f).graph.copy()
    C._jit_pass_lower_all_tuples(graph)
    graph.lint()
    assert [str(v.type()) for v in graph.inputs()] == ["Tensor", "Tensor", "int"]
    assert len(list(graph.outputs())) == 4
    kinds = [node.kind() for node in graph.nodes()]
    assert not [kind for kind in kinds if "Tuple" in kind]
    graph.makeMultiOutputIntoTuple()
    again = C._create_function_from_graph("again", graph)
    a, b = torch.randn(2), torch.randn(2)
    (first, (second, third)), fourth = f((a, (b, 3)))
    for got, wanted in zip(again(a, b, 3), (first, second, third, fourth)):
        torch.testing.assert_close(got, wanted)
