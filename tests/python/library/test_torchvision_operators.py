"""torchvision's operators against loops over single samples."""

from __future__ import annotations

import math

import pytest

import hotaru
from hotaru import _torchvision

_torchvision.install()
OPS = hotaru.ops.torchvision


def overlap(a, b) -> float:
    width = max(min(a[2], b[2]) - max(a[0], b[0]), 0)
    height = max(min(a[3], b[3]) - max(a[1], b[1]), 0)
    both = width * height
    area = sum((c[2] - c[0]) * (c[3] - c[1]) for c in (a, b))
    return both / (area - both)


@pytest.mark.parametrize("threshold", [0.0, 0.3, 0.7])
def test_nms_keeps_what_no_better_box_covers(threshold):
    hotaru.manual_seed(0)
    corner = hotaru.rand(60, 2, dtype=hotaru.float64) * 50
    boxes = hotaru.cat([corner, corner + 1 + hotaru.rand(60, 2) * 30], 1)
    scores = hotaru.rand(60)
    kept = []
    for k in scores.argsort(descending=True).tolist():
        box = boxes[k].tolist()
        if all(overlap(box, boxes[j].tolist()) <= threshold for j in kept):
            kept.append(k)
    assert OPS.nms(boxes, scores, threshold).tolist() == kept


def test_nms_of_equal_scores_keeps_the_first():
    boxes = hotaru.tensor([[0.0, 0, 2, 2]]).expand(3, 4)
    assert OPS.nms(boxes, hotaru.ones(3), 0.5).tolist() == [0]
    empty = OPS.nms(hotaru.zeros(0, 4), hotaru.zeros(0), 0.5)
    assert (empty.tolist(), empty.dtype) == ([], hotaru.int64)


def test_nms_refuses_other_shapes():
    with pytest.raises(RuntimeError, match="4 elements in dimension 1, got 5"):
        OPS.nms(hotaru.zeros(2, 5), hotaru.zeros(2), 0.5)
    with pytest.raises(RuntimeError, match="dimension 0, got 2 and 3"):
        OPS.nms(hotaru.zeros(2, 4), hotaru.zeros(3), 0.5)


def bilinear(plane, y: float, x: float) -> float:
    height, width = plane.shape
    if y < -1 or y > height or x < -1 or x > width:
        return 0.0
    y, x = min(max(y, 0), height - 1), min(max(x, 0), width - 1)
    top, left = int(y), int(x)
    down, right = min(top + 1, height - 1), min(left + 1, width - 1)
    b, a = y - top, x - left
    return float(
        (1 - b) * ((1 - a) * plane[top, left] + a * plane[top, right])
        + b * ((1 - a) * plane[down, left] + a * plane[down, right])
    )


def averaged(plane, roi, scale, bins, p, q, ratio, aligned) -> float:
    offset = 0.5 if aligned else 0.0
    x1, y1, x2, y2 = (c * scale - offset for c in roi)
    height, width = y2 - y1, x2 - x1
    if not aligned:
        height, width = max(height, 1.0), max(width, 1.0)
    high, wide = height / bins[0], width / bins[1]
    down = ratio if ratio > 0 else math.ceil(high)
    across = ratio if ratio > 0 else math.ceil(wide)
    found = [
        bilinear(
            plane,
            y1 + p * high + (i + 0.5) * high / down,
            x1 + q * wide + (j + 0.5) * wide / across,
        )
        for i in range(down)
        for j in range(across)
    ]
    return sum(found) / max(len(found), 1)


# The second begins outside of the image, the third is small.
ROIS = [[0, 1.0, 2, 8, 9], [1, -5, 3, 6, 14], [1, 3, 3, 3.2, 3.4]]
SCALE = 0.75


def images(channels: int):
    hotaru.manual_seed(1)
    return hotaru.randn(2, channels, 8, 9, dtype=hotaru.float64)


def rois():
    return hotaru.tensor(ROIS, dtype=hotaru.float64)


@pytest.mark.parametrize("aligned", [True, False])
@pytest.mark.parametrize("ratio", [-1, 2])
def test_roi_align_averages_bilinear_samples(aligned, ratio):
    x = images(2)
    out = OPS.roi_align(x, rois(), SCALE, 2, 3, ratio, aligned)
    assert out.shape == (3, 2, 2, 3)
    for k, (b, *roi) in enumerate(ROIS):
        for c in range(2):
            want = [
                [
                    averaged(x[b, c], roi, SCALE, (2, 3), p, q, ratio, aligned)
                    for q in range(3)
                ]
                for p in range(2)
            ]
            want = hotaru.tensor(want, dtype=hotaru.float64)
            assert hotaru.allclose(out[k, c], want, rtol=1e-12)


