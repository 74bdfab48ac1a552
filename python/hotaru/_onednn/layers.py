"""Layers of networks in the layout `_mkldnn`.

Weights may be dense or of the layout, and of another dtype than the input: the
result has the input's, rounded once.
"""

from __future__ import annotations

from .. import _C
from .._answering.table import answers
from .._C import Tensor
from ..nn import functional as F
from ..nn.modules.utils import _pair
from .kind import HANDLERS, refused
from .tensor import around, is_onednn, plain


def _computed(function, x: Tensor, *others, rest: tuple = (), **kwargs) -> Tensor:
    """function(x, *others, *rest) in one dtype; dense for a dense input."""
    tensors = [plain(x), *map(plain, others)]
    dtypes = {t.dtype for t in tensors if isinstance(t, Tensor)}
    if len(dtypes) > 1:
        tensors = [t.float() if isinstance(t, Tensor) else t for t in tensors]
    made = function(*tensors, *rest, **kwargs).to(x.dtype)
    return around(made) if is_onednn(x) else made


def _in_float32(function, x: Tensor, *rest) -> Tensor:
    """function(x, *rest) in float32, rounded to the dtype of x."""
    return around(function(plain(x).float(), *rest).to(x.dtype))


# --- products ---


def _check_linear(x) -> None:
    if not is_onednn(x):
        raise RuntimeError("mkldnn_linear: input needs to be mkldnn layout")


@answers("linear", of=HANDLERS)
def linear(x, weight, bias=None):
    """X @ weight.T + bias."""
    _check_linear(x)
    return mkldnn_linear(x, weight, bias)


@answers("mkldnn_linear", of=HANDLERS)
def mkldnn_linear(x, weight, bias=None):
    """The same, of inputs of the layout alone."""
    if x.dim() == 0:
        raise RuntimeError(
            "mkldnn_linear: input needs to has dim at least 1, input dim 0"
        )
    _check_linear(x)
    return _computed(F.linear, x, weight, bias)


_CONVOLUTIONS = (
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
    "convolution",
    "_convolution",
)


@answers(*_CONVOLUTIONS, of=HANDLERS, asked=True)
def _convolution(function, input, weight, bias=None, *rest, **kwargs):
    if function.__name__ == "_convolution":
        rest, function = rest[:6], _C.ops.convolution
    name = function.__name__.partition(".")[0]
    plainly = getattr(F, name, None) or getattr(_C.ops, name)
    weight = _without_groups(weight, input.dim())
    return _computed(plainly, input, weight, bias, rest=rest, **kwargs)


def _without_groups(weight, dims: int):
    """The weight, whose groups old files have as a dimension of their own."""
    if is_onednn(weight) and weight.dim() == dims + 1:
        return around(plain(weight).flatten(0, 1))
    return weight


def mkldnn_convolution(input, weight, bias, padding, stride, dilation, groups):
    """A convolution, in the layout of the input.

    RuntimeError for sizes that do not fit.
    """
    weight = _without_groups(weight, input.dim())
    count = input.dim() - 2
    given = (stride, padding, dilation, False, [0] * count, groups)
    return _computed(_C.ops.convolution, input, weight, bias, rest=given)


answers("mkldnn_convolution", of=HANDLERS)(mkldnn_convolution)


def _reordered(name: str, dims: int):
    def reorder(
        weight, padding=0, stride=1, dilation=1, groups=1, input_size=None
    ) -> Tensor:
        if not is_onednn(weight):
            raise refused(name)
        return around(plain(_without_groups(weight, dims)).clone())

    reorder.__name__ = reorder.__qualname__ = name
    reorder.__doc__ = """A copy of a convolution's weight: there is one order
    here. Groups that old files have as a dimension of their own are joined.
    """
    return reorder


mkldnn_reorder_conv2d_weight = _reordered("mkldnn_reorder_conv2d_weight", 4)
mkldnn_reorder_conv3d_weight = _reordered("mkldnn_reorder_conv3d_weight", 5)
for _each in (mkldnn_reorder_conv2d_weight, mkldnn_reorder_conv3d_weight):
    answers(_each.__name__, of=HANDLERS)(_each)


# --- pools ---


