"""Passes over frozen graphs: weights take up what follows, numbers stay."""

from __future__ import annotations

import pytest

import hotaru as torch
from hotaru import nn

C = torch._C
PASSES = {
    "bn": C._jit_pass_fold_frozen_conv_bn,
    "sum": C._jit_pass_fold_frozen_conv_add_or_sub,
    "product": C._jit_pass_fold_frozen_conv_mul_or_div,
    "linear": C._jit_pass_fold_frozen_linear_bn,
}


def settled(norm):
    """The norm with numbers that no two channels share."""
    with torch.no_grad():
        for tensor in (norm.weight, norm.bias, norm.running_mean):
            tensor.copy_(torch.randn(tensor.shape))
        norm.running_var.copy_(torch.rand(norm.running_var.shape) + 0.5)
    return norm


def frozen_graph(module, *inputs):
    """The graph as freezing leaves it, before passes change weights."""
    module = module.eval()
    made = torch.jit.trace(module, inputs) if inputs else torch.jit.script(module)
    return torch.jit.freeze(made, optimize_numerics=False).inlined_graph.copy()


def count(graph, *names: str) -> int:
    return sum(len(graph.findAllNodes(f"aten::{name}")) for name in names)


def run(graph, *inputs):
    graph.lint()
    alone = graph.copy()
    alone.eraseInput(0)  # the module, which nobody asks
    return C._create_function_from_graph("forward", alone)(*inputs)


class Conv(nn.Module):
    def __init__(self, kind, bias: bool, norm=None, **options):
        super().__init__()
        self.conv = kind(4, 6, 2, bias=bias, **options)
        self.norm = norm

    def forward(self, x):
        return self.norm(self.conv(x))


KINDS = [
    (nn.Conv1d, nn.BatchNorm1d, (2, 4, 5)),
    (nn.Conv2d, nn.BatchNorm2d, (2, 4, 5, 5)),
    (nn.Conv3d, nn.BatchNorm3d, (2, 4, 3, 4, 5)),
]


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("traced", [True, False])
@pytest.mark.parametrize(("kind", "norm", "shape"), KINDS)
def test_batch_norms_go_into_convolutions(kind, norm, shape, traced, bias):
    x = torch.randn(shape)
    module = Conv(kind, bias, settled(norm(6, eps=0.01)), groups=2).eval()
    graph = frozen_graph(module, *([x] if traced else []))
    assert PASSES["bn"](graph)
    assert count(graph, "batch_norm") == 0
    torch.testing.assert_close(run(graph, x), module(x), atol=1e-5, rtol=1e-5)
    assert not PASSES["bn"](graph)


