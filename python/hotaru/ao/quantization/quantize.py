"""The workflows: observe and convert, train and convert, convert at once."""

from __future__ import annotations

import copy
import inspect
import warnings

import hotaru

from ... import nn
from ...nn.utils.parametrize import type_before_parametrizations
from ..nn import quantized as nnq
from ..nn.intrinsic import _FusedModule
from . import qconfig as _qconfig
from .observer import _is_activation_post_process
from .quantization_mappings import (
    _get_special_act_post_process,
    _has_special_act_post_process,
    get_default_dynamic_quant_module_mappings,
    get_default_qat_module_mappings,
    get_default_qconfig_propagation_list,
    get_default_static_quant_module_mappings,
    no_observer_set,
)
from .stubs import DeQuantStub, QuantWrapper
from .utils import (
    _assert_and_get_unique_device,
    has_no_children_ignoring_parametrizations,
)

__all__ = [
    "add_quant_dequant",
    "convert",
    "get_default_custom_config_dict",
    "prepare",
    "prepare_qat",
    "propagate_qconfig_",
    "quantize",
    "quantize_dynamic",
    "quantize_qat",
    "swap_module",
]

# PyTorch swaps these with modules of torch.ao.nn.quantizable.
_NOT_STATIC = (nn.LSTM, nn.MultiheadAttention)


def get_default_custom_config_dict() -> dict:
    """Modules that are swapped as a whole: none by default."""
    return {
        "float_to_observed_custom_module_class": {},
        "observed_to_quantized_custom_module_class": {},
    }


# -- qconfigs ---------------------------------------------------------------


def propagate_qconfig_(
    module, qconfig_dict=None, prepare_custom_config_dict=None
) -> None:
    """Sets `qconfig` of all modules in a module.

    A module's own goes before that of its name, of its class and of the module
    that it is in.

    Args:
        qconfig_dict: qconfigs by dotted name or class; "" for all.
        prepare_custom_config_dict: modules to leave, by
            "non_traceable_module_name" and "non_traceable_module_class".
    """
    _propagate(module, qconfig_dict or {}, None, "", prepare_custom_config_dict)


def _propagate(module, by_key, inherited, prefix, custom) -> None:
    found = by_key.get(type_before_parametrizations(module), inherited)
    found = by_key.get(prefix, found)
    found = getattr(module, "qconfig", found)
    _qconfig._assert_valid_qconfig(found, module)
    module.qconfig = _qconfig._add_module_to_qconfig_obs_ctr(found, module)
    for name, child in module.named_children():
        if custom is not None and (
            name in custom.get("non_traceable_module_name", ())
            or type(child) in custom.get("non_traceable_module_class", ())
        ):
            continue
        place = f"{prefix}.{name}" if prefix else name
        _propagate(child, by_key, module.qconfig, place, custom)


# -- observers --------------------------------------------------------------


def _observer_forward_hook(self, input, output):
    """Observes the output."""
    return self.activation_post_process(output)


def _observer_forward_pre_hook(self, input):
    """Observes the input."""
    return self.activation_post_process(input[0])


def _register_activation_post_process_hook(module, pre_hook=False) -> None:
    if not hasattr(module, "activation_post_process"):
        raise AssertionError(
            "Expect activation_post_process attribute already attached to the module"
        )
    if pre_hook:
        module.register_forward_pre_hook(_observer_forward_pre_hook, prepend=True)
    else:
        module.register_forward_hook(_observer_forward_hook, prepend=True)


def _observed(module) -> bool:
    return getattr(module, "qconfig", None) is not None


def _insert_observer(module, device, special=None) -> None:
    if not _observed(module) or isinstance(module, DeQuantStub):
        return
    observer = (special or module.qconfig.activation)()
    if device is not None:
        observer.to(device)
    module.add_module("activation_post_process", observer)
    _register_activation_post_process_hook(
        module, pre_hook=_qconfig._activation_is_memoryless(module.qconfig)
    )


def _add_observer_(
    module,
    qconfig_propagation_list=None,
    non_leaf_module_list=None,
    device=None,
    custom_module_class_mapping=None,
) -> None:
    """Adds observers to the modules of a list that have a qconfig."""
    if qconfig_propagation_list is None:
        qconfig_propagation_list = get_default_qconfig_propagation_list()
    custom = custom_module_class_mapping or {}
    if device is None:
        device = _assert_and_get_unique_device(module)
    for name, child in module.named_children():
        kind = type_before_parametrizations(child)
        if kind is nn.Dropout:
            continue
        if isinstance(child, (nnq.FloatFunctional, nnq.QFunctional)):
            if _observed(child):
                child.activation_post_process = child.qconfig.activation()
        elif isinstance(child, _FusedModule) or (
            non_leaf_module_list is not None and kind in non_leaf_module_list
        ):
            _insert_observer(child, device)
        elif _has_special_act_post_process(child):
            special = _get_special_act_post_process(child)
            _insert_observer(child, device, special)
        elif _observed(child) and kind in custom:
            observed = custom[kind].from_float(child)
            setattr(module, name, observed)
            if not issubclass(custom[kind], tuple(no_observer_set())):
                _insert_observer(observed, device)
        elif _observed(child) and kind in _NOT_STATIC:
            raise NotImplementedError(
                f"prepare: {kind.__name__} has no form whose scales are fixed "
                "beforehand (torch.ao.nn.quantizable is not there). "
                "Use quantize_dynamic for it, or set its qconfig to None"
            )
        else:
            _add_observer_(
                child, qconfig_propagation_list, non_leaf_module_list, device, custom
            )
    kind = type_before_parametrizations(module)
    if (
        has_no_children_ignoring_parametrizations(module)
        and not isinstance(module, nn.Sequential)
        and kind in qconfig_propagation_list
    ):
        _insert_observer(module, device)


