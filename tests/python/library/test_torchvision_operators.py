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
    with pytest.raises(RuntimeError, match="4 columns"):
        OPS.nms(hotaru.zeros(2, 5), hotaru.zeros(2), 0.5)
    with pytest.raises(RuntimeError, match="2 boxes and scores"):
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
                [averaged(x[b, c], roi, SCALE, (2, 3), p, q, ratio, aligned)
                 for q in range(3)]
                for p in range(2)
            ]  # fmt: skip
            want = hotaru.tensor(want, dtype=hotaru.float64)
            assert hotaru.allclose(out[k, c], want, rtol=1e-12)


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
    back = OPS._ps_roi_align_backward(
        grad, rois(), mapping, SCALE, 2, 2, 2, 2, 8, 8, 9
    )
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
    back = OPS._roi_pool_backward(
        grad, boxes.double(), places, 1.0, 2, 2, 2, 1, 8, 9
    )
    assert float(back[0, 0].flatten()[at]) == 4
    assert float(back.sum()) == 1 + 2 + 3 + 4


def deformed(x, weight, offset, mask, bias, **other):
    steps = {"stride": 1, "pad": 1, "groups": 1, "offset_groups": 1, **other}
    s, p = steps["stride"], steps["pad"]
    return OPS.deform_conv2d(
        x, weight, offset, mask, bias, s, s, p, p, 1, 1, steps["groups"],
        steps["offset_groups"], True,
    )  # fmt: skip


def test_deform_conv2d_without_offsets_is_a_convolution():
    x = images(4)
    weight = hotaru.randn(6, 2, 3, 3, dtype=hotaru.float64)
    bias = hotaru.randn(6, dtype=hotaru.float64)
    offset = hotaru.zeros(2, 36, 4, 5, dtype=hotaru.float64)
    mask = hotaru.ones(2, 18, 4, 5, dtype=hotaru.float64)
    out = deformed(
        x, weight, offset, mask, bias, stride=2, groups=2, offset_groups=2
    )
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
        hotaru.randn(1, 2, 5, 5, **like), hotaru.randn(3, 2, 2, 2, **like),
        hotaru.randn(1, 8, 4, 4, **like), hotaru.rand(1, 4, 4, 4, **like),
        hotaru.randn(3, **like),
    ]  # fmt: skip
    out = deformed(*given, pad=0)
    grad = hotaru.randn_like(out)
    found = OPS._deform_conv2d_backward(
        grad, *given, 1, 1, 0, 0, 1, 1, 1, 1, True
    )
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
    with pytest.raises(NotImplementedError, match="ps_roi_pool"):
        OPS.ps_roi_pool(images(4), rois(), SCALE, 2, 2)
