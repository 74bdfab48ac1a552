"""CUDA devices, as in ``torch.cuda``.

Asking works on every machine, and `is_available` says whether the rest does.
Without a driver it raises RuntimeError "Found no NVIDIA driver on your
system. …"; a process that was forked after CUDA began cannot use it and is
told so.
"""

from __future__ import annotations

from .._C import AcceleratorError, OutOfMemoryError
from .._late import lent
from .._own_names import part
from . import devices, memory, pools, random, streams
from ._begin import DeferredCudaCallError
from ._begin import begin as _lazy_init
from ._begin import is_in_bad_fork as _is_in_bad_fork
from .devices import *
from .memory import *
from .pools import *
from .random import (
    get_rng_state,
    get_rng_state_all,
    initial_seed,
    manual_seed,
    manual_seed_all,
    seed,
    seed_all,
    set_rng_state,
    set_rng_state_all,
)
from .streams import *

# Imported when first asked for: graphs bring autograd and more with them.
_KERNELS = {"compile_kernel"}
_GRAPHS = {
    "CUDAGraph": "CUDAGraph",
    "graph": "graph",
    "graph_pool_handle": "graph_pool_handle",
    "is_current_stream_capturing": "is_current_stream_capturing",
    "make_graphed_callables": "make_graphed_callables",
}
_MODULES = ("amp", "graph_annotations", "graphs", "nccl", "nvtx", "profiler")

__all__ = [
    "AcceleratorError",
    "DeferredCudaCallError",
    "OutOfMemoryError",
    *devices.__all__,
    *_GRAPHS,
    *memory.__all__,
    *pools.__all__,
    *_MODULES,
    *random.__all__,
    *streams.__all__,
    *_KERNELS,
]


def __getattr__(name: str):
    if name == "default_generators":
        return random.default_generators
    if name in _GRAPHS:
        return getattr(lent("graphs"), _GRAPHS[name])
    if name in _KERNELS or name == "_compile_kernel":
        from . import kernels

        return getattr(kernels, name)
    if name.endswith("Storage"):
        from ..storage._legacy import legacy_storage

        cls = legacy_storage(name, "cuda")
        if cls is not None:
            return cls
    if name.endswith("Tensor"):
        from .._tensor.legacy import tensor_class

        cls = tensor_class(name, "cuda")
        if cls is not None:
            return cls
    return part(__name__, name, _MODULES)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
