"""Making from float modules, which all modules that train share."""

from __future__ import annotations

from .....nn.parameter import Parameter
from .....nn.utils.parametrize import (
    is_parametrized,
    transfer_parametrizations_and_params,
    type_before_parametrizations,
)
from ..._qconfig import require_qconfig


def check_float(cls, mod, kind: type | None = None) -> None:
    """AssertionError unless a module can be made a `cls`."""
    kind = kind or cls._FLOAT_MODULE
    if type_before_parametrizations(mod) is not kind:
        raise AssertionError(
            f"qat.{cls.__name__}.from_float only works for {kind.__name__}, "
            f"not {type_before_parametrizations(mod).__name__}"
        )
    require_qconfig(mod)
    if not mod.qconfig:
        raise AssertionError("Input float module must have a valid qconfig")


def take_parameters(made, mod, names=("weight", "bias")) -> None:
    """Gives a module the parameters of another, which share them then, with
    their parametrizations.
    """
    for name in names:
        if is_parametrized(mod, name):
            transfer_parametrizations_and_params(mod, made, name)
        else:
            setattr(made, name, getattr(mod, name))


def take_values(made, mod) -> None:
    """Gives a module what the weight and the bias of another hold now."""
    made.weight = Parameter(mod.weight.detach())
    if mod.bias is not None:
        made.bias = Parameter(mod.bias.detach())


def geometry(conv, bias: bool | None = None) -> tuple:
    """Arguments that make a convolution as `conv`, with a bias if it has."""
    return (
        conv.in_channels,
        conv.out_channels,
        conv.kernel_size,
        conv.stride,
        conv.padding,
        conv.dilation,
        conv.groups,
        conv.bias is not None if bias is None else bias,
        conv.padding_mode,
    )


def need(qconfig) -> None:
    """AssertionError without a qconfig."""
    if not qconfig:
        raise AssertionError("qconfig must be provided for QAT module")
