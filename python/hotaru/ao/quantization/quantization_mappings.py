"""Which module takes the place of which."""

from __future__ import annotations

import copy
from typing import Any, Callable

from ... import nn
from ...nn.modules.linear import NonDynamicallyQuantizableLinear
from ..nn import intrinsic as nni
from ..nn import qat as nnqat
from ..nn import quantized as nnq
from ..nn.intrinsic import qat as nniqat
from ..nn.intrinsic import quantized as nniq
from ..nn.intrinsic.quantized import dynamic as nniqd
from ..nn.qat import dynamic as nnqatd
from ..nn.quantized import dynamic as nnqd
from .fake_quantize import (
    default_fixed_qparams_range_0to1_fake_quant,
    default_fixed_qparams_range_neg1to1_fake_quant,
)
from .stubs import DeQuantStub, QuantStub
from .utils import get_combined_dict

__all__ = [
    "DEFAULT_DYNAMIC_QUANT_MODULE_MAPPINGS",
    "DEFAULT_MODULE_TO_ACT_POST_PROCESS",
    "DEFAULT_QAT_MODULE_MAPPINGS",
    "DEFAULT_STATIC_QUANT_MODULE_MAPPINGS",
    "get_default_compare_output_module_list",
    "get_default_dynamic_quant_module_mappings",
    "get_default_qat_module_mappings",
    "get_default_qconfig_propagation_list",
    "get_default_static_quant_module_mappings",
    "get_dynamic_quant_module_class",
    "get_embedding_qat_module_mappings",
    "get_embedding_static_quant_module_mappings",
    "get_static_quant_module_class",
    "no_observer_set",
]

DEFAULT_STATIC_QUANT_MODULE_MAPPINGS: dict[Callable, Any] = {
    QuantStub: nnq.Quantize,
    DeQuantStub: nnq.DeQuantize,
    nn.BatchNorm2d: nnq.BatchNorm2d,
    nn.BatchNorm3d: nnq.BatchNorm3d,
    nn.Dropout: nnq.Dropout,
    nn.Conv1d: nnq.Conv1d,
    nn.Conv2d: nnq.Conv2d,
    nn.Conv3d: nnq.Conv3d,
    nn.ConvTranspose1d: nnq.ConvTranspose1d,
    nn.ConvTranspose2d: nnq.ConvTranspose2d,
    nn.ConvTranspose3d: nnq.ConvTranspose3d,
    nn.ELU: nnq.ELU,
    nn.Embedding: nnq.Embedding,
    nn.EmbeddingBag: nnq.EmbeddingBag,
    nn.GroupNorm: nnq.GroupNorm,
    nn.Hardswish: nnq.Hardswish,
    nn.InstanceNorm1d: nnq.InstanceNorm1d,
    nn.InstanceNorm2d: nnq.InstanceNorm2d,
    nn.InstanceNorm3d: nnq.InstanceNorm3d,
    nn.LayerNorm: nnq.LayerNorm,
    nn.LeakyReLU: nnq.LeakyReLU,
    NonDynamicallyQuantizableLinear: nnq.Linear,
    nn.Linear: nnq.Linear,
    nn.ReLU6: nnq.ReLU6,
    nn.PReLU: nnq.PReLU,
    nnq.FloatFunctional: nnq.QFunctional,
    nni.BNReLU2d: nniq.BNReLU2d,
    nni.BNReLU3d: nniq.BNReLU3d,
    nni.ConvReLU1d: nniq.ConvReLU1d,
    nni.ConvReLU2d: nniq.ConvReLU2d,
    nni.ConvReLU3d: nniq.ConvReLU3d,
    nni.LinearReLU: nniq.LinearReLU,
    nni.LinearLeakyReLU: nniq.LinearLeakyReLU,
    nni.LinearTanh: nniq.LinearTanh,
    nniqat.ConvBn1d: nnq.Conv1d,
    nniqat.ConvBn2d: nnq.Conv2d,
    nniqat.ConvBn3d: nnq.Conv3d,
    nniqat.ConvBnReLU1d: nniq.ConvReLU1d,
    nniqat.ConvBnReLU2d: nniq.ConvReLU2d,
    nniqat.ConvBnReLU3d: nniq.ConvReLU3d,
    nniqat.ConvReLU2d: nniq.ConvReLU2d,
    nniqat.ConvReLU3d: nniq.ConvReLU3d,
    nniqat.LinearReLU: nniq.LinearReLU,
    nniqat.LinearBn1d: nnq.Linear,
    nnqat.Linear: nnq.Linear,
    nnqat.Conv1d: nnq.Conv1d,
    nnqat.Conv2d: nnq.Conv2d,
    nnqat.Conv3d: nnq.Conv3d,
}
DEFAULT_QAT_MODULE_MAPPINGS: dict[Callable, Any] = {
    nn.Conv2d: nnqat.Conv2d,
    nn.Conv3d: nnqat.Conv3d,
    nn.Linear: nnqat.Linear,
    NonDynamicallyQuantizableLinear: nnqat.Linear,
    nni.ConvBn1d: nniqat.ConvBn1d,
    nni.ConvBn2d: nniqat.ConvBn2d,
    nni.ConvBn3d: nniqat.ConvBn3d,
    nni.ConvBnReLU1d: nniqat.ConvBnReLU1d,
    nni.ConvBnReLU2d: nniqat.ConvBnReLU2d,
    nni.ConvBnReLU3d: nniqat.ConvBnReLU3d,
    nni.ConvReLU2d: nniqat.ConvReLU2d,
    nni.ConvReLU3d: nniqat.ConvReLU3d,
    nni.LinearReLU: nniqat.LinearReLU,
    nni.LinearBn1d: nniqat.LinearBn1d,
}
DEFAULT_DYNAMIC_QUANT_MODULE_MAPPINGS: dict[Callable, Any] = {
    nn.GRUCell: nnqd.GRUCell,
    nn.Linear: nnqd.Linear,
    nnqatd.Linear: nnqd.Linear,
    NonDynamicallyQuantizableLinear: nnqd.Linear,
    nn.LSTM: nnqd.LSTM,
    nn.GRU: nnqd.GRU,
    nn.LSTMCell: nnqd.LSTMCell,
    nn.RNNCell: nnqd.RNNCell,
    nni.LinearReLU: nniqd.LinearReLU,
    nn.EmbeddingBag: nnq.EmbeddingBag,
    nn.Embedding: nnq.Embedding,
}
DEFAULT_MODULE_TO_ACT_POST_PROCESS: dict[Callable, Callable] = {
    nn.Hardsigmoid: default_fixed_qparams_range_0to1_fake_quant,
    nn.Sigmoid: default_fixed_qparams_range_0to1_fake_quant,
    nn.Softmax: default_fixed_qparams_range_0to1_fake_quant,
    nn.Tanh: default_fixed_qparams_range_neg1to1_fake_quant,
}
_INCLUDE_QCONFIG_PROPAGATE_LIST: set[Callable] = {nn.Sequential}


