"""Functions compiled with their gradients: `functorch.compile`.

Of PyTorch's names `draw_graph`, `minifier` and those of compilers that are not
here (`nnc_jit`, `memory_efficient_fusion`) are not.
"""

from __future__ import annotations

from .. import config
from ..aot_autograd import (
    aot_function,
    aot_module,
    compiled_function,
    compiled_module,
    make_boxed_compiler,
    make_boxed_func,
)
from ..compilers import nop, print_compile, ts_compile
from ..partitioners import default_partition, min_cut_rematerialization_partition

__all__ = [
    "aot_function",
    "aot_module",
    "compiled_function",
    "compiled_module",
    "config",
    "default_partition",
    "make_boxed_compiler",
    "make_boxed_func",
    "min_cut_rematerialization_partition",
    "nop",
    "print_compile",
    "ts_compile",
]
