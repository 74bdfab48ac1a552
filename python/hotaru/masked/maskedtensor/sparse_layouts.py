"""MaskedTensors whose data and mask are in a sparse layout.

Both have elements at the same indices: functions of each element are those of
the values. This is loaded for the first of them.
"""

from __future__ import annotations

import warnings

import hotaru

from ... import _C
from ..._answering.names import writes
from ..._answering.table import answers
from ..._C import Tensor
from ...sparse import coo
from ...sparse.masks import values_at
from ...sparse.tensor import SparseTensor, parts_of, values_of, with_values
from .. import _sparse as masked_sparse
from ._kind import SPARSE, asked
from .binary import BINARY_NAMES, INPLACE_BINARY_NAMES, check_keywords
from .core import MaskedTensor, _masks_match, data_of, mask_of, wrap
from .passthrough import PASSTHROUGH_NAMES
from .reductions import REDUCE_NAMES
from .unary import CAST_NAMES, INPLACE_UNARY_NAMES, UNARY_NAMES, check_no_keywords

_LATER = " If you need support for this, please open an issue on Github."


def of_masked(tensor: MaskedTensor) -> SparseTensor:
    """Its data, with its history."""
    return _C._as_subclass(SparseTensor, tensor)


def prepared(data: Tensor, mask: Tensor) -> tuple:
    """Both coalesced, the data with an element wherever the mask has one."""
    if data.layout is _C.sparse_coo:
        data, mask = coo.coalesce(data), coo.coalesce(mask)
    if data.layout in (_C.sparse_coo, _C.sparse_csr) and (
        parts_of(data).values.shape != parts_of(mask).values.shape
    ):
        data = masked_sparse.where(mask, data, hotaru.tensor(0))
    return data, mask


def check_indices(data: SparseTensor, mask: SparseTensor) -> None:
    """ValueError where data and mask have elements at other indices."""
    if _same_indices(data, mask):
        return
    if data.layout is _C.sparse_coo:
        raise ValueError(
            "data and mask are both sparse COO tensors but do not have the "
            "same indices."
        )
    raise ValueError(
        "data and mask are both sparse CSR tensors but do not share either "
        "crow or col indices."
    )


def _same_indices(a: SparseTensor, b: SparseTensor) -> bool:
    a, b = parts_of(a), parts_of(b)
    return _equal(a.index, b.index) and _equal(a.inner, b.inner)


def _equal(a: Tensor | None, b: Tensor | None) -> bool:
    return a is b or (a.shape == b.shape and hotaru.equal(a, b))


def match(a: Tensor, b: Tensor, exact: bool, rtol, atol) -> bool:
    """True if two sparse tensors of one layout agree: see `_tensors_match`."""
    if not _same_indices(a, b):
        return False
    a, b = parts_of(a).values, parts_of(b).values.to(a.dtype)
    if a.shape != b.shape:
        return False
    if exact:
        return bool((a == b).all())
    return hotaru.allclose(a, b, rtol=rtol, atol=atol)


def dense(tensor: MaskedTensor) -> MaskedTensor:
    """Data and mask in `strided` layout."""
    if not tensor.is_sparse:
        return tensor
    return wrap(tensor.get_data().to_dense(), tensor.get_mask().to_dense())


def sparse(tensor: MaskedTensor, layout) -> MaskedTensor:
    """Data and mask in that layout; elements are those of the mask."""
    if tensor.layout is layout:
        return tensor
    mask = tensor.get_mask().to_sparse(layout=layout)
    if layout is _C.sparse_coo:
        mask = coo.coalesce(mask)
    values = values_at(tensor.get_data(), mask).clone()
    return wrap(with_values(mask, values), mask)


def _answers(*names: str):
    return answers(*names, of=SPARSE, asked=True)


@_answers(".grad", ".data")
def _of_accessor(accessor, self, *rest):
    if rest:
        return accessor(self, *map(data_of, rest))
    if accessor.__self__.__name__ == "data":
        return wrap(of_masked(self).detach(), mask_of(self))
    found = accessor(self)
    if found is None:
        return None
    if not isinstance(found, SparseTensor):
        found = _C._as_subclass(SparseTensor, found)
    return wrap(*prepared(found, mask_of(self)))


@_answers("isfinite", "isreal", *UNARY_NAMES, *INPLACE_UNARY_NAMES)
def _unary(function, input, *args, **kwargs):
    check_no_keywords(kwargs)
    return _written(function, input, _mapped(function, input, *args, **kwargs))


