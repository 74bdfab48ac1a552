"""Elementwise operators of nested tensors with the layout jagged."""

from __future__ import annotations

from typing import Any

from .. import _C
from .._answering.names import base_name, out_of_place, words, writes
from .._answering.table import answers
from .._C import Tensor
from ..utils import _pytree
from ._base import JAGGED, packed, write
from ._jagged import NestedTensor, like, sizes_of

NAMES = words(
    "abs acos acosh angle asin asinh atan atanh bitwise_not ceil celu "
    "clamp clamp_max clamp_min clip conj_physical cos cosh deg2rad "
    "digamma elu erf erfc erfinv exp exp2 expm1 floor frac frexp gelu "
    "hardshrink hardsigmoid hardswish hardtanh i0 isfinite isinf isnan "
    "isneginf isposinf isreal leaky_relu lgamma log log10 log1p log2 "
    "logical_not logit mish mvlgamma nan_to_num neg polygamma positive "
    "rad2deg reciprocal relu relu6 round rrelu rsqrt selu sgn sigmoid "
    "sign signbit silu sin sinc sinh softplus softshrink softsign sqrt "
    "square tan tanh tanhshrink threshold trunc fix expit dropout "
    "alpha_dropout feature_dropout add sub mul div pow remainder fmod "
    "atan2 arctan2 copysign float_power gcd heaviside hypot igamma "
    "igammac lcm ldexp lerp logaddexp logaddexp2 logical_and logical_or "
    "logical_xor maximum minimum fmax fmin nextafter xlogy "
    "special_xlog1py special_zeta bitwise_and bitwise_or bitwise_xor "
    "bitwise_left_shift bitwise_right_shift eq ne lt le gt ge greater "
    "greater_equal less less_equal not_equal isclose rsub masked_fill "
    "where addcmul addcdiv real imag conj "
    "special_erfcx special_entr special_i0e special_i1 special_i1e "
    "special_ndtri special_log_ndtr special_bessel_j0 special_bessel_j1 "
    "bernoulli complex polar native_dropout feature_alpha_dropout "
    "log_sigmoid logsigmoid"
)
NAMES += [
    "special_" + name
    for name in words(
        "digamma erf erfc erfinv exp2 expit expm1 gammaln i0 log1p logit ndtr "
        "polygamma psi round sinc xlogy multigammaln"
    )
] + ["psi"]


@answers(*NAMES, of=JAGGED, every_form=True)
def pointwise(function, *args, **kwargs):
    """The function of the values, and of what is broadcast to them."""
    name = function.__name__
    if writes(name) or kwargs.get("inplace"):
        return _in_place(function, *args, **kwargs)
    first, given, options = _operands(name, args, kwargs)
    found = function(*given, **options)
    if isinstance(found, Tensor):
        return like(first, found)
    return type(found)(like(first, each) for each in found)


def _in_place(function, x, *args, **kwargs):
    if not isinstance(x, NestedTensor):
        raise RuntimeError(
            f"{function.__name__}: a nested tensor cannot be written into a "
            "tensor that is not"
        )
    first, given, options = _operands(function.__name__, (x, *args), kwargs)
    tensors = [v for v in (*given, *options.values()) if isinstance(v, Tensor)]
    if not _C.is_grad_enabled() or not any(t.requires_grad for t in tensors):
        function(x._values, *given[1:], **options)
        return x
    options.pop("inplace", None)
    # Values that the derivative needs are about to be overwritten.
    given[0] = given[0].clone()
    made = out_of_place(function.__name__)(*given, **options)
    return write(x, like(first, made))


def _operands(name: str, args: tuple, kwargs: dict):
    """The first nested tensor, and the arguments with values instead."""
    everything = [*args, *kwargs.values()]
    nested = [a for a in everything if isinstance(a, NestedTensor)]
    first = nested[0]
    for other in nested[1:]:
        if ragged_part(first) != ragged_part(other):
            raise RuntimeError(_mismatch(name, args, first, other))

    def convert(value: Any) -> Any:
        if isinstance(value, NestedTensor):
            return packed(value)
        if isinstance(value, Tensor) and value.dim() > 0:
            return aligned(first, value, name, args)
        return value

    options = {key: convert(value) for key, value in kwargs.items()}
    return first, [convert(value) for value in args], options


def ragged_part(x: NestedTensor) -> tuple:
    """The sizes up to the ragged one, which two operands must share."""
    return x._size[: x._ragged_idx + 1]


def _mismatch(name: str, args: tuple, a, b) -> str:
    shapes = [
        tuple(x.shape) if isinstance(x, NestedTensor) else x.shape for x in (a, b)
    ]
    if not all(isinstance(x, NestedTensor) for x in (a, b)):
        shapes = [x.shape for x in (a, b)]
        if args and args[0] is b:
            shapes.reverse()
    return (
        f"cannot call binary pointwise function {base_name(name)}.Tensor "
        f"with inputs of shapes {shapes[0]} and {shapes[1]}"
    )


