"""Rules of shapes, strides and dimensions."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Sequence

from .. import _C, _check
from .._C import Tensor
from .._dims import no_dimensions, wrap_dim
from .dtypes import Number


def is_same_shape(a: Sequence, b: Sequence) -> bool:
    """True if two shapes are equal."""
    return tuple(a) == tuple(b)


same_shape = is_same_shape


def is_cpu_scalar_tensor(a) -> bool:
    """True of a tensor on the CPU without dimensions."""
    return isinstance(a, Tensor) and a.dim() == 0 and a.device.type == "cpu"


def _tensors_among(args, what: str, allow_cpu_scalar_tensors: bool):
    for arg in args:
        if isinstance(arg, Number):
            continue
        if not isinstance(arg, Tensor):
            raise RuntimeError(
                f"Unexpected type when checking for same {what}, {type(arg)}!"
            )
        if not (allow_cpu_scalar_tensors and is_cpu_scalar_tensor(arg)):
            yield arg


def check_same_device(*args, allow_cpu_scalar_tensors) -> None:
    """RuntimeError unless all tensors are on one device."""
    first = None
    if len(args) <= 1:
        return
    for arg in _tensors_among(args, "device", allow_cpu_scalar_tensors):
        first = arg.device if first is None else first
        if arg.device != first:
            raise RuntimeError(
                f"Tensor on device {arg.device} is not on the expected device {first}!"
            )


def check_same_shape(*args, allow_cpu_scalar_tensors: bool) -> None:
    """RuntimeError unless all tensors are of one shape."""
    first = None
    for arg in _tensors_among(args, "shape", allow_cpu_scalar_tensors):
        first = arg.shape if first is None else first
        if arg.shape != first:
            raise RuntimeError(f"Shape {arg.shape} is not the expected shape {first}!")


def extract_shape(*args, allow_cpu_scalar_tensors: bool):
    """The shape of all tensors; None where there are none, or several."""
    found = single = None
    for arg in args:
        if isinstance(arg, Number):
            continue
        if allow_cpu_scalar_tensors and is_cpu_scalar_tensor(arg):
            single = arg.shape
            continue
        found = arg.shape if found is None else found
        if arg.shape != found:
            return None
    return single if found is None else found


def canonicalize_device(device) -> _C.device:
    """The device of a name, or itself."""
    if not isinstance(device, (str, _C.device)):
        raise AssertionError(f"device must be torch.device or str, got {type(device)}")
    return _C.device(device)


def device_or_default(device):
    """The device; that of new tensors in the place of None."""
    return _C.get_default_device() if device is None else device


def layout_or_default(layout):
    """The layout; strided in the place of None."""
    return _C.strided if layout is None else layout


def canonicalize_dim(rank: int, idx: int, wrap_scalar: bool = True) -> int:
    """The dimension from 0 on; IndexError where there is none."""
    if rank < 0:
        raise IndexError(f"Rank cannot be negative but got {rank}")
    if rank == 0 and not wrap_scalar:
        raise no_dimensions(idx)
    return wrap_dim(idx, rank)


def canonicalize_dims(rank: int, indices, wrap_scalar: bool = True):
    """The same of one or several."""
    if isinstance(indices, int):
        return canonicalize_dim(rank, indices, wrap_scalar)
    return tuple(canonicalize_dim(rank, x, wrap_scalar) for x in indices)


def validate_dim_length(length: int) -> None:
    """Refuses negative lengths."""
    _check(length >= 0, lambda: f"length {length} is negative")


def validate_shape(shape) -> None:
    """Refuses shapes with negative lengths."""
    for length in shape:
        validate_dim_length(length)


def validate_strides(strides) -> None:
    """Refuses negative strides."""
    if any(stride < 0 for stride in strides):
        raise AssertionError(f"stride must be >= 0, got {strides}")


def validate_idx(rank: int, idx: int) -> None:
    """AssertionError unless it is a dimension, from 0 on."""
    if not (0 <= idx < rank or idx == 0):
        raise AssertionError(f"idx {idx} is out of bounds for rank {rank}")


def validate_dimension_indices(rank: int, indices) -> None:
    """The same of several."""
    for idx in indices:
        validate_idx(rank, idx)


def validate_exclusive_idx(rank: int, ex_idx: int) -> None:
    """AssertionError unless a range of dimensions may end before it."""
    if not 0 < ex_idx <= rank:
        raise AssertionError(
            f"ex_idx {ex_idx} is out of bounds for rank {rank} (must be in (0, rank])"
        )


def validate_no_repeating_dims(dims) -> None:
    """RuntimeError where a dimension appears twice."""
    if len(dims) != len(set(dims)):
        raise RuntimeError("duplicate value in the list of dims")


def is_valid_permutation(rank: int, perm) -> bool:
    """True if each dimension is named once."""
    return isinstance(perm, Sequence) and sorted(perm) == list(range(rank))


def apply_perm(inp, perm) -> tuple:
    """The elements of a sequence in another order."""
    if len(inp) != len(perm):
        raise AssertionError(
            f"inp and perm must have same length: {len(inp)} vs {len(perm)}"
        )
    return tuple(inp[p] for p in perm)


def invert_perm(perm) -> list:
    """The order that undoes another."""
    found = [-1] * len(perm)
    for place, p in enumerate(perm):
        found[p] = place
    return found


def extract_dims_from_varargs(dims):
    """Dimensions as a function got them: (1, 2), or ((1, 2),)."""
    single = len(dims) == 1 and isinstance(dims[0], Sequence)
    return dims[0] if single else dims


def extract_shape_from_varargs(shape, validate: bool = True):
    """The same of a shape, which is checked."""
    found = extract_dims_from_varargs(shape)
    if validate:
        validate_shape(found)
    return found


def infer_size(shape, numel: int) -> tuple:
    """The shape for that many elements, with the length in the place of -1."""
    open_dims = [place for place, length in enumerate(shape) if length == -1]
    _check(len(open_dims) <= 1, lambda: "only one dimension can be inferred")
    known = 1
    for length in shape:
        _check(length >= -1, lambda n=length: f"invalid shape dimension {n}")
        known *= 1 if length == -1 else length
    text = f"shape '{list(shape)}' is invalid for input of size {numel}"
    if not open_dims:
        _check(numel == known, lambda: text)
        return tuple(shape)
    if known == 0 and numel == 0:
        text = (
            f"cannot reshape tensor of 0 elements into shape {list(shape)} because "
            "the unspecified dimension size -1 can be any value and is ambiguous"
        )
    _check(known != 0 and numel % known == 0, lambda: text)
    found = list(shape)
    found[open_dims[0]] = numel // known
    return tuple(found)


def infer_size_shapes(a, b) -> tuple:
    """The shape that two broadcast to."""
    return tuple(_C._infer_size(a, b))


def is_expandable_to(shape, desired) -> bool:
    """True if a shape broadcasts to the desired one."""
    pairs = zip(reversed(shape), reversed(desired))
    return len(shape) <= len(desired) and all(a in (b, 1) for a, b in pairs)


def prod(xs) -> int:
    """The product."""
    return functools.reduce(operator.mul, xs, 1)


# --- strides ---


def make_contiguous_strides_for(shape, row_major: bool = True) -> tuple:
    """Strides of a contiguous tensor; else of a batch of matrices that are
    contiguous by columns.
    """
    validate_shape(shape)
    found, step = [], 1
    for length in reversed(shape):
        found.append(step)
        step *= max(length, 1)
    strides = tuple(reversed(found))
    if row_major or len(shape) < 2:
        return strides
    return (*strides[:-2], 1, max(shape[-2], 1))


def _channels_last(shape, order) -> tuple:
    _check(
        len(shape) == len(order),
        lambda: f"Only tensors of rank {len(order)} can use this memory format",
    )
    strides, step = [0] * len(order), 1
    for place in order:
        strides[place] = step
        step *= shape[place]
    return tuple(strides)


def make_channels_last_1d_strides_for(shape) -> tuple:
    """Strides of (N, C, L) with the channels next to each other."""
    return _channels_last(shape, (1, -1, 0))


def make_channels_last_2d_strides_for(shape) -> tuple:
    """The same of (N, C, H, W)."""
    return _channels_last(shape, (1, -1, -2, 0))


def make_channels_last_3d_strides_for(shape) -> tuple:
    """The same of (N, C, D, H, W)."""
    return _channels_last(shape, (1, -1, -2, -3, 0))


def make_channels_last_strides_for(shape) -> tuple:
    """The same of three to five dimensions."""
    makers = {
        3: make_channels_last_1d_strides_for,
        4: make_channels_last_2d_strides_for,
        5: make_channels_last_3d_strides_for,
    }
    if len(shape) not in makers:
        raise RuntimeError(
            f"no channels last format strides exist in {len(shape)} dimensions"
        )
    return makers[len(shape)](shape)


def is_contiguous(a) -> bool:
    """True if elements lie one behind the other."""
    return a.is_contiguous()


is_contiguous_or_false = is_contiguous


def is_channels_last_contiguous_2d(a) -> bool:
    """True if it is contiguous in the format `channels_last`."""
    return a.dim() == 4 and a.is_contiguous(memory_format=_C.channels_last)


def is_channels_last_contiguous_3d(a) -> bool:
    """True if it is contiguous in the format `channels_last_3d`."""
    return a.dim() == 5 and a.is_contiguous(memory_format=_C.channels_last_3d)


def is_channels_last_contiguous(a) -> bool:
    """True if it is contiguous in one of these."""
    return is_channels_last_contiguous_2d(a) or is_channels_last_contiguous_3d(a)


def validate_memory_format(memory_format) -> None:
    """Refuses formats that are none."""
    known = (
        _C.contiguous_format,
        _C.preserve_format,
        _C.channels_last,
        _C.channels_last_3d,
    )
    _check(
        memory_format in known,
        lambda: f"Received unknown memory format {memory_format}!",
    )


def is_contiguous_for_memory_format(a, *, memory_format) -> bool:
    """True if it is contiguous in a format."""
    validate_memory_format(memory_format)
    return a.is_contiguous(memory_format=memory_format)


def is_non_overlapping_and_dense_or_false(a) -> bool:
    """True if the elements fill their memory, each once."""
    if a.layout is not _C.strided:
        return False
    step = 1
    for stride, length in sorted(zip(a.stride(), a.shape)):
        if length > 1:
            if stride != step:
                return False
            step *= length
    return True


def suggest_memory_format(x):
    """The format that the strides are of."""
    if x.layout is _C.strided:
        if x.dim() == 4 and _like_channels_last(x, (1, 3, 2, 0)):
            return _C.channels_last
        if x.dim() == 5 and _like_channels_last(x, (1, 4, 3, 2, 0)):
            return _C.channels_last_3d
    return _C.contiguous_format


def _like_channels_last(x, order) -> bool:
    least = 0
    strides = x.stride()
    if strides[1] == 0:
        return False
    for place in order:
        length, stride = x.shape[place], strides[place]
        if length == 0 or stride < least:
            return False
        if place == 0 and least == strides[1]:
            return False
        least = stride * max(length, 1)
    return True


def compute_required_storage_length(shape, strides, storage_offset: int) -> int:
    """How many elements memory has at least that a tensor lies in."""
    if 0 in shape:
        return 0
    return 1 + storage_offset + sum((n - 1) * s for n, s in zip(shape, strides))


def check_in_bounds_for_storage(a, shape, strides, storage_offset: int) -> None:
    """ValueError unless the memory has a tensor's elements."""
    needed = compute_required_storage_length(shape, strides, storage_offset)
    if a.size() < needed:
        raise ValueError(
            f"Can't view a storage of size {a.size()} with an offset of "
            f"{storage_offset}, shape of {shape}, and strides of {strides}, "
            f"which requires a storage of size {needed}"
        )


