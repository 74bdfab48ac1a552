"""Quantisation of a model's graph, in two steps: `prepare_fx` puts observers
into it, `convert_fx` computes with integers where they have watched.

Weights are those of modules. What is not quantised stays in floats, between
`dequantize` and `quantize_per_tensor`.
"""

from __future__ import annotations

import copy
import operator
from typing import Any

import hotaru

from ... import nn
from ...fx import GraphModule, Tracer
from ...nn import functional as F
from ..nn.intrinsic.modules.fused import _FusedModule
from .fuser_method_mappings import _DEFAULT_OP_LIST_TO_FUSER_METHOD
from .qconfig_mapping import QConfigMapping
from .quantization_mappings import (
    DEFAULT_DYNAMIC_QUANT_MODULE_MAPPINGS,
    DEFAULT_STATIC_QUANT_MODULE_MAPPINGS,
)
from .utils import (
    activation_is_dynamically_quantized,
    activation_is_statically_quantized,
)

__all__ = ["convert_fx", "fuse_fx", "prepare_fx"]

_RELUS = (hotaru.relu, F.relu)
_ADDS = (operator.add, hotaru.add, operator.iadd)
_MULS = (operator.mul, hotaru.mul, operator.imul)
# Operators whose results have the scale of what they are given.
_KEEPING_MODULES = (
    nn.AdaptiveAvgPool1d,
    nn.AdaptiveAvgPool2d,
    nn.AdaptiveAvgPool3d,
    nn.AvgPool1d,
    nn.AvgPool2d,
    nn.AvgPool3d,
    nn.Hardtanh,
    nn.Identity,
    nn.MaxPool1d,
    nn.MaxPool2d,
    nn.MaxPool3d,
    nn.PixelShuffle,
    nn.PixelUnshuffle,
    nn.ReLU,
    nn.ReLU6,
    nn.Dropout,
)
_KEEPING_FUNCTIONS = (
    hotaru.adaptive_avg_pool1d,
    F.adaptive_avg_pool2d,
    F.adaptive_avg_pool3d,
    F.hardtanh,
    F.max_pool1d,
    F.max_pool2d,
    F.max_pool3d,
    F.pixel_shuffle,
    F.pixel_unshuffle,
    F.relu,
    hotaru.relu,
    F.relu6,
    hotaru.avg_pool1d,
    F.avg_pool2d,
    F.avg_pool3d,
    hotaru.clamp,
    hotaru.flatten,
    hotaru.mean,
    hotaru.transpose,
    hotaru.squeeze,
    hotaru.unsqueeze,
    hotaru.cat,
    F.dropout,
)
_KEEPING_METHODS = {
    "contiguous",
    "clamp",
    "detach",
    "mean",
    "permute",
    "reshape",
    "relu",
    "squeeze",
    "transpose",
    "unsqueeze",
    "view",
    "flatten",
}
# Functions that PyTorch quantises and this file does not.
_NOT_HERE = (
    F.linear,
    F.conv1d,
    F.conv2d,
    F.conv3d,
    hotaru.matmul,
    F.layer_norm,
    F.batch_norm,
    F.group_norm,
    F.instance_norm,
    F.hardswish,
    F.elu,
    F.leaky_relu,
    hotaru.sigmoid,
    hotaru.tanh,
    F.hardsigmoid,
    F.softmax,
    F.interpolate,
    hotaru.stack,
    hotaru.bmm,
)
_NOT_HERE_MODULES = (
    nn.Sigmoid,
    nn.Tanh,
    nn.Hardsigmoid,
    nn.Softmax,
    nn.PReLU,
    nn.Embedding,
    nn.EmbeddingBag,
    nn.LSTM,
    nn.GRU,
    nn.MultiheadAttention,
)


class _Tracer(Tracer):
    """Layers stay calls, fused and observed ones, too."""

    def is_leaf_module(self, module, qualified_name: str) -> bool:
        own = isinstance(module, _FusedModule)
        return own or super().is_leaf_module(module, qualified_name)


