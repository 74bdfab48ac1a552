"""Graphs of traces: types and names of values, what stays a call."""

from __future__ import annotations

import pytest

import hotaru
import hotaru as torch
from hotaru import nn

X = torch.tensor([[1.0, -2.0, 3.0], [0.5, 4.0, -1.0]])
MATRIX = "Float(2, 3, strides=[3, 1], requires_grad=0, device=cpu)"


def _types(graph) -> dict:
    values = [v for node in graph.nodes() for v in node.outputs()]
    named = [*graph.inputs(), *values]
    return {v.debugName().partition(".")[0]: v.type().str() for v in named}


def test_values_have_the_examples_types_and_the_variables_names():
    def program(x, y):
        doubled = x * 2
        rows = (doubled @ y).relu()
        return rows, rows.topk(1)

    y = torch.ones(3, 4, dtype=torch.float32, requires_grad=True)
    traced = torch.jit.trace(program, (X, y))
    for graph in (traced.graph, traced.inlined_graph):
        types = _types(graph)
        assert types["x"] == types["doubled"] == MATRIX
        assert types["rows"] == MATRIX.replace("3", "4", 1).replace(
            "strides=[3", "strides=[4"
        ).replace("grad=0", "grad=1")
        found = next(n for n in graph.nodes() if n.kind() == "aten::topk")
        assert [v.type().scalarType() for v in found.outputs()] == ["Float", "Long"]
        assert all(v.isCompleteTensor() for v in found.outputs())
        (result,) = graph.outputs()
        assert result.type().str().startswith("(Float(2, 4, ")


def test_each_of_two_functions_of_one_name_has_its_own_types():
    def program(x):
        return x + 1

    first, second = torch.jit.trace(program, X), torch.jit.trace(program, X.double())
    assert _types(first.graph)["x"] == MATRIX
    assert _types(second.graph)["x"] == MATRIX.replace("Float", "Double")