def clone_preserve_strides(x: Tensor) -> Tensor:
    """A copy of all memory up to the last element, with the same strides."""
    size = compute_required_storage_length(x.shape, x.stride(), 0)
    whole = x.as_strided((size,), (1,), x.storage_offset()).clone()
    return whole.as_strided(x.shape, x.stride())


# --- reductions ---


def compute_reduction_output_shape(shape, dimensions) -> tuple:
    """The shape without some dimensions."""
    validate_dimension_indices(len(shape), dimensions)
    return tuple(n for place, n in enumerate(shape) if place not in dimensions)


def reduction_dims(shape, dims) -> tuple:
    """The dimensions from 0 on; all in the place of None."""
    if dims is None:
        return tuple(range(len(shape)))
    found = tuple(canonicalize_dim(len(shape), idx) for idx in dims)
    validate_no_repeating_dims(found)
    return found


def set_correction(unbiased=None, correction=None) -> float:
    """How many are taken from the count of a variance, by either name."""
    if correction is not None and unbiased is not None:
        raise RuntimeError("cannot specify both correction and unbiased arguments")
    if correction is None:
        correction = 0.0 if unbiased is False else 1.0
    if not isinstance(correction, (int, float)):
        raise ValueError("correction argument should be integer or float")
    return math.nan if correction != correction else float(correction)


def check_is_matrix(A: Tensor, f_name: str, arg_name: str = "A") -> None:
    """RuntimeError unless there are two dimensions at least."""
    _check(
        A.dim() >= 2,
        lambda: (
            f"{f_name}: The input tensor {arg_name} must have at least 2 dimensions."
        ),
    )


def check_fp_or_complex(dtype, fn_name: str, allow_low_precision_dtypes: bool = True):
    """RuntimeError unless a dtype is of floats or complex numbers."""
    _check(
        dtype.is_floating_point or dtype.is_complex,
        lambda: (
            f"{fn_name}: Expected a floating point or complex tensor as input. "
            f"Got {dtype}"
        ),
    )
    low = (_C.float16, _C.bfloat16, _C.complex32)
    _check(
        allow_low_precision_dtypes or dtype not in low,
        lambda: f"{fn_name}: Half precision dtypes not supported. Got {dtype}",
    )
