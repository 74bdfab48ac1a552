"""Names for annotations: one number for all axes, or one an axis."""

from __future__ import annotations

from typing import Optional, TypeVar, Union

from .. import Tensor

_T = TypeVar("_T")
# Subscripted as types are: _scalar_or_tuple_2_t[float].
_scalar_or_tuple_any_t = Union[_T, tuple[_T, ...]]
_scalar_or_tuple_1_t = Union[_T, tuple[_T]]
_scalar_or_tuple_2_t = Union[_T, tuple[_T, _T]]
_scalar_or_tuple_3_t = Union[_T, tuple[_T, _T, _T]]
_scalar_or_tuple_4_t = Union[_T, tuple[_T, _T, _T, _T]]
_scalar_or_tuple_5_t = Union[_T, tuple[_T, _T, _T, _T, _T]]
_scalar_or_tuple_6_t = Union[_T, tuple[_T, _T, _T, _T, _T, _T]]

# Kernels, strides, paddings.
_size_any_t = _scalar_or_tuple_any_t[int]
_size_1_t = _scalar_or_tuple_1_t[int]
_size_2_t = _scalar_or_tuple_2_t[int]
_size_3_t = _scalar_or_tuple_3_t[int]
_size_4_t = _scalar_or_tuple_4_t[int]
_size_5_t = _scalar_or_tuple_5_t[int]
_size_6_t = _scalar_or_tuple_6_t[int]

# Sizes of outputs that may stay what they are.
_size_any_opt_t = _scalar_or_tuple_any_t[Optional[int]]
_size_2_opt_t = _scalar_or_tuple_2_t[Optional[int]]
_size_3_opt_t = _scalar_or_tuple_3_t[Optional[int]]

# Factors of scale.
_ratio_any_t = _scalar_or_tuple_any_t[float]
_ratio_2_t = _scalar_or_tuple_2_t[float]
_ratio_3_t = _scalar_or_tuple_3_t[float]

_tensor_list_t = _scalar_or_tuple_any_t[Tensor]
# Results of pooling that may return its maxima's places.
_maybe_indices_t = _scalar_or_tuple_2_t[Tensor]
