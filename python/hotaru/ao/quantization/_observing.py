"""Observers of ranges: a module that looks at what goes through it."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from functools import partial

import hotaru

from ... import nn
from .utils import (
    calculate_qmin_qmax,
    determine_qparams,
    is_per_tensor,
    validate_qmin_qmax,
)

_EPS = hotaru.finfo(hotaru.float32).eps


class _PartialWrapper:
    """A class with some arguments of its constructor; can be given more.

    Callable arguments (`with_callable_args`) are called in each construction.
    """

    def __init__(self, p) -> None:
        self.p = p
        self.callable_args: dict = {}

    def __call__(self, *args, **keywords):
        for name, make in self.callable_args.items():
            if name not in keywords:
                keywords[name] = make()
        return self.p(*args, **keywords)

    def __repr__(self) -> str:
        return repr(self.p) + repr(self.callable_args)

    def with_args(self, **kwargs):
        """The same with more arguments."""
        return _with_args(self, **kwargs)

    def with_callable_args(self, **kwargs):
        """The same with more arguments that are called for their values."""
        result = _PartialWrapper(p=self.p)
        result.callable_args = {**self.callable_args, **kwargs}
        return result


def _with_args(cls_or_self, **kwargs):
    """A factory of objects with these arguments."""
    made = _PartialWrapper(partial(cls_or_self, **kwargs))
    if isinstance(cls_or_self, _PartialWrapper):
        made = _PartialWrapper(partial(cls_or_self.p, **kwargs))
        made.callable_args = dict(cls_or_self.callable_args)
    return made


def _with_callable_args(cls_or_self, **kwargs):
    return _PartialWrapper(partial(cls_or_self)).with_callable_args(**kwargs)


class ObserverBase(ABC, nn.Module):
    """A module that notes something of its input and returns it.

    Args:
        dtype: of the integers that the input is to become.
        is_dynamic: that scales are to be found in each call.
    """

    def __init__(self, dtype, is_dynamic: bool = False) -> None:
        super().__init__()
        self.dtype = dtype
        self.is_dynamic = is_dynamic

    @abstractmethod
    def forward(self, x):
        """Notes what is to be noted; returns x."""

    @abstractmethod
    def calculate_qparams(self, **kwargs):
        """Scale and zero point."""

    with_args = classmethod(_with_args)
    with_callable_args = classmethod(_with_callable_args)


_OBSERVED = (
    hotaru.qint8,
    hotaru.quint8,
    hotaru.quint4x2,
    hotaru.qint32,
    hotaru.int8,
    hotaru.uint8,
    hotaru.int16,
    hotaru.int32,
    hotaru.float8_e5m2,
    hotaru.float8_e4m3fn,
    hotaru.uint16,
)


class UniformQuantizationObserverBase(ObserverBase):
    """Observers whose scale and zero point follow from a range of numbers.

    Args:
        reduce_range: use one bit less.
        quant_min, quant_max: the integers to use; both or none.
        eps: the least scale.
    """

    _version = 3

    def __init__(
        self,
        dtype=hotaru.quint8,
        qscheme=hotaru.per_tensor_affine,
        reduce_range=False,
        quant_min=None,
        quant_max=None,
        factory_kwargs=None,
        eps=_EPS,
        is_dynamic=False,
        **kwargs,
    ) -> None:
        super().__init__(dtype=dtype, is_dynamic=is_dynamic, **kwargs)
        self.qscheme = qscheme
        if reduce_range:
            warnings.warn(
                "Please use quant_min and quant_max to specify the range for "
                "observers.                     reduce_range will be "
                "deprecated in a future release of PyTorch.",
                stacklevel=2,
            )
        self.reduce_range = reduce_range
        options = nn.factory_kwargs(factory_kwargs)
        self.register_buffer("eps", hotaru.tensor([eps], **options))
        schemes = (
            hotaru.per_tensor_affine,
            hotaru.per_tensor_symmetric,
            hotaru.per_channel_affine,
            hotaru.per_channel_symmetric,
            hotaru.per_channel_affine_float_qparams,
        )
        if qscheme not in schemes:
            raise AssertionError(
                "Default Observer only works for per_tensor_affine, "
                "per_tensor_symmetric, per_channel_affine, "
                "per_channel_symmetric and per_channel_float_qparams "
                "quantization scheme"
            )
        if dtype not in _OBSERVED:
            raise AssertionError(
                f"Default Observer only works for {_OBSERVED} data type"
            )
        self.has_customized_qrange = quant_min is not None and quant_max is not None
        if self.has_customized_qrange:
            validate_qmin_qmax(quant_min, quant_max)
        self.quant_min, self.quant_max = calculate_qmin_qmax(
            quant_min,
            quant_max,
            self.has_customized_qrange,
            self.dtype,
            self.reduce_range,
        )

    def _load_from_state_dict(self, state_dict, prefix, local_metadata, *rest) -> None:
        version = local_metadata.get("version", None)
        if version is None or version == 1:
            # Written before `eps` was part of the state.
            state_dict[prefix + "eps"] = hotaru.tensor([_EPS])
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *rest)

    def _validate_qmin_qmax(self, quant_min: int, quant_max: int) -> None:
        validate_qmin_qmax(quant_min, quant_max)

    def _calculate_qparams(self, min_val, max_val):
        return determine_qparams(
            min_val,
            max_val,
            self.quant_min,
            self.quant_max,
            self.dtype,
            self.eps,
            self.has_customized_qrange,
            self.qscheme,
        )

    def reset_min_max_vals(self):
        """Forgets the range."""
        raise NotImplementedError("Cannot reset min/max values in the given observer.")


class MinMaxObserver(UniformQuantizationObserverBase):
    """The least and the greatest number of all inputs."""

    def __init__(
        self,
        dtype=hotaru.quint8,
        qscheme=hotaru.per_tensor_affine,
        reduce_range=False,
        quant_min=None,
        quant_max=None,
        factory_kwargs=None,
        eps=_EPS,
        is_dynamic=False,
        **kwargs,
    ) -> None:
        if not is_per_tensor(qscheme):
            raise NotImplementedError(
                "MinMaxObserver's qscheme only support torch.per_tensor_"
                "symmetric                     and torch.per_tensor_affine."
            )
        super().__init__(
            dtype=dtype,
            qscheme=qscheme,
            reduce_range=reduce_range,
            quant_min=quant_min,
            quant_max=quant_max,
            factory_kwargs=factory_kwargs,
            eps=eps,
            is_dynamic=is_dynamic,
            **kwargs,
        )
        options = nn.factory_kwargs(factory_kwargs)
        inf = float("inf")
        self.register_buffer("min_val", hotaru.tensor(inf, **options))
        self.register_buffer("max_val", hotaru.tensor(-inf, **options))
        if (
            self.qscheme is hotaru.per_tensor_symmetric
            and self.reduce_range
            and self.dtype is hotaru.quint8
        ):
            raise NotImplementedError(
                "Cannot reduce range for symmetric           "
                "                             quantization for quint8"
            )

    def forward(self, x_orig):
        if x_orig.numel() == 0:
            return x_orig
        x = x_orig.detach().to(self.min_val.dtype)
        least, greatest = hotaru.aminmax(x)
        self.min_val.copy_(hotaru.min(least, self.min_val))
        self.max_val.copy_(hotaru.max(greatest, self.max_val))
        return x_orig

    def calculate_qparams(self):
        return self._calculate_qparams(self.min_val, self.max_val)

    def extra_repr(self) -> str:
        return f"min_val={self.min_val}, max_val={self.max_val}"

    def reset_min_max_vals(self) -> None:
        """Forgets the range."""
        self.min_val.copy_(hotaru.tensor(float("inf")))
        self.max_val.copy_(hotaru.tensor(float("-inf")))


class MovingAverageMinMaxObserver(MinMaxObserver):
    """Averages of the inputs' ends: each moves by `averaging_constant` times
    its distance from the new one.
    """

    def __init__(
        self,
        averaging_constant=0.01,
        dtype=hotaru.quint8,
        qscheme=hotaru.per_tensor_affine,
        reduce_range=False,
        quant_min=None,
        quant_max=None,
        eps=_EPS,
        is_dynamic=False,
        **kwargs,
    ) -> None:
        if not is_per_tensor(qscheme):
            raise NotImplementedError(
                "MovingAverageMinMaxObserver's qscheme only "
                "support                 torch.per_tensor_symmetric and "
                f"torch.per_tensor_affine.                 but got: {qscheme}"
            )
        self.averaging_constant = averaging_constant
        if is_dynamic and averaging_constant != 1:
            raise NotImplementedError(
                "MovingAverageMinMaxObserver doesn't support dynamic "
                f"quantization for averaging constant of {averaging_constant}"
            )
        super().__init__(
            dtype=dtype,
            qscheme=qscheme,
            reduce_range=reduce_range,
            quant_min=quant_min,
            quant_max=quant_max,
            eps=eps,
            is_dynamic=is_dynamic,
            **kwargs,
        )

    def forward(self, x_orig):
        if x_orig.numel() == 0:
            return x_orig
        x = x_orig.detach().to(self.min_val.dtype)
        least, greatest = hotaru.aminmax(x)
        low, high = self.min_val, self.max_val
        if low != float("inf") or high != float("-inf"):
            least = low + self.averaging_constant * (least - low)
            greatest = high + self.averaging_constant * (greatest - high)
        self.min_val.copy_(least)
        self.max_val.copy_(greatest)
        return x_orig


class PerChannelMinMaxObserver(UniformQuantizationObserverBase):
    """The least and the greatest number of each index of `ch_axis`."""

    def __init__(
        self,
        ch_axis=0,
        dtype=hotaru.quint8,
        qscheme=hotaru.per_channel_affine,
        reduce_range=False,
        quant_min=None,
        quant_max=None,
        factory_kwargs=None,
        eps=_EPS,
        is_dynamic=False,
        **kwargs,
    ) -> None:
        if is_per_tensor(qscheme):
            raise NotImplementedError(
                "PerChannelMinMaxObserver's qscheme only support "
                "                    torch.per_channel_symmetric, "
                "torch.per_channel_affine and "
                "torch.per_channel_affine_float_qparams."
            )
        if is_dynamic:
            raise NotImplementedError(
                "PerChannelMinMaxObserver doesn't support dynamic quantization"
            )
        super().__init__(
            dtype=dtype,
            qscheme=qscheme,
            reduce_range=reduce_range,
            quant_min=quant_min,
            quant_max=quant_max,
            factory_kwargs=factory_kwargs,
            eps=eps,
            is_dynamic=is_dynamic,
            **kwargs,
        )
        options = nn.factory_kwargs(factory_kwargs)
        self.ch_axis = ch_axis
        self.register_buffer("min_val", hotaru.tensor([], **options))
        self.register_buffer("max_val", hotaru.tensor([], **options))
        if (
            self.qscheme is hotaru.per_channel_symmetric
            and self.reduce_range
            and self.dtype is hotaru.quint8
        ):
            raise NotImplementedError(
                "Cannot reduce range for symmetric quantization for quint8"
            )

    def forward(self, x_orig):
        return self._forward(x_orig)

    def _forward(self, x_orig):
        if x_orig.numel() == 0:
            return x_orig
        rows = x_orig.detach().transpose(0, self.ch_axis)
        rows = rows.to(self.min_val.dtype).flatten(1)
        least, greatest = hotaru.aminmax(rows, dim=1)
        if self.min_val.numel() > 0:
            least, greatest = self._merged(least, greatest)
        self.min_val.resize_(least.shape).copy_(least)
        self.max_val.resize_(greatest.shape).copy_(greatest)
        return x_orig

    def _merged(self, least, greatest):
        """The ends kept so far with those of an input."""
        return (hotaru.min(least, self.min_val), hotaru.max(greatest, self.max_val))

    def calculate_qparams(self):
        return self._calculate_qparams(self.min_val, self.max_val)

    def extra_repr(self) -> str:
        return f"min_val={self.min_val}, max_val={self.max_val}"

    def _load_from_state_dict(self, state_dict, prefix, *rest) -> None:
        for name in ("min_val", "max_val"):
            # As it was called before version 2.
            old = state_dict.pop(f"{prefix}{name}s", None)
            if old is not None:
                state_dict[prefix + name] = old
            value = state_dict.get(prefix + name)
            if value is not None:
                getattr(self, name).resize_(value.shape)
        super()._load_from_state_dict(state_dict, prefix, *rest)

    def reset_min_max_vals(self) -> None:
        """Forgets the ranges."""
        self.min_val = hotaru.rand(0)
        self.max_val = hotaru.rand(0)


class MovingAveragePerChannelMinMaxObserver(PerChannelMinMaxObserver):
    """Averages of each channel's ends, as `MovingAverageMinMaxObserver`."""

    def __init__(
        self,
        averaging_constant=0.01,
        ch_axis=0,
        dtype=hotaru.quint8,
        qscheme=hotaru.per_channel_affine,
        reduce_range=False,
        quant_min=None,
        quant_max=None,
        eps=_EPS,
        is_dynamic=False,
        **kwargs,
    ) -> None:
        if is_per_tensor(qscheme):
            raise NotImplementedError(
                "MovingAveragePerChannelMinMaxObserver's qscheme only support "
                "                    torch.per_channel_symmetric, "
                "torch.per_channel_affine and "
                "torch.per_channel_affine_float_qparams."
            )
        if is_dynamic:
            raise NotImplementedError(
                "MovingAveragePerChannelMinMaxObserver doesn't support dynamic "
                "quantization"
            )
        super().__init__(
            ch_axis=ch_axis,
            dtype=dtype,
            qscheme=qscheme,
            reduce_range=reduce_range,
            quant_min=quant_min,
            quant_max=quant_max,
            eps=eps,
            is_dynamic=is_dynamic,
            **kwargs,
        )
        self.averaging_constant = averaging_constant

    def _merged(self, least, greatest):
        low, high = self.min_val, self.max_val
        return (
            low + self.averaging_constant * (least - low),
            high + self.averaging_constant * (greatest - high),
        )
