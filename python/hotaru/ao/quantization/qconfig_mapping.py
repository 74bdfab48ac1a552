"""Which qconfig which part of a model gets, by type, name or place."""

from __future__ import annotations

import warnings
from collections import OrderedDict
from typing import Any, Callable

import hotaru

from ... import nn
from .fake_quantize import FixedQParamsFakeQuantize
from .observer import (
    default_fixed_qparams_range_0to1_observer,
    default_fixed_qparams_range_neg1to1_observer,
    default_placeholder_observer,
    default_weight_observer,
)
from .qconfig import (
    QConfig,
    default_quint8_weight_qconfig,
    default_reuse_input_qconfig,
    default_symmetric_qnnpack_qat_qconfig,
    default_symmetric_qnnpack_qconfig,
    get_default_qat_qconfig,
    get_default_qconfig,
)

__all__ = [
    "QConfigMapping",
    "get_default_qat_qconfig_dict",
    "get_default_qat_qconfig_mapping",
    "get_default_qconfig_dict",
    "get_default_qconfig_mapping",
]

_NAMES = {
    "global_qconfig": "",
    "object_type_qconfigs": "object_type",
    "module_name_regex_qconfigs": "module_name_regex",
    "module_name_qconfigs": "module_name",
    "module_name_object_type_order_qconfigs": "module_name_object_type_order",
}


class QConfigMapping:
    """Qconfigs of a model's parts; what is more specific goes before.

    Each setter returns the mapping, so that calls chain.
    """

    def __init__(self) -> None:
        self.global_qconfig: Any = None
        self.object_type_qconfigs: OrderedDict = OrderedDict()
        self.module_name_regex_qconfigs: OrderedDict = OrderedDict()
        self.module_name_qconfigs: OrderedDict = OrderedDict()
        self.module_name_object_type_order_qconfigs: OrderedDict = OrderedDict()

    def set_global(self, global_qconfig) -> QConfigMapping:
        """For all that no other entry is for."""
        self.global_qconfig = global_qconfig
        return self

    def set_object_type(self, object_type, qconfig) -> QConfigMapping:
        """For modules of a class, a function, or a method by its name."""
        self.object_type_qconfigs[object_type] = qconfig
        return self

    def set_module_name_regex(self, module_name_regex, qconfig):
        """For modules whose dotted name fits; the first that fits counts."""
        self.module_name_regex_qconfigs[module_name_regex] = qconfig
        return self

    def set_module_name(self, module_name, qconfig) -> QConfigMapping:
        """For the module of that dotted name and those in it."""
        self.module_name_qconfigs[module_name] = qconfig
        return self

    def set_module_name_object_type_order(
        self, module_name: str, object_type: Callable, index: int, qconfig
    ) -> QConfigMapping:
        """For the index-th use of a type within the module of that name."""
        place = (module_name, object_type, index)
        self.module_name_object_type_order_qconfigs[place] = qconfig
        return self

    def to_dict(self) -> dict[str, Any]:
        """The entries in the form that `from_dict` reads."""
        found: dict[str, Any] = {"": self.global_qconfig}
        for attribute, name in _NAMES.items():
            if not name:
                continue
            entries = getattr(self, attribute)
            by_order = name == "module_name_object_type_order"
            found[name] = [
                (*key, value) if by_order else (key, value)
                for key, value in entries.items()
            ]
        return found

    @classmethod
    def from_dict(cls, qconfig_dict: dict[str, Any]) -> QConfigMapping:
        """A mapping of what `to_dict` gives."""
        made = cls()
        if "" in qconfig_dict:
            made.set_global(qconfig_dict[""])
        for name in tuple(_NAMES.values())[1:]:
            for entry in qconfig_dict.get(name, ()):
                getattr(made, f"set_{name}")(*entry)
        return made

    def __repr__(self) -> str:
        lines = [f"{type(self).__name__} ("]
        for attribute in _NAMES:
            entries = getattr(self, attribute)
            if attribute == "global_qconfig":
                lines.append(f" {attribute}\n  {entries}")
                continue
            lines.append(f" {attribute}")
            if entries:
                for key, value in entries.items():
                    lines.append(f"  {key}: {value}")
            else:
                lines.append("  OrderedDict()")
        return "\n".join([*lines, ")"])


