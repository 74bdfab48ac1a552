"""PyTorch's primitive operators: those that take operands of one shape and one
dtype, and neither promote nor broadcast.
"""

from __future__ import annotations

import functools

import hotaru

from .. import _C
from .._C import Tensor
from .._library.definitions import Library
from .._prims_common import dtypes, shapes

DEFINED: dict = {}
"""By name the signature and the function."""

_UNARY = """
    abs acos acosh asin asinh atan atanh bitwise_not ceil conj_physical cos cosh
    digamma erf erfc exp exp2 expm1 floor isfinite lgamma log log10 log1p log2 neg
    real imag reciprocal round rsqrt sign signbit sin sinh sqrt tan tanh trunc
"""
_SPECIAL = {
    "bessel_i0": "i0",
    "bessel_i0e": "i0e",
    "bessel_i1": "i1",
    "bessel_i1e": "i1e",
    "bessel_j0": "bessel_j0",
    "bessel_j1": "bessel_j1",
    "erf_inv": "erfinv",
    "erfcx": "erfcx",
    "ndtri": "ndtri",
    "spherical_bessel_j0": "spherical_bessel_j0",
}
_BINARY = """
    add atan2 bitwise_and bitwise_or bitwise_xor eq fmax fmin fmod gcd ge gt hypot
    igamma igammac le lt maximum minimum mul ne nextafter pow remainder sub zeta
"""
_RENAMED = {
    "shift_left": "bitwise_left_shift",
    "shift_right_arithmetic": "bitwise_right_shift",
    "zeta": "special_zeta",
}
_ONE = "(Tensor self) -> Tensor"
_TWO = "(Tensor self, Tensor other) -> Tensor"


def _defined(name: str, schema: str):
    def register(function):
        function.__name__ = function.__qualname__ = name
        DEFINED[name] = schema, function
        return function

    return register


def _unary(name: str, operator) -> None:
    def function(self: Tensor) -> Tensor:
        return operator(self)

    function.__doc__ = f"`{name}` of each element."
    _defined(name, _ONE)(function)


def _check_operands(*operands) -> None:
    shapes.check_same_device(*operands, allow_cpu_scalar_tensors=True)
    shapes.check_same_shape(*operands, allow_cpu_scalar_tensors=True)
    dtypes.check_same_dtype(*operands)


def _number(value):
    return hotaru.tensor(value) if isinstance(value, dtypes.Number) else value


def _binary(name: str, operator) -> None:
    def function(self, other) -> Tensor:
        _check_operands(self, other)
        return operator(_number(self), other)

    function.__doc__ = f"`{name}` of elements at equal places."
    _defined(name, _TWO)(function)


def _operator(name: str):
    return getattr(_C.ops, name)


for _name in _UNARY.split():
    _unary(_name, _operator(_name))
for _name, _other in _SPECIAL.items():
    _unary(_name, getattr(hotaru.special, _other))
for _name in _BINARY.split():
    _binary(_name, _operator(_RENAMED.get(_name, _name)))
for _name in ("shift_left", "shift_right_arithmetic"):
    _binary(_name, _operator(_RENAMED[_name]))


def _quotient(self, other):
    whole = not dtypes.is_grad_dtype(dtypes.get_dtype(self))
    return _C.ops.div(self, other, rounding_mode="trunc" if whole else None)


_binary("div", _quotient)


def _cube_root(self: Tensor) -> Tensor:
    if not dtypes.is_grad_dtype(self.dtype):
        self = self.to(_C.get_default_dtype())
    root = _C.ops.pow(self.abs().double(), 1 / 3)
    # One step of Newton's: a third is no double.
    step = (root * root * root - self.abs().double()) / (3 * root * root)
    root = _C.ops.where(root == 0, root, root - step)
    root = _C.ops.where(root.isfinite(), root, self.abs().double())
    return _C.ops.copysign(root.to(self.dtype), self)


_unary("cbrt", _cube_root)


@_defined("conj", "(Tensor(a) a) -> Tensor(a)")
def conj(a):
    """Conjugates; of real numbers an alias."""
    return _C.ops.conj(a) if a.is_complex() else a.view_as(a)


@_defined("frexp", "(Tensor self) -> (Tensor mantissa, Tensor exponent)")
def frexp(self):
    """Mantissas and exponents of two."""
    return _C.ops.frexp(self)


@_defined("fill", "(Tensor self, Scalar value) -> Tensor")
def fill(self, value):
    """A tensor like another one, of one number."""
    return _C.ops.full_like(self, value)


@_defined("where", "(Tensor pred, Tensor a, Tensor b) -> Tensor")
def where(pred, a, b):
    """Elements of `a` where `pred` is true, else of `b`."""
    _check_operands(a, b)
    shapes.check_same_shape(pred, a, b, allow_cpu_scalar_tensors=True)
    return _C.ops.where(pred, a, b)


