"""Making from float modules, which all modules that train share."""

from __future__ import annotations

from .....nn.utils.parametrize import (
    is_parametrized,
    transfer_parametrizations_and_params,
    type_before_parametrizations,
)


def check_float(cls, mod, kind: type | None = None) -> None:
    """AssertionError unless a module can be made a `cls`."""
    kind = kind or cls._FLOAT_MODULE
    if type_before_parametrizations(mod) is not kind:
        raise AssertionError(
            f"qat.{cls.__name__}.from_float only works for {kind.__name__}, "
            f"not {type_before_parametrizations(mod).__name__}"
        )
    if not hasattr(mod, "qconfig"):
        raise AssertionError("Input float module must have qconfig defined")
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


def need(qconfig) -> None:
    """AssertionError without a qconfig."""
    if not qconfig:
        raise AssertionError("qconfig must be provided for QAT module")
