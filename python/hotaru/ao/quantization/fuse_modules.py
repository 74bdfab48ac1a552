"""Replaces sequences of a model's modules by fused ones."""

from __future__ import annotations

import copy

from ... import nn
from .fuser_method_mappings import get_fuser_method
from .utils import get_combined_dict

__all__ = ["fuse_known_modules", "fuse_modules", "fuse_modules_qat"]


def _parent_and_name(model, name: str):
    path, _, last = name.rpartition(".")
    return model.get_submodule(path), last


def fuse_known_modules(mod_list, is_qat, additional_fuser_method_mapping=None) -> list:
    """The fused module in the place of the first, identities in the others'.

    Hooks before the first and after the last module become the fused one's.
    """
    kinds = tuple(_plain_class(m) for m in mod_list)
    fuser_method = get_fuser_method(kinds, additional_fuser_method_mapping)
    fused = fuser_method(is_qat, *mod_list)
    first, last = mod_list[0], mod_list[-1]
    for hook in tuple(first._forward_pre_hooks.values()):
        fused.register_forward_pre_hook(hook)
    first._forward_pre_hooks.clear()
    for hook in tuple(last._forward_hooks.values()):
        fused.register_forward_hook(hook)
    last._forward_hooks.clear()
    rest = []
    for _ in mod_list[1:]:
        identity = nn.Identity()
        identity.training = first.training
        rest.append(identity)
    return [fused, *rest]


def _plain_class(module) -> type:
    """The module's class, or that which it had before it was parametrized."""
    from ...nn.utils.parametrize import type_before_parametrizations

    return type_before_parametrizations(module)


def _fuse(model, modules_to_fuse, is_qat, inplace, fuser_func, fuse_custom_config_dict):
    if not inplace:
        model = copy.deepcopy(model)
    groups = modules_to_fuse
    if all(isinstance(name, str) for name in groups):
        groups = [groups]
    additional = get_combined_dict(
        {}, (fuse_custom_config_dict or {}).get("additional_fuser_method_mapping", {})
    )
    for names in groups:
        modules = [model.get_submodule(name) for name in names]
        fused = fuser_func(modules, is_qat, additional)
        for name, module in zip(names, fused):
            parent, last = _parent_and_name(model, name)
            setattr(parent, last, module)
    return model


def fuse_modules(
    model,
    modules_to_fuse,
    inplace=False,
    fuser_func=fuse_known_modules,
    fuse_custom_config_dict=None,
):
    """Fuses sequences of modules, for evaluation.

    Args:
        modules_to_fuse: a list of names, or a list of such lists. Known:
            convolution and norm, and rectifier; convolution and rectifier;
            linear and rectifier, linear and norm; norm and rectifier.
        fuse_custom_config_dict: "additional_fuser_method_mapping" has fusers
            of other tuples of classes.
    """
    return _fuse(
        model, modules_to_fuse, False, inplace, fuser_func, fuse_custom_config_dict
    )


def fuse_modules_qat(
    model,
    modules_to_fuse,
    inplace=False,
    fuser_func=fuse_known_modules,
    fuse_custom_config_dict=None,
):
    """Fuses sequences of modules of a model that is going to be trained."""
    return _fuse(
        model, modules_to_fuse, True, inplace, fuser_func, fuse_custom_config_dict
    )
