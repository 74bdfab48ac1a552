"""Functions traced with their gradients: values, graphs, what is kept."""

import pytest
from hotaru._functorch.aot_autograd import aot_function, aot_module
from hotaru._functorch.compilers import nop
from hotaru._functorch.partitioners import (
    default_partition,
    min_cut_rematerialization_partition,
)

import hotaru as torch

PARTITIONS = [default_partition, min_cut_rematerialization_partition]


def several(x, y, k=2):
    h = torch.sin(x)
    return {"a": h.cos() @ y * k, "b": x.sum(), "c": 3, "d": torch.max(y, dim=0)}


def loss(out):
    return (out["a"] ** 2).sum() + out["b"] + out["d"].values.sum()


@pytest.mark.parametrize("partition", PARTITIONS)
def test_values_and_gradients(partition):
    f = aot_function(several, nop, nop, partition_fn=partition)
    x = torch.randn(2, 3, requires_grad=True)
    y = torch.randn(3, 2, requires_grad=True)
    for k in (2, 5):
        out, expected = f(x, y, k=k), several(x, y, k=k)
        assert out["c"] == 3
        assert not out["d"].indices.requires_grad
        torch.testing.assert_close(out["a"], expected["a"])
        torch.testing.assert_close(out["d"].indices, expected["d"].indices)
        got = torch.autograd.grad(loss(out), [x, y])
        torch.testing.assert_close(got, torch.autograd.grad(loss(expected), [x, y]))


def test_what_needs_no_gradients_has_one_graph():
    graphs = []

    def keep(graph, examples):
        graphs.append((graph, examples))
        return graph

    f = aot_function(lambda x: x.sin().cos(), keep)
    x = torch.randn(4)
    torch.testing.assert_close(f(x), x.sin().cos())
    f(torch.randn(4))
    assert len(graphs) == 1  # the second call is of the same kind
    f(torch.randn(5))
    assert len(graphs) == 2
    names = [n.name for n in graphs[0][0].graph.nodes if n.op == "placeholder"]
    assert names == ["primals_1"]


def kept(partition, function, *tensors):
    """Bytes that the backward graph takes beside the gradients."""
    sizes = []

    def tell(graph, examples):
        sizes.append(sum(t.numel() for t in examples))
        return graph

    f = aot_function(function, nop, tell, partition_fn=partition)
    out = f(*tensors)
    out.sum().backward()
    return sizes[0] - out.numel()


def test_the_least_cut_computes_cheap_values_again():
    def chain(x):
        return x.sin().cos().sin().cos()

    x = torch.randn(100, requires_grad=True)
    assert kept(default_partition, chain, x) == 400
    assert kept(min_cut_rematerialization_partition, chain, x) == 100


def test_the_least_cut_keeps_what_is_dear():
    def products(x, w):
        return ((x @ w).sin() @ w).cos()

    x = torch.randn(10, 10, requires_grad=True)
    w = torch.randn(10, 10)
    least = kept(min_cut_rematerialization_partition, products, x, w)
    # The arguments and both products, which are not computed again.
    assert least == 400


def test_random_numbers_are_drawn_once():
    def noisy(x):
        return (x * torch.rand_like(x)).sin()

    for partition in PARTITIONS:
        f = aot_function(noisy, nop, nop, partition_fn=partition)
        x = torch.randn(50, requires_grad=True)
        torch.manual_seed(3)
        out = f(x)
        (got,) = torch.autograd.grad(out.sum(), x)
        torch.manual_seed(3)
        expected = noisy(x)
        torch.testing.assert_close(out, expected)
        torch.testing.assert_close(got, *torch.autograd.grad(expected.sum(), x))


def test_arguments_that_are_written_to():
    def add(x, y):
        y.add_(1)
        return x * 2 + y

    f = aot_function(add, nop)
    x, y = torch.ones(3, requires_grad=True), torch.zeros(3)
    out = f(x, y)
    assert y.tolist() == [1, 1, 1]
    assert out.tolist() == [3, 3, 3]
    out.sum().backward()
    assert x.grad.tolist() == [2, 2, 2]

    with pytest.raises(RuntimeError, match="in-place"):
        aot_function(lambda x: x.clone().sum() + x.mul_(2).sum(), nop)(
            torch.ones(3, requires_grad=True) * 1
        )


def test_modules():
    module = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh())
    x = torch.randn(2, 3)
    module(x).sum().backward()
    expected = module[0].weight.grad.clone()
    module.zero_grad()
    compiled = aot_module(module, nop)
    compiled(x).sum().backward()
    torch.testing.assert_close(module[0].weight.grad, expected)
    assert dict(compiled.named_parameters())["orig_module.0.weight"] is module[0].weight


def test_an_unused_argument_has_no_gradient():
    f = aot_function(lambda x, y: x * 2, nop)
    x, y = (torch.ones(2, requires_grad=True) for _ in range(2))
    f(x, y).sum().backward()
    assert x.grad.tolist() == [2, 2]
    assert y.grad is None


def test_functions_of_quantization_are_run():
    from hotaru._higher_order_ops import InvokeQuant, invoke_quant_packed

    x = torch.ones(2, requires_grad=True)
    call = InvokeQuant()
    out = call(lambda a, b: a * b, x, b=x * 3, scheme="int4")
    assert out.tolist() == [3, 3]
    (out + invoke_quant_packed(lambda a: a * 4, x, scheme="int4")).sum().backward()
    assert x.grad.tolist() == [10, 10]
    assert call.codegen_low_precision
    assert hash(call) == hash(InvokeQuant())