def no_observer_set() -> set:
    """Modules that are quantised and whose outputs are not observed."""
    return {nnq.Quantize, nnq.DeQuantize}


def get_default_static_quant_module_mappings() -> dict[Callable, Any]:
    """For models whose scales were observed."""
    return copy.copy(DEFAULT_STATIC_QUANT_MODULE_MAPPINGS)


def get_embedding_static_quant_module_mappings() -> dict[Callable, Any]:
    """The same with embeddings that were trained."""
    found = get_default_static_quant_module_mappings()
    found[nnqat.EmbeddingBag] = nnq.EmbeddingBag
    found[nnqat.Embedding] = nnq.Embedding
    return found


def _class_of(float_module_class, default, additional):
    found = get_combined_dict(default, additional or {}).get(float_module_class)
    if found is None:
        raise AssertionError(
            f"Floating point module class {float_module_class} does not have "
            "a corresponding quantized module class"
        )
    return copy.deepcopy(found)


def get_static_quant_module_class(
    float_module_class, additional_static_quant_mapping=None, is_reference=False
):
    """The class whose scales are fixed. AssertionError without one."""
    if is_reference:
        raise NotImplementedError(
            "reference modules (torch.ao.nn.quantized.reference) are for other "
            "compilers' patterns and not there; use is_reference=False"
        )
    return _class_of(
        float_module_class,
        DEFAULT_STATIC_QUANT_MODULE_MAPPINGS,
        additional_static_quant_mapping,
    )


def get_dynamic_quant_module_class(
    float_module_class, additional_dynamic_quant_mapping=None
):
    """The class whose scales are found in each call; AssertionError without."""
    return _class_of(
        float_module_class,
        DEFAULT_DYNAMIC_QUANT_MODULE_MAPPINGS,
        additional_dynamic_quant_mapping,
    )


def get_default_qat_module_mappings() -> dict[Callable, Any]:
    """For training."""
    return copy.copy(DEFAULT_QAT_MODULE_MAPPINGS)


def get_embedding_qat_module_mappings() -> dict[Callable, Any]:
    """For training, embeddings too."""
    found = copy.copy(DEFAULT_QAT_MODULE_MAPPINGS)
    found[nn.EmbeddingBag] = nnqat.EmbeddingBag
    found[nn.Embedding] = nnqat.Embedding
    return found


def get_default_dynamic_quant_module_mappings() -> dict[Callable, Any]:
    """For models whose scales are found in each call."""
    return DEFAULT_DYNAMIC_QUANT_MODULE_MAPPINGS


def get_default_qconfig_propagation_list() -> set[Callable]:
    """Modules that a qconfig is for."""
    return copy.copy(
        set(DEFAULT_STATIC_QUANT_MODULE_MAPPINGS)
        | set(DEFAULT_QAT_MODULE_MAPPINGS)
        | set(DEFAULT_DYNAMIC_QUANT_MODULE_MAPPINGS)
        | _INCLUDE_QCONFIG_PROPAGATE_LIST
    )


def get_default_compare_output_module_list() -> set[Callable]:
    """Modules whose outputs can be compared before and after conversion."""
    found: set = set()
    for mapping in (
        DEFAULT_STATIC_QUANT_MODULE_MAPPINGS,
        DEFAULT_QAT_MODULE_MAPPINGS,
        DEFAULT_DYNAMIC_QUANT_MODULE_MAPPINGS,
    ):
        found.update(mapping, mapping.values())
    return found


def _get_special_act_post_process(module):
    """The fake quantisation of a module whose range is known, else None."""
    from ...nn.utils.parametrize import type_before_parametrizations

    return DEFAULT_MODULE_TO_ACT_POST_PROCESS.get(type_before_parametrizations(module))


def _has_special_act_post_process(module) -> bool:
    return module.training and (_get_special_act_post_process(module) is not None)
