"""torchvision's operators on a CUDA device, as on the CPU."""

from __future__ import annotations

import pytest
from nearness import random

import hotaru as torch
from hotaru import _torchvision

_torchvision.install()
OPS = torch.ops.torchvision


def boxes_of(n, dtype):
    torch.manual_seed(n)
    corner = torch.rand(n, 2, dtype=torch.float64) * 50
    size = torch.rand(n, 2, dtype=torch.float64) * 12
    return torch.cat([corner, corner + size], 1).to(dtype)


# Words of 64 boxes, blocks of 256 of them, and what is left of both.
@pytest.mark.parametrize("n", [0, 1, 63, 64, 65, 300, 1100])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.half])
@pytest.mark.parametrize("threshold", [0.0, 0.3, 1.0])
def test_nms(cuda, n, dtype, threshold):
    boxes = boxes_of(n, dtype)
    scores = torch.rand(n).to(dtype)
    want = OPS.nms(boxes, scores, threshold)
    got = OPS.nms(boxes.to(cuda), scores.to(cuda), threshold)
    assert (got.device, got.dtype) == (cuda, torch.int64)
    assert got.tolist() == want.tolist()
    if n == 1100 and threshold == 0.3:
        assert 64 < len(want) < n - 64


def test_nms_of_boxes_alike_empty_and_lost(cuda):
    """Equal scores keep the first; an empty box's overlap is no number."""
    alike = torch.tensor([[0.0, 0, 2, 2]]).expand(130, 4)
    assert OPS.nms(alike.to(cuda), torch.ones(130).to(cuda), 0.5).tolist() == [0]
    boxes = torch.tensor(
        [[1.0, 1, 1, 1], [1, 1, 1, 1], [0, 0, 9, 9], [5, 5, 1, 1]]
        + [[float("nan"), 0, 2, 2]] * 2
    )
    scores = torch.arange(6.0)
    want = OPS.nms(boxes, scores, 0.5).tolist()
    assert OPS.nms(boxes.to(cuda), scores.to(cuda), 0.5).tolist() == want


def test_nms_compares_in_the_boxes_precision(cuda):
    """An overlap of float(0.3), which is more than 0.3."""
    boxes = torch.tensor([[0.0, 0, 10, 1], [0, 0, 3, 1]]).to(cuda)
    scores = torch.tensor([1.0, 0.5]).to(cuda)
    assert OPS.nms(boxes, scores, 0.3).tolist() == [0]
    limit = float(torch.tensor(0.3))
    assert OPS.nms(boxes, scores, limit).tolist() == [0, 1]


def test_nms_of_strided_boxes(cuda):
    boxes = boxes_of(40, torch.float32)
    scores = torch.rand(80)[::2]
    wide = torch.zeros(40, 8)
    wide[:, ::2] = boxes
    want = OPS.nms(boxes, scores, 0.2).tolist()
    wide = wide.to(cuda)[:, ::2]
    assert OPS.nms(wide, scores.to(cuda), 0.2).tolist() == want


# Regions of two pictures of 8 x 9: inside, over the edges, small, far outside,
# turned around, one cell wide, and all there is.
ROIS = [
    [0, 1.0, 2, 8, 9],
    [1, -5, 3, 6, 14],
    [1, 3, 3, 3.2, 3.4],
    [0, 40, 50, 60, 70],
    [1, 6, 5, 2, 1],
    [0, 2, 1, 2, 7],
    [1, 0, 0, 12, 11],
    [0, -9, -9, -4, -4],
]
DTYPES = ["float32", "float64"]


def rois(dtype):
    return torch.tensor(ROIS, dtype=getattr(torch, dtype))


def operator(name):
    """The registry's, which autograd knows."""
    return torch._C._operator(f"torchvision::{name}")


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("aligned", [True, False])
@pytest.mark.parametrize("ratio", [-1, 2])
def test_roi_align(near, dtype, ratio, aligned):
    x = random(torch, 2, 3, 8, 9, dtype=dtype)
    regions = rois(dtype)
    op = operator("roi_align")

    def align(x):
        boxes = regions.to(x.device, x.dtype)
        return op(x, boxes, 0.75, 2, 3, ratio, aligned)

    near(align, x)
    near(align, x.transpose(2, 3).contiguous().transpose(2, 3))
    near(align, x.half())
    near(align, x[:, :0])
    regions = regions[:0]
    near(align, x)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("ratio", [-1, 2])