def prepare(
    model,
    inplace=False,
    allow_list=None,
    observer_non_leaf_module_list=None,
    prepare_custom_config_dict=None,
):
    """Adds observers to the modules of a model that have a `qconfig`.

    Args:
        allow_list: classes to observe, by default those that can be converted.
        observer_non_leaf_module_list: classes that are observed though they
            have modules.
        prepare_custom_config_dict: "float_to_observed_custom_module_class"
            has classes to swap a class with, by `from_float`.
    """
    if prepare_custom_config_dict is None:
        prepare_custom_config_dict = get_default_custom_config_dict()
    custom = prepare_custom_config_dict.get("float_to_observed_custom_module_class", {})
    if not inplace:
        model = copy.deepcopy(model)
    propagate_qconfig_(model, qconfig_dict=None)
    if not any(_observed(m) for m in model.modules()):
        warnings.warn(
            "None of the submodule got qconfig applied. Make sure you passed "
            "correct configuration through `qconfig_dict` or by assigning the "
            "`.qconfig` attribute directly on submodules",
            stacklevel=2,
        )
    _add_observer_(
        model,
        allow_list or get_default_qconfig_propagation_list(),
        observer_non_leaf_module_list,
        custom_module_class_mapping=custom,
    )
    return model


def _remove_activation_post_process(module) -> None:
    observer = getattr(module, "activation_post_process", None)
    if observer is not None and _is_activation_post_process(observer):
        delattr(module, "activation_post_process")
    for hooks, ours in (
        (module._forward_hooks, _observer_forward_hook),
        (module._forward_pre_hooks, _observer_forward_pre_hook),
    ):
        for handle in [h for h, hook in hooks.items() if hook is ours]:
            hooks.pop(handle)


def _remove_qconfig(module) -> None:
    for child in module.children():
        _remove_qconfig(child)
    if hasattr(module, "qconfig"):
        del module.qconfig
    _remove_activation_post_process(module)


# -- conversion -------------------------------------------------------------


def convert(
    module,
    mapping=None,
    inplace=False,
    remove_qconfig=True,
    is_reference=False,
    convert_custom_config_dict=None,
    use_precomputed_fake_quant=False,
):
    """Swaps the modules in a module with those of a mapping, by `from_float`.

    Args:
        mapping: classes by class, by default those with fixed scales.
        remove_qconfig: whether to remove qconfigs and observers at the end.
        convert_custom_config_dict: "observed_to_quantized_custom_module_class"
            has classes that are swapped by `from_observed`.
    """
    if is_reference:
        raise NotImplementedError(
            "convert: reference modules (torch.ao.nn.quantized.reference) are "
            "for other compilers' patterns and not there; use "
            "is_reference=False"
        )
    if convert_custom_config_dict is None:
        convert_custom_config_dict = get_default_custom_config_dict()
    custom = convert_custom_config_dict.get(
        "observed_to_quantized_custom_module_class", {}
    )
    if mapping is None:
        mapping = get_default_static_quant_module_mappings()
    if not inplace:
        module = copy.deepcopy(module)
    _convert(module, mapping, custom, use_precomputed_fake_quant)
    if remove_qconfig:
        _remove_qconfig(module)
    return module


def _convert(module, mapping, custom, use_precomputed_fake_quant) -> None:
    swapped = {}
    for name, child in module.named_children():
        kind = type_before_parametrizations(child)
        # These are swapped as one.
        if not isinstance(child, _FusedModule) and kind not in custom:
            _convert(child, mapping, custom, use_precomputed_fake_quant)
        swapped[name] = swap_module(child, mapping, custom, use_precomputed_fake_quant)
    module._modules.update(swapped)