@pytest.mark.parametrize("name", ["roi_align", "ps_roi_align"])
def test_samples_outside_are_zero_whatever_the_picture_is(name):
    x = hotaru.ones(1, 4, 4, 4)
    x[:, :, 0, :] = x[:, :, :, 0] = float("inf")
    outside = hotaru.tensor([[0.0, -9, -9, -3, -3], [0, 6, 6, 9, 9]])
    rest = (2, True) if name == "roi_align" else (2,)
    out = getattr(OPS, name)(x, outside, 1.0, 2, 2, *rest)
    out = out if name == "roi_align" else out[0]
    assert out.eq(0).all()


def test_roi_align_backward_is_the_transpose():
    x = images(2)
    args = (SCALE, 2, 3)
    out = OPS.roi_align(x, rois(), *args, -1, False)
    grad = hotaru.randn_like(out)
    back = OPS._roi_align_backward(grad, rois(), *args, 2, 2, 8, 9, -1, False)
    # <Ax, g> = <x, A'g>
    assert hotaru.allclose((out * grad).sum(), (x * back).sum(), rtol=1e-12)


def test_ps_roi_align_takes_each_cell_from_its_channel():
    x = images(8)
    out, mapping = OPS.ps_roi_align(x, rois(), SCALE, 2, 2, 2)
    assert out.shape == (3, 2, 2, 2)
    assert mapping[1].flatten().tolist() == list(range(8))
    for k, (b, *roi) in enumerate(ROIS):
        for c, p, q in ((0, 0, 1), (1, 1, 0), (1, 1, 1)):
            plane = x[b, (c * 2 + p) * 2 + q]
            want = averaged(plane, roi, SCALE, (2, 2), p, q, 2, True)
            assert float(out[k, c, p, q]) == pytest.approx(want, rel=1e-12)
    grad = hotaru.randn_like(out)
    back = OPS._ps_roi_align_backward(grad, rois(), mapping, SCALE, 2, 2, 2, 2, 8, 8, 9)
    assert hotaru.allclose((out * grad).sum(), (x * back).sum(), rtol=1e-12)
    with pytest.raises(RuntimeError, match="multiple of pooling"):
        OPS.ps_roi_align(x, rois(), SCALE, 3, 2, 2)


def test_roi_pool_takes_maxima_and_tells_where():
    x = images(1)
    boxes = hotaru.tensor([[0, 0.0, 0, 3, 5], [1, 20, 20, 30, 30]])
    out, places = OPS.roi_pool(x, boxes.double(), 1.0, 2, 2)
    assert out[0, 0, 0, 0] == x[0, 0, :3, :2].max()
    assert out[0, 0, 1, 1] == x[0, 0, 3:6, 2:4].max()
    at = int(places[0, 0, 1, 1])
    assert x[0, 0].flatten()[at] == out[0, 0, 1, 1]
    assert out[1].flatten().tolist() == [0] * 4  # outside of the image
    assert places[1].flatten().tolist() == [-1] * 4
    grad = hotaru.arange(1.0, 9, dtype=hotaru.float64).reshape(2, 1, 2, 2)
    back = OPS._roi_pool_backward(grad, boxes.double(), places, 1.0, 2, 2, 2, 1, 8, 9)
    assert float(back[0, 0].flatten()[at]) == 4
    assert float(back.sum()) == 1 + 2 + 3 + 4


def deformed(x, weight, offset, mask, bias, **other):
    steps = {"stride": 1, "pad": 1, "groups": 1, "offset_groups": 1, **other}
    s, p = steps["stride"], steps["pad"]
    return OPS.deform_conv2d(
        x,
        weight,
        offset,
        mask,
        bias,
        s,
        s,
        p,
        p,
        1,
        1,
        steps["groups"],
        steps["offset_groups"],
        True,
    )


