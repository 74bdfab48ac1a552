"""Convolution at places that the data choose (arXiv:1703.06211, 1811.11168)."""

from __future__ import annotations

import hotaru
from hotaru import Tensor


def _corner(flat: Tensor, row: Tensor, column: Tensor, height, width) -> Tensor:
    """Values at whole places, zero outside of the image."""
    inside = (row >= 0) & (row < height) & (column >= 0) & (column < width)
    index = row.clamp(0, height - 1) * width + column.clamp(0, width - 1)
    n, groups, channels, _ = flat.shape
    index = index.reshape(n, groups, 1, -1).expand(-1, -1, channels, -1)
    found = flat.gather(3, index.long())
    return found * inside.reshape(n, groups, 1, -1).to(flat.dtype)


def _sampled(image: Tensor, y: Tensor, x: Tensor) -> Tensor:
    """Bilinear samples, (batch, groups, channels, places)."""
    n, groups, _, height, width = image.shape
    flat = image.flatten(3)
    top, left = y.floor().detach(), x.floor().detach()
    down, right = y - top, x - left

    def weighed(row, column, weight):
        value = _corner(flat, row, column, height, width)
        return value * weight.reshape(n, groups, 1, -1)

    return (
        weighed(top, left, (1 - down) * (1 - right))
        + weighed(top, left + 1, (1 - down) * right)
        + weighed(top + 1, left, down * (1 - right))
        + weighed(top + 1, left + 1, down * right)
    )


def _places(weight, offset, stride, pad, dilation, groups: int):
    """Rows and columns of all samples, (batch, groups, taps, out_h, out_w)."""
    n, _, out_h, out_w = offset.shape
    kernel = weight.shape[2:]
    like = {"dtype": offset.dtype, "device": offset.device}
    moved = offset.reshape(n, groups, -1, 2, out_h, out_w)
    row = hotaru.arange(kernel[0], **like).repeat_interleave(kernel[1])
    column = hotaru.arange(kernel[1], **like).repeat(kernel[0])
    y = (row * dilation[0] - pad[0])[:, None, None] + (
        hotaru.arange(out_h, **like) * stride[0]
    )[:, None]
    x = (column * dilation[1] - pad[1])[:, None, None] + (
        hotaru.arange(out_w, **like) * stride[1]
    )
    return moved[:, :, :, 0] + y, moved[:, :, :, 1] + x


def _convolved(
    input, weight, offset, mask, bias, stride, pad, dilation, groups,
    offset_groups, use_mask,
):  # fmt: skip
    n, _, height, width = input.shape
    out_channels, taps = weight.shape[0], weight[0, 0].numel()
    out_h, out_w = offset.shape[2:]
    y, x = _places(weight, offset, stride, pad, dilation, offset_groups)
    image = input.reshape(n, offset_groups, -1, height, width)
    columns = _sampled(image, y, x)
    columns = columns.reshape(n, offset_groups, -1, taps, out_h * out_w)
    if use_mask:
        columns = columns * mask.reshape(n, offset_groups, 1, taps, -1)
    columns = columns.reshape(n, groups, -1, out_h * out_w)
    rows = weight.reshape(groups, out_channels // groups, -1)
    out = (rows @ columns).reshape(n, out_channels, out_h, out_w)
    return out + bias.reshape(1, -1, 1, 1)


def _check(input, weight, offset, mask, steps) -> None:
    stride, pad, dilation, groups, offset_groups, use_mask = steps
    if input.shape[1] != weight.shape[1] * groups:
        raise RuntimeError(
            f"deform_conv2d: {input.shape[1]} input channels, the weight takes "
            f"{weight.shape[1] * groups}"
        )
    taps = weight.shape[2] * weight.shape[3] * offset_groups
    size = [
        (input.shape[k + 2] + 2 * pad[k]
         - dilation[k] * (weight.shape[k + 2] - 1) - 1) // stride[k] + 1
        for k in range(2)
    ]  # fmt: skip
    want = [input.shape[0], 2 * taps, *size]
    if list(offset.shape) != want:
        raise RuntimeError(
            f"deform_conv2d: offset has shape {list(offset.shape)}, not {want}"
        )
    if use_mask and list(mask.shape) != [want[0], taps, *size]:
        raise RuntimeError(
            f"deform_conv2d: mask has shape {list(mask.shape)}, not "
            f"{[want[0], taps, *size]}"
        )


def deform_conv2d(
    input, weight, offset, mask, bias, stride_h, stride_w, pad_h, pad_w,
    dilation_h, dilation_w, groups, offset_groups, use_mask,
):  # fmt: skip
    """(batch, out channels, height, width of the offsets)."""
    steps = (
        (stride_h, stride_w), (pad_h, pad_w), (dilation_h, dilation_w),
        groups, offset_groups, use_mask,
    )  # fmt: skip
    _check(input, weight, offset, mask, steps)
    return _convolved(input, weight, offset, mask, bias, *steps)


def deform_conv2d_backward(
    grad, input, weight, offset, mask, bias, stride_h, stride_w, pad_h, pad_w,
    dilation_h, dilation_w, groups, offset_groups, use_mask,
):  # fmt: skip
    """Gradients of input, weight, offset, mask and bias."""
    given = [
        t.detach().requires_grad_() for t in (input, weight, offset, mask, bias)
    ]
    steps = (
        (stride_h, stride_w), (pad_h, pad_w), (dilation_h, dilation_w),
        groups, offset_groups, use_mask,
    )  # fmt: skip
    with hotaru.enable_grad():
        out = _convolved(*given, *steps)
        found = hotaru.autograd.grad(out, given, grad, allow_unused=True)
    return tuple(
        hotaru.zeros_like(t) if g is None else g for g, t in zip(found, given)
    )
