"""Nested tensors: `torch.nested`, tensors of tensors of different sizes.

The layout strided takes elements of any sizes and the operators that PyTorch
has for it; the layout jagged one ragged dimension and nearly all operators.
"""

from . import (
    _jagged_compute,
    _jagged_pointwise,
    _jagged_reduce,
    _jagged_shape,
    _strided_compute,
    _strided_pointwise,
    _strided_shape,
)
from .create import (
    as_nested_tensor,
    masked_select,
    narrow,
    nested_tensor,
    nested_tensor_from_jagged,
    to_padded_tensor,
)

__all__ = [
    "as_nested_tensor",
    "masked_select",
    "narrow",
    "nested_tensor",
    "nested_tensor_from_jagged",
    "to_padded_tensor",
]
