"""Which observers a module gets."""

from __future__ import annotations

from collections import namedtuple
from typing import Any, Optional

import hotaru

from ... import nn
from . import fake_quantize as _fake
from . import observer as _observer
from .fake_quantize import FakeQuantize, FakeQuantizeBase
from .observer import (
    HistogramObserver,
    MinMaxObserver,
    MovingAverageMinMaxObserver,
    NoopObserver,
    PlaceholderObserver,
    ReuseInputObserver,
)

__all__ = [
    "QConfig",
    "QConfigAny",
    "QConfigDynamic",
    "default_activation_only_qconfig",
    "default_debug_qconfig",
    "default_dynamic_qat_qconfig",
    "default_dynamic_qconfig",
    "default_embedding_qat_qconfig",
    "default_embedding_qat_qconfig_4bit",
    "default_per_channel_qconfig",
    "default_per_channel_symmetric_qnnpack_qat_qconfig",
    "default_per_channel_symmetric_qnnpack_qconfig",
    "default_qat_qconfig",
    "default_qat_qconfig_v2",
    "default_qconfig",
    "default_quint8_weight_qconfig",
    "default_reuse_input_qconfig",
    "default_symmetric_qnnpack_qat_qconfig",
    "default_symmetric_qnnpack_qconfig",
    "default_weight_only_qconfig",
    "float16_dynamic_qconfig",
    "float16_static_qconfig",
    "float_qparams_weight_only_qconfig",
    "float_qparams_weight_only_qconfig_4bit",
    "get_default_qat_qconfig",
    "get_default_qconfig",
    "per_channel_dynamic_qconfig",
    "qconfig_equals",
]


class QConfig(namedtuple("QConfig", ["activation", "weight"])):
    """Factories of the observers of a module's activations and weights.

    ValueError for observers instead of factories: each module needs its own.
    """

    __slots__ = ()

    def __new__(cls, activation, weight):
        if isinstance(activation, nn.Module) or isinstance(weight, nn.Module):
            raise ValueError(
                "QConfig received observer instance, please pass observer "
                "class instead. Use MyObserver.with_args(x=1) to override "
                "arguments to constructor if needed"
            )
        return super().__new__(cls, activation, weight)


class QConfigDynamic(namedtuple("QConfigDynamic", ["activation", "weight"])):
    """An older name of `QConfig` for scales of each call."""

    __slots__ = ()

    def __new__(cls, activation=nn.Identity, weight=nn.Identity):
        if isinstance(weight, nn.Module):
            raise ValueError(
                "QConfigDynamic received observer instance, please pass "
                "observer class instead. Use MyObserver.with_args(x=1) to "
                "override arguments to constructor if needed"
            )
        return super().__new__(cls, activation, weight)


QConfigAny = Optional[QConfig]

default_qconfig = QConfig(
    activation=_observer.default_observer, weight=_observer.default_weight_observer
)
default_debug_qconfig = QConfig(
    weight=_observer.default_weight_observer,
    activation=_observer.default_debug_observer,
)
default_per_channel_qconfig = QConfig(
    activation=_observer.default_observer,
    weight=_observer.default_per_channel_weight_observer,
)
default_dynamic_qconfig = QConfig(
    activation=_observer.default_dynamic_quant_observer,
    weight=_observer.default_weight_observer,
)
float16_dynamic_qconfig = QConfig(
    activation=PlaceholderObserver.with_args(dtype=hotaru.float16, is_dynamic=True),
    weight=PlaceholderObserver.with_args(dtype=hotaru.float16),
)
float16_static_qconfig = QConfig(
    activation=PlaceholderObserver.with_args(dtype=hotaru.float16),
    weight=PlaceholderObserver.with_args(dtype=hotaru.float16),
)
per_channel_dynamic_qconfig = QConfig(
    activation=_observer.default_dynamic_quant_observer,
    weight=_observer.default_per_channel_weight_observer,
)
float_qparams_weight_only_qconfig = QConfig(
    activation=_observer.default_placeholder_observer,
    weight=_observer.default_float_qparams_observer,
)
float_qparams_weight_only_qconfig_4bit = QConfig(
    activation=_observer.default_placeholder_observer,
    weight=_observer.default_float_qparams_observer_4bit,
)
default_qat_qconfig = QConfig(
    activation=_fake.default_fake_quant, weight=_fake.default_weight_fake_quant
)
default_dynamic_qat_qconfig = QConfig(
    activation=_fake.default_dynamic_fake_quant, weight=_fake.default_weight_fake_quant
)
default_weight_only_qconfig = QConfig(
    activation=nn.Identity, weight=_fake.default_weight_fake_quant
)
default_activation_only_qconfig = QConfig(
    activation=_fake.default_fake_quant, weight=nn.Identity
)
default_qat_qconfig_v2 = QConfig(
    activation=_fake.default_fused_act_fake_quant,
    weight=_fake.default_fused_wt_fake_quant,
)
default_reuse_input_qconfig = QConfig(
    activation=ReuseInputObserver, weight=NoopObserver
)
default_quint8_weight_qconfig = QConfig(
    activation=HistogramObserver, weight=MinMaxObserver
)
default_embedding_qat_qconfig = QConfig(
    activation=NoopObserver.with_args(dtype=hotaru.float32),
    weight=_fake.default_embedding_fake_quant,
)
default_embedding_qat_qconfig_4bit = QConfig(
    activation=NoopObserver.with_args(dtype=hotaru.float32),
    weight=_fake.default_embedding_fake_quant_4bit,
)
_SYMMETRIC = HistogramObserver.with_args(
    dtype=hotaru.qint8, reduce_range=False, eps=2**-12
)
_SYMMETRIC_QAT = _fake.FusedMovingAvgObsFakeQuantize.with_args(
    observer=MovingAverageMinMaxObserver,
    quant_min=-128,
    quant_max=127,
    dtype=hotaru.qint8,
    reduce_range=False,
    eps=2**-12,
)
default_symmetric_qnnpack_qconfig = QConfig(
    activation=_SYMMETRIC, weight=_observer.weight_observer_range_neg_127_to_127
)
default_per_channel_symmetric_qnnpack_qconfig = QConfig(
    activation=_SYMMETRIC,
    weight=_observer.per_channel_weight_observer_range_neg_127_to_127,
)
default_symmetric_qnnpack_qat_qconfig = QConfig(
    activation=_SYMMETRIC_QAT, weight=_fake.fused_wt_fake_quant_range_neg_127_to_127
)
default_per_channel_symmetric_qnnpack_qat_qconfig = QConfig(
    activation=_SYMMETRIC_QAT,
    weight=_fake.fused_per_channel_wt_fake_quant_range_neg_127_to_127,
)