_F = nn.functional
_FROM_0_TO_1 = (
    _F.hardsigmoid,
    "hardsigmoid",
    "hardsigmoid_",
    nn.Hardsigmoid,
    hotaru.sigmoid,
    "sigmoid",
    "sigmoid_",
    nn.Sigmoid,
    nn.Softmax,
)
_FROM_NEG1_TO_1 = (hotaru.tanh, "tanh", "tanh_", nn.Tanh)


def _default_mapping(default: QConfig, qat: bool, fixed: dict) -> QConfigMapping:
    made = (
        QConfigMapping()
        .set_global(default)
        .set_object_type("reshape", default_reuse_input_qconfig)
    )
    if default is not None:
        by_tensor = QConfig(default.activation, default_weight_observer)
        if qat:
            from .fake_quantize import default_weight_fake_quant

            by_tensor = QConfig(default.activation, default_weight_fake_quant)
        for kind in (
            nn.ConvTranspose1d,
            nn.ConvTranspose2d,
            nn.ConvTranspose3d,
            _F.conv_transpose1d,
            _F.conv_transpose2d,
            _F.conv_transpose3d,
        ):
            made.set_object_type(kind, by_tensor)
        plain = QConfig(default.activation, default_placeholder_observer)
        for kind in (_F.layer_norm, nn.LayerNorm):
            made.set_object_type(kind, plain)
        made.set_object_type(nn.PReLU, default_quint8_weight_qconfig)
    for kinds, observer in fixed.items():
        if qat:
            observer = FixedQParamsFakeQuantize.with_args(observer=observer)
        qconfig = QConfig(observer, default.weight)
        for kind in kinds:
            made.set_object_type(kind, qconfig)
    return made


_FIXED = {
    _FROM_0_TO_1: default_fixed_qparams_range_0to1_observer,
    _FROM_NEG1_TO_1: default_fixed_qparams_range_neg1to1_observer,
}


def get_default_qconfig_mapping(backend="x86", version=0) -> QConfigMapping:
    """The mapping for calibration that suits a back end."""
    return _default_mapping(get_default_qconfig(backend, version), False, _FIXED)


def get_default_qat_qconfig_mapping(backend="x86", version=1) -> QConfigMapping:
    """The mapping for training that suits a back end."""
    return _default_mapping(get_default_qat_qconfig(backend, version), True, _FIXED)


def _warn_of_older_form(name: str, newer: str) -> None:
    warnings.warn(
        f"torch.ao.quantization.{name} is deprecated and will be removed in a "
        f"future version. Please use torch.ao.quantization.{newer} instead.",
        FutureWarning,
        stacklevel=3,
    )


def get_default_qconfig_dict(backend="x86", version=0) -> dict:
    """An older form of `get_default_qconfig_mapping`."""
    _warn_of_older_form("get_default_qconfig_dict", "get_default_qconfig_mapping")
    return get_default_qconfig_mapping(backend, version).to_dict()


def get_default_qat_qconfig_dict(backend="x86", version=1) -> dict:
    """An older form of `get_default_qat_qconfig_mapping`."""
    _warn_of_older_form(
        "get_default_qat_qconfig_dict", "get_default_qat_qconfig_mapping"
    )
    return get_default_qat_qconfig_mapping(backend, version).to_dict()


def _get_symmetric_qnnpack_qconfig_mapping() -> QConfigMapping:
    return _default_mapping(default_symmetric_qnnpack_qconfig, False, {})


def _get_symmetric_qnnpack_qat_qconfig_mapping() -> QConfigMapping:
    return _default_mapping(default_symmetric_qnnpack_qat_qconfig, True, {})
