"""Building blocks of networks: modules, parameters, functions."""

from __future__ import annotations

from . import attention, functional, grad, init, utils
from .modules import *
from .modules import __all__ as _modules
from .parallel import DataParallel
from .parameter import (
    Buffer,
    Parameter,
    UninitializedBuffer,
    UninitializedParameter,
)

__all__ = [
    *_modules, "Buffer", "DataParallel", "Parameter", "UninitializedBuffer",
    "UninitializedParameter", "attention", "functional", "grad", "init",
    "utils",
]  # fmt: skip
