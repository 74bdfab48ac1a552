"""Names by which a tensor speaks of itself: they are no operators.

A kind answers these as any tensor does, unless it has a handler of its own or
lists the name as one of its exceptions.
"""

from __future__ import annotations

from .names import words

_HISTORY = """
    _backward_hooks _is_view detach detach_ grad_mode is_inference
    register_hook register_post_accumulate_grad_hook requires_grad_ retain_grad
"""
_PLACE = """
    _has_format element_size get_device is_distributed is_pinned is_shared
    record_stream
"""
_SHAPE = """
    __len__ dense_dim dim is_contiguous is_same_size ndimension nelement numel
    size sparse_dim storage_offset stride
"""
_NUMBERS = """
    _is_zerotensor can_cast is_complex is_conj is_floating_point is_neg
    is_signed resolve_conj resolve_neg result_type type_of
"""
_OBJECT = """
    __class__ __dir__ __hash__ __setattr__ _names
    get_overridable_functions has_names hash is_autocast_enabled is_storage
    is_tensor
"""
ABOUT = frozenset(words(_HISTORY + _PLACE + _SHAPE + _NUMBERS + _OBJECT))

# By the kind: what it has no answer to, or answers by its elements.
_NOT = {
    "sparse": "__len__ is_pinned type_of record_stream",
    "nested": "dense_dim is_same_size is_contiguous resolve_conj resolve_neg "
    "size sparse_dim storage_offset stride",
    "quantized": "is_signed resolve_conj resolve_neg",
    "onednn": "is_pinned is_shared record_stream type_of",
    "masked": "_is_view dense_dim is_pinned sparse_dim",
    "distributed": "dense_dim is_pinned resolve_conj resolve_neg sparse_dim",
}


# Names that a kind answers so beside these.
_ALSO = {"sparse": "broadcast_tensors set_", "masked": "data_ptr dim_order"}

# Functions of other kinds of tensors, and such as have no meaning for it:
# refused, whatever their bodies would say.
_PARTS = """
    ccol_indices col_indices crow_indices indices is_coalesced row_indices
    sparse_dim dense_dim
"""
_REFUSED = {
    "sparse": "dequantize",
    "nested": "dequantize is_set_to" + _PARTS,
    "quantized": "is_set_to",
    "onednn": "_lazy_clone _typed_storage is_pinned is_set_to is_shared pin_memory "
    "share_memory_ storage storage_type untyped_storage",
    "masked": "",
    "distributed": "dense_dim dequantize is_set_to sparse_dim",
}


def refused(kind: str) -> frozenset:
    """The names that a kind of tensors refuses."""
    return frozenset(words(_REFUSED.get(kind, "")))


def about(kind: str) -> frozenset:
    """The names that a kind of tensors answers as any tensor does."""
    also = frozenset(words(_ALSO.get(kind, "")))
    return ABOUT - frozenset(words(_NOT.get(kind, ""))) | also
