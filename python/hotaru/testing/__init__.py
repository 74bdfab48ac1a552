"""Helpers that tests of programs over tensors need.

`assert_close` compares tensors, numbers and containers of them within
tolerances; `FileCheck` looks what a text contains; `make_tensor` makes tensors
of random values.
"""

from __future__ import annotations

from ._close import assert_allclose, assert_close
from ._file_check import FileCheck
from ._make import make_tensor

# Their names are this module's.
for _function in (assert_allclose, assert_close, make_tensor):
    _function.__module__ = __name__

__all__ = ["FileCheck", "assert_allclose", "assert_close", "make_tensor"]