def aligned(x: NestedTensor, t: Tensor, name: str, args: tuple) -> Tensor:
    """A tensor as the values of `x` meet it: of their trailing dimensions, or
    with a row for each of theirs.
    """
    if t.dim() > x.dim():
        raise NotImplementedError("NYI: broadcasting NT with T with larger dim")
    short = t
    while short.dim() > 0 and short.shape[0] == 1:
        short = short.squeeze(0)
    if x.dim() >= short.dim() + 2:
        return short
    if t.dim() != x.dim() or t.shape[0] != x._size[0]:
        raise RuntimeError(_mismatch(name, args, x, t))
    return spread(x, t)


def spread(x: NestedTensor, t: Tensor) -> Tensor:
    """A tensor (B, ..., L or 1, ...) as values beside those of `x`."""
    place = x._ragged_idx
    rows = t.movedim(place, 1)
    element, position = positions(x)
    longest = x._maybe_max_seqlen
    if longest is None:
        longest = max(sizes_of(x), default=0)
    if rows.shape[1] == 1:
        found = rows[:, 0].index_select(0, element)
    elif rows.shape[1] != longest:
        target = [s if i != place else longest for i, s in enumerate(x._size)]
        raise RuntimeError(
            f"The expanded size of the tensor ({longest}) must match the "
            f"existing size ({rows.shape[1]}) at non-singleton dimension "
            f"{place}.  Target sizes: {target}.  Tensor sizes: {list(t.shape)}"
        )
    else:
        found = rows[element, position.clamp(max=longest - 1)]
    return found.movedim(0, place - 1)


def positions(x: NestedTensor) -> tuple[Tensor, Tensor]:
    """Returns, for each place along the ragged dimension of the values, the
    element it belongs to, and where in it.
    """
    total = x._values.shape[x._ragged_idx - 1]
    offsets = x._offsets.long()
    places = _C.ops.arange(total, device=offsets.device)
    element = _C.ops.searchsorted(offsets[1:].contiguous(), places, right=True)
    element = element.clamp(max=max(len(offsets) - 2, 0))
    return element, (places - offsets[element]).clamp(min=0)


@answers("fill_", "zero_", of=JAGGED)
def fill_(x, value=0):
    """All elements become `value`."""
    if isinstance(value, Tensor) and value.dim() > 0:
        raise NotImplementedError("aten.fill_.Tensor")
    return write(x, like(x, _C.ops.zeros_like(x._values) + value))


@answers("copy_", of=JAGGED)
def copy_(x, source, non_blocking=False):
    """The elements of a nested tensor of the same sizes."""
    if not isinstance(source, NestedTensor):
        raise ValueError("copy_: expected src to be a jagged NestedTensor")
    same = x._values.shape == source._values.shape and bool(
        (x._offsets == source._offsets).all()
    )
    if not same:
        raise RuntimeError(
            "copy_(): expected compatible input and src shapes, but got: "
            f"{x.shape} and {source.shape}"
        )
    return write(x, like(x, packed(source)))


def _made_like(name: str):
    maker = getattr(_C.ops, name)

    def make(x, *args, layout=None, memory_format=None, **kwargs):
        kwargs.pop("pin_memory", None)
        grad = kwargs.pop("requires_grad", False)
        found = like(x, maker(x._values.detach(), *args, **kwargs))
        return found.requires_grad_() if grad else found

    make.__name__ = name
    return make


for _name in words(
    "empty_like full_like ones_like rand_like randint_like randn_like zeros_like"
):
    JAGGED[_name] = _made_like(_name)


@answers("new_empty", "new_zeros", "new_ones", "new_full", of=JAGGED)
def new(x, size, *args, **kwargs):
    """Only of one number: a nested tensor says no other shape."""
    if tuple(size if isinstance(size, (tuple, list)) else (size,)):
        raise RuntimeError("new_empty() not supported for NJT with shape != ()")
    return x._values.new_zeros((), **kwargs)


def leaves(value) -> list[NestedTensor]:
    """The nested tensors among arguments."""
    found = _pytree.tree_leaves(value)
    return [x for x in found if isinstance(x, NestedTensor)]


@answers("one_hot", of=JAGGED)
def one_hot(x, num_classes=-1):
    """A dimension more."""
    from ..nn import functional as F

    return like(x, F.one_hot(packed(x), num_classes))


@answers("apply_", of=JAGGED)
def apply_(x, function):
    """Each number by a Python function."""
    if x.device.type != "cpu":
        raise TypeError("apply_ is only implemented on CPU tensors")
    x._values.apply_(function)
    return x