def test_ps_roi_align(near, dtype, ratio):
    x = random(torch, 2, 12, 8, 9, dtype=dtype)
    op = operator("ps_roi_align")

    def align(x):
        return op(x, rois(dtype).to(x.device, x.dtype), 0.75, 2, 3, ratio)

    near(align, x)
    near(align, x[:, ::2])
    near(align, x.bfloat16())


@pytest.mark.parametrize("name", ["roi_align", "ps_roi_align"])
def test_averages_are_differentiated_twice(near, name):
    """The gradient's gradient is the average again, of other operands."""
    op = operator(name)
    rest = (2, True) if name == "roi_align" else (2,)

    def squared(x):
        boxes = rois("float64").to(x.device)
        out = op(x, boxes, 0.75, 2, 3, *rest)
        out = out if isinstance(out, torch.Tensor) else out[0]
        (g,) = torch.autograd.grad(out.square().sum(), x, create_graph=True)
        return g

    near(squared, random(torch, 2, 6, 8, 9, dtype="float64"))


@pytest.mark.parametrize("name", ["roi_align", "roi_align_backward"])
def test_regions_of_no_image_are_errors(cuda, name):
    """Raised at the next synchronisation; the other regions' are there."""
    boxes = torch.tensor([[0.0, 0, 0, 4, 4], [2, 0, 0, 4, 4]]).to(cuda)
    x = torch.ones(2, 1, 8, 8, device=cuda)
    if name == "roi_align":
        out = OPS.roi_align(x, boxes, 1.0, 2, 2, 2, True)
    else:
        grad = torch.ones(2, 1, 2, 2, device=cuda)
        out = OPS._roi_align_backward(grad, boxes, 1.0, 2, 2, 2, 1, 8, 8, 2, True)
    with pytest.raises(
        RuntimeError, match=f"{name}: region 1 is of image 2, but there are 2"
    ):
        torch.cuda.synchronize()
    assert out[0].sum().item() == 4
    assert out[1].sum().item() == 0


def test_regions_with_too_many_samples_are_errors(cuda):
    x = torch.ones(1, 1, 4, 4, device=cuda)
    huge = torch.tensor([[0, 0, 0, 1e9, 2]], device=cuda)
    OPS.roi_align(x, huge, 1.0, 1, 1, -1, True)
    with pytest.raises(RuntimeError, match="more than 65536: give sampling"):
        torch.cuda.synchronize()
    near = OPS.roi_align(x, huge, 1.0, 1, 1, 2, True)
    assert near.isfinite().all()


@pytest.mark.parametrize("dtype", DTYPES)
def test_roi_pool(near, dtype):
    x = random(torch, 2, 3, 8, 9, dtype=dtype)
    x[0, 1] = float("-inf")
    regions = rois(dtype)
    op = operator("roi_pool")

    def pool(x):
        return op(x, regions.to(x.device, x.dtype), 0.75, 2, 3)

    x[1, 0, 2] = float("nan")  # no maximum
    want, got = pool(x), pool(x.cuda())
    for a, b in zip(got, want, strict=True):
        assert a.cpu().equal(b)
    x[:] = random(torch, 2, 3, 8, 9, dtype=dtype, seed=1)
    near(pool, x)
    near(pool, x.round())  # of equal cells the first one
    near(pool, x.transpose(2, 3).contiguous().transpose(2, 3))
    near(pool, x.half())
    near(pool, x[:, :0])
    regions = regions[:0]
    near(pool, x)