# --- shapes ---


@_defined(
    "as_strided",
    "(Tensor(a!) a, SymInt[] size, SymInt[] stride, "
    "SymInt storage_offset) -> Tensor(a!)",
)
def as_strided(a, size, stride, storage_offset):
    """A view of the memory."""
    return a.as_strided(size, stride, storage_offset)


@_defined(
    "broadcast_in_dim",
    "(Tensor(a) a, SymInt[] shape, int[] broadcast_dimensions) -> Tensor(a)",
)
def broadcast_in_dim(a, shape, broadcast_dimensions):
    """A view of that shape: dimension i of `a` is `broadcast_dimensions[i]`.

    RuntimeError for lengths that do not fit.
    """
    places = list(broadcast_dimensions)
    if a.dim() != len(places):
        raise AssertionError(
            f"a.ndim ({a.dim()}) != len(broadcast_dimensions) ({len(places)})"
        )
    if any(x >= y for x, y in zip(places, places[1:])):
        raise AssertionError("broadcast_dimensions must be strictly ascending")
    shapes.validate_dimension_indices(len(shape), places)
    for length, place in zip(a.shape, places):
        if length not in (1, shape[place]):
            raise RuntimeError(f"{length} must be broadcastable to {shape[place]}")
    for place in range(len(shape)):
        if place not in places:
            a = a.unsqueeze(place)
    return a.expand(shape)


def _check_range(a, start: int, end: int) -> tuple[int, list]:
    rank = max(1, a.dim())
    for idx in (start, end):
        shapes.validate_idx(rank, idx)
    if end < start:
        raise AssertionError(f"start ({start}) must be <= end ({end})")
    if a.dim() == 0:
        return 1, [1]
    length = shapes.prod(a.shape[start : end + 1])
    return length, [*a.shape[:start], length, *a.shape[end + 1 :]]


@_defined("collapse_view", "(Tensor(a) a, int start, int end) -> Tensor(a)")
def collapse_view(a, start, end):
    """Dimensions from `start` to `end` as one; RuntimeError where no view is so."""
    _, shape = _check_range(a, start, end)
    try:
        return a.view(shape)
    except RuntimeError as error:
        raise RuntimeError(
            "Attempting to view a collapsed tensor, but no such view exists!"
        ) from error


def _copied(a: Tensor, shape) -> Tensor:
    """A copy of another shape, which is no view."""
    made = a.reshape(shape)
    return made.clone() if made is a or made._is_view() else made


@_defined("collapse", "(Tensor a, int start, int end) -> Tensor")
def collapse(a, start, end):
    """The same as a copy."""
    _, shape = _check_range(a, start, end)
    return _copied(a, shape)


def expand_dims(a: Tensor, dimensions, ndim: int | None = None) -> Tensor:
    """A view with dimensions of length 1 at the places named."""
    rank = a.dim() + len(dimensions) if ndim is None else ndim
    places = sorted(shapes.canonicalize_dims(rank, dimensions))
    if len(set(places)) != len(places):
        raise ValueError(f"Received duplicate dimensions to expand in {dimensions}")
    kept = [place for place in range(rank) if place not in places]
    shape = [1] * rank
    for length, place in zip(a.shape, kept):
        shape[place] = length
    return broadcast_in_dim(a, shape, kept)


@_defined("split_dim", "(Tensor(a) a, int dim, SymInt outer_length) -> Tensor(a)")
def split_dim(a, dim, outer_length):
    """A view with a dimension as two; ValueError where the length is no
    multiple.
    """
    shapes.validate_idx(a.dim(), dim)
    shapes.validate_dim_length(outer_length)
    inner, rest = divmod(a.shape[dim], outer_length)
    if rest:
        raise ValueError(
            f"Attempting to split dimension of length {a.shape[dim]}, but outer "
            f"length of {outer_length} divides it with a remainder!"
        )
    return a.view([*a.shape[:dim], outer_length, inner, *a.shape[dim + 1 :]])


@_defined("squeeze", "(Tensor(a) a, int[] dimensions) -> Tensor(a)")
def squeeze(a, dimensions):
    """A view without these dimensions; AssertionError unless they are 1 long."""
    for place in dimensions:
        shapes.validate_idx(a.dim(), place)
        if a.shape[place] != 1:
            raise AssertionError(
                f"Cannot squeeze dimension {place} with size {a.shape[place]} "
                "(must be 1)"
            )
    return a.squeeze(tuple(dimensions))


