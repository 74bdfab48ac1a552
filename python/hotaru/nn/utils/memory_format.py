"""The order in memory of convolutions' weights."""

from __future__ import annotations

from ..modules import Conv2d, Conv3d, ConvTranspose2d, ConvTranspose3d, Module

__all__ = ["convert_conv2d_weight_memory_format", "convert_conv3d_weight_memory_format"]


def convert_conv2d_weight_memory_format(module: Module, memory_format):
    """Reorders the weights of all `Conv2d` and `ConvTranspose2d` in a module,
    and nothing else (as `Module.to` would). Returns the module.
    """
    return _converted(module, (Conv2d, ConvTranspose2d), memory_format)


def convert_conv3d_weight_memory_format(module: Module, memory_format):
    """Reorders the weights of all `Conv3d` and `ConvTranspose3d` in a module,
    and nothing else (as `Module.to` would). Returns the module.
    """
    return _converted(module, (Conv3d, ConvTranspose3d), memory_format)


def _converted(module: Module, kinds: tuple, memory_format) -> Module:
    for below in module.modules():
        if isinstance(below, kinds):
            weight = below.weight.detach()
            below.weight.data = weight.clone(memory_format=memory_format)
    return module
