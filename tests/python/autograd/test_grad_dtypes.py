"""Dtypes of gradients that programs choose: Tensor.grad_dtype of leaves, and
set_output_grad_dtype of functions. Facts are PyTorch 2.14.1's.
"""

from __future__ import annotations

import copy
import pickle

import pytest

import hotaru as torch


def leaf(dtype=torch.float32):
    return torch.tensor([1.0, 2.0], dtype=dtype, requires_grad=True)


class Wide(torch.autograd.Function):
    """Gives its argument in float32, and its gradient as it comes."""

    @staticmethod
    def forward(ctx, x):
        return x.float()

    @staticmethod
    def backward(ctx, g):
        return g


def test_default_and_what_is_no_leaf():
    x = leaf()
    assert x.grad_dtype is torch.float32
    assert torch.ones(2, dtype=torch.int64).grad_dtype is torch.int64
    with pytest.raises(RuntimeError, match="only be accessed on leaf tensors"):
        _ = (x * 2).grad_dtype
    with pytest.raises(RuntimeError, match="only be set on leaf tensors"):
        (x * 2).grad_dtype = torch.float16
    with pytest.raises(RuntimeError, match="dtype or None, but got int"):
        x.grad_dtype = 3
    with pytest.raises(TypeError, match="can't be deleted"):
        del x.grad_dtype
    written = torch.ones(2)
    written.grad_dtype = torch.float16
    written.mul_(x)
    with pytest.raises(RuntimeError, match="leaf"):
        _ = written.grad_dtype
    written.sum().backward()
    assert x.grad.dtype is torch.float32


@pytest.mark.parametrize("dtype", [torch.float16, torch.float64, torch.complex64])
@pytest.mark.parametrize("when", ["before", "after"])
def test_gradients_are_cast(dtype, when):
    x = leaf()
    if when == "before":
        x.grad_dtype = dtype
    total = (x * 3).sum() + x.double().sum()
    if when == "after":  # the leaf's node is there already
        x.grad_dtype = dtype
    seen = []
    x.register_hook(lambda g: seen.append(g.dtype))
    total.backward()
    assert (x.grad.dtype, x.grad.tolist(), seen) == (dtype, [4, 4], [dtype])
    (x * 2).sum().backward()
    assert (x.grad.dtype, x.grad.tolist()) == (dtype, [6, 6])
    assert torch.autograd.grad((x * 2).sum(), x)[0].dtype is dtype


def test_none_takes_any():
    x = leaf(torch.float16)
    x.grad_dtype = None
    assert x.grad_dtype is None
    (Wide.apply(x) * 1e6).sum().backward()  # beyond float16
    assert (x.grad.dtype, x.grad.tolist()) == (torch.float32, [1e6, 1e6])
    (x * 2).sum().backward()
    assert x.grad.dtype is torch.float32
    y = leaf(torch.float16)
    (Wide.apply(y) * 1e6).sum().backward()
    assert y.grad.isinf().all()


def test_layouts_and_create_graph_keep_the_dtype():
    x = torch.ones(2, 3).t().requires_grad_()
    x.grad_dtype = torch.float64
    (x * torch.ones(3, 2)).sum().backward()
    assert (x.grad.dtype, x.grad.stride()) == (torch.float64, x.stride())
    x.grad = None
    (x * x).sum().backward(create_graph=True)
    assert x.grad.dtype is torch.float64
    assert x.grad.requires_grad


def test_assigned_gradients():
    x = leaf()
    with pytest.raises(RuntimeError, match="'c10::Half' to a tensor with"):
        x.grad = torch.ones(2, dtype=torch.float16)
    x.grad_dtype = torch.float16
    with pytest.raises(RuntimeError, match=r"dtype 'float' to a tensor with .* 'Half'"):
        x.grad = torch.ones(2)
    x.grad = torch.ones(2, dtype=torch.float16)
    with pytest.raises(RuntimeError, match=r"grad_dtype to 'Float' .* 'c10::Half'"):
        x.grad_dtype = torch.float32
    x.grad_dtype = None
    x.grad = torch.ones(2, dtype=torch.float64)
    assert x.grad.dtype is torch.float64


def test_what_becomes_of_it():
    x = leaf()
    x.grad_dtype = torch.float32  # said, though it is the default
    for other in (copy.deepcopy(x), x.detach(), pickle.loads(pickle.dumps(x))):
        assert other.grad_dtype is torch.float32
    x.data = x.data.double()
    assert x.grad_dtype is torch.float32
    (x * 2).sum().backward()
    assert x.grad.dtype is torch.float32
    y = leaf()
    y.data = y.data.double()
    assert y.grad_dtype is torch.float64
    model = torch.nn.Linear(2, 2)
    model.weight.grad_dtype = torch.float64
    model.half()
    assert model.weight.grad_dtype is torch.float64
    assert model.bias.grad_dtype is torch.float16


def declared(*dtypes, second=None, times=1):
    """A function that halves its argument and declares gradients' dtypes."""

    class Halved(torch.autograd.Function):
        seen: tuple = ()

        @staticmethod
        def forward(ctx, x):
            for _ in range(times):
                ctx.set_output_grad_dtype(*dtypes)
            if second == "integers":
                ctx.mark_non_differentiable(integers := x.long())
                return x.half(), integers
            return (x.half(), second) if second is not None else x.half()

        @staticmethod
        def backward(ctx, g, *more):
            Halved.seen = (g.dtype, g.tolist())
            return g.float()

    return Halved


def call(function):
    x = leaf()
    out = function.apply(x)
    out = out[0] if isinstance(out, tuple) else out
    (out.double() * 0.1).sum().backward()
    return function.seen


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64, None])
def test_outputs_of_functions(dtype):
    exact = torch.tensor([0.1, 0.1]).half().double()  # as the output's cast gives it
    given = dtype or torch.float16
    assert call(declared(dtype)) == (given, exact.to(given).tolist())
    x = leaf()
    out = declared(dtype).apply(x)
    out.retain_grad()
    (out.double() * 0.1).sum().backward()
    assert out.grad.dtype is given
    assert torch.autograd.grad(declared(dtype).apply(x).sum(), x)[0].dtype is x.dtype


def test_any_dtype_comes_uncast():
    function = declared(None)
    out = function.apply(leaf())
    out.backward(torch.tensor([1e6, 0.1]))
    assert function.seen == (torch.float32, torch.tensor([1e6, 0.1]).tolist())


def test_other_outputs():
    assert call(declared(torch.float32, None, second="text"))[0] is torch.float32
    assert call(declared(torch.float32, None, second="integers"))[0] is torch.float32
    for second in ("text", "integers"):
        with pytest.raises(RuntimeError, match="concrete dtype for output 1"):
            call(declared(torch.float32, torch.float32, second=second))


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (declared(), "returned 1 values but 0 declarations"),
        (declared(None, None), "returned 1 values but 2 declarations"),
        (declared("float32"), "torch.dtype or None, but got str"),
        (declared(torch.int64), "torch.int64 of output 0 is no dtype of gradients"),
        (declared(None, times=2), "can only be called once"),
    ],
)
def test_what_is_refused(function, text):
    with pytest.raises(RuntimeError, match=text):
        call(function)
    with pytest.raises(RuntimeError, match=text):
        function.apply(torch.ones(2))  # where nothing is recorded, too
