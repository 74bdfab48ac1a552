"""Layers of networks."""

from __future__ import annotations

from math import prod

from ... import _C, finfo
from ..stack import nobody_asked
from .matrices import matmul
from .pieces import empty, number
from .shapes import reshape
from .table import o, part, whole

# --- convolutions ---


def _convolution(count: int, transposed: bool):
    def convolve(input, weight, bias=None, stride=1, padding=0, *rest):
        if transposed:
            output_padding, groups, dilation = (
                (*rest, 0, 1, 1)[:3]
                if len(rest) != 1 and len(rest) != 2
                else _filled(rest)
            )
        else:
            dilation, groups = (*rest, *(1, 1)[len(rest) :])
            output_padding = 0
        alone = input.dim() == count + 1
        x = o.unsqueeze(input, 0) if alone else input
        if isinstance(padding, str):
            x, padding = _padded(x, weight, padding, _wide(dilation, count))
        made = o.convolution(
            x,
            weight,
            bias,
            _wide(stride, count),
            _wide(padding, count),
            _wide(dilation, count),
            transposed,
            _wide(output_padding, count),
            groups,
        )
        return o("squeeze.dim", made, 0) if alone else made

    return convolve


def _filled(rest: tuple) -> tuple:
    return (*rest, *(0, 1, 1)[len(rest) :])


def _wide(value, count: int) -> list[int]:
    if isinstance(value, int):
        return [value] * count
    value = list(value)
    return value * count if len(value) == 1 and count > 1 else value


