"""Fake quantisation: the numbers that quantised ones would stand for, as
floats, with the gradient of the identity inside of the range (the
straight-through estimator of https://arxiv.org/abs/1308.3432).
"""

from __future__ import annotations

import hotaru

from .. import _C
from .._C import Tensor
from .._extension.dtypes import scalar_type
from .._overrides import overridable
from ..autograd import Function
from .choose import choose_qparams
from .rounding import over_axis

__all__ = [
    "_fake_quantize_learnable_per_channel_affine",
    "_fake_quantize_learnable_per_tensor_affine",
    "_fake_quantize_per_tensor_affine_cachemask_tensor_qparams",
    "fake_quantize_per_channel_affine",
    "fake_quantize_per_tensor_affine",
    "fused_moving_avg_obs_fake_quant",
]


def _levels(x: Tensor, scale: Tensor, zero_point: Tensor) -> Tensor:
    """The integers, not yet within a range. A float zero point is added before
    rounding, an integral one behind it.
    """
    wide = x if x.dtype is _C.float64 else x.to(_C.float32)
    units = wide * (1.0 / scale.to(_C.float32))
    if zero_point.is_floating_point():
        return (units + zero_point).round()
    return units.round() + zero_point.to(wide.dtype)


def _faked(x, scale, zero_point, low, high) -> tuple[Tensor, Tensor]:
    """Numbers after quantisation, and which were within the range."""
    levels = _levels(x, scale, zero_point)
    inside = (levels >= low) & (levels <= high)
    kept = levels.clamp(low, high).nan_to_num(low)
    wide = (kept - zero_point.to(kept.dtype)) * scale.to(_C.float32)
    return wide.to(x.dtype), inside


class FakeQuantizePerTensorAffineCachemask(Function):
    @staticmethod
    def forward(ctx, x, scale, zero_point, low, high, enabled):
        if enabled:
            made, inside = _faked(x, scale, zero_point, low, high)
        else:
            made, inside = x.clone(), hotaru.ones_like(x, dtype=_C.bool)
        ctx.save_for_backward(inside)
        ctx.mark_non_differentiable(inside)
        return made, inside

    @staticmethod
    def backward(ctx, grad, _):
        return grad * ctx.saved_tensors[0], None, None, None, None, None


class FakeQuantizePerTensorAffineCachemaskTensorQparams(
    FakeQuantizePerTensorAffineCachemask
):
    pass


class FakeQuantizePerChannelAffineCachemask(FakeQuantizePerTensorAffineCachemask):
    pass


def _check_range(low: int, high: int) -> None:
    if low > high:
        raise RuntimeError(
            "`quant_min` should be less than or         equal to `quant_max`."
        )


def _check_within(least: int, greatest: int, low: int, high: int) -> None:
    if least < low or greatest > high:
        raise RuntimeError("`zero_point` must be between `quant_min` and `quant_max`.")


def _check_zero_point(zero_point: Tensor, low: int, high: int) -> None:
    least, greatest = _C.ops.aminmax(zero_point)
    _check_within(least.item(), greatest.item(), low, high)


def fake_quantize_per_tensor_affine_cachemask(
    self: Tensor, scale: float, zero_point: int, quant_min: int, quant_max: int
) -> tuple[Tensor, Tensor]:
    """Returns what `fake_quantize_per_tensor_affine` gives, and where the
    elements were within the range.
    """
    _check_range(quant_min, quant_max)
    _check_within(zero_point, zero_point, quant_min, quant_max)
    return FakeQuantizePerTensorAffineCachemask.apply(
        self,
        hotaru.tensor(scale, dtype=_C.float32),
        hotaru.tensor(zero_point),
        quant_min,
        quant_max,
        True,
    )


def _fake_quantize_per_tensor_affine_cachemask_tensor_qparams(
    self: Tensor,
    scale: Tensor,
    zero_point: Tensor,
    fake_quant_enabled: Tensor,
    quant_min: int,
    quant_max: int,
) -> tuple[Tensor, Tensor]:
    """The same with scale and zero point in tensors, or the elements as they
    are where `fake_quant_enabled` holds 0.
    """
    _check_range(quant_min, quant_max)
    _check_constants(
        "_fake_quantize_per_tensor_affine_cachemask_tensor_qparams",
        scale=scale,
        zero_point=zero_point,
    )
    return FakeQuantizePerTensorAffineCachemaskTensorQparams.apply(
        self,
        scale.detach().reshape(()),
        zero_point.detach().reshape(()).to(_C.int64),
        quant_min,
        quant_max,
        bool(fake_quant_enabled.item()),
    )