def test_deform_conv2d_without_offsets_is_a_convolution():
    x = images(4)
    weight = hotaru.randn(6, 2, 3, 3, dtype=hotaru.float64)
    bias = hotaru.randn(6, dtype=hotaru.float64)
    offset = hotaru.zeros(2, 36, 4, 5, dtype=hotaru.float64)
    mask = hotaru.ones(2, 18, 4, 5, dtype=hotaru.float64)
    out = deformed(x, weight, offset, mask, bias, stride=2, groups=2, offset_groups=2)
    want = hotaru.nn.functional.conv2d(x, weight, bias, 2, 1, groups=2)
    assert hotaru.allclose(out, want, rtol=1e-10)


def test_deform_conv2d_moves_by_rows_first():
    x = images(1)[:1]
    one = hotaru.ones(1, 1, 1, 1, dtype=hotaru.float64)
    offset = hotaru.zeros(1, 2, 8, 9, dtype=hotaru.float64)
    offset[:, 0] = 1.5  # rows
    mask = 2 * hotaru.ones(1, 1, 8, 9, dtype=hotaru.float64)
    zero = hotaru.zeros(1, dtype=hotaru.float64)
    out = deformed(x, one, offset, mask, zero, pad=0)
    want = x[0, 0, 1:-1] + x[0, 0, 2:]
    assert hotaru.allclose(out[0, 0, :-2], want)
    assert hotaru.allclose(out[0, 0, -2], x[0, 0, -1])  # half is outside
    assert out[0, 0, -1].tolist() == [0] * 9


