"""Strides of channels_last results are PyTorch 2.13's."""

import pytest

import hotaru as torch
from hotaru import nn

LAST, LAST3D = torch.channels_last, torch.channels_last_3d
ROWS, KEPT = torch.contiguous_format, torch.preserve_format

# Strides of x (2, 3, 4, 6) row-major, y the same channels last, v (2, 3, 4, 5,
# 6) channels last, t (4, 3) transposed.
STRIDES = {
    "x.to(memory_format=LAST)": (72, 1, 18, 3),
    "x.contiguous(memory_format=LAST)": (72, 1, 18, 3),
    "x.clone(memory_format=LAST)": (72, 1, 18, 3),
    "x.to(torch.float16, memory_format=LAST)": (72, 1, 18, 3),
    "v": (360, 1, 90, 18, 3),
    "y.contiguous()": (72, 24, 6, 1),
    "y.to(memory_format=ROWS)": (72, 24, 6, 1),
    "y.clone(memory_format=ROWS)": (72, 24, 6, 1),
    "y.clone(memory_format=KEPT)": (72, 1, 18, 3),
    "y.double()": (72, 1, 18, 3),
    "torch.empty(2, 3, 4, 6, memory_format=LAST)": (72, 1, 18, 3),
    "torch.empty_like(x, memory_format=LAST)": (72, 1, 18, 3),
    "torch.zeros_like(y, memory_format=ROWS)": (72, 24, 6, 1),
    "torch.full_like(x, 2, memory_format=LAST)": (72, 1, 18, 3),
    "torch.rand_like(x, memory_format=LAST)": (72, 1, 18, 3),
    "torch.randint_like(x, 5, memory_format=LAST)": (72, 1, 18, 3),
    "torch.empty(0).resize_((2, 3, 4, 4), memory_format=LAST)": (48, 1, 12, 3),
    "torch.empty(0).resize_as_(x, memory_format=LAST).zero_()": (72, 1, 18, 3),
    "torch.empty(0).resize_as_(y, memory_format=KEPT).zero_()": (72, 1, 18, 3),
    "torch.empty(0).resize_as_(y).zero_()": (72, 24, 6, 1),
    "torch.randn(2, 3, 1, 1).to(memory_format=LAST)": (3, 1, 3, 3),
    "torch.cat([y, y], 1)": (144, 1, 36, 6),
    "torch.cat([y, y], 3)": (144, 1, 36, 3),
    "torch.cat([y, x])": (72, 24, 6, 1),
    "y.relu() + x": (72, 1, 18, 3),
    "F.conv2d(y, w)": (40, 1, 20, 5),
    "F.conv2d(x, w.to(memory_format=LAST))": (40, 1, 20, 5),
    "F.conv2d(x, w)": (40, 8, 4, 1),
    "F.conv3d(v, torch.ones(4, 3, 2, 2, 2))": (240, 1, 80, 20, 4),
    "F.conv_transpose2d(y, torch.ones(3, 4, 2, 2))": (140, 1, 28, 4),
    "F.max_pool2d(y, 2)": (18, 1, 9, 3),
    "F.max_pool2d(y, 2, return_indices=True)[1]": (18, 1, 9, 3),
    "F.avg_pool2d(y, 2)": (18, 1, 9, 3),
    "F.adaptive_avg_pool2d(y, 2)": (12, 1, 6, 3),
    "F.max_pool3d(v, 2)": (36, 1, 18, 9, 3),
    "F.avg_pool3d(v, 2)": (36, 12, 6, 3, 1),
    "nn.BatchNorm2d(3)(y)": (72, 1, 18, 3),
    "nn.BatchNorm2d(3).eval()(y)": (72, 1, 18, 3),
    "nn.GroupNorm(3, 3)(y)": (72, 1, 18, 3),
    "F.pad(y, (1, 1))": (96, 1, 24, 3),
    "F.pad(y, (1, 1, 1, 1), mode='reflect')": (144, 1, 24, 3),
    "F.interpolate(y, scale_factor=2)": (288, 1, 36, 3),
    "F.interpolate(y, scale_factor=2, mode='bilinear')": (288, 1, 36, 3),
    "F.adaptive_avg_pool2d(y, 1)": (3, 1, 3, 3),
    "F.adaptive_max_pool2d(y, 1)": (3, 1, 3, 3),
    "F.pixel_unshuffle(y, 2)": (72, 1, 36, 12),
    "torch.stack([y, y])": (144, 72, 1, 18, 3),
    "torch.stack([y, y], 1)": (144, 3, 1, 36, 6),
    "torch.stack([y, y], 2)": (144, 1, 72, 18, 3),
    "torch.stack([y, x])": (144, 72, 24, 6, 1),
    "torch.where(y > 0, y, 0.0)": (72, 1, 18, 3),
    "torch.where(y > 0, y, x)": (72, 1, 18, 3),
    "torch.where(t > 0, t.contiguous(), t)": (1, 4),
    "F.softmax(y, 1)": (72, 24, 6, 1),
    "F.log_softmax(t, 0)": (3, 1),
    "torch.cumsum(y, 1)": (72, 24, 6, 1),
    "torch.logcumsumexp(t, 0)": (3, 1),
    "torch.cummax(t, 0)[0]": (3, 1),
    "torch.tril(t)": (3, 1),
    "torch.scatter(t, 0, i, t)": (3, 1),
    "torch.scatter_add(t, 0, i, t)": (3, 1),
    "torch.index_add(t, 0, i[:, 0], t)": (3, 1),
    "torch.index_fill(t, 0, i[:, 0], 1.0)": (1, 4),
    "t.masked_scatter(t > 0, t)": (3, 1),
}