@_defined("transpose", "(Tensor(a) a, int[] permutation) -> Tensor(a)")
def transpose(a, permutation):
    """A view with the dimensions in another order."""
    if a.dim() != len(permutation):
        raise ValueError(
            "Attempting to permute a tensor of rank "
            f"{a.dim()}, but received a permutation of length {len(permutation)}!"
        )
    if not shapes.is_valid_permutation(a.dim(), list(permutation)):
        raise ValueError(f"Received an invalid permutation, {list(permutation)}!")
    return a.permute(permutation)


@_defined("view_of", "(Tensor(a) a) -> Tensor(a)")
def view_of(a):
    """A view of the whole."""
    return a.view(a.shape)


@_defined("view_element_type", "(Tensor(a) a, ScalarType dtype) -> Tensor(a)")
def view_element_type(a, dtype):
    """The bits as another dtype."""
    return a.view(dtype)


@_defined(
    "as_strided_scatter",
    "(Tensor self, Tensor src, SymInt[] size, "
    "SymInt[] stride, SymInt storage_offset) -> Tensor",
)
def as_strided_scatter(self, src, size, stride, storage_offset):
    """A copy with `src` at the places of a view."""
    return _C.ops.as_strided_scatter(self, src, size, stride, storage_offset)


@_defined("cat", "(Tensor[] tensors, int dim) -> Tensor")
def cat(tensors, dim):
    """Tensors one behind the other."""
    return _C.ops.cat(tensors, dim)


@_defined("reshape", "(Tensor a, SymInt[] shape) -> Tensor")
def reshape(a, shape):
    """A copy of that shape."""
    return _copied(a, shape)


@_defined("rev", "(Tensor a, int[] dims) -> Tensor")
def rev(a, dims):
    """The elements in reverse along dimensions."""
    return _C.ops.flip(a, dims)


# --- copies ---


@_defined("clone", "(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor")
def clone(self, *, memory_format=None):
    """A copy."""
    wanted = _C.preserve_format if memory_format is None else memory_format
    return self.clone(memory_format=wanted)


@_defined("convert_element_type", "(Tensor a, ScalarType dtype) -> Tensor")
def convert_element_type(a, dtype):
    """The elements in another dtype, always a copy."""
    return a.to(dtype, copy=True)


@_defined("device_put", "(Tensor a, Device device, bool non_blocking=False) -> Tensor")
def device_put(a, device, non_blocking=False):
    """The tensor on a device."""
    return a.to(device, non_blocking=non_blocking)


@_defined("copy_strided", "(Tensor a, SymInt[] stride) -> Tensor")
def copy_strided(a, stride):
    """A copy with these strides."""
    made = _C.ops.empty_strided(a.shape, stride, dtype=a.dtype, device=a.device)
    return made.copy_(a)


@_defined("copy_to", "(Tensor(a!) a, Tensor b) -> Tensor(a!)")
def copy_to(a, b):
    """Writes `b` into `a`."""
    return a.copy_(b)


@_defined("resize", "(Tensor(a!) a, SymInt[] shape) -> Tensor(a!)")
def resize(a, shape):
    """Gives `a` another shape."""
    return a.resize_(shape)


@_defined("item", "(Tensor a) -> Scalar")
def item(a):
    """The number in a tensor."""
    return a.item()


def _limit(name: str, truth: bool):
    def function(dtype):
        if dtype is _C.bool:
            return truth
        exact = not dtypes.is_grad_dtype(dtype)
        found = hotaru.iinfo(dtype) if exact else hotaru.finfo(dtype)
        return getattr(found, name)

    function.__doc__ = f"The {name}imum of a dtype."
    return function


_defined("maximum_value", "(ScalarType dtype) -> Scalar")(_limit("max", True))
_defined("minimum_value", "(ScalarType dtype) -> Scalar")(_limit("min", False))


# --- reductions ---


def _reduced(name: str, operator) -> None:
    def function(inp, dims, *, output_dtype=None):
        if dims is not None:
            shapes.validate_no_repeating_dims(dims)
        places = list(shapes.reduction_dims(inp.shape, dims))
        return operator(inp, places, output_dtype)

    function.__doc__ = f"`{name}` along dimensions."
    _defined(
        name, "(Tensor inp, int[]? dims, *, ScalarType? output_dtype=None) -> Tensor"
    )(function)


def _over(operator):
    def reduce(inp, places, dtype):
        found = operator(inp, places) if places else inp.clone()
        return found if dtype is None else found.to(dtype)

    return reduce


def _product(inp, places, dtype):
    for place in sorted(places, reverse=True):
        inp = _C.ops.prod(inp, place, dtype=dtype)
    return inp if places else inp.clone()


def _sum(inp, places, dtype):
    return _C.ops.sum(inp, places, dtype=dtype) if places else inp.clone()


_reduced("amax", _over(_C.ops.amax))
_reduced("amin", _over(_C.ops.amin))
_reduced("prod", _product)
_reduced("sum", _sum)