def _traced(model) -> GraphModule:
    if isinstance(model, GraphModule):
        return GraphModule(model, copy.deepcopy(model.graph))
    tracer = _Tracer()
    graph = tracer.trace(model)
    made = GraphModule(tracer.root, graph, type(model).__name__)
    made.train(model.training)
    return made


def _module(model: GraphModule, node):
    return model.get_submodule(node.target) if node.op == "call_module" else None


def _set_module(model: GraphModule, name: str, module) -> None:
    parent, _, last = name.rpartition(".")
    owner = model.get_submodule(parent) if parent else model
    setattr(owner, last, module)


def _kind(model: GraphModule, node):
    """The class of a node's module; nn.ReLU for functions that rectify."""
    if node.op == "call_module":
        return type(_module(model, node))
    rectifies = node.op == "call_function" and node.target in _RELUS
    return nn.ReLU if rectifies else None


def _added(a, b):
    return hotaru.relu(hotaru.add(a, b))


def _multiplied(a, b):
    return hotaru.relu(hotaru.mul(a, b))


_FUSED = (_added, _multiplied)


def _rectify(model: GraphModule, node) -> None:
    """Makes one node of a sum or a product and the rectifier behind it."""
    known = node.target in _ADDS or node.target in _MULS
    if node.op != "call_function" or not known or len(node.users) != 1:
        return
    following = next(iter(node.users))
    if _kind(model, following) is not nn.ReLU:
        return
    node.meta["was"] = node.target
    node.target = _added if node.target in _ADDS else _multiplied
    following.replace_all_uses_with(node)
    model.graph.erase_node(following)


def _chain(model: GraphModule, node) -> list:
    """The nodes from this one on that one fused module stands for."""
    found, longest = [node], [node]
    kinds = (_kind(model, node),)
    while len(found[-1].users) == 1:
        following = next(iter(found[-1].users))
        kinds = (*kinds, _kind(model, following))
        if kinds[-1] is None or following.args[:1] != (found[-1],):
            break
        found.append(following)
        if kinds in _DEFAULT_OP_LIST_TO_FUSER_METHOD:
            longest = list(found)
        if len(kinds) == 3:
            break
    return longest


def _fuse(model: GraphModule) -> None:
    if model.training:
        raise NotImplementedError(
            "quantize_fx: the model is in training mode, and quantisation "
            "while training (prepare_qat_fx) is not there; call eval() first"
        )
    for node in list(model.graph.nodes):
        _rectify(model, node)
        if node.op != "call_module" or not node.users:
            continue
        chain = _chain(model, node)
        if len(chain) < 2:
            continue
        kinds = tuple(_kind(model, each) for each in chain)
        parts = [_module(model, each) or nn.ReLU() for each in chain]
        fused = _DEFAULT_OP_LIST_TO_FUSER_METHOD[kinds](False, *parts)
        fused.eval()
        _set_module(model, node.target, fused)
        for each in reversed(chain[1:]):
            each.replace_all_uses_with(each.args[0])
            model.graph.erase_node(each)
    model.recompile()


def fuse_fx(model, fuse_custom_config=None, backend_config=None) -> GraphModule:
    """A model in eval mode as a graph whose convolutions, norms and rectifiers
    in a row are one module.

    NotImplementedError: the model trains.
    """
    _check_configs(fuse_custom_config, backend_config)
    made = _traced(copy.deepcopy(model))
    _fuse(made)
    return made


def _check_configs(*configs) -> None:
    if any(configs):
        raise NotImplementedError(
            "quantize_fx: custom configs, equalisation and back ends other "
            "than the default are not there"
        )


# -- which qconfig a node has --------------------------------------------------


class _Choice:
    """Qconfigs of nodes, the most specific first."""

    def __init__(self, mapping: QConfigMapping) -> None:
        if mapping.module_name_object_type_order_qconfigs:
            raise NotImplementedError(
                "quantize_fx: set_module_name_object_type_order is not there"
            )
        self._mapping = mapping

    def of(self, name: str, types: tuple) -> Any:
        """The qconfig of a module's name and of types that it goes by."""
        import re

        mapping = self._mapping
        parts = name.split(".") if name else []
        for n in range(len(parts), 0, -1):
            place = ".".join(parts[:n])
            if place in mapping.module_name_qconfigs:
                return mapping.module_name_qconfigs[place]
        for text, config in mapping.module_name_regex_qconfigs.items():
            if name and re.match(text, name):
                return config
        for kind in types:
            if kind in mapping.object_type_qconfigs:
                return mapping.object_type_qconfigs[kind]
        return mapping.global_qconfig


