"""Refusals of tensors of the layout `_mkldnn`, and the table of who answers."""

from __future__ import annotations

from .._answering.names import base_name, words
from .._answering.table import Table
from .._tensor.refusals import no_pointer

NOT_ONEDNN = "itensor_from_mkldnn expects MKL-DNN tensor input"

# Operators of one element each, whose refusal is the iterator's in PyTorch.
_POINTWISE = frozenset(
    words(
        "acos acosh asin asinh atan atan2 atanh arccos arccosh arcsin arcsinh arctan "
        "arctan2 arctanh bitwise_and bitwise_not bitwise_or bitwise_xor ceil clamp "
        "clamp_max clamp_min copysign cos cosh digamma div eq erf erfc erfinv exp "
        "exp2 expm1 floor floor_divide fmax fmin fmod frac ge gt i0 isclose allclose "
        "le lerp leaky_relu lgamma log log10 log1p log2 logaddexp logaddexp2 "
        "logical_and logical_or logical_xor logit lt maximum minimum nan_to_num ne "
        "neg pow reciprocal remainder round rsqrt sgn sign signbit silu sin sinc "
        "sinh sqrt square sub tan trunc where xlogy addcmul addcdiv"
    )
)
_OF_STORAGE = frozenset(
    words(
        "__deepcopy__ __reduce_ex__ __reduce__ _conj _lazy_clone _neg_view "
        "_typed_storage is_pinned is_shared pin_memory share_memory_ squeeze_ "
        "storage storage_type untyped_storage"
    )
)
_WITHOUT_POINTER = frozenset(words("data_ptr const_data_ptr tolist"))
_WITH_FORMAT = frozenset(
    words("bernoulli cat concat concatenate interpolate isreal log_softmax stack")
)


def no_format() -> RuntimeError:
    """The error of a memory format, which the layout has none of."""
    return RuntimeError("'memory_format' argument is incompatible with mkldnn tensor")


def elsewhere(kind: str) -> NotImplementedError:
    """The error of a device other than the CPU, by the name of its kind."""
    return NotImplementedError(f"Unsupported device type for mkldnn layout: {kind}")


def refusal(name: str) -> Exception:
    """The error of what the layout does not have, as PyTorch has it."""
    if name in _OF_STORAGE:
        return no_storage()
    if name in _WITHOUT_POINTER:
        return no_pointer()
    if name in _WITH_FORMAT or name.startswith("upsample_"):
        return no_format()
    if base_name(name) in _POINTWISE:
        return RuntimeError("unsupported tensor layout: Mkldnn")
    return refused(name)


def no_storage() -> NotImplementedError:
    """The error of what needs memory in one piece."""
    return NotImplementedError("Cannot access storage of OpaqueTensorImpl")


def refused(name: str) -> NotImplementedError:
    """The error of an operator that the layout does not have."""
    return NotImplementedError(
        f"Could not run 'aten::{name}' with arguments from the 'MkldnnCPU' "
        "backend. This could be because the operator doesn't exist for this "
        "backend: convert with to_dense()."
    )


HANDLERS = Table()
