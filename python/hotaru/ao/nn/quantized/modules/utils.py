"""Parts that quantised modules share."""

from __future__ import annotations

import hotaru

from ..... import nn

__all__ = ["WeightedQuantizedModule"]


class WeightedQuantizedModule(nn.Module):
    """A module whose weight is quantised."""


def output_qparams(mod) -> tuple[float, int]:
    """Scale and zero point of a module's output, as it was observed.

    AssertionError for a module without an observer.
    """
    if not hasattr(mod, "activation_post_process"):
        raise AssertionError(
            f"Module {type(mod).__name__} must have activation_post_process attribute"
        )
    scale, zero_point = mod.activation_post_process.calculate_qparams()
    return float(scale), int(zero_point)


def _quantize_weight(float_wt, observer):
    """A weight with the scale that its observer has seen.

    ValueError for a scheme that weights do not have.
    """
    scale, zero_point = observer.calculate_qparams()
    dtype = observer.dtype
    if observer.qscheme in (hotaru.per_tensor_symmetric, hotaru.per_tensor_affine):
        made = hotaru.quantize_per_tensor(
            float_wt, float(scale), int(zero_point), dtype
        )
    elif observer.qscheme in (hotaru.per_channel_symmetric, hotaru.per_channel_affine):
        made = hotaru.quantize_per_channel(
            float_wt,
            scale.to(hotaru.double),
            zero_point.to(hotaru.int64),
            observer.ch_axis,
            dtype,
        )
    elif observer.qscheme is hotaru.per_channel_affine_float_qparams:
        made = hotaru.quantize_per_channel(
            float_wt,
            scale.to(hotaru.float),
            zero_point.to(hotaru.float),
            observer.ch_axis,
            dtype,
        )
    else:
        raise ValueError("Unexpected qscheme " + str(observer.qscheme))
    narrow = (
        getattr(observer, "quant_min", None),
        getattr(observer, "quant_max", None),
    )
    if None not in narrow and narrow != (dtype.low, dtype.high):
        made._integers.clamp_(*narrow)
    return made


def weight_observer_of(mod, use_precomputed_fake_quant: bool = False):
    """The observer of a module's weight: the one that it trained with, or a
    new one that has seen the weight.
    """
    observer = getattr(mod, "weight_fake_quant", None)
    if observer is None:
        observer = mod.qconfig.weight()
    if not use_precomputed_fake_quant:
        observer(mod.weight)
    return observer


class KeepsQparams:
    """A module whose state has the scale and zero point of its output."""

    def _save_to_state_dict(self, destination, prefix, keep_vars) -> None:
        super()._save_to_state_dict(destination, prefix, keep_vars)
        save_qparams(self, destination, prefix)

    def _load_from_state_dict(
        self, state_dict, prefix, local_metadata, strict, *rest
    ) -> None:
        load_qparams(self, state_dict, prefix)
        super()._load_from_state_dict(state_dict, prefix, local_metadata, False, *rest)


def save_qparams(module, destination, prefix) -> None:
    """Puts scale and zero point of the output into a state."""
    destination[prefix + "scale"] = hotaru.tensor(module.scale)
    destination[prefix + "zero_point"] = hotaru.tensor(module.zero_point)


def load_qparams(module, state_dict, prefix) -> None:
    """Takes them from a state."""
    module.scale = float(state_dict.pop(prefix + "scale"))
    module.zero_point = int(state_dict.pop(prefix + "zero_point"))
