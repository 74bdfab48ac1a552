"""fx.experimental: types of graphs whose shapes are known in part.

Expected types are PyTorch's.
"""

from __future__ import annotations

import operator

import pytest
from hotaru.fx import Graph, GraphModule, symbolic_trace
from hotaru.fx.experimental import graph_gradual_typechecker as gradual
from hotaru.fx.experimental.refinement_types import Equality
from hotaru.fx.experimental.unification import Var, unify
from hotaru.fx.experimental.unify_refinements import (
    check_for_type_equality,
    infer_symbolic_types,
    infer_symbolic_types_single_pass,
)
from hotaru.fx.tensor_type import Dyn, TensorType

import hotaru
from hotaru import nn


def _checked(function, *types, annotate=()):
    """The types of all nodes of a traced function or module."""
    traced = symbolic_trace(function)
    given = iter(types)
    for node in traced.graph.nodes:
        if node.op == "placeholder":
            node.type = next(given)
        elif node.name in dict(annotate):
            node.type = dict(annotate)[node.name]
    assert gradual.GraphTypeChecker({}, traced).type_check()
    return traced, [node.type for node in traced.graph.nodes]


def T(*sizes):  # noqa: N802
    return TensorType(sizes)


CASES = [
    (lambda x: hotaru.reshape(x, [1, 2, 3]), T(1, 6), T(1, 2, 3)),
    (lambda x: hotaru.reshape(x, [1, 5, -1]), T(Dyn, 5), T(1, 5, Dyn)),
    (lambda x: hotaru.reshape(x, [2, -1]), Dyn, T(2, Dyn)),
    (lambda x: hotaru.transpose(x, 0, 1), T(1, 2, Dyn), T(2, 1, Dyn)),
    (lambda x: hotaru.transpose(x, 0, 1), Dyn, Dyn),
    (lambda x: hotaru.flatten(x, 1, 2), T(1, 2, 3, Dyn), T(1, 6, Dyn)),
    (lambda x: hotaru.flatten(x, 1, 2), T(1, Dyn, 3, 5), T(1, Dyn, 5)),
    (lambda x: hotaru.flatten(x, start_dim=1, end_dim=3), T(2, 3, 4, 5), T(2, 60)),
    (nn.Sequential(nn.Linear(5, 7)), T(4, Dyn, 5), T(4, Dyn, 7)),
    (nn.Sequential(nn.ReLU()), T(4, Dyn), T(4, Dyn)),
    (nn.Sequential(nn.MaxPool2d(5, 8)), T(64, 8, 8), T(64, 1, 1)),
    (nn.Sequential(nn.BatchNorm2d(3)), T(1, Dyn, 2, 2), T(1, Dyn, 2, 2)),
    (nn.Sequential(nn.AdaptiveAvgPool2d((6, None))), T(2, 3, 9, 8), T(2, 3, 6, 8)),
    (
        nn.Sequential(nn.Conv2d(2, 5, (3, 4), (2, 1), 1, (1, 2))),
        T(Dyn, 2, 9, 9),
        T(Dyn, 5, 5, 5),
    ),
]


@pytest.mark.parametrize(("function", "given", "wanted"), CASES)
def test_types(function, given, wanted):
    traced, types = _checked(function, given)
    assert types[-2:] == [wanted, wanted]
    if Dyn not in (given, wanted) and Dyn not in (*given.dims, *wanted.dims):
        result = traced(hotaru.zeros(given.dims))
        assert tuple(result.shape) == wanted.dims


REFUSED = [
    (lambda x: hotaru.reshape(x, [1, 2, 3]), T(1, 5), "Cannot reshape"),
    (lambda x: hotaru.reshape(x, [1, 2, -1]), T(Dyn, 5), "Cannot reshape"),
    (lambda x: hotaru.transpose(x, 0, 10), T(1, 2), "Cannot transpose"),
    (lambda x: hotaru.flatten(x, 0, 4), T(1, 2), "Incompatible dimensions"),
    (nn.Sequential(nn.Linear(5, 7)), T(4, 6), "Inconsistent 5 and 6"),
    (nn.Sequential(nn.Linear(5, 7)), T(5), "must have rank 2"),
    (nn.Sequential(nn.BatchNorm2d(3)), T(1, 2, 2, 2), "Cannot apply Batch"),
    (nn.Sequential(nn.BatchNorm2d(3)), T(1, 3, 2), "Cannot extend tensor"),
    (nn.Sequential(nn.Conv2d(3, 1, 1)), T(1, 2, 2, 2), "Cannot apply Conv"),
    (nn.Sequential(nn.MaxPool2d(2)), T(1, 2), "Wrong size"),
]


@pytest.mark.parametrize(("function", "given", "text"), REFUSED)
def test_types_that_do_not_fit(function, given, text):
    with pytest.raises(TypeError, match=text):
        _checked(function, given)


