"""Tensors of the layout `torch._mkldnn`: what they are, keep and refuse."""

from __future__ import annotations

import copy
import pickle

import pytest
from hotaru.nn import functional as F

import hotaru as torch

X = torch.arange(6.0).reshape(2, 3) - 2


def made(requires_grad=False):
    return X.to_mkldnn().requires_grad_(requires_grad)


def test_what_they_say_of_themselves():
    m = made()
    assert type(m) is torch.Tensor
    assert m.layout is torch._mkldnn
    assert m.is_mkldnn
    assert not X.is_mkldnn
    assert not m.is_sparse
    assert (m.shape, m.numel(), m.element_size(), m.nbytes) == ((2, 3), 6, 4, 24)
    assert str(m) == (
        "tensor([[-2., -1.,  0.],\n        [ 1.,  2.,  3.]], layout=torch._mkldnn)"
    )
    assert "requires_grad=True" in repr(made(True))
    assert "grad_fn=<ToMkldnnBackward0>" in repr(X.clone().requires_grad_().to_mkldnn())
    assert torch.backends.mkldnn.is_available()
    assert not torch.backends.mkldnn.is_acl_available()


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16", "uint8", "int8"])
def test_conversions_round_once_and_copy(dtype):
    dtype = getattr(torch, dtype)
    x = (X + 2.3).requires_grad_(dtype.is_floating_point)
    m = x.to_mkldnn(dtype)
    assert m.dtype is dtype
    assert torch.equal(m.to_dense(), x.to(dtype))
    dense = m.to_dense()
    with torch.no_grad():
        dense.zero_()
        x.zero_()
    assert m.to_dense().float().sum() > 10


@pytest.mark.parametrize("dtype", ["float64", "int32", "int64", "bool", "complex64"])
def test_other_dtypes_have_no_such_layout(dtype):
    with pytest.raises(RuntimeError, match="dense_to_mkldnn expects"):
        X.to(getattr(torch, dtype)).to_mkldnn()
    with pytest.raises(RuntimeError, match="only can be converted"):
        X.to_mkldnn(getattr(torch, dtype))


def test_gradients_pass_through_both_conversions():
    x = X.clone().requires_grad_()
    weights = torch.arange(6.0).reshape(2, 3)
    (x.to_mkldnn().to_dense() * weights).sum().backward()
    assert torch.equal(x.grad, weights)

    m = made(True)
    (m.to_dense() * weights).sum().backward()
    assert m.grad.is_mkldnn
    assert torch.equal(m.grad.to_dense(), weights)
    # A leaf used twice: the sum of two gradients of the layout.
    (m * m).to_dense().sum().backward()
    assert torch.equal(m.grad.to_dense(), weights + 2 * X)


def test_derivatives_of_derivatives():
    x = X.clone().requires_grad_()
    y = x.to_mkldnn()
    [g] = torch.autograd.grad((y * y).to_dense().sum(), x, create_graph=True)
    [h] = torch.autograd.grad((g * g).sum(), x)
    assert torch.equal(h, 8 * X)


CALLS = {
    "relu": torch.relu,
    "sigmoid": torch.sigmoid,
    "tanh": torch.tanh,
    "gelu": F.gelu,
    "add": lambda x: torch.add(x, x, alpha=3),
    "mul": lambda x: x * x,
    "scaled": lambda x: 2 * x,
    "by a tensor of one": lambda x: x * torch.tensor(3.0),
    "softmax": lambda x: x.softmax(1),
    "reshape": lambda x: x.reshape(3, 2),
    "flatten": lambda x: x.flatten(),
    "transpose": lambda x: x.transpose(0, 1),
    "t": lambda x: x.t(),
    "mT": lambda x: x.mT,
    "clone": lambda x: x.clone(),
    "linear": lambda x: F.linear(x, torch.ones(4, 3), torch.ones(4)),
    "prelu": lambda x: F.prelu(x, torch.tensor([0.3])),
}


@pytest.mark.parametrize("name", CALLS)
def test_operators_and_their_gradients_are_the_dense_ones(name):
    call = CALLS[name]
    x, m = X.clone().requires_grad_(), made(True)
    a, b = call(x), call(m)
    assert b.is_mkldnn
    weights = torch.arange(float(a.numel())).reshape(a.shape)
    assert torch.equal(a, b.to_dense())
    (a * weights).sum().backward()
    (b.to_dense() * weights).sum().backward()
    assert torch.allclose(x.grad, m.grad.to_dense())


@pytest.mark.parametrize("name", ["relu_", "sigmoid_", "tanh_", "zero_"])
def test_in_place_with_history(name):
    x = X.clone().requires_grad_()
    m = x.to_mkldnn()
    twice = m * m
    getattr(m, name)()
    other = X.clone().requires_grad_()
    dense = other.clone()
    getattr(dense, name)()
    assert torch.equal(m.to_dense(), dense)
    m.to_dense().sum().backward()
    dense.sum().backward()
    assert torch.equal(x.grad, other.grad)
    # Values that the product saved were overwritten.
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        twice.to_dense().sum().backward()


