"""Switches of behaviour that is to become the default."""

from __future__ import annotations

_overwrite_module_params = False
_swap_module_params = False


def set_overwrite_module_params_on_conversion(value: bool) -> None:
    """Sets whether `Module.to`, `float`, … put new parameters in place of the
    module's own instead of giving these other memory. Off by default.
    """
    global _overwrite_module_params
    _overwrite_module_params = value


def get_overwrite_module_params_on_conversion() -> bool:
    """Tells what `set_overwrite_module_params_on_conversion` was given last."""
    return _overwrite_module_params


def set_swap_module_params_on_conversion(value: bool) -> None:
    """Sets whether conversions and `Module.load_state_dict` exchange parameters
    with their new values by `utils.swap_tensors`, which keeps the objects.
    Comes before `set_overwrite_module_params_on_conversion`. Off by default.
    """
    global _swap_module_params
    _swap_module_params = value


def get_swap_module_params_on_conversion() -> bool:
    """Tells what `set_swap_module_params_on_conversion` was given last."""
    return _swap_module_params