@pytest.mark.parametrize(
    ("t1", "t2", "wanted"),
    [
        (T(1, 2, 3, Dyn), T(2, 3, 4), T(1, 2, 3, Dyn)),
        (T(1, 2, Dyn), T(1, 2, 3), T(1, 2, Dyn)),
        (int, T(2, 3), T(2, 3)),
        (T(2, 3), Dyn, Dyn),
        (T(4, 1), T(1, 5), T(4, 5)),
    ],
)
def test_sums(t1, t2, wanted):
    _, types = _checked(lambda x, y: hotaru.add(x, y), t1, t2)
    assert types[-1] == wanted


def test_sums_that_do_not_fit():
    with pytest.raises(TypeError, match="Cannot add arguments"):
        _checked(lambda x, y: x + y, T(1, 2, 3, Dyn), T(1, 2, 3))


def test_what_is_known_of_the_result_reaches_the_input():
    model = nn.Sequential(nn.BatchNorm2d(2))
    known = [("_0", T(2, 2, Dyn, 4))]
    assert _checked(model, Dyn, annotate=known)[1] == [
        T(Dyn, Dyn, Dyn, Dyn),
        T(2, 2, Dyn, 4),
        T(2, 2, Dyn, 4),
    ]
    model = nn.Sequential(nn.ReLU())
    with pytest.raises(TypeError, match="Inconsistent types"):
        _checked(model, T(2, 3), annotate=[("_0", T(2, 4))])


def test_rules():
    with pytest.raises(RuntimeError, match="already registered"):
        gradual.register_inference_rule(hotaru.add)(None)
    with pytest.raises(RuntimeError, match="already registered"):
        gradual.register_refinement_rule(hotaru.add)(None)
    with pytest.raises(RuntimeError, match="No inference rule registered"):
        _checked(lambda x: hotaru.sin(x), T(1))
    with pytest.raises(RuntimeError, match="for class"):
        _checked(nn.Sequential(nn.GELU()), T(1))
    with pytest.raises(TypeError, match="attribute 'dtype'"):
        _checked(lambda x: x.dtype, T(1))


def test_unification():
    a, b, c = Var("a"), Var("b"), Var("c")
    assert unify((a, b, 3), (b, c, c)) == {a: b, b: c, c: 3}
    assert unify((a, a), (1, 2)) is False
    assert unify((a, 1), (1,)) is False
    assert unify([a], [2], {b: 1}) == {a: 2, b: 1}
    assert Var() != Var()
    assert repr(Var(3)) == "~3"


def test_equalities():
    traced, _ = _checked(
        lambda x: hotaru.flatten(x, start_dim=1, end_dim=2), T(2, 3, 4, 5)
    )
    refine = gradual.Refine(traced)
    assert refine.refine()
    assert refine.constraints == [Equality(2, 2), Equality(5, 5)]


def test_equal_sizes_are_one_variable():
    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = nn.Conv2d(3, 3, 3, padding=1)

        def forward(self, x):
            return self.conv(x)

    traced, types = _checked(Block(), T(Dyn, 3, Dyn, 8))
    assert types[-1] == T(Dyn, 3, Dyn, 8)
    infer_symbolic_types_single_pass(traced)
    x, result, output = [node.type for node in traced.graph.nodes]
    assert result == output
    assert isinstance(x.dims[0], Var)
    assert x.dims[0] == result.dims[0]
    assert x.dims[2] != result.dims[2]
    assert check_for_type_equality(traced.graph, traced.graph)
    assert not check_for_type_equality(traced.graph, symbolic_trace(Block()).graph)


def test_sums_take_two_passes():
    """Facts of both operands are known once their variables are one."""
    graph = Graph()
    x = graph.placeholder("x")
    relu = graph.call_module("relu", (x,))
    graph.output(graph.call_function(operator.add, (relu, x)))
    module = GraphModule({"relu": nn.ReLU()}, graph)
    x.type = T(Dyn, 3)
    gradual.GraphTypeChecker({}, module).type_check()
    infer_symbolic_types_single_pass(module)
    x, _, total, _ = [node.type for node in module.graph.nodes]
    assert x.dims[0] != total.dims[0]
    infer_symbolic_types_single_pass(module)
    x, _, total, _ = [node.type for node in module.graph.nodes]
    assert x.dims[0] == total.dims[0]


def test_expressions():
    sympy = pytest.importorskip("sympy", reason="sympy writes expressions")
    traced, _ = _checked(nn.Sequential(nn.Conv2d(3, 6, 5)), T(4, 3, Dyn, 9))
    infer_symbolic_types(traced)
    x, result, _ = [node.type for node in traced.graph.nodes]
    assert result == T(4, 6, sympy.floor(x.dims[2] - 4), 5)
