"""Regions of interest as grids of maxima (Fast R-CNN, arXiv:1504.08083)."""

from __future__ import annotations

import math

import hotaru


def _half_away(value: float) -> int:
    """C's round: halves go away from zero."""
    return int(math.copysign(math.floor(abs(value) + 0.5), value))


def _cells(first: int, last: int, bins: int, size: int) -> list[range]:
    """The cells of every bin along one axis."""
    step = max(last - first + 1, 1) / bins
    found = []
    for k in range(bins):
        low = math.floor(k * step) + first
        high = math.ceil((k + 1) * step) + first
        found.append(range(min(max(low, 0), size), min(max(high, 0), size)))
    return found


def roi_pool(input, rois, spatial_scale, pooled_height, pooled_width):
    """The maxima, and where in its plane each was; 0 and -1 of no cells."""
    _, channels, height, width = input.shape
    shape = (rois.shape[0], channels, pooled_height, pooled_width)
    out = input.new_zeros(shape)
    places = hotaru.full(shape, -1, dtype=hotaru.int32, device=input.device)
    for k, (image, *corners) in enumerate(rois.tolist()):
        x1, y1, x2, y2 = (_half_away(c * spatial_scale) for c in corners)
        plane = input[int(image)]
        columns = _cells(x1, x2, pooled_width, width)
        for p, rows in enumerate(_cells(y1, y2, pooled_height, height)):
            for q, across in enumerate(columns):
                if not rows or not across:
                    continue
                part = plane[:, rows.start : rows.stop,
                             across.start : across.stop]  # fmt: skip
                most, at = part.flatten(1).max(1)
                out[k, :, p, q] = most
                row = at // len(across) + rows.start
                column = at % len(across) + across.start
                places[k, :, p, q] = (row * width + column).to(hotaru.int32)
    return out, places


def roi_pool_backward(
    grad, rois, argmax, spatial_scale, pooled_height, pooled_width,
    batch_size, channels, height, width,
):  # fmt: skip
    """The gradient of the input: each to where the maximum was."""
    out = grad.new_zeros(batch_size, channels, height * width)
    images = rois[:, 0].long()
    places = argmax.flatten(2).long()
    share = hotaru.where(places >= 0, grad.reshape(places.shape), 0)
    for k, image in enumerate(images.tolist()):
        out[image].scatter_add_(1, places[k].clamp(min=0), share[k])
    return out.reshape(batch_size, channels, height, width)