def test_deform_conv2d_gradients():
    hotaru.manual_seed(3)
    like = {"dtype": hotaru.float64}
    given = [
        hotaru.randn(1, 2, 5, 5, **like),
        hotaru.randn(3, 2, 2, 2, **like),
        hotaru.randn(1, 8, 4, 4, **like),
        hotaru.rand(1, 4, 4, 4, **like),
        hotaru.randn(3, **like),
    ]
    out = deformed(*given, pad=0)
    grad = hotaru.randn_like(out)
    found = OPS._deform_conv2d_backward(grad, *given, 1, 1, 0, 0, 1, 1, 1, 1, True)
    step = 1e-6
    for k, tensor in enumerate(given):
        index = tuple(n // 2 for n in tensor.shape)
        moved = [t.clone() for t in given]
        moved[k][index] += step
        rate = ((deformed(*moved, pad=0) - out) * grad).sum() / step
        assert float(found[k][index]) == pytest.approx(float(rate), rel=1e-4)


def test_its_library_is_recognised_by_its_place():
    assert _torchvision.is_its_library("/a/torchvision/_C.so")
    assert _torchvision.is_its_library("/a/torchvision/_C.cpython-311.so")
    assert not _torchvision.is_its_library("/a/torchvision/image.so")
    assert not _torchvision.is_its_library("/a/other/_C.so")


def test_what_is_missing_is_said():
    with pytest.raises(NotImplementedError, match="qnms"):
        OPS.qnms(hotaru.zeros(1, 4), hotaru.zeros(1), 0.5)


def test_nms_compares_in_the_boxes_precision():
    # The overlap is the float32 nearest to 0.3, which is more than 0.3.
    boxes = hotaru.tensor([[0.0, 0, 10, 1], [0, 0, 3, 1]])
    scores = hotaru.tensor([2.0, 1.0])
    assert float(hotaru.tensor(0.3)) > 0.3
    assert OPS.nms(boxes, scores, 0.3).tolist() == [0]
    assert OPS.nms(boxes, scores, float(hotaru.tensor(0.3))).tolist() == [0, 1]


def test_ps_roi_pool_averages_whole_cells_of_its_channel():
    x = images(4).requires_grad_()
    boxes = hotaru.tensor([[1, 1.0, 0, 5, 4], [0, 30, 30, 40, 40]])
    out, mapping = OPS.ps_roi_pool(x, boxes.double(), 1.0, 2, 2)
    assert hotaru.allclose(out[0, 0, 1, 0], x[1, 2, 2:4, 1:3].mean())
    assert out[1].flatten().tolist() == [0] * 4  # outside of the image
    assert mapping.dtype == hotaru.int32
    args = (boxes.double(), mapping, 1.0, 2, 2, 2, 4, 8, 9)
    back = OPS._ps_roi_pool_backward(hotaru.ones_like(out), *args)
    assert back[1, 2, 2:4, 1:3].flatten().tolist() == [0.25] * 4
    assert float(back[1, 2].sum()) == 1


@pytest.mark.parametrize("name", ["roi_align", "ps_roi_align", "ps_roi_pool"])
def test_averages_are_differentiated_twice(name):
    """By the registry's operator, as archives call it."""
    op = hotaru._C._operator(f"torchvision::{name}")
    rest = {"roi_align": (2, True), "ps_roi_align": (2,)}.get(name, ())

    def run(x):
        out = op(x, rois()[:, :5] % 7, 1.0, 2, 2, *rest)
        return out if isinstance(out, hotaru.Tensor) else out[0]

    x = images(4)[:, :, :8, :8].requires_grad_()
    if name != "ps_roi_pool":  # whose gradient is torchvision's, of one more
        assert hotaru.autograd.gradcheck(run, (x,))
    assert hotaru.autograd.gradgradcheck(run, (x,))


def test_gradients_without_a_derivative_say_so():
    x = images(1).requires_grad_()
    pool = hotaru._C._operator("torchvision::roi_pool")
    out, _ = pool(x, rois(), SCALE, 2, 2)
    (g,) = hotaru.autograd.grad(out.square().sum(), x, create_graph=True)
    with pytest.raises(NotImplementedError, match="double backwards on roi_p"):
        g.sum().backward()


@pytest.mark.parametrize("dtype", [hotaru.float16, hotaru.bfloat16])
def test_half_precision_is_rounded_once(dtype):
    x, boxes = images(2).to(dtype), rois().to(dtype)
    got = OPS.roi_align(x, boxes, SCALE, 2, 3, 2, True)
    want = OPS.roi_align(x.float(), boxes.float(), SCALE, 2, 3, 2, True)
    assert got.dtype == dtype
    assert hotaru.equal(got, want.to(dtype))


def test_regions_of_no_image_and_other_shapes_are_errors():
    x = images(1)
    far = hotaru.tensor([[2.0, 0, 0, 1, 1]], dtype=hotaru.float64)
    with pytest.raises(RuntimeError, match=r"region 0 is of image 2, but .* 2"):
        OPS.roi_align(x, far, 1.0, 2, 2, 2, True)
    with pytest.raises(RuntimeError, match=r"Tensor\[K, 5\]"):
        OPS.roi_align(x, far[:, :4], 1.0, 2, 2, 2, True)
    with pytest.raises(RuntimeError, match="same type as tensor for rois"):
        OPS.roi_align(x, far.float(), 1.0, 2, 2, 2, True)
    huge = hotaru.tensor([[0.0, 0, 0, 1e9, 1e9]], dtype=hotaru.float64)
    with pytest.raises(RuntimeError, match="give sampling_ratio"):
        OPS.roi_align(x, huge, 1.0, 2, 2, -1, True)
    # The number of samples was given: nothing is too large.
    assert OPS.roi_align(x, huge, 1.0, 2, 2, 1, True).sum() == 0
    none = OPS.roi_align(x, far[:0], 1.0, 2, 2, 2, True)
    assert none.shape == (0, 1, 2, 2)
    strided = x.transpose(2, 3)
    assert hotaru.equal(
        OPS.roi_align(strided, rois(), 1.0, 2, 2, 2, True),
        OPS.roi_align(strided.contiguous(), rois(), 1.0, 2, 2, 2, True),
    )


def detect(boxes: hotaru.Tensor, scores: hotaru.Tensor, x: hotaru.Tensor):
    kept = hotaru.ops.torchvision.nms(boxes, scores, 0.5)
    zero = hotaru.zeros(kept.numel(), 1)
    regions = hotaru.cat([zero, boxes[kept]], 1)
    return hotaru.ops.torchvision.roi_align(x, regions, 1.0, 2, 2, 2, False)


def test_archives_call_them_by_name(tmp_path):
    hotaru.manual_seed(0)
    corner = hotaru.rand(9, 2) * 4
    boxes = hotaru.cat([corner, corner + 2], 1)
    args = (boxes, hotaru.rand(9), hotaru.randn(1, 3, 8, 8))
    scripted = hotaru.jit.script(detect)
    assert "torchvision::nms" in str(scripted.graph)
    assert "ops.torchvision.nms(" in scripted.code
    scripted.save(str(tmp_path / "detect.pt"))
    loaded = hotaru.jit.load(str(tmp_path / "detect.pt"))
    assert hotaru.equal(loaded(*args), detect(*args))
