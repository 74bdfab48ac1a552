"""The class of jagged tensors and what makes them, under PyTorch's names."""

from __future__ import annotations

from ..._C import Tensor
from ..._symbolic import SymInt
from .. import _ints, _jagged
from .._base import as_view
from .._jagged import (
    NestedTensor,
    ViewBufferFromNested,
    ViewNestedFromBuffer,
    _rebuild_njt,
)
from ..create import jagged_from_list, narrow

__all__ = [
    "NestedTensor",
    "ViewBufferFromNested",
    "ViewNestedFromBuffer",
    "_rebuild_njt",
    "buffer_from_jagged",
    "get_tensor_symint",
    "jagged_from_list",
    "jagged_from_tensor_and_lengths",
    "nested_from_padded",
    "nested_view_from_values_offsets",
    "nested_view_from_values_offsets_lengths",
]


_tensor_symint_registry = _ints.Registry()


def get_tensor_symint(tensor: Tensor, *, coeff: int = 1) -> SymInt:
    """The size that these offsets or lengths stand for."""
    return _ints.of(tensor) * coeff


def buffer_from_jagged(jagged: NestedTensor) -> Tensor:
    """The values."""
    return ViewBufferFromNested.apply(jagged)


def nested_view_from_values_offsets(
    values, offsets, ragged_idx: int = 1, min_seqlen=None, max_seqlen=None
) -> NestedTensor:
    """A view of values whose elements begin at the offsets."""
    return nested_view_from_values_offsets_lengths(
        values, offsets, None, ragged_idx, min_seqlen, max_seqlen
    )


def nested_view_from_values_offsets_lengths(
    values, offsets, lengths, ragged_idx: int = 1, min_seqlen=None, max_seqlen=None
) -> NestedTensor:
    """The same with elements of these lengths."""
    cache = {"min_seqlen": min_seqlen, "max_seqlen": max_seqlen}
    cache = {k: v for k, v in cache.items() if v is not None}
    made = _jagged.build(values, offsets, lengths, ragged_idx, cache)
    return as_view(made, values)


def nested_from_padded(
    padded, offsets, ragged_idx: int = 1, sum_S=None, min_seqlen=None, max_seqlen=None
) -> NestedTensor:
    """The elements of a padded tensor without what is behind them."""
    place = ragged_idx - 1
    rows = [
        row.narrow(place, 0, size)
        for row, size in zip(padded.unbind(0), offsets.diff().tolist())
    ]
    from ..._C import ops

    cache = {"min_seqlen": min_seqlen, "max_seqlen": max_seqlen}
    cache = {k: v for k, v in cache.items() if v is not None}
    return _jagged.build(ops.cat(rows, place), offsets, None, ragged_idx, cache)


def jagged_from_tensor_and_lengths(tensor, starts, lengths):
    """Rows starts to starts + lengths of (B, N, ...), the offsets, and the
    lengths where there are holes.
    """
    from ..._tensor.nested_names import jagged

    made = narrow(tensor, 1, starts, lengths, layout=jagged)
    return made, made._offsets, made._lengths
