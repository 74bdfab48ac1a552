"""Regions of interest as grids of averages (Mask R-CNN, arXiv:1703.06870).

Both the bilinear samples and their average are products of a weight of the row
and one of the column, so a region is `rows @ image @ columns^T`, and its
gradient `rows^T @ grad @ columns`.
"""

from __future__ import annotations

import math

import hotaru
from hotaru import Tensor


def _weights(
    start: float, bin_size: float, bins: int, samples: int, size: int, like
) -> Tensor:
    """(bins, size): what each of `size` cells gives to each bin, in one axis.

    A sample more than one cell outside gives nothing; nearer than that it takes
    the border's value.
    """
    found = hotaru.zeros(bins, size, dtype=like.dtype, device=like.device)
    if samples <= 0 or size == 0:
        return found
    kwargs = {"dtype": like.dtype, "device": like.device}
    steps = (hotaru.arange(samples, **kwargs) + 0.5) * (bin_size / samples)
    at = start + hotaru.arange(bins, **kwargs)[:, None] * bin_size + steps
    inside = ((at >= -1) & (at <= size)).to(like.dtype) / samples
    at = at.clamp(0, size - 1)
    low = at.floor().clamp(max=max(size - 2, 0))
    high_share = at - low
    index = low.long()
    found.scatter_add_(1, index, (1 - high_share) * inside)
    return found.scatter_add_(
        1, (index + 1).clamp(max=size - 1), high_share * inside
    )


def _grids(rois, scale, bins, size, ratio, aligned, like):
    """For every region: its image, weights of rows, weights of columns."""
    offset = 0.5 if aligned else 0.0
    for image, *corners in rois.tolist():
        x1, y1, x2, y2 = (c * scale - offset for c in corners)
        sides = (y2 - y1, x2 - x1)
        if not aligned:  # as the first version had it: no region is empty
            sides = tuple(max(side, 1.0) for side in sides)
        weights = []
        for axis, start in enumerate((y1, x1)):
            step = sides[axis] / bins[axis]
            count = ratio if ratio > 0 else math.ceil(step)
            weights.append(
                _weights(start, step, bins[axis], count, size[axis], like)
            )
        yield int(image), weights[0], weights[1]


def _working(input: Tensor) -> Tensor:
    """Sums of half precision are made in single precision."""
    half = (hotaru.float16, hotaru.bfloat16)
    return input.float() if input.dtype in half else input


def roi_align(
    input, rois, spatial_scale, pooled_height, pooled_width, sampling_ratio,
    aligned,
):  # fmt: skip
    """(regions, channels, pooled_height, pooled_width)."""
    image = _working(input)
    bins, size = (pooled_height, pooled_width), input.shape[2:]
    grids = _grids(
        rois, spatial_scale, bins, size, sampling_ratio, aligned, image
    )
    out = image.new_zeros(rois.shape[0], input.shape[1], *bins)
    for k, (b, rows, columns) in enumerate(grids):
        out[k] = rows @ image[b] @ columns.t()
    return out.to(input.dtype)


def roi_align_backward(
    grad, rois, spatial_scale, pooled_height, pooled_width, batch_size,
    channels, height, width, sampling_ratio, aligned,
):  # fmt: skip
    """The gradient of the input."""
    given = _working(grad)
    bins, size = (pooled_height, pooled_width), (height, width)
    grids = _grids(
        rois, spatial_scale, bins, size, sampling_ratio, aligned, given
    )
    out = given.new_zeros(batch_size, channels, height, width)
    for k, (b, rows, columns) in enumerate(grids):
        out[b] += rows.t() @ given[k] @ columns
    return out.to(grad.dtype)


def _by_place(input, pooled_height: int, pooled_width: int):
    """Channels that belong to one cell each of the grid (arXiv:1605.06409)."""
    n, channels, height, width = input.shape
    cells = pooled_height * pooled_width
    if channels % cells:
        raise RuntimeError(
            "ps_roi_align: input channels must be a multiple of pooling height "
            f"* pooling width, got {channels} and {cells}"
        )
    return input.reshape(
        n, channels // cells, pooled_height, pooled_width, height, width
    )


def ps_roi_align(
    input, rois, spatial_scale, pooled_height, pooled_width, sampling_ratio
):
    """The averages, and the channel that each was taken from."""
    image = _by_place(_working(input), pooled_height, pooled_width)
    bins, size = (pooled_height, pooled_width), input.shape[2:]
    grids = _grids(rois, spatial_scale, bins, size, sampling_ratio, True, image)
    groups = image.shape[1]
    out = image.new_zeros(rois.shape[0], groups, *bins)
    for k, (b, rows, columns) in enumerate(grids):
        by_row = (image[b] * rows[:, None, :, None]).sum(-2)
        out[k] = (by_row * columns).sum(-1)
    channel = hotaru.arange(
        input.shape[1], dtype=hotaru.int32, device=input.device
    ).reshape(1, groups, *bins)
    mapping = channel.expand(rois.shape[0], -1, -1, -1).contiguous()
    return out.to(input.dtype), mapping


def ps_roi_align_backward(
    grad, rois, channel_mapping, spatial_scale, pooled_height, pooled_width,
    sampling_ratio, batch_size, channels, height, width,
):  # fmt: skip
    """The gradient of the input."""
    given = _working(grad)
    bins, size = (pooled_height, pooled_width), (height, width)
    out = given.new_zeros(batch_size, channels, height, width)
    placed = _by_place(out, pooled_height, pooled_width)  # a view
    grids = _grids(rois, spatial_scale, bins, size, sampling_ratio, True, given)
    for k, (b, rows, columns) in enumerate(grids):
        share = rows[:, None, :, None] * columns[:, None, :]
        placed[b] += given[k][..., None, None] * share
    return out.to(grad.dtype)