def _padded(x, weight, padding: str, dilation: list[int]):
    if padding == "valid":
        return x, [0] * len(dilation)
    totals = [d * (k - 1) for d, k in zip(dilation, weight.shape[2:])]
    if all(total % 2 == 0 for total in totals):
        return x, [total // 2 for total in totals]
    pads = []
    for total in reversed(totals):
        pads += [0, total % 2]
    return o.constant_pad_nd(x, pads), [total // 2 for total in totals]


for _n in (1, 2, 3):
    part(f"conv{_n}d.default", f"conv{_n}d.padding")(_convolution(_n, False))
    _form = "default" if _n == 1 else "input"
    part(f"conv_transpose{_n}d.{_form}")(_convolution(_n, True))


# --- pools ---


def _pool1(name: str, other: str):
    def pool(self, kernel_size, stride=(), padding=0, dilation=1, ceil_mode=False):
        rows = [
            [first, *_wide(value, 1)] if value else []
            for first, value in ((1, kernel_size), (1, stride))
        ]
        x = o.unsqueeze(self, -2)
        found = o(
            "max_pool2d_with_indices",
            x,
            *rows,
            [0, *_wide(padding, 1)],
            [1, *_wide(dilation, 1)],
            ceil_mode,
        )
        values, places = (o("squeeze.dim", t, -2) for t in found)
        return values if other == "values" else (values, places)

    part(name)(pool)


_pool1("max_pool1d", "values")
_pool1("max_pool1d_with_indices", "both")
part("max_pool2d")(
    lambda self, *args, **named: o("max_pool2d_with_indices", self, *args, **named)[0]
)
part("max_pool3d")(
    lambda self, *args, **named: o("max_pool3d_with_indices", self, *args, **named)[0]
)


@part("avg_pool1d")
def _avg_pool1d(
    self, kernel_size, stride=(), padding=0, ceil_mode=False, count_include_pad=True
):
    x = o.unsqueeze(self, -2)
    step = [1, *_wide(stride or kernel_size, 1)]
    found = o.avg_pool2d(
        x,
        [1, *_wide(kernel_size, 1)],
        step,
        [0, *_wide(padding, 1)],
        ceil_mode,
        count_include_pad,
    )
    return o("squeeze.dim", found, -2)


@part("adaptive_avg_pool1d")
def _adaptive_avg_pool1d(self, output_size):
    x = o.unsqueeze(self, -2)
    found = _adaptive_avg_pool2d(x, [1, *_wide(output_size, 1)])
    return o("squeeze.dim", found, -2)


@part("adaptive_avg_pool2d")
def _adaptive_avg_pool2d(self, output_size):
    size = _wide(output_size, 2)
    if size == [1, 1]:
        return o("mean.dim", self, [-1, -2], True)
    return o._adaptive_avg_pool2d(self, size)


@part("adaptive_avg_pool3d")
def _adaptive_avg_pool3d(self, output_size):
    size = _wide(output_size, 3)
    if size == [1, 1, 1]:
        return o("mean.dim", self, [-1, -2, -3], True)
    return o._adaptive_avg_pool3d(self, size)


@part("adaptive_max_pool1d")
def _adaptive_max_pool1d(self, output_size):
    x = o.unsqueeze(self, -2)
    found = o.adaptive_max_pool2d(x, [1, *_wide(output_size, 1)])
    return tuple(o("squeeze.dim", t, -2) for t in found)


# --- random masks ---


def _noise(self, features: bool, p: float):
    if features:
        shape = [*self.shape[:2], *[1] * (self.dim() - 2)]
        noise = o.new_empty(self, shape)
    else:
        noise = o.empty_like(self)
    return o("bernoulli_.float", noise, 1 - p)


def _dropout(features: bool, in_place: bool):
    def drop(input, p, train):
        if not train or p == 0 or input.numel() == 0:
            return input
        if p == 1:
            zero = _C.ops.zeros((), dtype=input.dtype, device=input.device)
            return o("mul_.Tensor" if in_place else "mul.Tensor", input, zero)
        noise = o("div_.Scalar", _noise(input, features, p), 1 - p)
        return o("mul_.Tensor" if in_place else "mul.Tensor", input, noise)

    return drop


def _alpha_dropout(features: bool, in_place: bool):
    def drop(input, p, train):
        if not train or p == 0 or input.numel() == 0:
            return input
        if p == 1:
            zero = _C.ops.zeros((), dtype=input.dtype, device=input.device)
            return o("mul_.Tensor" if in_place else "mul.Tensor", input, zero)
        noise = _noise(input, features, p)
        alpha = 1.7580993408473766
        a = 1.0 / ((alpha * alpha * p + 1) * (1 - p)) ** 0.5
        b = o("mul_.Scalar", o("add.Scalar", noise, -1), alpha * a)
        b = o("add_.Scalar", b, alpha * a * p)
        noise = o("mul_.Scalar", noise, a)
        if in_place:
            return o("add_.Tensor", o("mul_.Tensor", input, noise), b)
        return o("add.Tensor", o("mul.Tensor", input, noise), b)

    return drop


for _in_place, _end in ((False, ""), (True, "_")):
    part(f"dropout{_end}")(_dropout(False, _in_place))
    part(f"feature_dropout{_end}")(_dropout(True, _in_place))
    part(f"alpha_dropout{_end}")(_alpha_dropout(False, _in_place))
    part(f"feature_alpha_dropout{_end}")(_alpha_dropout(True, _in_place))


def _rrelu(in_place: str):
    def rrelu(self, lower=0.125, upper=1 / 3, training=False, *, generator=None):
        given = {} if generator is None else {"generator": generator}
        noise = o.empty_like(self, memory_format=_C.contiguous_format)
        return o(
            f"rrelu_with_noise{in_place}", self, noise, lower, upper, training, **given
        )

    return rrelu


part("rrelu")(_rrelu(""))
part("rrelu_")(_rrelu("_"))

# --- norms ---


@part("batch_norm")
def batch_norm(
    input,
    weight,
    bias,
    running_mean,
    running_var,
    training,
    momentum,
    eps,
    cudnn_enabled=True,
):
    """By the mean and the variance of the batch, or those that are kept."""
    empty(input, [0], _C.uint8)
    return o.native_batch_norm(
        input, weight, bias, running_mean, running_var, training, momentum, eps
    )[0]


@part("instance_norm")
def _instance_norm(
    input,
    weight,
    bias,
    running_mean,
    running_var,
    use_input_stats,
    momentum,
    eps,
    cudnn_enabled=True,
):
    shape = list(input.shape)
    b, c = shape[:2]
    weight, bias, mean, var = (
        None if t is None else o.repeat(t, [b])
        for t in (weight, bias, running_mean, running_var)
    )
    if not input.is_contiguous():
        input = o.clone(input, memory_format=_C.contiguous_format)
    x = o.view(input, [1, b * c, *shape[2:]])
    out = batch_norm(x, weight, bias, mean, var, use_input_stats, momentum, eps)
    for kept, new in ((running_mean, mean), (running_var, var)):
        if kept is not None:
            same = o.alias(kept)
            rows = o.view(new, [b, c])
            o.copy_(same, o("mean.dim", rows, [0]))
    return o.view(out, shape)


@part("layer_norm")
def _layer_norm(
    input, normalized_shape, weight=None, bias=None, eps=1e-05, cudnn_enable=True
):
    shape = list(normalized_shape)
    return o.native_layer_norm(input, shape, weight, bias, eps)[0]


@part("group_norm")
def _group_norm(
    input, num_groups, weight=None, bias=None, eps=1e-05, cudnn_enabled=True
):
    n, c = input.shape[:2]
    if c % num_groups:
        return whole("group_norm", input, num_groups, weight, bias, eps)
    if not input.is_contiguous():
        input = o.clone(input, memory_format=_C.contiguous_format)
    rest = prod(input.shape[2:])
    return o.native_group_norm(input, weight, bias, n, c, rest, num_groups, eps)[0]


@part("rms_norm")
def _rms_norm(input, normalized_shape, weight=None, eps=None):
    count = len(normalized_shape)
    dims = [-i - 1 for i in range(count)]
    dims = [input.dim() + d for d in reversed(dims)]
    given = finfo(input.dtype).eps if eps is None else eps
    square = o("mean.dim", o("pow.Tensor_Scalar", input, 2), dims, True)
    scale = o.rsqrt(o("add_.Scalar", square, given))
    found = o("mul.Tensor", input, scale)
    return found if weight is None else o("mul.Tensor", found, weight)


# --- tables, pads, sizes ---


@part("embedding_bag.padding_idx", "embedding_bag.default", "embedding_bag")
def _embedding_bag(
    weight,
    indices,
    offsets,
    scale_grad_by_freq=False,
    mode=0,
    sparse=False,
    per_sample_weights=None,
    include_last_offset=False,
    padding_idx=None,
):
    name = "_embedding_bag_forward_only"
    if weight.requires_grad or (
        per_sample_weights is not None and per_sample_weights.requires_grad
    ):
        name = "_embedding_bag"
    rest = () if padding_idx is None else (padding_idx % weight.shape[0],)
    return o(
        name,
        weight,
        indices,
        offsets,
        scale_grad_by_freq,
        mode,
        sparse,
        per_sample_weights,
        include_last_offset,
        *rest,
    )


@part("one_hot")
def _one_hot(self, num_classes=-1):
    if self.dtype != _C.int64 or self.numel() == 0:
        return whole("one_hot", self, num_classes)
    if _C._dispatches(self):
        count = num_classes
        if count == -1:
            count = int(o._local_scalar_dense(o.max(self))) + 1
        with nobody_asked():
            places = _C.ops.arange(count, dtype=_C.int64)
        same = o("eq.Tensor", o.unsqueeze(self, -1), places)
        return o._to_copy(same, dtype=_C.int64)
    least, most = (o._local_scalar_dense(t) for t in o.aminmax(self))
    if least < 0 or -1 != num_classes <= most:
        return _C.ops.one_hot(_C.ops.full((1,), -1 if least < 0 else most), num_classes)
    count = int(most) + 1 if num_classes == -1 else num_classes
    found = o.zeros(
        [*self.shape, count], dtype=self.dtype, layout=_C.strided, device=self.device
    )
    return o("scatter_.value", found, -1, o.unsqueeze(self, -1), 1)


_PADS = {"reflect": "reflection", "replicate": "replication"}


@part("pad")
def _pad(self, pad, mode="constant", value=None):
    if mode == "constant":
        return o.constant_pad_nd(self, pad, 0.0 if value is None else value)
    if mode in _PADS and len(pad) in (2, 4, 6):
        return o(f"{_PADS[mode]}_pad{len(pad) // 2}d", self, pad)
    return whole("pad", self, pad, mode, value)


def _resample(name: str, count: int):
    def resample(input, output_size, *rest):
        *options, scales = rest
        sizes = output_size
        if sizes is None:
            sizes = [int(n * s) for n, s in zip(input.shape[2:], scales)]
            return o(name, input, sizes, *options, *scales)
        return o(name, input, list(sizes), *options)

    return resample


for _name, _count in (
    ("upsample_nearest1d", 1),
    ("upsample_nearest2d", 2),
    ("upsample_nearest3d", 3),
    ("_upsample_nearest_exact1d", 1),
    ("_upsample_nearest_exact2d", 2),
    ("_upsample_nearest_exact3d", 3),
    ("upsample_linear1d", 1),
    ("upsample_bilinear2d", 2),
    ("upsample_trilinear3d", 3),
    ("upsample_bicubic2d", 2),
    ("_upsample_bilinear2d_aa", 2),
    ("_upsample_bicubic2d_aa", 2),
    ("_upsample_lanczos2d_aa", 2),
):
    part(f"{_name}.vec")(_resample(_name, _count))


@part("grid_sampler")
def _grid_sampler(input, grid, interpolation_mode, padding_mode, align_corners):
    name = "grid_sampler_2d" if input.dim() == 4 else "grid_sampler_3d"
    return o(name, input, grid, interpolation_mode, padding_mode, align_corners)


@part("bilinear")
def _bilinear(input1, input2, weight, bias=None):
    shape = [*input1.shape[:-1], weight.shape[0]]
    a = reshape(input1, [-1, input1.shape[-1]])
    b = reshape(input2, [-1, input2.shape[-1]])
    found = o._trilinear(a, weight, b, [1, 3], [0], [1, 2], [2, 3])
    found = reshape(found, shape)
    return found if bias is None else o("add.Tensor", found, bias)


@part("scaled_dot_product_attention")
def _attention(
    query,
    key,
    value,
    attn_mask=None,
    dropout_p=0.0,
    is_causal=False,
    *,
    scale=None,
    enable_gqa=False,
):
    four = query.dim() == key.dim() == value.dim() == 4
    same = query.shape[-1] == value.shape[-1] and not enable_gqa
    given = {} if scale is None else {"scale": scale}
    if four and same and dropout_p == 0 and query.is_floating_point():
        if attn_mask is not None:
            given["attn_mask"] = attn_mask
        return o._scaled_dot_product_flash_attention_for_cpu(
            query, key, value, dropout_p, is_causal, **given
        )[0]
    if enable_gqa or not query.is_floating_point():
        return whole(
            "scaled_dot_product_attention",
            query,
            key,
            value,
            attn_mask,
            dropout_p,
            is_causal,
            enable_gqa=enable_gqa,
            **given,
        )
    return _by_products(query, key, value, attn_mask, dropout_p, is_causal, scale)


def _by_products(query, key, value, mask, dropout_p, is_causal, scale):
    factor = query.shape[-1] ** -0.5 if scale is None else scale
    factor = abs(factor) ** 0.5
    left = o("mul.Scalar", query, factor if scale is None or scale > 0 else -factor)
    if is_causal:
        size = [query.shape[-2], key.shape[-2]]
        mask = o.ones(size, dtype=_C.bool, layout=_C.strided, device=query.device)
        mask = o.tril(mask)
    if mask is not None and mask.dtype == _C.bool:
        never = o.scalar_tensor(float("-inf"), dtype=query.dtype, device=query.device)
        mask = o("where.self", mask, number(0.0, query, query.dtype), never)
    right = o("transpose.int", key, -2, -1)
    scores = matmul(left, o("mul.Scalar", right, factor))
    if mask is not None:
        scores = o("add.Tensor", scores, mask)
    scores = o._safe_softmax(scores, -1)
    if dropout_p > 0:
        scores = _dropout(False, False)(scores, dropout_p, True)
    return matmul(scores, value)
