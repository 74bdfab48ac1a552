"""`torch.unique`, `unique_consecutive` and `lu` as compiled code sees them.

What they return is a matter of two flags, so each is four functions, which
get every argument but the flags.
"""

from __future__ import annotations

import hotaru as torch
from hotaru import Tensor


def _found(
    input: Tensor, sorted: bool, inverse: bool, counts: bool, dim: int | None
) -> tuple[Tensor, Tensor, Tensor]:
    if dim is None:
        return torch.ops._unique2(input, sorted, inverse, counts)
    return torch.ops.unique_dim(input, dim, sorted, inverse, counts)


def _both(
    input: Tensor, sorted: bool = True, dim: int | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    return _found(input, sorted, True, True, dim)


def _inverse(
    input: Tensor, sorted: bool = True, dim: int | None = None
) -> tuple[Tensor, Tensor]:
    values, inverse, _ = _found(input, sorted, True, False, dim)
    return values, inverse


def _counts(
    input: Tensor, sorted: bool = True, dim: int | None = None
) -> tuple[Tensor, Tensor]:
    values, _, counts = _found(input, sorted, False, True, dim)
    return values, counts


def _values(input: Tensor, sorted: bool = True, dim: int | None = None) -> Tensor:
    return _found(input, sorted, False, False, dim)[0]


def _runs_both(input: Tensor, dim: int | None = None) -> tuple[Tensor, Tensor, Tensor]:
    return torch.ops.unique_consecutive(input, True, True, dim)


def _runs_inverse(input: Tensor, dim: int | None = None) -> tuple[Tensor, Tensor]:
    values, inverse, _ = torch.ops.unique_consecutive(input, True, False, dim)
    return values, inverse


def _runs_counts(input: Tensor, dim: int | None = None) -> tuple[Tensor, Tensor]:
    values, _, counts = torch.ops.unique_consecutive(input, False, True, dim)
    return values, counts


def _runs_values(input: Tensor, dim: int | None = None) -> Tensor:
    return torch.ops.unique_consecutive(input, False, False, dim)[0]


def _lu(A: Tensor, pivot: bool = True) -> tuple[Tensor, Tensor]:
    found = torch.linalg.lu_factor(A, pivot=pivot)
    return found[0], found[1]


def _lu_infos(A: Tensor, pivot: bool = True) -> tuple[Tensor, Tensor, Tensor]:
    found = torch.linalg.lu_factor_ex(A, pivot=pivot)
    return found[0], found[1], found[2]


#: As `functional.BY_FLAG`, a flag within a flag: the inner one's place is that
#: among the arguments which are left.
BY_FLAG = {
    "lu": ("get_infos", 2, _lu_infos, _lu),
    "unique": (
        "return_inverse",
        2,
        ("return_counts", 2, _both, _inverse),
        ("return_counts", 2, _counts, _values),
    ),
    "unique_consecutive": (
        "return_inverse",
        1,
        ("return_counts", 1, _runs_both, _runs_inverse),
        ("return_counts", 1, _runs_counts, _runs_values),
    ),
}
