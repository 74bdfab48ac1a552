"""Which of overlapping boxes stay."""

from __future__ import annotations

import hotaru
from hotaru import Tensor


def nms(dets: Tensor, scores: Tensor, iou_threshold: float) -> Tensor:
    """Indices of the boxes that stay, best score first.

    A box falls if it overlaps a better one that stays by more than the
    threshold (intersection over union). Equal scores stay in their order.
    """
    if dets.dim() != 2 or dets.shape[1] != 4:
        raise RuntimeError(
            "nms: boxes should be a 2d tensor with 4 columns, got shape "
            f"{tuple(dets.shape)}"
        )
    if scores.shape != dets.shape[:1]:
        raise RuntimeError(
            f"nms: {dets.shape[0]} boxes and scores of shape "
            f"{tuple(scores.shape)}"
        )
    order = scores.argsort(descending=True, stable=True)
    left, top, right, bottom = dets[order].unbind(1)
    area = (right - left) * (bottom - top)
    alive = hotaru.ones_like(left, dtype=hotaru.bool)
    kept = []
    while True:
        k = _first(alive)
        if k is None:
            break
        kept.append(k)
        width = right.minimum(right[k]) - left.maximum(left[k])
        height = bottom.minimum(bottom[k]) - top.maximum(top[k])
        both = width.clamp(min=0) * height.clamp(min=0)
        # The quotient has the boxes' type, the threshold is a double.
        overlap = (both / (area + area[k] - both)).double()
        alive &= ~(overlap > iou_threshold)
        alive[: k + 1] = False
    return order[hotaru.tensor(kept, dtype=hotaru.long, device=order.device)]


def _first(alive: Tensor) -> int | None:
    """The first that is true."""
    if not alive.numel():
        return None
    k = int(alive.to(hotaru.uint8).argmax())
    return k if alive[k] else None