def swap_module(
    mod, mapping, custom_module_class_mapping, use_precomputed_fake_quant=False
):
    """The module that takes the place of one that has a qconfig, with its
    hooks and on its device; the module itself where none does.
    """
    if not _observed(mod):
        return mod
    kind = type_before_parametrizations(mod)
    if kind in custom_module_class_mapping:
        made = custom_module_class_mapping[kind].from_observed(mod)
    elif kind in mapping:
        options = {}
        taken = inspect.signature(mapping[kind].from_float).parameters
        if "use_precomputed_fake_quant" in taken:
            options["use_precomputed_fake_quant"] = use_precomputed_fake_quant
        made = mapping[kind].from_float(mod, **options)
    else:
        return mod
    for hook in mod._forward_pre_hooks.values():
        made.register_forward_pre_hook(hook)
    for hook in mod._forward_hooks.values():
        if hook is not _observer_forward_hook:
            made.register_forward_hook(hook)
    device = _assert_and_get_unique_device(mod)
    if device is not None:
        made.to(device)
    return made


def add_quant_dequant(module):
    """Puts each leaf that has a qconfig between stubs; the module that it is
    itself, if it is such a leaf.
    """
    if has_no_children_ignoring_parametrizations(module) and _observed(module):
        return QuantWrapper(module)
    for name, child in module.named_children():
        module._modules[name] = add_quant_dequant(child)
    return module


# -- whole workflows --------------------------------------------------------


def quantize(model, run_fn, run_args, mapping=None, inplace=False):
    """Observes a model while run_fn(model, *run_args) runs, and converts it."""
    if mapping is None:
        mapping = get_default_static_quant_module_mappings()
    if not inplace:
        model = copy.deepcopy(model)
    model.eval()
    prepare(model, inplace=True)
    run_fn(model, *run_args)
    convert(model, mapping, inplace=True)
    return model


_RECURRENT = (nn.LSTM, nn.GRU, nn.LSTMCell, nn.RNNCell, nn.GRUCell)
_BY_DTYPE = {
    hotaru.qint8: (_qconfig.default_dynamic_qconfig, (nn.Linear, *_RECURRENT)),
    hotaru.float16: (_qconfig.float16_dynamic_qconfig, (nn.Linear, *_RECURRENT)),
    hotaru.quint8: (
        _qconfig.float_qparams_weight_only_qconfig,
        (nn.EmbeddingBag, nn.Embedding),
    ),
    hotaru.quint4x2: (
        _qconfig.float_qparams_weight_only_qconfig_4bit,
        (nn.EmbeddingBag,),
    ),
}


def quantize_dynamic(
    model, qconfig_spec=None, dtype=hotaru.qint8, mapping=None, inplace=False
):
    """Converts weights now, activations in each call.

    Args:
        qconfig_spec: a set of classes and names of modules to convert, or
            their qconfigs; by default all that a dtype is for.
        dtype: of the weights: qint8, float16, quint8 or quint4x2 (embeddings).

    Raises:
        ValueError, RuntimeError: another dtype.
    """
    if qconfig_spec is None:
        if dtype not in _BY_DTYPE:
            raise ValueError(
                "Don't know how to quantize with default settings for "
                f"{dtype}. Provide full qconfig please"
            )
        qconfig, kinds = _BY_DTYPE[dtype]
        qconfig_spec = dict.fromkeys(kinds, qconfig)
    elif isinstance(qconfig_spec, set):
        if dtype not in _BY_DTYPE:
            raise RuntimeError(
                "Unknown dtype specified for quantize_dynamic: ", str(dtype)
            )
        qconfig_spec = dict.fromkeys(qconfig_spec, _BY_DTYPE[dtype][0])
    if mapping is None:
        mapping = get_default_dynamic_quant_module_mappings()
    if not inplace:
        model = copy.deepcopy(model)
    model.eval()
    propagate_qconfig_(model, qconfig_spec)
    convert(model, mapping, inplace=True)
    return model


def prepare_qat(model, mapping=None, inplace=False):
    """Swaps modules with those that imitate quantisation while they train.

    AssertionError for a model that is not in training mode.
    """
    if not model.training:
        raise AssertionError("prepare_qat only works on models in training mode")
    if mapping is None:
        mapping = get_default_qat_module_mappings()
    if not inplace:
        model = copy.deepcopy(model)
    propagate_qconfig_(model, qconfig_dict=None)
    convert(model, mapping=mapping, inplace=True, remove_qconfig=False)
    prepare(model, observer_non_leaf_module_list=set(mapping.values()), inplace=True)
    return model


def quantize_qat(model, run_fn, run_args, inplace=False):
    """Trains a model by run_fn(model, *run_args), and converts it."""
    if not inplace:
        model = copy.deepcopy(model)
    model.train()
    prepare_qat(model, inplace=True)
    run_fn(model, *run_args)
    convert(model, inplace=True)
    return model


def _get_observer_dict(mod, target_dict: dict, prefix: str = "") -> None:
    """Puts the observers of a module and those in it into a dictionary."""
    place = prefix + "." if prefix else prefix
    if hasattr(mod, "activation_post_process"):
        target_dict[place + "activation_post_process"] = mod.activation_post_process
    for name, child in mod.named_children():
        _get_observer_dict(child, target_dict, place + name)
