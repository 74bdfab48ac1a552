"""Automatic differentiation from Python.

The engine is native. This package adds functions that are written in Python
(`Function`), the entry points `backward` and `grad`, and `gradcheck`.
"""

from __future__ import annotations

from .. import enable_grad, no_grad, set_grad_enabled
from . import function, functional
from ._entry import _is_checkpoint_valid, backward, grad
from .function import Function
from .gradcheck import GradcheckError, gradcheck, gradgradcheck
from .variable import Variable

__all__ = [
    "Function",
    "GradcheckError",
    "Variable",
    "backward",
    "enable_grad",
    "function",
    "functional",
    "grad",
    "gradcheck",
    "gradgradcheck",
    "no_grad",
    "set_grad_enabled",
]