_BACKENDS = ("fbgemm", "x86", "qnnpack", "onednn")


def _check_backend(backend: str) -> None:
    if backend not in _BACKENDS:
        raise AssertionError(
            f"backend: {backend} not supported. "
            f"backend must be one of {list(_BACKENDS)}"
        )


def get_default_qconfig(backend="x86", version=0) -> QConfig:
    """Observers for calibration that suit a back end."""
    if version != 0:
        raise AssertionError(
            f"Version number: {version} in get_default_qconfig is not "
            "supported. Version number must be 0"
        )
    _check_backend(backend)
    if backend == "qnnpack":
        return QConfig(
            activation=HistogramObserver.with_args(reduce_range=False),
            weight=_observer.default_weight_observer,
        )
    return QConfig(
        activation=HistogramObserver.with_args(reduce_range=backend != "onednn"),
        weight=_observer.default_per_channel_weight_observer,
    )


def get_default_qat_qconfig(backend="x86", version=1) -> QConfig:
    """Fake quantisation for training that suits a back end."""
    if version not in (0, 1):
        raise AssertionError(
            f"Version number: {version}in get_default_qat_qconfig is not "
            "supported. Version number must be 0 or 1"
        )
    _check_backend(backend)
    fused = version == 1
    kind = _fake.FusedMovingAvgObsFakeQuantize if fused else FakeQuantize
    options = {"observer": MovingAverageMinMaxObserver}
    options.update(quant_min=0, quant_max=255)
    if backend != "onednn":
        options["reduce_range"] = backend != "qnnpack"
    if backend == "qnnpack":
        by_tensor = (_fake.default_weight_fake_quant, _fake.default_fused_wt_fake_quant)
        weight = by_tensor[version]
    else:
        by_channel = (
            _fake.default_per_channel_weight_fake_quant,
            _fake.default_fused_per_channel_wt_fake_quant,
        )
        weight = by_channel[version]
    return QConfig(activation=kind.with_args(**options), weight=weight)


def _activation_is_memoryless(qconfig) -> bool:
    """Tells whether scales are those of each input alone: then inputs are
    observed instead of outputs.
    """
    activation = qconfig.activation()
    if isinstance(activation, FakeQuantizeBase):
        activation = getattr(activation, "activation_post_process", activation)
    return getattr(activation, "averaging_constant", None) == 1


def _assert_valid_qconfig(qconfig: QConfig | None, mod) -> None:
    """AssertionError where weights of transposed convolutions would have
    scales by channel, which their quantised modules do not have.
    """
    if qconfig is None:
        return
    if isinstance(mod, (nn.ConvTranspose1d, nn.ConvTranspose2d, nn.ConvTranspose3d)):
        if not qconfig.weight:
            return
        observer = qconfig.weight()
        by_channel = isinstance(
            observer,
            (
                _observer.PerChannelMinMaxObserver,
                _observer.MovingAveragePerChannelMinMaxObserver,
            ),
        )
        if by_channel:
            raise AssertionError(
                "Per channel weight observer is not supported yet for "
                "ConvTranspose{n}d."
            )


def _add_module_to_qconfig_obs_ctr(qconfig: QConfigAny, module) -> Any:
    """The qconfig with factories whose observers are on the module's device."""
    if module is None or qconfig is None or qconfig._fields != ("activation", "weight"):
        return qconfig

    def options() -> dict:
        if not isinstance(module, nn.Module):
            return {}
        devices = {p.device for p in module.parameters()}
        devices |= {p.device for p in module.buffers()}
        return {"device": next(iter(devices))} if len(devices) == 1 else {}

    def on_device(factory):
        try:
            factory.with_callable_args(factory_kwargs=options)()
        except (AttributeError, TypeError):
            # A factory without observers, or one that takes no device.
            return factory
        return factory.with_callable_args(factory_kwargs=options)

    return QConfig(on_device(qconfig.activation), on_device(qconfig.weight))


def _obs_or_fq_ctr_equals(one: Any, other: Any) -> bool:
    """True if two factories make the same observers."""
    if hasattr(one, "p") and hasattr(other, "p"):
        one, other = one.p, other.p
        if one.func != other.func or one.args != other.args:
            return False
        first, second = dict(one.keywords), dict(other.keywords)
        observers = (first.pop("observer", None), second.pop("observer", None))
        return first == second and _obs_or_fq_ctr_equals(*observers)
    return one == other


def qconfig_equals(q1: QConfigAny, q2: QConfigAny) -> bool:
    """True if two are the same, though their factories be other objects."""
    if q1 is None or q2 is None:
        return q1 == q2
    return _obs_or_fq_ctr_equals(
        q1.activation, q2.activation
    ) and _obs_or_fq_ctr_equals(q1.weight, q2.weight)
