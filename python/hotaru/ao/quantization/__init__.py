"""Eager-mode quantisation: qconfigs, observers, and the workflows."""

from __future__ import annotations

from typing import Union

from . import (
    fake_quantize,
    fuser_method_mappings,
    observer,
    qconfig,
    qconfig_mapping,
    quant_type,
    quantization_mappings,
    stubs,
    utils,
)
from . import quantize as _workflows
from .fake_quantize import *
from .fuse_modules import fuse_modules, fuse_modules_qat
from .fuser_method_mappings import *
from .observer import *
from .qconfig import *
from .qconfig_mapping import *
from .quant_type import *
from .quantization_mappings import *
from .quantize import *
from .stubs import *

ObserverOrFakeQuantize = Union[observer.ObserverBase, fake_quantize.FakeQuantizeBase]

__all__ = [
    "ObserverOrFakeQuantize",
    "default_eval_fn",
    "fuse_modules",
    "fuse_modules_qat",
    *fake_quantize.__all__,
    *fuser_method_mappings.__all__,
    *observer.__all__,
    *qconfig.__all__,
    *qconfig_mapping.__all__,
    *quant_type.__all__,
    *quantization_mappings.__all__,
    *_workflows.__all__,
    *stubs.__all__,
]


def default_eval_fn(model, calib_data) -> None:
    """Runs a model on the inputs of a data set of pairs."""
    for data, _target in calib_data:
        model(data)