def _types(module) -> tuple:
    """The classes a module goes by: of a fused one, that of its first part."""
    if isinstance(module, _FusedModule):
        return (type(module), *_types(module[0]))
    return (type(module),)


def _role(model: GraphModule, node) -> str:
    """Tells what becomes of a node: "own" has a scale of its own, "same" that
    of its input, "" stays as it is.
    """
    if node.op == "call_module":
        module = _module(model, node)
        if isinstance(module, _KEEPING_MODULES):
            return "same"
        if isinstance(module, _NOT_HERE_MODULES):
            raise _not_here(type(module).__name__)
        known = type(module) in DEFAULT_STATIC_QUANT_MODULE_MAPPINGS
        return "own" if known else ""
    if node.op == "call_method":
        return "same" if node.target in _KEEPING_METHODS else ""
    if node.op != "call_function":
        return ""
    if node.target in (*_ADDS, *_MULS, *_FUSED):
        both = [a for a in node.args if hasattr(a, "op")]
        if len(both) < 2:
            raise _not_here("sums and products with numbers")
        return "own"
    if node.target in _KEEPING_FUNCTIONS:
        return "same"
    if node.target in _NOT_HERE:
        raise _not_here(node.target.__name__)
    return ""


def _not_here(what: str) -> NotImplementedError:
    return NotImplementedError(
        f"quantize_fx: {what} has no quantised form here yet; give it no "
        "qconfig (QConfigMapping.set_object_type(..., None)), and it stays in "
        "floats"
    )


def _config(model: GraphModule, node, choice: _Choice):
    if node.op == "call_module":
        return choice.of(node.target, _types(_module(model, node)))
    if node.op in ("call_function", "call_method"):
        return choice.of("", (node.meta.get("was", node.target),))
    return None


def _inputs(node) -> list:
    """The nodes a node computes with, those in a list, too."""
    first = node.args[0] if node.args else None
    if isinstance(first, (list, tuple)):
        return [n for n in first if hasattr(n, "op")]
    return [n for n in node.args if hasattr(n, "op")]


# -- prepare -------------------------------------------------------------------


def prepare_fx(
    model,
    qconfig_mapping,
    example_inputs,
    prepare_custom_config=None,
    _equalization_config=None,
    backend_config=None,
) -> GraphModule:
    """A model as a graph with observers where numbers will be integers.

    Args:
        model: in eval mode; its modules are fused and not changed.
        qconfig_mapping: a `QConfigMapping` or its dict.
        example_inputs: accepted and not needed.

    Raises:
        NotImplementedError: the model trains; what has no quantised form here
            and a qconfig nevertheless.
    """
    _check_configs(prepare_custom_config, _equalization_config, backend_config)
    if isinstance(qconfig_mapping, dict):
        qconfig_mapping = QConfigMapping.from_dict(qconfig_mapping)
    choice = _Choice(qconfig_mapping)
    made = _traced(copy.deepcopy(model))
    _fuse(made)
    observers: dict = {}
    for node in list(made.graph.nodes):
        _prepare_node(made, node, choice, observers)
    made.graph.lint()
    made.recompile()
    return made


def _prepare_node(model, node, choice: _Choice, observers: dict) -> None:
    config = _config(model, node, choice)
    if config is None:
        return
    module = _module(model, node)
    if activation_is_dynamically_quantized(config):
        if type(module) in DEFAULT_DYNAMIC_QUANT_MODULE_MAPPINGS:
            module.qconfig = config
            node.meta["quantized"] = "dynamic"
        return
    if not activation_is_statically_quantized(config):
        return
    role = _role(model, node)
    given = _inputs(node)
    if role == "same":
        # One observer watches all of several.
        if not all(n in observers for n in given) or not given:
            return
        first = observers[given[0]]
        for other in given[1:]:
            model_name = observers[other].target
            _set_module(model, model_name, _module(model, first))
        node.meta["quantized"] = "same"
        _observe(model, node, _module(model, first), observers)
    elif role == "own":
        for each in given:
            if each not in observers:
                _observe(model, each, config.activation(), observers)
        if module is not None:
            module.qconfig = config
        node.meta["quantized"] = "own"
        _observe(model, node, config.activation(), observers)