def test_norms_that_learn_or_whose_input_is_read_stay():
    module = Conv(nn.Conv2d, True, nn.BatchNorm2d(6, track_running_stats=False))
    assert not PASSES["bn"](frozen_graph(module))

    class Twice(Conv):
        def forward(self, x):
            y = self.conv(x)
            return self.norm(y) + y

    graph = frozen_graph(Twice(nn.Conv2d, True, settled(nn.BatchNorm2d(6))))
    assert not PASSES["bn"](graph)

    class Turned(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = nn.ConvTranspose2d(6, 6, 2)
            self.norm = settled(nn.BatchNorm2d(6))

        def forward(self, x):
            return self.norm(self.conv(x))

    x = torch.randn(2, 6, 4, 4)
    module = Turned().eval()
    for inputs in ([], [x]):
        graph = frozen_graph(module, *inputs)
        assert not PASSES["bn"](graph)
        assert count(graph, "batch_norm") == 1


class Applied(nn.Module):
    def __init__(self, op: str, other, bias: bool = True):
        super().__init__()
        self.conv = nn.Conv2d(4, 6, 2, bias=bias)
        self.op = op
        self.other = other

    def forward(self, x):
        y = self.conv(x)
        if self.op == "add":
            return torch.add(y, self.other, alpha=3)
        if self.op == "sub":
            return torch.sub(y, self.other, alpha=2)
        if self.op == "mul":
            return y * self.other
        return y / self.other


OTHERS = {
    "number": lambda: 2.5,
    "whole": lambda: 3,
    "scalar": lambda: torch.tensor(1.5),
    "double scalar": lambda: torch.tensor(1.5, dtype=torch.float64),
    "one": lambda: torch.tensor([[2]], dtype=torch.int32),
    "channels": lambda: torch.rand(6, 1, 1) + 0.5,
    "batch": lambda: torch.rand(1, 6, 1, 1) + 0.5,
}
NOT_OTHERS = {
    "width": lambda: torch.rand(4),
    "width of a row": lambda: torch.rand(1, 6),
    "pixels": lambda: torch.rand(6, 1, 6),
    "more dimensions": lambda: torch.rand(1, 1, 6, 1, 1),
    "double": lambda: torch.rand(6, 1, 1, dtype=torch.float64),
}


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("other", OTHERS)
@pytest.mark.parametrize("op", ["add", "sub", "mul", "div"])
def test_sums_and_products_go_into_convolutions(op, other, bias):
    module = Applied(op, OTHERS[other](), bias).eval()
    x = torch.randn(2, 4, 7, 7)
    graph = frozen_graph(module)
    rule = PASSES["sum" if op in ("add", "sub") else "product"]
    assert rule(graph)
    assert count(graph, op) == 0
    torch.testing.assert_close(run(graph, x), module(x), atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("other", NOT_OTHERS)
@pytest.mark.parametrize("op", ["add", "mul"])
def test_sums_that_are_not_of_channels_stay(op, other):
    graph = frozen_graph(Applied(op, NOT_OTHERS[other]()).eval())
    assert not PASSES["sum"](graph)
    assert not PASSES["product"](graph)
    assert count(graph, op) == 1


class LinearNorm(nn.Module):
    def __init__(self, norm, bias: bool = True):
        super().__init__()
        self.linear = nn.Linear(5, 6, bias=bias)
        self.norm = norm

    def forward(self, x):
        return self.norm(self.linear(x))


def test_batch_norms_go_into_linear_layers_of_two_dimensions():
    module = LinearNorm(settled(nn.BatchNorm1d(6)), bias=False).eval()
    x = torch.randn(3, 5)
    graph = frozen_graph(module, x)
    assert not PASSES["linear"](graph)  # the input may have any rank
    value = list(graph.inputs())[1]
    value.setType(value.type().with_sizes([None, None]))
    assert PASSES["linear"](graph)
    assert count(graph, "batch_norm") == 0
    torch.testing.assert_close(run(graph, x), module(x), atol=1e-5, rtol=1e-5)


def test_norms_of_equal_channels_go_into_linear_layers_of_any_rank():
    norm = nn.BatchNorm2d(6)
    norm.running_mean.fill_(0.25)
    norm.running_var.fill_(4.0)
    module = LinearNorm(norm).eval()
    x = torch.randn(2, 6, 3, 5)
    graph = frozen_graph(module, x)
    assert PASSES["linear"](graph)
    torch.testing.assert_close(run(graph, x), module(x), atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("bias", [True, False])
def test_linear_layers_multiply_by_transposed_weights(bias):
    module = nn.Linear(5, 6, bias=bias).eval()
    x = torch.randn(3, 5)
    graph = frozen_graph(module)
    assert C._jit_pass_transpose_frozen_linear(graph)
    assert count(graph, "linear") == 0
    assert count(graph, "matmul") == 1
    torch.testing.assert_close(run(graph, x), module(x))


def test_linear_layers_of_one_input_are_one():
    class Two(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = nn.Linear(5, 6), nn.Linear(5, 3)
            self.c = nn.Linear(3, 2)

        def forward(self, x):
            y = self.b(x)
            return self.a(x), y, self.c(y)

    from hotaru.jit._passes.frozen import concatenated_linear

    module = Two().eval()
    x = torch.randn(3, 5)
    graph = frozen_graph(module)
    assert not C._jit_pass_concat_frozen_linear(graph)  # the CPU has no use for it
    assert concatenated_linear(graph, ("cpu",))
    assert count(graph, "linear") == 2
    for got, wanted in zip(run(graph, x), module(x)):
        torch.testing.assert_close(got, wanted)


def test_frozen_modules_show_what_all_passes_leave():
    class Whole(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = nn.Conv2d(4, 6, 2)
            self.norm = settled(nn.BatchNorm2d(6))
            self.drop = nn.Dropout(0.5)

        def forward(self, x):
            return self.drop(self.norm(self.conv(x) * 2.0 + 3.0))

        @torch.jit.export
        def other(self, x):
            return self.forward(x) - 1.0

    module = Whole().eval()
    scripted = torch.jit.script(module)
    C._jit_pass_inline(scripted.other.graph)
    assert count(scripted.other.graph, "batch_norm") == 1
    x = torch.randn(2, 4, 5, 5)
    names = ("batch_norm", "mul", "add", "dropout", "sub")
    plain = torch.jit.freeze(scripted, ["other"], optimize_numerics=False)
    assert [count(plain.graph, name) for name in names] == [1, 1, 1, 0, 0]
    torch.jit.run_frozen_optimizations(plain)
    for frozen in (plain, torch.jit.freeze(scripted, ["other"])):
        for graph in (frozen.graph, frozen.other.graph):
            assert not any(count(graph, name) for name in names)
        torch.testing.assert_close(run(frozen.graph, x), module(x))
        torch.testing.assert_close(run(frozen.other.graph, x), module.other(x))
        torch.testing.assert_close(frozen(x), module(x))


def test_functions_that_return_early_are_inlined():
    def chosen(x, y: int):
        if y > 2:
            return x + 1
        return x * 2

    def f(x, y: int):
        z = chosen(x, y)
        return chosen(z, y - 1)

    scripted = torch.jit.script(f)
    assert count(scripted.inlined_graph, "add", "mul") == 4
    assert scripted.inlined_graph.findNode("prim::CallFunction") is None
    graph = scripted.graph
    C._jit_pass_inline(graph)
    graph.lint()
    again = C._create_function_from_graph("f", graph)
    for y in (2, 3, 4):
        assert torch.equal(again(torch.ones(2), y), f(torch.ones(2), y))
