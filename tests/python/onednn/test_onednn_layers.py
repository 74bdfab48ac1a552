"""Layers of the layout `torch._mkldnn`, their modules and their archives."""

from __future__ import annotations

import copy
import io
import zipfile

import pytest
from hotaru.nn import functional as F
from hotaru.utils import mkldnn as onednn

import hotaru as torch
from hotaru import nn

LAYERS = {
    "Linear": (lambda: nn.Linear(3, 4), (2, 3)),
    "Linear without bias": (lambda: nn.Linear(3, 4, bias=False), (5, 2, 3)),
    "Conv1d": (lambda: nn.Conv1d(4, 6, 3, groups=2), (2, 4, 9)),
    "Conv2d": (lambda: nn.Conv2d(4, 6, 3, 2, 1, 2, groups=2), (2, 4, 9, 9)),
    "Conv3d": (lambda: nn.Conv3d(2, 3, 2, bias=False), (1, 2, 4, 4, 4)),
    "BatchNorm2d": (lambda: _trained(nn.BatchNorm2d(3)), (2, 3, 4, 4)),
    "BatchNorm3d": (lambda: _trained(nn.BatchNorm3d(3)), (2, 3, 2, 4, 4)),
    "PReLU": (lambda: nn.PReLU(3), (2, 3)),
}


def _trained(norm):
    norm.running_mean.uniform_()
    norm.running_var.uniform_(0.5, 2)
    with torch.no_grad():
        norm.weight.uniform_()
        norm.bias.uniform_()
    return norm.eval()


@pytest.mark.parametrize("name", LAYERS)
def test_modules_of_the_layout(name):
    torch.manual_seed(1)
    make, shape = LAYERS[name]
    module, x = make(), torch.randn(shape)
    made = onednn.to_mkldnn(copy.deepcopy(module))
    wanted = module(x)
    found = made(x.to_mkldnn())
    assert found.is_mkldnn
    assert torch.allclose(found.to_dense(), wanted, atol=1e-6)

    file = io.BytesIO()
    torch.jit.save(made, file)
    file.seek(0)
    again = torch.jit.load(file)
    assert torch.allclose(again(x.to_mkldnn()).to_dense(), wanted, atol=1e-6)
    kept = {n for n, _ in again.named_buffers()}
    assert kept == {n for n, _ in made.named_buffers()}
    assert all(buffer.is_mkldnn for buffer in again.buffers())
    assert torch.jit.trace(made, (x.to_mkldnn(),)) is made


def test_the_program_is_pytorchs():
    made = onednn.to_mkldnn(nn.Linear(3, 4))
    assert isinstance(made, onednn.MkldnnLinear)
    assert not isinstance(made, onednn.MkldnnPrelu)
    file = io.BytesIO()
    torch.jit.save(made, file)
    archive = zipfile.ZipFile(file)
    [name] = [n for n in archive.namelist() if n.endswith("torch/utils/mkldnn.py")]
    text = archive.read(name).decode()
    assert "torch.mkldnn_linear(x_mkldnn, weight, bias)" in text
    assert "ops.prim.is_mkldnn(x)" in text
    # A dense input gives a dense result.
    assert not made(torch.ones(2, 3)).is_mkldnn


def test_networks_are_changed_in_all_their_parts():
    torch.manual_seed(1)
    net = nn.Sequential(
        nn.Conv2d(1, 4, 3),
        nn.BatchNorm2d(4),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Sequential(nn.Flatten(), nn.Linear(36, 5)),
    ).eval()
    x = torch.randn(2, 1, 8, 8)
    wanted = net(x)
    made = onednn.to_mkldnn(net)
    assert torch.allclose(made(x.to_mkldnn()).to_dense(), wanted, atol=1e-6)
    with pytest.raises(AssertionError, match="only support float, bfloat16, and half"):
        onednn.to_mkldnn(nn.Linear(1, 1), torch.float64)


def test_weights_of_sixteen_bits_round_once():
    torch.manual_seed(1)
    conv, x = nn.Conv2d(3, 4, 3), torch.randn(1, 3, 6, 6)
    made = onednn.to_mkldnn(copy.deepcopy(conv), torch.bfloat16)
    assert made.weight.dtype is torch.bfloat16
    assert made.bias.dtype is torch.float32
    found = made(x.bfloat16().to_mkldnn())
    wanted = F.conv2d(
        x.bfloat16().float(), conv.weight.bfloat16().float(), conv.bias
    ).bfloat16()
    assert torch.equal(found.to_dense(), wanted)


def test_training_with_dense_weights():
    torch.manual_seed(1)
    net = nn.Sequential(nn.Conv2d(2, 3, 3), nn.BatchNorm2d(3), nn.ReLU())
    other = copy.deepcopy(net)
    x = torch.randn(2, 2, 5, 5)
    a, b = x.clone().requires_grad_(), x.to_mkldnn().requires_grad_()
    net(a).square().sum().backward()
    other(b).to_dense().square().sum().backward()
    assert torch.allclose(a.grad, b.grad.to_dense(), atol=1e-5)
    for p, q in zip(net.parameters(), other.parameters()):
        assert not q.grad.is_mkldnn
        assert torch.allclose(p.grad, q.grad, atol=1e-4)
    assert torch.equal(net[1].running_mean, other[1].running_mean)


