"""Graphs of operators that a function called, and what is done to them."""

import pytest
from hotaru._subclasses.fake_tensor import is_fake
from hotaru.export import _operators as operators
from hotaru.fx.experimental.proxy_tensor import get_proxy_mode, make_fx
from hotaru.fx.passes.dialect.common.cse_pass import CSEPass, get_CSE_banned_ops

import hotaru as torch
from hotaru import fx, nn

aten = torch.ops.aten


def _calls(graph):
    return [n.target for n in graph.graph.nodes if n.op == "call_function"]


@pytest.mark.parametrize("mode", ["real", "fake"])
def test_a_function_as_a_graph(mode):
    def function(x, y):
        a, b = x.split(1)
        return {"sum": (a + b).cos(), "rest": [y * torch.tensor([2.0, 1.0]), 3]}

    x, y = torch.rand(2, 2), torch.rand(2)
    graph = make_fx(function, tracing_mode=mode)(x, y)
    assert isinstance(graph, fx.GraphModule)
    names = [n.name for n in graph.graph.nodes]
    assert names[:5] == ["x_1", "y_1", "split", "getitem", "getitem_1"]
    assert aten.cos.default in _calls(graph)
    for given in ((x, y), (torch.rand(2, 2), torch.rand(2))):
        want, found = function(*given), graph(*given)
        assert torch.equal(want["sum"], found["sum"])
        assert torch.equal(want["rest"][0], found["rest"][0])
        assert found["rest"][1] == 3
    cos = next(n for n in graph.graph.nodes if n.name == "cos")
    assert cos.meta["tensor_meta"].shape == (1, 2)
    assert is_fake(cos.meta.get("val")) == (mode == "fake")


def test_trees_of_arguments():
    graph = make_fx(lambda d, l: [d["k"] * l[0] + l[1]])(
        {"k": torch.ones(2)}, [torch.ones(2), 2.0]
    )
    found = graph({"k": torch.full((2,), 3.0)}, [torch.ones(2), 2.0])
    assert found[0].tolist() == [5, 5]


def test_parameters_and_other_tensors_are_attributes():
    model, other = nn.Linear(2, 3), torch.ones(3)
    x = torch.rand(4, 2)
    graph = make_fx(lambda x: model(x) + other)(x)
    assert torch.equal(graph(x), model(x) + other)
    assert len(list(graph.parameters())) == 2
    assert graph._tensor_constant0 is other
    with pytest.raises(AssertionError, match="convert all Tensors"):
        make_fx(model, tracing_mode="fake")(x)
    fake = make_fx(model, None, "fake", True)(x)
    assert torch.equal(fake(x), model(x))


def test_numbers_written_down_are_new_each_time():
    graph = make_fx(lambda x: torch.tensor([1.0]).add_(x))(torch.ones(1))
    for _ in range(2):
        assert graph(torch.ones(1)).item() == 2


def test_writes_are_calls():
    def function(x):
        y = x.clone()
        y.mul_(2)
        y[0] = 7
        return y + x

    x = torch.rand(3)
    graph = make_fx(function)(torch.zeros(3))
    assert aten.mul_.Tensor in _calls(graph)
    assert torch.equal(graph(x), function(x))


def test_derivatives_are_calls():
    def function(x):
        x = x.detach().requires_grad_()
        return torch.autograd.grad((x.sin() * x).sum(), x)[0]

    x = torch.rand(3)
    graph = make_fx(function)(torch.zeros(3))
    torch.testing.assert_close(graph(x), function(x))
    assert "hotaru.sin.default.vjp" in map(str, _calls(graph))
    fake = make_fx(function, tracing_mode="fake")(torch.zeros(3))
    torch.testing.assert_close(fake(x), function(x))


def test_second_derivatives_and_sums_of_gradients():
    def function(x):
        x = x.detach().requires_grad_()
        y = x * x * x + x.exp() * x
        (first,) = torch.autograd.grad(y.sum(), x, create_graph=True)
        (second,) = torch.autograd.grad((first * first).sum(), x)
        return first.detach() + second

    x = torch.rand(3)
    graph = make_fx(function)(torch.zeros(3))
    torch.testing.assert_close(graph(x), function(x))
    assert not list(graph.buffers())


def test_overloads_are_taken_apart():
    table = {aten.tanh.default: lambda x: x.sinh() / x.cosh()}
    graph = make_fx(torch.tanh, table)(torch.ones(2))
    calls = _calls(graph)
    assert calls == [aten.sinh.default, aten.cosh.default, aten.div.Tensor]


def test_what_cannot_be_traced():
    with pytest.raises(RuntimeError, match="get value out of a tracing"):
        make_fx(lambda x: x if x.sum() > 0 else -x)(torch.ones(2))
    with pytest.raises(AssertionError, match="must be real/fake/symbolic"):
        make_fx(torch.cos, tracing_mode="foo")(torch.ones(2))
    with pytest.raises(NotImplementedError, match="sizes are numbers"):
        make_fx(torch.cos, tracing_mode="symbolic")(torch.ones(2))


@pytest.mark.parametrize(
    ("function", "fewer"),
    [
        (lambda x: x.cos() + x.cos(), 1),
        (lambda x: x.sum(1) + x.sum(dim=1, keepdim=False), 1),
        (lambda x: x.sum(1) + x.sum(1, keepdim=True), 0),
        (lambda x: torch.cat((x, x)) + torch.cat((x, x)), 1),
        (lambda x: torch.rand_like(x) + torch.rand_like(x), 0),
        (lambda x: x * 1 + x * 1.0, 0),
        (lambda x: x.clone().add_(1) + x.clone().add_(1), 1),
    ],
)
def test_equal_calls_are_made_once(function, fewer):
    graph = make_fx(function)(torch.ones(2, 2))
    result = CSEPass(get_CSE_banned_ops())(graph)
    before, after = len(graph.graph.nodes), len(result.graph_module.graph.nodes)
    assert before - after == fewer
    assert result.modified == (fewer > 0)
    if fewer and aten.add_.Tensor not in _calls(graph):
        x = torch.rand(2, 2)
        assert torch.equal(result.graph_module(x), graph(x))


def test_banned_calls_are_made_twice():
    graph = make_fx(lambda x: (x + 1) + (x + 1))(torch.ones(2))
    assert not CSEPass([aten.add])(graph).modified
    assert CSEPass()(graph).modified


def test_a_program_can_ask_who_records():
    seen = []

    def function(x):
        seen.append(get_proxy_mode())
        return x.sin()

    assert get_proxy_mode() is None
    make_fx(function)(torch.ones(2))
    assert seen[0] is not None
    assert get_proxy_mode() is None


def test_operators_of_exports_have_names_too():
    # Their packets may be there before; passes look at all overloads.
    assert operators.sym_size._opname == "sym_size"
    assert operators.sym_size._overloadname == "int"
    assert get_CSE_banned_ops()