def scope():
    torch.manual_seed(0)
    x = torch.randn(2, 3, 4, 6)
    return {
        "torch": torch,
        "nn": nn,
        "F": nn.functional,
        "LAST": LAST,
        "ROWS": ROWS,
        "KEPT": KEPT,
        "x": x,
        "y": x.to(memory_format=LAST),
        "v": torch.randn(2, 3, 4, 5, 6).to(memory_format=LAST3D),
        "w": torch.randn(5, 3, 3, 3),
        "t": torch.randn(3, 4).t(),
        "i": torch.tensor([[0, 1, 2], [1, 2, 3], [2, 3, 0], [3, 0, 1]]),
    }


@pytest.mark.parametrize("expression", STRIDES)
def test_strides(expression):
    assert eval(expression, scope()).stride() == STRIDES[expression]


@pytest.mark.parametrize("expression", STRIDES)
def test_values_are_those_of_row_major_inputs(expression):
    if "empty" in expression or "rand" in expression:
        expression = "x.to(memory_format=LAST)"
    names = scope()
    got = eval(expression, names)
    rows = {n: names[n].contiguous() for n in "yv"}
    want = eval(expression, {**names, **rows})
    assert torch.allclose(got, want, atol=1e-6)


def test_is_contiguous():
    x = scope()["x"]
    y = x.to(memory_format=LAST)
    assert not y.is_contiguous()
    assert y.is_contiguous(memory_format=LAST)
    assert not x.is_contiguous(memory_format=LAST)
    assert not x.is_contiguous(memory_format=LAST3D)
    with pytest.raises(TypeError, match=r"torch\.memory_format, not int"):
        x.is_contiguous(memory_format=2)


def test_gradients_pass():
    x = scope()["x"].requires_grad_()
    weights = torch.arange(144.0).reshape(2, 3, 4, 6)
    (x.to(memory_format=LAST) * weights).sum().backward()
    assert torch.equal(x.grad, weights)


def test_a_module():
    net = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4))
    net = net.to(memory_format=LAST)
    assert net[0].weight.stride() == (27, 1, 9, 3)
    assert net(scope()["x"]).stride() == (32, 1, 16, 4)


def test_other_ranks_are_refused():
    with pytest.raises(RuntimeError, match="required rank 4 tensor"):
        torch.zeros(3).contiguous(memory_format=LAST)
    with pytest.raises(RuntimeError, match="required rank 5 tensor"):
        torch.empty(2, 2, memory_format=LAST3D)
    with pytest.raises(RuntimeError, match="format Preserve"):
        torch.empty(2, 2, memory_format=KEPT)


def test_native_dropout_draws_along_its_inputs_strides():
    """As PyTorch: the mask lies as the input does."""

    def mask(x):
        torch.manual_seed(3)
        out, kept = torch.native_dropout(x, 0.5, True)
        assert out.stride() == kept.stride() == x.stride()
        assert out.equal(x * kept * 2)
        return kept

    assert mask(torch.ones(4, 5).t()).t().equal(mask(torch.ones(4, 5)))
    picture = torch.ones(2, 3, 4, 5)
    last = mask(picture.contiguous(memory_format=torch.channels_last))
    assert last.permute(0, 2, 3, 1).equal(mask(torch.ones(2, 4, 5, 3)))
    assert torch.native_dropout(picture, 0.5, False)[1].all()


CASTS = {
    "float": torch.float32,
    "double": torch.float64,
    "half": torch.float16,
    "bfloat16": torch.bfloat16,
    "int": torch.int32,
    "long": torch.int64,
    "short": torch.int16,
    "char": torch.int8,
    "byte": torch.uint8,
    "bool": torch.bool,
    "chalf": torch.complex32,
    "cfloat": torch.complex64,
    "cdouble": torch.complex128,
    "cpu": torch.float32,
}


@pytest.mark.parametrize("name", CASTS)
@pytest.mark.parametrize("order", [LAST, ROWS, KEPT])
def test_casts_by_name_order_as_to_does(name, order):
    names = scope()
    for x in (names["x"], names["y"], names["x"].transpose(0, 1)):
        found = getattr(x, name)(memory_format=order)
        wanted = x.to(CASTS[name], memory_format=order)
        assert found.dtype == wanted.dtype
        assert found.stride() == wanted.stride()
        assert (found is x) == (wanted is x)
        assert torch.equal(found.double(), wanted.double())


def test_no_order_is_kept_of_a_new_size():
    with pytest.raises(RuntimeError, match="Unsupported memory format"):
        torch.empty(0).resize_(2, 3, memory_format=KEPT)