def test_leaves_are_not_overwritten():
    for change in (torch.relu_, lambda m: m.add_(m), lambda m: m.zero_()):
        with pytest.raises(RuntimeError, match="leaf"):
            change(made(True))


def test_sums_do_not_broadcast_and_do_not_mix_layouts():
    with pytest.raises(RuntimeError, match="itensor_from_mkldnn"):
        made() + X
    with pytest.raises(RuntimeError, match="itensor_from_mkldnn"):
        made() + 1
    with pytest.raises(RuntimeError, match="broadcast"):
        made() * torch.ones(3).to_mkldnn()
    with pytest.raises(RuntimeError, match="sum primitive"):
        made() + torch.ones(3).to_mkldnn()
    out = made()
    torch.add(made(), made(), out=out)
    assert torch.equal(out.to_dense(), 2 * X)


def test_copies():
    m = made()
    other = torch.empty(2, 3, layout=torch._mkldnn)
    other.copy_(m)
    assert torch.equal(other.to_dense(), X)
    with pytest.raises(RuntimeError, match=r"src type = Mkldnntorch\.FloatTensor"):
        X.clone().copy_(m)
    with pytest.raises(RuntimeError, match="only support same size"):
        torch.zeros(6).to_mkldnn().copy_(m)
    # As in PyTorch: there is no memory to copy or to write.
    for refused in (copy.deepcopy, copy.copy, pickle.dumps, torch.Tensor.storage):
        with pytest.raises(NotImplementedError, match="Cannot access storage"):
            refused(m)


REFUSED = {
    "data_ptr": (RuntimeError, "doesn't have storage"),
    "tolist": (RuntimeError, "doesn't have storage"),
    "numpy": (TypeError, "Mkldnn layout"),
    "sum": (NotImplementedError, "MkldnnCPU"),
    "exp": (RuntimeError, "unsupported tensor layout: Mkldnn"),
    "abs": (NotImplementedError, "MkldnnCPU"),
    "view_as_self": (RuntimeError, "Change to use reshape"),
    "t_": (RuntimeError, "in-place mkldnn operations"),
    "values": (RuntimeError, "expected sparse tensor layout but got Mkldnn"),
    "bool": (NotImplementedError, "MkldnnCPU"),
    "to_mkldnn": (NotImplementedError, "MkldnnCPU"),
    "is_shared": (NotImplementedError, "Cannot access storage"),
    "new": (RuntimeError, "MkldnnCPU"),
    "type": (RuntimeError, "Unimplemented backend"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    m = made()
    call = getattr(m, name, lambda: m.view_as(m))
    kind, text = REFUSED[name]
    with pytest.raises(kind, match=text):
        call()


def test_data_and_grad_keep_their_layouts():
    m = made(True)
    with pytest.raises(RuntimeError, match="incompatible tensor type"):
        m.data = X
    with pytest.raises(RuntimeError, match="incompatible tensor type"):
        X.clone().data = m
    with pytest.raises(RuntimeError, match="data of a different type"):
        m.grad = X
    m.data = (X + 1).to_mkldnn()
    assert torch.equal(m.to_dense(), X + 1)
    parameter = torch.nn.Parameter(made())
    assert parameter.is_mkldnn
    assert repr(parameter).startswith("Parameter containing:\ntensor(")


def test_gradcheck_moves_tensors_of_the_layout():
    m = made(True)

    def check():
        return torch.autograd.gradcheck(
            lambda x: torch.tanh(x).to_dense(), [m], atol=4e-2, rtol=1e-2, eps=1e-3
        )

    with pytest.warns(UserWarning, match="double precision"):
        assert check()
    double = pytest.warns(UserWarning, match="double precision")
    with double, pytest.raises(ValueError, match="MKLDNN output"):
        torch.autograd.gradcheck(lambda x: torch.tanh(x), [m])


def test_gradcheck_has_no_tangents_of_the_layout():
    double = pytest.warns(UserWarning, match="double precision")
    with double, pytest.raises(ValueError, match="MKLDNN inputs are not support"):
        torch.autograd.gradcheck(
            lambda x: x.to_dense(), [made(True)], check_forward_ad=True
        )


def test_compiled_code_makes_them():
    @torch.jit.script
    def there_and_back(x):
        return x.to_mkldnn().to_dense()

    @torch.jit.script
    def there(x):
        return x.to_mkldnn(torch.bfloat16)

    assert torch.equal(there_and_back(X), X)
    found = there(X)
    assert found.is_mkldnn
    assert found.dtype is torch.bfloat16
