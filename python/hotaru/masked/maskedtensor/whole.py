"""Functions of a MaskedTensor as a whole."""

from __future__ import annotations

from ..._answering.table import answers
from ..._C import ops
from ..._tensor.refusals import no_imaginary_part
from . import unary
from ._kind import SPARSE, STRIDED, asked
from .core import data_of, mask_of, wrap
from .passthrough import passthrough


def _answers(*names: str):
    return answers(*names, of=STRIDED, asked=True)


@_answers("clone", "detach", "ones_like")
def _alike(function, input, **kwargs):
    return wrap(function(data_of(input), **kwargs), mask_of(input))


@answers("conj", "resolve_conj", "resolve_neg", "real", of=SPARSE, asked=True)
@_answers("conj", "resolve_conj", "resolve_neg", "real")
def _itself(function, input):
    return input


answers("imag", of=SPARSE, asked=True)(_answers("imag")(no_imaginary_part))


@answers("is_shared", of=SPARSE, asked=True)
@_answers("is_shared")
def _is_shared(function, input):
    return not input.is_sparse and function(data_of(input))


@_answers("type", "_type")
def _type(function, input, dtype=None, *args, **kwargs):
    if dtype is None:
        return function(data_of(input))
    return unary.cast(function, input, dtype, *args, **kwargs)


@_answers("_storage_type", "storage_type")
def _of_data(function, input):
    return function(data_of(input))


_NUMBERS = (
    "item",
    "__bool__",
    "__complex__",
    "__float__",
    "__int__",
    "__index__",
    "is_nonzero",
)


@answers(*_NUMBERS, of=SPARSE, asked=True)
@_answers(*_NUMBERS)
def _item(function, input):
    if input.numel() != 1:  # the error of any tensor
        return function(ops.zeros(1).expand(input.numel()))
    if input.is_sparse:
        with asked():
            return function(input.to_dense())
    if not bool(mask_of(input)):
        raise ValueError(
            "__torch_dispatch__, aten._local_scalar_dense: expected a mask tensor"
        )
    return function(data_of(input))


@answers("backward", of=SPARSE, asked=True)
@_answers("backward")
def _backward(function, input, gradient=None, *args, **kwargs):
    return function(data_of(input), data_of(gradient), *args, **kwargs)


@answers("is_same_size", of=SPARSE, asked=True)
@_answers("is_same_size")
def _is_same_size(function, input, other):
    return function(data_of(input), data_of(other))


@_answers("T")
def _transposed(accessor, input):
    return passthrough(ops.t, input)


@_answers(".data", ".grad")
def _of_accessor(accessor, input, *rest):
    found = accessor(input, *map(data_of, rest))
    return None if found is None else wrap(found, mask_of(input))