def _check_undilated(name: str, dilation) -> None:
    sizes = dilation if isinstance(dilation, (list, tuple)) else (dilation,)
    if any(size != 1 for size in sizes):
        raise RuntimeError(f"mkldnn_{name} does not support dilation case")


def _max_pool(name: str):
    def pool(
        input,
        kernel_size,
        stride=None,
        padding=0,
        dilation=1,
        ceil_mode=False,
        return_indices=False,
    ):
        if return_indices:
            raise refused(f"{name}_with_indices")
        _check_undilated(name, dilation)
        found = getattr(F, name)(
            plain(input), kernel_size, stride or None, padding, 1, ceil_mode
        )
        return around(found)

    return pool


for _name in ("max_pool2d", "max_pool3d"):
    answers(_name, f"mkldnn_{_name}", of=HANDLERS)(_max_pool(_name))


def _avg_pool(name: str):
    def pool(
        input,
        kernel_size,
        stride=None,
        padding=0,
        ceil_mode=False,
        count_include_pad=True,
        divisor_override=None,
    ):
        if divisor_override is not None:
            raise RuntimeError(f"mkldnn_{name} operator does not support divisor")
        rest = (kernel_size, stride or None, padding, ceil_mode, count_include_pad)
        return _in_float32(getattr(F, name), input, *rest)

    return pool


for _name in ("avg_pool2d", "avg_pool3d"):
    answers(_name, of=HANDLERS)(_avg_pool(_name))


@answers("adaptive_avg_pool2d", "mkldnn_adaptive_avg_pool2d", of=HANDLERS)
@answers("_adaptive_avg_pool2d", of=HANDLERS)
def _adaptive_avg_pool2d(input, output_size):
    if input.dim() != 4:
        raise RuntimeError("mkldnn_adaptive_avg_pool2d(): Expect 2D input")
    for size, wanted in zip(input.shape[2:], _pair(output_size)):
        if wanted is not None and size % wanted:
            raise RuntimeError(
                f"mkldnn_adaptive_avg_pool2d: input size {size} is not divisible "
                f"by the output size {wanted} is not supported yet"
            )
    return around(F.adaptive_avg_pool2d(plain(input), output_size))


# --- norms and others ---


@answers("batch_norm", of=HANDLERS, asked=True)
def _batch_norm(function, input, *args, **kwargs):
    """As `F.batch_norm` takes it, and as `torch.batch_norm` does."""
    if type(function) is _C.Function:
        return _of_functional(input, *args, **kwargs)
    return _normed(input, *args, **kwargs)


def _of_functional(
    input,
    running_mean=None,
    running_var=None,
    weight=None,
    bias=None,
    training=False,
    momentum=0.1,
    eps=1e-5,
):
    return _normed(
        input, weight, bias, running_mean, running_var, training, momentum, eps
    )


def _normed(
    input,
    weight,
    bias,
    running_mean,
    running_var,
    training,
    momentum,
    eps,
    cudnn_enabled=False,
):
    if not is_onednn(input):
        raise refused("native_batch_norm")
    if weight is None or bias is None:
        raise RuntimeError(
            "mkldnn_batch_norm: currently mkldnn only support affine model"
        )
    if training and input.dim() == 5:
        raise RuntimeError(
            "mkldnn_batch_norm: mkldnn only supports training with 2d inputs"
        )
    parts = (plain(running_mean), plain(running_var), plain(weight), plain(bias))
    return _in_float32(F.batch_norm, input, *parts, training, momentum, eps)


@answers("softmax", "_softmax", of=HANDLERS)
def _softmax(x, dim=None, _stacklevel=3, dtype=None):
    if dtype not in (None, x.dtype) and not isinstance(dtype, bool):
        raise refused("empty_strided")
    return around(F.softmax(plain(x), dim, _stacklevel=_stacklevel + 2))


@answers("prelu", "_prelu_kernel", of=HANDLERS)
def _prelu(x, weight):
    if not is_onednn(x):
        raise RuntimeError("mkldnn_prelu: input needs to be mkldnn layout")
    return _computed(F.prelu, x, weight)


@answers("dropout", "alpha_dropout", "feature_dropout", of=HANDLERS)
def _dropout(input, p=0.5, training=True, inplace=False):
    if training and p > 0:
        raise refused("empty_strided")
    return input