@_defined(
    "var",
    "(Tensor inp, int[]? dims, float? correction=1, *, "
    "ScalarType? output_dtype=None) -> Tensor",
)
def var(inp, dims, correction=1, *, output_dtype=None):
    """Variances along dimensions."""
    places = list(shapes.reduction_dims(inp.shape, dims))
    found = _C.ops.var(inp, places, correction=correction)
    return found if output_dtype is None else found.to(output_dtype)


# --- new tensors ---


@_defined(
    "empty_strided",
    "(SymInt[] shape, SymInt[] strides, *, ScalarType dtype, "
    "Device device, bool requires_grad) -> Tensor",
)
def empty_strided(shape, strides, *, dtype, device, requires_grad):
    """A tensor of these strides."""
    made = _C.ops.empty_strided(shape, strides, dtype=dtype, device=device)
    return made.requires_grad_(requires_grad)


@_defined(
    "empty_permuted",
    "(SymInt[] shape, int[] physical_layout, *, "
    "ScalarType dtype, Device device, bool requires_grad) -> Tensor",
)
def empty_permuted(shape, physical_layout, *, dtype, device, requires_grad):
    """A tensor whose dimensions lie in that order in memory."""
    made = hotaru.empty_permuted(shape, physical_layout, dtype=dtype, device=device)
    return made.requires_grad_(requires_grad)


@_defined(
    "scalar_tensor",
    "(Scalar s, *, ScalarType? dtype=None, Device? device=None) -> Tensor",
)
def scalar_tensor(s, *, dtype=None, device=None):
    """A tensor of a number."""
    return hotaru.scalar_tensor(s, dtype=dtype, device=device)


@_defined(
    "iota",
    "(SymInt length, *, SymInt start, SymInt step, ScalarType dtype, "
    "Device device, bool requires_grad) -> Tensor",
)
def iota(length, *, start, step, dtype, device, requires_grad):
    """`length` integers from `start`, `step` apart."""
    if not (dtypes.is_integer_dtype(dtype)):
        raise RuntimeError("prims.iota only supports integer dtypes")
    last = start + length * step
    made = _C.ops.arange(start, last, step, dtype=dtype, device=device)
    return made.requires_grad_(requires_grad)


@_defined(
    "normal",
    "(SymInt[] shape, *, Scalar mean, Scalar std, ScalarType dtype, "
    "Device device, bool requires_grad, Generator? generator=None) -> Tensor",
)
def normal(shape, *, mean, std, dtype, device, requires_grad, generator=None):
    """Normal random numbers."""
    if std < 0:
        raise RuntimeError(
            f"expected non-negative standard deviation, but got std={std}"
        )
    made = _C.ops.empty(list(shape), dtype=dtype, device=device)
    return made.normal_(mean, std, generator=generator).requires_grad_(requires_grad)


@_defined("svd", "(Tensor A, *, bool full_matrices) -> (Tensor U, Tensor S, Tensor Vh)")
def svd(A, *, full_matrices):
    """Singular values and vectors."""
    return hotaru.linalg.svd(A, full_matrices)


@_defined("fft_r2c", "(Tensor self, *, int[] dim, bool onesided) -> Tensor")
def fft_r2c(self, *, dim, onesided):
    """The transform of real numbers, without a scale."""
    if onesided:
        return hotaru.fft.rfftn(self, dim=tuple(dim))
    return hotaru.fft.fftn(self, dim=tuple(dim))


@_defined("fft_c2c", "(Tensor self, *, int[] dim, bool forward) -> Tensor")
def fft_c2c(self, *, dim, forward):
    """The transform of complex numbers, without a scale."""
    if forward:
        return hotaru.fft.fftn(self, dim=tuple(dim))
    return hotaru.fft.ifftn(self, dim=tuple(dim), norm="forward")


@_defined("fft_c2r", "(Tensor self, *, int[] dim, SymInt last_dim_size) -> Tensor")
def fft_c2r(self, *, dim, last_dim_size):
    """The transform whose result is real, without a scale."""
    size = [self.shape[d] for d in dim[:-1]] + [last_dim_size]
    return hotaru.fft.irfftn(self, s=size, dim=tuple(dim), norm="forward")


@functools.cache
def _library():
    return Library("prims", "FRAGMENT")


def define(name: str) -> None:
    """Defines `torch.ops.prims.<name>`, if it is one of these."""
    if name not in DEFINED:
        return
    schema, kernel = DEFINED[name]
    library = _library()
    tags = [_C.Tag.pt2_compliant_tag]
    if name == "normal":
        tags.insert(0, _C.Tag.nondeterministic_seeded)
    library.define(name + schema, tags=tuple(tags))
    library.impl(name, kernel, "CompositeImplicitAutograd")