def _mapped(function, input, *args, **kwargs):
    data = data_of(input)
    with_new = function(values_of(data), *args, **kwargs)
    if writes(function.__name__):
        return data
    return with_values(data, with_new)


def _written(function, input, data):
    if writes(function.__name__):
        return input
    return wrap(data, mask_of(input))


@_answers("cpu", *CAST_NAMES)
def _cast(function, input, *args, **kwargs):
    data = data_of(input)
    values = values_of(data)
    found = function(values, *args, **kwargs)
    if found is values:
        return input
    return wrap(with_values(data, found), mask_of(input))


@_answers("clone", "detach", "ones_like", "zeros_like")
def _alike(function, input, *args, **kwargs):
    return wrap(_mapped(function, input, *args, **kwargs), mask_of(input))


@_answers(*BINARY_NAMES, *INPLACE_BINARY_NAMES)
def _binary(function, first, second, *args, **kwargs):
    check_keywords(kwargs)
    if not _masks_match(first, second):
        raise ValueError(f"Input masks must match.{_LATER}")
    masked = first if isinstance(first, MaskedTensor) else second
    pair = [data_of(first), data_of(second)]
    pattern = data_of(masked)
    for x in pair:
        if not isinstance(x, Tensor) or x is pattern or x.dim() == 0:
            continue
        if x.layout is not pattern.layout:
            raise ValueError(
                "data and mask of binary functions must have one layout, but "
                f"got {pair[0].layout} and {x.layout}"
            )
        _check_pair(pattern, x)
    values = [values_of(x) if isinstance(x, SparseTensor) else x for x in pair]
    found = function(*values, *args, **kwargs)
    return _written(
        function,
        first if writes(function.__name__) else masked,
        pattern if writes(function.__name__) else with_values(pattern, found),
    )


def _check_pair(a: SparseTensor, b: SparseTensor) -> None:
    if not _same_indices(a, b):
        kind = str(a.layout).removeprefix("torch.")
        raise ValueError(f"{kind} indices must match.{_LATER}")
    if a.shape != b.shape:
        raise ValueError(
            "input1 and input2 must have the same size for binary functions."
        )


@_answers(*REDUCE_NAMES)
def _reduce(function, input, *args, **kwargs):
    from ... import masked

    name = function.__name__
    if args or kwargs or name == "all":
        warnings.warn(
            f"The sparse version of {name} is not implemented in reductions.\n"
            "Convert with to_dense() first.",
            stacklevel=3,
        )
        return NotImplemented
    data, mask = data_of(input), parts_of(mask_of(input)).values
    values = values_of(data)
    found = getattr(masked, name)(values, mask=mask)
    if name in ("argmin", "argmax"):
        if data.layout is not _C.sparse_coo:
            return NotImplemented
        found = _position(data, int(found)).to(data.dtype)
    return wrap(found, mask.any())


def _position(data: SparseTensor, place: int) -> Tensor:
    """Where the element is in the tensor, all dimensions as one."""
    parts, size = parts_of(data), tuple(data.shape)
    inside = parts.values[0].numel() if parts.values.dim() > 1 else 1
    row = coo.flat_index(parts.index, size)[place // inside]
    return row * inside + place % inside


@_answers("H", "T", "adjoint", "mH", "mT", *PASSTHROUGH_NAMES)
def _passed(function, input, *args, **kwargs):
    """Moves elements, where sparse tensors have the function."""
    try:
        with asked():
            data = function(data_of(input), *args, **kwargs)
            mask = function(mask_of(input), *args, **kwargs)
            return wrap(*prepared(data, mask))
    except NotImplementedError:
        return NotImplemented


@_answers("_type", "type")
def _type(function, input, dtype=None, *args, **kwargs):
    if dtype is None:
        return function(data_of(input))
    return _cast(function, input, dtype, *args, **kwargs)


@_answers("is_contiguous", "contiguous")
def _no_strides(function, input, *args, **kwargs):
    if input.layout is _C.sparse_csr:
        raise RuntimeError("Sparse CSR tensors do not have is_contiguous")
    raise ValueError("MaskedTensors with sparse data do not have is_contiguous")


@_answers("broadcast_tensors")
def _broadcast_tensors(function, *tensors):
    if any(x.shape != tensors[0].shape for x in tensors):
        return NotImplemented
    return list(tensors)