def fake_quantize_per_tensor_affine(
    input: Tensor, scale, zero_point, quant_min: int, quant_max: int
) -> Tensor:
    """(clamp(round(x / scale) + zero_point) - zero_point) * scale.

    The gradient is that of the output where the integer was within quant_min
    and quant_max, and 0 elsewhere. Scale and zero point are numbers or
    tensors, which get no gradient.

    Raises:
        RuntimeError: a zero point out of the range, an empty range.
    """
    if isinstance(scale, Tensor):
        return _fake_quantize_per_tensor_affine_cachemask_tensor_qparams(
            input, scale, _as_tensor(zero_point), hotaru.ones(1), quant_min, quant_max
        )[0]
    return fake_quantize_per_tensor_affine_cachemask(
        input, scale, int(zero_point), quant_min, quant_max
    )[0]


def _as_tensor(value) -> Tensor:
    return value if isinstance(value, Tensor) else hotaru.tensor(value)


def _check_constants(function: str, **arguments: Tensor) -> None:
    """Refuses derivatives by them, which there are none of."""
    for name, tensor in arguments.items():
        if tensor.requires_grad and hotaru.is_grad_enabled():
            raise RuntimeError(
                f"The function '{function}' is not differentiable with respect "
                f"to argument '{name}'. "
                "This input cannot have requires_grad True."
            )


def _check_channels(x, scale, zero_point, axis, low, high) -> None:
    if scale.dtype not in (_C.float32, _C.bfloat16):
        raise RuntimeError(
            f"Scale must be Float or BFloat16, found {scalar_type(scale.dtype)}"
        )
    if zero_point.dtype not in (_C.int32, _C.float32, _C.float16):
        raise RuntimeError(
            "Zero-point must be Int32, Float or Half, found "
            f"{scalar_type(zero_point.dtype)}"
        )
    if scale.dim() != 1 or zero_point.dim() != 1:
        raise RuntimeError("scale and zero point need to be 1-D tensors")
    if scale.numel() != zero_point.numel():
        raise RuntimeError("scale and zero-point need to have the same dimensions")
    if scale.numel() != x.size(axis):
        raise RuntimeError(
            "dimensions of scale and zero-point are not consistent with input tensor"
        )
    _check_range(low, high)
    if not zero_point.is_floating_point() and zero_point.numel():
        _check_zero_point(zero_point, low, high)


def fake_quantize_per_channel_affine_cachemask(
    self: Tensor,
    scale: Tensor,
    zero_point: Tensor,
    axis: int,
    quant_min: int,
    quant_max: int,
) -> tuple[Tensor, Tensor]:
    """Returns what `fake_quantize_per_channel_affine` gives, and where the
    elements were within the range.
    """
    _check_channels(self, scale, zero_point, axis, quant_min, quant_max)
    _check_constants(
        "fake_quantize_per_channel_affine_cachemask", scale=scale, zero_point=zero_point
    )
    return FakeQuantizePerChannelAffineCachemask.apply(
        self,
        over_axis(scale.detach(), axis, self.dim()),
        over_axis(zero_point.detach(), axis, self.dim()),
        quant_min,
        quant_max,
        True,
    )


def fake_quantize_per_channel_affine(
    input: Tensor,
    scale: Tensor,
    zero_point: Tensor,
    axis: int,
    quant_min: int,
    quant_max: int,
) -> Tensor:
    """`fake_quantize_per_tensor_affine` with a scale and a zero point for each
    index of the dimension `axis`.

    Raises:
        RuntimeError: scales (float32) or zero points (int32, float32 or
            float16) of another dtype or number, out of the range.
    """
    return fake_quantize_per_channel_affine_cachemask(
        input, scale, zero_point, axis, quant_min, quant_max
    )[0]


class FakeQuantizeLearnable(Function):
    """Learned step sizes, https://arxiv.org/abs/1902.08153; zero points as in
    https://arxiv.org/abs/2004.09576.
    """

    @staticmethod
    def forward(ctx, x, scale, zero_point, axis, low, high, factor):
        ctx.save_for_backward(x, scale, zero_point)
        ctx.options = (axis, low, high, factor)
        learned = _learned(x, scale, zero_point, axis, low, high)
        return _faked(x, *learned, low, high)[0]

    @staticmethod
    def backward(ctx, grad):
        x, scale, zero_point = ctx.saved_tensors
        axis, low, high, factor = ctx.options
        steps, middles = _learned(x, scale, zero_point, axis, low, high)
        middles = middles.to(x.dtype)
        levels = _levels(x, steps, middles.to(_C.int64))
        inside = (levels >= low) & (levels <= high)
        kept = levels.clamp(low, high)
        # Inside, (level * step - x) / step is the error of rounding.
        error = (kept - middles) - inside * (x / steps)
        over = [d for d in range(x.dim()) if d != axis]

        def total(parts: Tensor, like: Tensor) -> Tensor:
            summed = parts.sum(over) if over else parts
            return (summed * factor).reshape(like.shape).to(like.dtype)

        outside = ~inside * -steps
        return (
            grad * inside,
            total(grad * error, scale),
            total(grad * outside, zero_point),
            None,
            None,
            None,
            None,
        )


