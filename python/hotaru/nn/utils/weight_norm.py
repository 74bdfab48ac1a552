"""Weight normalisation by a hook (Salimans & Kingma 2016, arXiv 1602.07868).

New programs use `parametrizations.weight_norm`, which computes the weight at
each access instead of before each call.
"""

from __future__ import annotations

import warnings

import hotaru

from ... import Tensor
from ..modules import Module
from ..parameter import Parameter, is_lazy

__all__ = ["WeightNorm", "remove_weight_norm", "weight_norm"]


class WeightNorm:
    """The hook: computes a weight from its norm and direction."""

    def __init__(self, name: str, dim: int | None) -> None:
        self.name = name
        self.dim = -1 if dim is None else dim

    def compute_weight(self, module: Module) -> Tensor:
        """The weight, of the parameters `…_g` and `…_v`."""
        g = getattr(module, self.name + "_g")
        v = getattr(module, self.name + "_v")
        return hotaru._weight_norm(v, g, self.dim)

    @staticmethod
    def apply(module: Module, name: str, dim: int | None) -> WeightNorm:
        """Splits the weight and registers the hook.

        Raises:
            RuntimeError: it is split already.
            ValueError: it waits for its shape.
        """
        warnings.warn(
            "`torch.nn.utils.weight_norm` is deprecated in favor of "
            "`torch.nn.utils.parametrizations.weight_norm`.",
            FutureWarning,
            stacklevel=3,
        )
        if _key_of(module, name) is not None:
            raise RuntimeError(
                f"Cannot register two weight_norm hooks on the same parameter {name}"
            )
        hook = WeightNorm(name, dim)
        weight = getattr(module, name)
        if is_lazy(weight):
            raise ValueError(
                "The module passed to `WeightNorm` can't have uninitialized "
                "parameters. Make sure to run the dummy forward before "
                "applying weight normalization"
            )
        del module._parameters[name]
        norms = hotaru.norm_except_dim(weight, 2, hook.dim)
        module.register_parameter(name + "_g", Parameter(norms.data))
        module.register_parameter(name + "_v", Parameter(weight.data))
        setattr(module, name, hook.compute_weight(module))
        module.register_forward_pre_hook(hook)
        return hook

    def remove(self, module: Module) -> None:
        """Makes the weight a parameter again; the hook itself stays."""
        weight = self.compute_weight(module)
        delattr(module, self.name)
        for part in "gv":
            del module._parameters[f"{self.name}_{part}"]
        setattr(module, self.name, Parameter(weight.data))

    def __call__(self, module: Module, inputs) -> None:
        setattr(module, self.name, self.compute_weight(module))


def _key_of(module: Module, name: str):
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, WeightNorm) and hook.name == name:
            return key
    return None


def weight_norm(module: Module, name: str = "weight", dim: int | None = 0) -> Module:
    """Splits a weight into the parameters `…_g`, its norm, and `…_v`, from
    which a hook computes it before each call. Returns the module.

    `dim` is the axis with a norm for each index; None for one of all.
    """
    WeightNorm.apply(module, name, dim)
    return module


def remove_weight_norm(module: Module, name: str = "weight") -> Module:
    """Undoes `weight_norm`; ValueError where there is none."""
    key = _key_of(module, name)
    if key is None:
        raise ValueError(f"weight_norm of '{name}' not found in {module}")
    module._forward_pre_hooks.pop(key).remove(module)
    return module
