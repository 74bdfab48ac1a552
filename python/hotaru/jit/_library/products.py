"""Products of several matrices at once, for graphs that ask for them."""

from __future__ import annotations

import hotaru as torch
from hotaru import Tensor


def _are_alike(values: list[Tensor]) -> bool:
    """True if all have one shape, dtype and device."""
    first = values[0]
    alike = True
    for value in values:
        same = value.dtype == first.dtype and value.device == first.device
        alike = alike and same and value.size() == first.size()
    return alike


def summed_products(left: list[Tensor], right: list[Tensor]) -> Tensor:
    """The sum of the products: of matrices of one shape it is one product."""
    if _are_alike(left) and _are_alike(right):
        out = torch.mm(torch.cat(left, 1), torch.cat(right, 0))
    else:
        out = torch.mm(left[0], right[0])
        for i in range(1, len(left)):
            out = out + torch.mm(left[i], right[i])
    return out


def products_of_left(common: Tensor, others: list[Tensor]) -> list[Tensor]:
    """Products of `common` and each other: one product, cut apart, if these have
    one shape.
    """
    if _are_alike(others):
        whole = torch.mm(common, torch.cat(others, 1))
        out = list(whole.split(others[0].size(1), 1))
    else:
        out = [torch.mm(common, other) for other in others]
    return out


def products_of_right(common: Tensor, others: list[Tensor]) -> list[Tensor]:
    """Products of each other and `common`."""
    if _are_alike(others):
        whole = torch.mm(torch.cat(others, 0), common)
        out = list(whole.split(others[0].size(0), 0))
    else:
        out = [torch.mm(other, common) for other in others]
    return out
