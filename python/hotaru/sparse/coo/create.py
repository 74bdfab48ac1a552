"""Making tensors in coordinates of indices and values."""

from __future__ import annotations

import hotaru

from ... import _C
from ..._C import Tensor
from ..._tensor.refusals import with_gradient
from ...autograd.forward_ad import refuse_tangents
from .. import coo, invariants
from ..tensor import SparseTensor

_CALLS = (
    "object indices, object values, *, torch.dtype dtype = None, torch.device "
    "device = None, bool pin_memory = False, bool requires_grad = False, bool "
    "check_invariants = None, bool is_coalesced = None",
    "object indices, object values, tuple of ints size, *, torch.dtype dtype = "
    "None, torch.device device = None, bool pin_memory = False, bool "
    "requires_grad = False, bool check_invariants = None, bool is_coalesced = "
    "None",
    "tuple of ints size, *, torch.dtype dtype = None, torch.device device = "
    "None, bool pin_memory = False, bool requires_grad = False, bool "
    "check_invariants = None",
)


def as_tensor(data, dtype=None, device=None) -> Tensor:
    """Data as a tensor of the dtype and on the device, with its history; a
    tensor as it is where it is of both.
    """
    if isinstance(data, Tensor):
        return data.to(dtype=dtype or data.dtype, device=device or data.device)
    return hotaru.tensor(data, dtype=dtype, device=device)


def sparse_coo_tensor(
    indices=None,
    values=None,
    size=None,
    *,
    dtype=None,
    device=None,
    pin_memory=False,
    requires_grad=False,
    check_invariants=None,
    is_coalesced=None,
) -> SparseTensor:
    """A tensor in coordinates; of a size alone, one without elements.

    Args:
        indices: (sparse_dim, nnz) integers; values of equal columns add up.
        values: (nnz, dense sizes...), or a number for one element.
        size: the shape; by default the smallest that holds all indices.
        check_invariants: whether to look at the indices, by default what
            `torch.sparse.check_sparse_tensor_invariants` says.
        is_coalesced: that indices are sorted and different.

    Raises:
        RuntimeError: parts do not fit each other or the size; without a size
            or with `check_invariants`, indices out of range.
    """
    if values is None and indices is not None and size is None:
        indices, size = None, indices
    if indices is None and size is not None:
        made = _without_elements(size, dtype, device)
    elif indices is None or values is None:
        calls = "\n".join(f" * ({call})" for call in _CALLS)
        raise TypeError(
            "sparse_coo_tensor() received an invalid combination of arguments "
            f"- got (), but expected one of:\n{calls}\n"
        )
    else:
        made = _of_parts(
            indices, values, size, dtype, device, check_invariants, is_coalesced
        )
    return with_gradient(made, requires_grad)


def _without_elements(size, dtype, device) -> SparseTensor:
    size = (size,) if isinstance(size, int) else tuple(size)
    invariants.check_numel(size)
    return coo.empty(size, len(size), dtype=dtype, device=device)


def _of_parts(
    indices, values, size, dtype, device, check_invariants, is_coalesced
) -> SparseTensor:
    values = as_tensor(values, dtype, device)
    if values.dim() == 0:
        values = values.reshape(1)
    indices = as_tensor(indices, device=device or values.device)
    indices = indices.detach().to(_C.int64)
    if size is None:
        size = _smallest(indices, values)
    size = tuple(size)
    invariants.check_parts(indices, values, size)
    if invariants.wanted(check_invariants):
        invariants.validate_coo(indices, values, size, is_coalesced)
    return coo.make(indices, _of_its_own(values), size, bool(is_coalesced))


def _of_its_own(values: Tensor) -> Tensor:
    """With sizes of its own: changing those of the argument changes nothing."""
    refuse_tangents("sparse", values)
    return values if values.requires_grad else values.detach()


def _smallest(indices: Tensor, values: Tensor) -> tuple[int, ...]:
    invariants.check_indices(indices)
    if indices.shape[1]:
        sizes = [most + 1 for most in invariants.bounds(indices)]
    else:
        sizes = [0] * indices.shape[0]
    return (*sizes, *values.shape[1:])


def _sparse_coo_tensor_unsafe(
    indices,
    values,
    size,
    *,
    dtype=None,
    device=None,
    requires_grad=False,
    check_invariants=None,
    is_coalesced=None,
) -> SparseTensor:
    """`sparse_coo_tensor` that looks at the indices only if it is asked to."""
    return sparse_coo_tensor(
        indices,
        values,
        size,
        dtype=dtype,
        device=device,
        requires_grad=requires_grad,
        check_invariants=bool(check_invariants),
        is_coalesced=is_coalesced,
    )


def _validate_sparse_coo_tensor_args(
    indices, values, size, is_coalesced=None, check_pinning=None
) -> None:
    """Raises RuntimeError unless these make a tensor in coordinates."""
    invariants.validate_coo(indices, values, size, is_coalesced)