def test_methods_of_modules_have_types_and_saved_ones_none(tmp_path):
    class Scaled(nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = nn.Parameter(torch.ones(3))

        def forward(self, x):
            scaled = x * self.scale
            return scaled.sum(0)

    traced = torch.jit.trace(Scaled(), X)
    types = _types(traced.graph)
    assert types["x"] == MATRIX
    assert types["scaled"] == MATRIX.replace("grad=0", "grad=1")
    assert types["scale"] == "Tensor"  # which may be replaced
    traced.save(tmp_path / "scaled.pt")
    loaded = _types(torch.jit.load(tmp_path / "scaled.pt").graph)
    assert loaded["x"] == "Tensor"
    assert not any("strides" in kind for kind in loaded.values())


def test_parts_of_tuples_are_typed_and_their_places_stand_before_them():
    traced = torch.jit.trace(lambda x, y: x * y[1], (X, (X, X + 1)))
    place, part, product = traced.graph.nodes()
    assert (place.kind(), part.kind()) == ("prim::Constant", "prim::TupleIndex")
    assert part.output().type().str() == MATRIX
    assert list(traced.graph.inputs())[1].type().str() == f"({MATRIX}, {MATRIX})"
    text = str(traced.graph)
    assert str(torch._C.parse_ir(text)).count("prim::TupleIndex") == 1
    assert product.kind() == "aten::mul"


@torch.jit.script
def _nested(x):
    return [[x + 1, x - 1], [x + 2, x - 2]]


@torch.jit.script
def _by_name(x):
    return {"more": (x + 1, x.size(0))}


def test_nested_results_of_compiled_functions_follow_the_input():
    def program(x):
        rows, named = _nested(x), _by_name(x)
        more, count = named["more"]
        return rows[0][0], rows[1][1] * count, more

    traced = torch.jit.trace(program, X)
    other = torch.arange(5.0)
    for got, right in zip(traced(other), program(other)):
        assert torch.equal(got, right)


def test_compiled_functions_of_constants_stay_calls():
    @torch.jit.script
    def drawn(count: int):
        return torch.rand(count)

    traced = torch.jit.trace(lambda x: x + drawn(3), X, check_trace=False)
    assert not torch.equal(traced(X), traced(X))
    assert "prim::CallFunction" in str(traced.graph)


def test_what_is_made_of_no_input_is_made_by_the_program():
    def program(x):
        made = torch.ones(2, 3) + torch.full((3,), 2.0) + torch.arange(3)
        made[0] = x[0]
        return made + torch.zeros(2, 1, dtype=torch.float64, requires_grad=False)

    traced = torch.jit.trace(program, X)
    kinds = [node.kind() for node in traced.graph.nodes()]
    for kind in ("ones", "full", "arange", "zeros"):
        assert f"aten::{kind}" in kinds
    assert torch.equal(traced(X + 1), program(X + 1))
    assert traced(X).dtype == torch.float64


def test_dicts_of_lists_reach_compiled_modules():
    class Rows(nn.Module):
        def forward(self, given: dict[str, list[torch.Tensor]]) -> torch.Tensor:
            return torch.stack([rows[0] for rows in given.values()])

    class Outer(nn.Module):
        def __init__(self):
            super().__init__()
            self.rows = torch.jit.script(Rows())

        def forward(self, given: dict[str, list[torch.Tensor]]):
            return self.rows({name: [rows[1]] for name, rows in given.items()})

    given = {"a": [X, X + 1], "b": [X + 2, X + 3]}
    traced = torch.jit.trace(Outer(), given)
    other = {"a": [X, X + 7], "b": [X, X + 9]}
    assert torch.equal(traced(other), torch.stack([X + 7, X + 9]))


def test_casts_are_written_as_casts():
    for cast in (lambda x: x.cpu(), lambda x: x.double(), lambda x: x.to(x)):
        kinds = [node.kind() for node in torch.jit.trace(cast, X).graph.nodes()]
        assert kinds.count("aten::to") == 1


def test_detaching_in_place_ends_gradients_of_the_program():
    def program(x, w):
        y = x @ w
        y.detach_()
        return y * 2

    traced = torch.jit.trace(program, (X, torch.ones(3, 2)))
    got = traced(X, torch.ones(3, 2, requires_grad=True))
    assert got.grad_fn is None
    assert "aten::detach(" in str(traced.graph)


def test_a_parameter_as_the_example_is_an_input():
    class Sum(nn.Module):
        def __init__(self):
            super().__init__()
            self.x = nn.Parameter(torch.ones(2, 3))

        def forward(self, y):
            return self.x + y

    module = Sum()
    traced = torch.jit.trace(module, module.x)
    assert torch.equal(traced(X), X + 1)


def test_needs_of_gradients_that_a_function_sets_are_set():
    def program(x):
        made = torch.autograd.Variable(x.detach() * 2)
        made.requires_grad_(True)
        return made * 3

    traced = torch.jit.trace(program, X, check_trace=False)
    assert traced(X).requires_grad


def test_values_left_by_a_trace_are_constants_of_the_next():
    kept = []

    def program(x):
        if not kept:
            kept.append(torch.neg(x))
        return x + kept[0]

    with pytest.raises(torch.jit.TracingCheckError, match="Graphs differed"):
        torch.jit.trace(program, X)
    assert torch.equal(torch.jit.trace(program, X)(X * 2), X)
    assert hotaru.equal(torch.relu(kept[0]), torch.relu(-X))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((1,), r"Type 'Tuple\[int\]' cannot be traced"),
        (({"a": 1},), r"Type 'Tuple\[Dict\[str, int\]\]' cannot be traced"),
        (([1.0],), r"Type 'Tuple\[List\[float\]\]' cannot be traced"),
        ((None,), r"Type 'Tuple\[NoneType\]' cannot be traced"),
        (([],), "List trace inputs must have elements"),
        (({1: []},), "List trace inputs must have elements"),
        (({},), "Dictionary inputs must have entries"),
        (([X, (X,)],), r"consistent element type. Found Tensor and Tuple\[Tensor\]"),
        (({"a": X, "b": [X]},), r"consistent type. Found Tensor and List\[Tensor\]"),
        (({"a": X, 1: X},), "consistent type. Found str and int"),
        ((object(),), "instead got value of type object"),
    ],
)
def test_inputs_that_no_trace_takes(given, message):
    with pytest.raises(RuntimeError, match=message):
        torch.jit.trace(lambda value: X, given)


@pytest.mark.parametrize(
    ("result", "message"),
    [
        ({"a": 1}, "only outputs matching dict"),
        ({"a": (X, 1)}, "only outputs matching dict"),
        ([X, (X,)], "consistent element type"),
        ({}, "Dictionary inputs must have entries"),
        ([], "List trace inputs must have elements"),
        ((X, None), r"output 1 \(None\) of traced region did not have"),
    ],
)
def test_results_that_no_trace_gives(result, message):
    with pytest.raises(RuntimeError, match=message):
        torch.jit.trace(lambda x: result, X, strict=False)


def test_results_of_a_trace_graph_are_those_that_were_traced():
    state = torch.get_rng_state()
    _, got = torch.jit._get_trace_graph(nn.Dropout(0.6), torch.ones(50))
    torch.set_rng_state(state)
    assert torch.equal(got, nn.Dropout(0.6)(torch.ones(50)))