POOLS = {
    "max_pool2d": lambda x: F.max_pool2d(x, 3, 2, 1, ceil_mode=True),
    "avg_pool2d": lambda x: F.avg_pool2d(x, 3, 2, 1, count_include_pad=False),
    "adaptive_avg_pool2d": lambda x: F.adaptive_avg_pool2d(x, (2, 4)),
}


@pytest.mark.parametrize("name", POOLS)
def test_pools(name):
    torch.manual_seed(1)
    x = torch.randn(2, 3, 8, 8)
    a, b = x.clone().requires_grad_(), x.to_mkldnn().requires_grad_()
    found = POOLS[name](b)
    assert torch.equal(POOLS[name](a), found.to_dense())
    POOLS[name](a).square().sum().backward()
    found.to_dense().square().sum().backward()
    assert torch.allclose(a.grad, b.grad.to_dense())


def test_what_pools_and_norms_refuse():
    x = torch.randn(1, 2, 8, 8).to_mkldnn()
    with pytest.raises(RuntimeError, match="mkldnn_max_pool2d does not support dil"):
        F.max_pool2d(x, 3, dilation=2)
    with pytest.raises(RuntimeError, match="not divisible"):
        F.adaptive_avg_pool2d(x, 3)
    with pytest.raises(RuntimeError, match="only support affine model"):
        F.batch_norm(x, torch.zeros(2), torch.ones(2))
    with pytest.raises(RuntimeError, match="approximate gelu is not supported"):
        F.gelu(x, approximate="tanh")


def test_functions_by_their_own_names():
    x, w = torch.randn(2, 3, 5, 5), torch.randn(4, 3, 3, 3)
    wanted = F.conv2d(x, w, padding=1)
    rest = (None, [1, 1], [1, 1], [1, 1], 1)
    dense = torch.mkldnn_convolution(x, w, *rest)
    assert not dense.is_mkldnn
    assert torch.equal(dense, wanted)
    assert torch.equal(
        torch.ops.aten.mkldnn_convolution(x.to_mkldnn(), w, *rest).to_dense(), wanted
    )
    old = w.reshape(1, 4, 3, 3, 3).to_mkldnn()
    packed = torch._C._nn.mkldnn_reorder_conv2d_weight(old)
    assert packed.shape == (4, 3, 3, 3)
    assert torch.equal(
        torch._mkldnn_transpose(x.to_mkldnn(), 0, 1).to_dense(), x.transpose(0, 1)
    )


@pytest.mark.parametrize("attr", ["relu", "sigmoid", "hardtanh", "gelu"])
def test_fused_operators(attr):
    torch.manual_seed(1)
    x, w, b = torch.randn(2, 3), torch.randn(4, 3), torch.randn(4)
    scalars = [-0.5, 0.5] if attr == "hardtanh" else []
    wanted = getattr(F, attr)(F.linear(x, w, b), *scalars)
    call = torch.ops.mkldnn._linear_pointwise
    assert torch.equal(call(x, w, b, attr, scalars, ""), wanted)
    found = call(x.to_mkldnn(), w.to_mkldnn(), b, attr, scalars, "")
    assert torch.equal(found.to_dense(), wanted)


def test_fused_sums():
    x, w = torch.randn(2, 3), torch.randn(4, 3)
    other = torch.randn(2, 4)
    for attr in ("add", "sub", "mul", "div"):
        found = torch.ops.mkldnn._linear_pointwise(x, other, w, None, attr)
        assert torch.equal(found, getattr(torch, attr)(F.linear(x, w), other))
    with pytest.raises(RuntimeError, match="not a supported fusion"):
        torch.ops.mkldnn._linear_pointwise(x, w, None, "cos", [], "")


def test_backends_that_convolutions_would_have():
    w = torch.randn(4, 3, 3, 3)
    rest = (None, (1, 1), (0, 0), (1, 1), False, (0, 0), 1)
    choose, kinds = torch._C._select_conv_backend, torch._C._ConvBackend
    x = torch.randn(2, 3, 8, 8)
    assert choose(x, w, *rest) is kinds.Mkldnn
    assert choose(x.to_mkldnn(), w, *rest) is kinds.Mkldnn
    with torch.backends.mkldnn.flags(enabled=False):
        assert choose(x, w, *rest) is kinds.Slow2d
    assert choose(x.double(), w.double(), *rest) is kinds.Slow2d
    assert choose(x[:0].to_mkldnn(), w, *rest) is kinds.MkldnnEmpty
    assert choose(x[:1], w, *rest) is kinds.Slow2d