def _observe(model, node, observer, observers: dict) -> None:
    """Has an observer watch what a node gives."""
    n = 0
    while hasattr(model, f"activation_post_process_{n}"):
        n += 1
    name = f"activation_post_process_{n}"
    model.add_module(name, observer)
    users = list(node.users)
    with model.graph.inserting_after(node):
        made = model.graph.call_module(name, (node,))
    made.meta["observes"] = True
    for user in users:
        user.replace_input_with(node, made)
    observers[node] = observers[made] = made


# -- convert -------------------------------------------------------------------


def convert_fx(
    graph_module,
    convert_custom_config=None,
    _remove_qconfig: bool = True,
    qconfig_mapping=None,
    backend_config=None,
) -> GraphModule:
    """The quantised model of one that `prepare_fx` gave and that has seen data.

    ValueError: it is no such model.
    """
    _check_configs(convert_custom_config, qconfig_mapping, backend_config)
    if not isinstance(graph_module, GraphModule):
        raise ValueError("convert_fx: expected what prepare_fx gives")
    model = copy.deepcopy(graph_module)
    for old, new in zip(graph_module.graph.nodes, model.graph.nodes):
        new.meta = dict(old.meta)
    whole: set = set()  # nodes that give integers
    for node in list(model.graph.nodes):
        _convert_node(model, node, whole)
    model.graph.lint()
    model.delete_all_unused_submodules()
    model.recompile()
    if _remove_qconfig:
        for module in model.modules():
            vars(module).pop("qconfig", None)
    return model


def _convert_node(model, node, whole: set) -> None:
    how = node.meta.get("quantized")
    if node.meta.get("observes"):
        _convert_observer(model, node, whole)
    elif how == "dynamic":
        module = _module(model, node)
        kind = DEFAULT_DYNAMIC_QUANT_MODULE_MAPPINGS[type(module)]
        _set_module(model, node.target, kind.from_float(module))
    elif how == "own":
        _convert_own(model, node)
        whole.add(node)
    elif how == "same":
        whole.add(node)
    else:
        _in_floats(model, node, whole)


def _parameters(observer) -> tuple:
    scale, zero_point = observer.calculate_qparams()
    return float(scale), int(zero_point), observer.dtype


def _convert_observer(model, node, whole: set) -> None:
    given = node.args[0]
    if given not in whole:
        parts = _parameters(_module(model, node))
        with model.graph.inserting_before(node):
            made = model.graph.call_function(
                hotaru.quantize_per_tensor, (given, *parts)
            )
        whole.add(made)
        given = made
    node.replace_all_uses_with(given)
    model.graph.erase_node(node)


def _convert_own(model, node) -> None:
    observed = next(n for n in node.users if n.meta.get("observes"))
    observer = _module(model, observed)
    module = _module(model, node)
    if module is not None:
        module.activation_post_process = observer
        kind = DEFAULT_STATIC_QUANT_MODULE_MAPPINGS[type(module)]
        _set_module(model, node.target, kind.from_float(module))
        return
    scale, zero_point, _ = _parameters(observer)
    space, target = hotaru.ops.quantized, node.target
    name = "add" if target in (*_ADDS, _added) else "mul"
    rectified = "_relu" if target in _FUSED else ""
    node.target = getattr(space, name + rectified)
    node.args = (*node.args[:2], scale, zero_point)
    node.kwargs = {}


def _in_floats(model, node, whole: set) -> None:
    """Gives a node floats in place of integers."""
    for given in list(node.all_input_nodes):
        if given in whole:
            with model.graph.inserting_before(node):
                made = model.graph.call_method("dequantize", (given,))
            node.replace_input_with(given, made)
