"""Derivatives that are constant or zero keep PyTorch's graphs."""

import pytest
from hotaru.nn import functional as F

import hotaru as torch

# The sums of the derivatives of order 1, 2, ... at (0.7, 1.3), and whether the
# last one has a graph; there is no further one where it has none.
ORDERS = {
    "x ** 2": (lambda x: x**2, [4, 4, 0], False),
    "x ** 2.0": (lambda x: x**2.0, [4, 4, 0], False),
    "square": (torch.square, [4, 4, 0], False),
    "float_power": (lambda x: torch.float_power(x, 2), [4, 4, 0], False),
    "x ** 3": (lambda x: x**3, [6.54, 12, 12, 0], False),
    "x ** 4": (lambda x: x**4, [10.16, 26.16, 48, 48, 0], False),
    "relu": (F.relu, [2, 0, 0, 0], True),
    "gaussian_nll_loss": (
        lambda x: F.gaussian_nll_loss(x, torch.ones(2), torch.ones(2)),
        [0, 1, 0],
        False,
    ),
}


@pytest.mark.parametrize("name", ORDERS)
def test_orders(name):
    function, sums, goes_on = ORDERS[name]
    x = torch.tensor([0.7, 1.3], requires_grad=True)
    found = function(x).sum()
    for order, expected in enumerate(sums):
        (found,) = torch.autograd.grad(found.sum(), x, create_graph=True)
        assert found.sum().item() == pytest.approx(expected, abs=1e-4)
        last = order == len(sums) - 1
        assert found.requires_grad == (goes_on or not last), order


LAYERS = {
    "conv1d": (F.conv1d, (1, 1, 3), (1, 1, 2), (1,)),
    "conv2d in groups": (
        lambda x, w, b: F.conv2d(x, w, b, groups=2),
        (1, 2, 3, 3),
        (2, 1, 2, 2),
        (2,),
    ),
    "conv_transpose1d": (F.conv_transpose1d, (1, 1, 3), (1, 1, 2), (1,)),
    "layer_norm": (lambda x, w, b: F.layer_norm(x, (3,), w, b), (2, 3), (3,), (3,)),
    "batch_norm": (
        lambda x, w, b: F.batch_norm(x, None, None, w, b, True),
        (2, 3),
        (3,),
        (3,),
    ),
    "batch_norm in evaluation": (
        lambda x, w, b: F.batch_norm(x, torch.zeros(3), torch.ones(3), w, b),
        (2, 3),
        (3,),
        (3,),
    ),
    "instance_norm": (
        lambda x, w, b: F.instance_norm(x, None, None, w, b),
        (2, 3, 4),
        (3,),
        (3,),
    ),
    "group_norm": (lambda x, w, b: F.group_norm(x, 1, w, b), (2, 3), (3,), (3,)),
}


@pytest.mark.parametrize("name", LAYERS)
def test_gradients_of_biases_name_the_other_inputs(name):
    function, *shapes = LAYERS[name]
    inputs = [torch.ones(shape, requires_grad=True) for shape in shapes]
    result = function(*inputs)
    (grad,) = torch.autograd.grad(result.sum(), inputs[-1], create_graph=True)
    assert grad.requires_grad
    grad.pow(2).sum().backward()
    for tensor in inputs[:2]:
        assert tensor.grad.shape == tensor.shape
        assert not tensor.grad.any()


@pytest.mark.parametrize("reduce", ["", "sum", "mean", "prod", "amax"])
def test_sources_with_more_elements_than_the_index(reduce):
    index = torch.tensor([[1, 0], [2, 0]])
    start = torch.rand(4, 3, dtype=torch.float64)
    source = torch.rand(3, 4, dtype=torch.float64, requires_grad=True)
    if reduce:

        def call(source):
            return start.scatter_reduce(1, index, source, reduce)
    else:

        def call(source):
            added = start.scatter_add(1, index, source)
            return start.scatter(1, index, source) + added

    assert torch.autograd.gradcheck(call, (source,), check_forward_ad=True)
    (grad,) = torch.autograd.grad(call(source).sum(), source)
    assert not grad[2].any()
    assert not grad[:, 2:].any()


def test_special_points():
    x = torch.zeros(1, dtype=torch.float64)
    curve = torch.func.hessian(lambda x: torch.sinc(x).sum())(x)
    assert curve.item() == pytest.approx(-(torch.pi**2) / 3)
    x = torch.tensor([-1.0, 2.0])
    assert torch.func.grad(lambda x: torch.special.entr(x).sum())(x)[0].isnan()
