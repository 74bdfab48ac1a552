"""How many operations on floats an operator does, as PyTorch counts them."""

from __future__ import annotations

import math

from ._geometry import Given, convolved_size


def flops_of(name: str, inputs) -> int:
    """The count; 0 of an operator that is not counted.

    Args:
        name: without "aten::". inputs: in the schema's order, a `Given` in the
            place of a tensor.
    """
    count = _COUNTED.get(name)
    return 0 if count is None else count(*inputs)


def _product(x: Given, y: Given, *_) -> int:
    batch = math.prod(x.shape[:-2])
    shared = x.shape[-1] * batch
    return 2 * x.numel * y.numel // shared if shared else 0


def _added_product(bias, x: Given, y: Given, *_) -> int:
    return _product(x, y)


def _convolution(
    x: Given, weight: Given, bias, stride, padding, dilation, groups
) -> int:
    if x.dim != 4 or isinstance(padding, str) or not groups:
        return 0
    sizes = convolved_size(x, weight, stride, padding, dilation)
    places = x.shape[0] * math.prod(sizes) * math.prod(weight.shape[2:])
    return 2 * places * x.shape[1] * weight.shape[0] // groups


def _each(x, *_) -> int:
    return x.numel if isinstance(x, Given) else 0


_COUNTED = {
    "add": _each,
    "addmm": _added_product,
    "baddbmm": _added_product,
    "bmm": _product,
    "conv2d": _convolution,
    "mm": _product,
    "mul": _each,
}

_UNITS = ("FLOPs", "KFLOPs", "MFLOPs", "GFLOPs", "TFLOPs", "PFLOPs")


def unit_of(counts: list[int]) -> tuple[float, str]:
    """The unit that fits the smallest of counts, and its name."""
    step = min(int(math.log10(min(counts)) / 3), len(_UNITS) - 1)
    return 10.0 ** (3 * step), _UNITS[step]