def _learned(x, scale, zero_point, axis, low, high):
    """Steps and integral zero points in shapes that broadcast over x."""
    middles = (zero_point + 0.5).floor().clamp(low, high).to(_C.int64)
    if axis is None:
        return scale.reshape(()), middles.reshape(())
    return over_axis(scale, axis, x.dim()), over_axis(middles, axis, x.dim())


def _fake_quantize_learnable_per_tensor_affine(
    self: Tensor,
    scale: Tensor,
    zero_point: Tensor,
    quant_min: int,
    quant_max: int,
    grad_factor: float = 1.0,
) -> Tensor:
    """Fake quantisation whose scale and zero point get gradients, too, times
    `grad_factor`.
    """
    return FakeQuantizeLearnable.apply(
        self, scale, zero_point, None, quant_min, quant_max, grad_factor
    )


def _fake_quantize_learnable_per_channel_affine(
    self: Tensor,
    scale: Tensor,
    zero_point: Tensor,
    axis: int,
    quant_min: int,
    quant_max: int,
    grad_factor: float = 1.0,
) -> Tensor:
    """The same with one of each for every index of the dimension `axis`."""
    return FakeQuantizeLearnable.apply(
        self, scale, zero_point, axis % self.dim(), quant_min, quant_max, grad_factor
    )


def _observe(x, running_min, running_max, averaging, axis) -> None:
    """Moves the ranges towards that of x; infinite ones take it."""
    if axis is None:
        low, high = _C.ops.aminmax(x)
    else:
        rows = x.transpose(0, axis).flatten(1)
        low, high = _C.ops.aminmax(rows, dim=1)
        if running_min.numel() == 0:
            running_min.resize_(low.shape).fill_(float("inf"))
            running_max.resize_(high.shape).fill_(float("-inf"))
    for running, now in ((running_min, low), (running_max, high)):
        now = now.to(running.dtype).reshape(running.shape)
        moved = running + averaging * (now - running)
        running.copy_(hotaru.where(running.isinf(), now, moved))


def fused_moving_avg_obs_fake_quant(
    self: Tensor,
    observer_on: Tensor,
    fake_quant_on: Tensor,
    running_min: Tensor,
    running_max: Tensor,
    scale: Tensor,
    zero_point: Tensor,
    averaging_const: float,
    quant_min: int,
    quant_max: int,
    ch_axis: int,
    per_row_fake_quant: bool = False,
    symmetric_quant: bool = False,
) -> Tensor:
    """Observes the range of the input, then quantises it in floats.

    The ranges are written by the first part, `scale` and `zero_point`, which
    follow from them, by the second. Either is left out where its tensor holds
    0.

    Raises:
        RuntimeError: `ch_axis` beyond the dimensions, or not 0 for rows.
    """
    if ch_axis >= self.dim():
        raise RuntimeError(
            "Error in fused_moving_avg_obs_fake_quant_cpu: ch_axis must be < self.dim()"
        )
    if per_row_fake_quant and ch_axis != 0:
        raise RuntimeError(
            "Per-channel FakeQuant in fused_moving_avg_obs_fake_quant is only "
            "supported on axis == 0"
        )
    axis = 0 if per_row_fake_quant else None
    if observer_on.item():
        _observe(self.detach(), running_min, running_max, averaging_const, axis)
    if not fake_quant_on.item():
        return self.clone()
    ends = zip(running_min.flatten().tolist(), running_max.flatten().tolist())
    found = [
        choose_qparams(*end, quant_min, quant_max, symmetric=symmetric_quant)
        for end in ends
    ]
    for place, values in zip((scale, zero_point), zip(*found)):
        if place.numel() != len(values):
            place.resize_(len(values))
        new = hotaru.tensor(values, dtype=place.dtype)
        place.copy_(new.reshape(place.shape))
    if axis is not None:
        return fake_quantize_per_channel_affine(
            self, scale, zero_point, axis, quant_min, quant_max
        )
    return fake_quantize_per_tensor_affine(
        self, scale, zero_point, quant_min, quant_max
    )


overridable(globals(), __all__, __package__.rpartition(".")[0])
