"""Rules that indices and values must obey to be a sparse tensor, and the
setting whether that is looked at where one is made.
"""

from __future__ import annotations

import functools
import math

from .. import _C
from .._C import Tensor
from .checks import check_sparse_dims

_enabled = False
_MOST = 2**63 - 1


class check_sparse_tensor_invariants:  # noqa: N801
    """Setting whether making a sparse tensor looks at its indices.

    A context manager and a decorator, which restores what was before; `enable`,
    `disable` and `is_enabled` are of the whole process. The argument
    `check_invariants` of functions that make sparse tensors goes before it.
    """

    def __init__(self, enable: bool = True):
        self.state = enable
        self.saved_state: bool | None = None

    @staticmethod
    def is_enabled() -> bool:
        """Tells whether indices are looked at."""
        return _enabled

    @staticmethod
    def enable() -> None:
        """From now on they are."""
        _switch(True)

    @staticmethod
    def disable() -> None:
        """From now on they are not."""
        _switch(False)

    def __enter__(self) -> None:
        if self.saved_state is not None:
            raise RuntimeError(
                "This context manager instance is already activated. "
                "Use a different context manager instance for context nesting."
            )
        self.saved_state = _enabled
        _switch(self.state)

    def __exit__(self, *exception) -> None:
        _switch(self.saved_state)
        self.saved_state = None

    def __call__(self, function):
        @functools.wraps(function)
        def checked(*args, **kwargs):
            with type(self)(self.state):
                return function(*args, **kwargs)

        return checked


def _switch(value: bool) -> None:
    global _enabled
    _enabled = value


def wanted(check_invariants: bool | None) -> bool:
    """Tells whether a function with this argument looks at the indices."""
    return _enabled if check_invariants is None else check_invariants


def check_numel(size) -> None:
    """Raises RuntimeError where elements cannot be counted."""
    size = tuple(size)
    if any(n < 0 for n in size) or math.prod(size) > _MOST:
        raise RuntimeError("numel: integer multiplication overflow")


def check_parts(indices: Tensor, values: Tensor, size) -> None:
    """Raises RuntimeError unless shapes of the parts fit: (sparse_dim, nnz),
    (nnz, dense sizes...) and the size.
    """
    check_indices(indices)
    check_numel(size)
    dims = indices.shape[0]
    if values.dim() == 0 or values.shape[0] != indices.shape[1]:
        count = values.shape[0] if values.dim() else 1
        raise RuntimeError(
            "indices and values must have same nnz, but got nnz from indices: "
            f"{indices.shape[1]}, nnz from values: {count}"
        )
    check_sparse_dims(size, dims, values.dim() - 1)
    expected = [indices.shape[1], *size[dims:]]
    if list(values.shape) != expected:
        raise RuntimeError(
            f"values has incorrect size, expected {expected}, got {list(values.shape)}"
        )


def check_indices(indices: Tensor) -> None:
    """Raises RuntimeError unless indices are a matrix."""
    if indices.dim() != 2:
        raise RuntimeError(
            f"indices must be sparse_dim x nnz, but got: {list(indices.shape)}"
        )


def bounds(indices: Tensor) -> list[int]:
    """The largest index of each dimension, of at least one element.

    Raises RuntimeError where one is negative.
    """
    least, most = indices.amin(1).tolist(), indices.amax(1).tolist()
    for d, index in enumerate(least):
        if index < 0:
            raise RuntimeError(f"found negative index {index} for dim {d}")
    return most


def validate_coo(
    indices: Tensor, values: Tensor, size, is_coalesced: bool | None = None
) -> None:
    """Raises RuntimeError unless these are parts of a tensor in coordinates;
    with `is_coalesced`, unless indices are sorted and different, too.
    """
    size = tuple(size)
    indices, values = indices.detach(), values.detach()
    check_indices(indices)
    dims = indices.shape[0]
    if len(size) != dims + values.dim() - 1:
        raise RuntimeError(
            f"number of dimensions must be sparse_dim ({dims}) + dense_dim "
            f"({values.dim() - 1}), but got {len(size)}"
        )
    check_parts(indices, values, size)
    if indices.numel() == 0 or indices.is_meta:
        return
    for d, most in enumerate(bounds(indices)):
        if most >= size[d]:
            raise RuntimeError(
                f"size is inconsistent with indices: for dim {d}, size is "
                f"{size[d]} but found index {most}"
            )
    if is_coalesced and indices.shape[1] > 1:
        from .coo import flat_index

        flat = flat_index(indices.to(_C.int64), size)
        if not bool((flat[1:] > flat[:-1]).all()):
            raise RuntimeError(
                "cannot set is_coalesced to true if indices correspond to "
                "uncoalesced COO tensor"
            )