@pytest.mark.parametrize("dtype", DTYPES)
def test_ps_roi_pool(near, dtype):
    x = random(torch, 2, 12, 8, 9, dtype=dtype)
    op = operator("ps_roi_pool")

    def pool(x):
        return op(x, rois(dtype).to(x.device, x.dtype), 0.75, 2, 3)

    near(pool, x)
    near(pool, x[:, ::2])
    near(pool, x.half())


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["roi_pool", "ps_roi_pool"])
def test_regions_of_infinite_size(cuda, dtype, name):
    boxes = rois(dtype)
    boxes[0, 3] = float("inf")
    boxes[1, 1:] = 1e30
    x = random(torch, 2, 6, 8, 9, dtype=dtype)
    want = getattr(OPS, name)(x, boxes, 0.75, 2, 3)
    got = getattr(OPS, name)(x.to(cuda), boxes.to(cuda), 0.75, 2, 3)
    assert got[1].cpu().equal(want[1])
    torch.testing.assert_close(got[0].cpu(), want[0], rtol=1e-5, atol=1e-6)


SIZES = [
    # input, weight, stride, padding, dilation, groups, groups of offsets
    ((2, 4, 5, 6), (6, 4, 3, 3), (1, 1), (1, 1), (1, 1), 1, 1),
    ((2, 4, 7, 6), (6, 2, 3, 2), (2, 1), (1, 2), (1, 2), 2, 2),
    ((1, 6, 4, 4), (3, 6, 1, 1), (1, 1), (0, 0), (1, 1), 1, 3),
]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("masked", [True, False])
@pytest.mark.parametrize("sizes", SIZES)
def test_deform_conv2d(near, dtype, masked, sizes):
    shape, kernel, stride, padding, dilation, groups, shared = sizes
    side = [
        (n + 2 * p - d * (k - 1) - 1) // s + 1
        for n, k, s, p, d in zip(
            shape[2:], kernel[2:], stride, padding, dilation, strict=True
        )
    ]
    taps = kernel[2] * kernel[3] * shared
    x = random(torch, *shape, dtype=dtype)
    weight = random(torch, *kernel, dtype=dtype, seed=1)
    # Some samples lie outside of the picture.
    offset = random(torch, shape[0], 2 * taps, *side, dtype=dtype, seed=2) * 2
    mask = random(torch, shape[0], taps, *side, dtype=dtype, seed=3)
    bias = random(torch, kernel[0], dtype=dtype, seed=4)
    op = operator("deform_conv2d")

    def convolved(x, weight, offset, mask, bias):
        places = (*stride, *padding, *dilation, groups, shared)
        return op(x, weight, offset, mask, bias, *places, masked)

    given = (x, weight, offset, mask, bias)
    near(convolved, *given)
    near(convolved, x.transpose(2, 3).contiguous().transpose(2, 3), *given[1:])
    near(convolved, x[:0], weight, offset[:0], mask[:0], bias)
    # Gradients of places differ where rounding puts them into other cells.
    near(convolved, *(t.half() for t in given), gradients=False)


def test_deform_conv2d_at_places_that_are_no_number(cuda):
    """Such a sample is zero."""
    x = random(torch, 1, 2, 5, 5)
    offset = torch.zeros(1, 2, 5, 5)
    offset[0, 0, 2, 3] = float("nan")
    offset[0, 1, 4, 4] = float("inf")
    given = (x, torch.ones(1, 2, 1, 1), offset, torch.ones(1, 1, 5, 5), torch.zeros(1))
    args = (1, 1, 0, 0, 1, 1, 1, 1, False)
    got = OPS.deform_conv2d(*(t.to(cuda) for t in given), *args).cpu()
    want = x.sum(1, keepdim=True)
    want[0, 0, 2, 3] = want[0, 0, 4, 4] = 0
    assert got.equal(want)


@pytest.mark.parametrize("name", ["roi_align", "ps_roi_align"])
def test_samples_outside_are_zero_whatever_the_picture_is(cuda, name):
    x = torch.ones(1, 4, 4, 4)
    x[:, :, 0, :] = x[:, :, :, 0] = float("inf")
    outside = torch.tensor([[0.0, -9, -9, -3, -3], [0, 6, 6, 9, 9]])
    rest = (2, True) if name == "roi_align" else (2,)
    out = getattr(OPS, name)(x.to(cuda), outside.to(cuda), 1.0, 2, 2, *rest)
    out = out if name == "roi_align" else out[0]
    assert out.eq(0).all()
