"""PyTorch's names for its compiler, over `compile`: functions run as graphs.

Nothing is traced: a graph is captured while the function runs, so Python code
in it is a constant of the graph, and no function needs to be allowed in it.
"""

from __future__ import annotations

from .._functions.settings import traces
from .._own_names import part
from ..graphs import _compile, _stance
from ..graphs._stance import set_stance
from ._ahead import (
    PrecompileError,
    cudagraph_mark_warmup_incomplete,
    load_compiled_function,
    nonstrict_trace,
    precompile,
    set_enable_guard_collectives,
)
from ._functions import (
    allow_in_graph,
    assume_constant_result,
    disable,
    nested_compile_region,
    substitute_in_graph,
    wrap_numpy,
)
from ._guards import (
    keep_portable_guards_unsafe,
    keep_tensor_guards_unsafe,
    skip_all_guards_unsafe,
    skip_guard_on_all_nn_modules_unsafe,
    skip_guard_on_globals_unsafe,
    skip_guard_on_inbuilt_nn_modules_unsafe,
)

__all__ = [
    "PrecompileError",
    "allow_in_graph",
    "assume_constant_result",
    "compile",
    "cudagraph_mark_step_begin",
    "cudagraph_mark_warmup_incomplete",
    "disable",
    "get_default_backend",
    "is_compiling",
    "is_dynamo_compiling",
    "is_exporting",
    "keep_portable_guards_unsafe",
    "keep_tensor_guards_unsafe",
    "list_backends",
    "load_cache_artifacts",
    "load_compiled_function",
    "nested_compile_region",
    "nonstrict_trace",
    "precompile",
    "reset",
    "save_cache_artifacts",
    "set_default_backend",
    "set_enable_guard_collectives",
    "set_stance",
    "skip_all_guards_unsafe",
    "skip_guard_on_all_nn_modules_unsafe",
    "skip_guard_on_globals_unsafe",
    "skip_guard_on_inbuilt_nn_modules_unsafe",
    "substitute_in_graph",
    "wrap_numpy",
]


def compile(*args, **kwargs):
    """As `hotaru.compile`."""
    return _compile.compile(*args, **kwargs)


def reset() -> None:
    """Forgets the graphs of all functions; they are captured again when they
    are called, and the stance is the default one.
    """
    set_stance("default")
    _stance.forget_all()


def is_compiling() -> bool:
    """True if the code that asks is being traced: while it is exported."""
    return bool(traces)


def is_dynamo_compiling() -> bool:
    """Tells whether the code that asks is being compiled: never."""
    return False


def is_exporting() -> bool:
    """True if the code that asks is being exported."""
    return bool(traces)


# Their names are this module's.
for _function in (
    allow_in_graph,
    assume_constant_result,
    disable,
    nested_compile_region,
    substitute_in_graph,
    wrap_numpy,
):
    _function.__module__ = __name__
# Base of PyTorch's own decorators.
_disable_dynamo = disable


def list_backends(exclude_tags=("debug", "experimental")) -> list[str]:
    """Names that `compile` knows as `backend`; "eager" is for debugging."""
    debug = [] if exclude_tags and "debug" in exclude_tags else ["eager"]
    return sorted([*_compile.BACKENDS, *debug])


def get_default_backend() -> str:
    """Returns what `compile` takes where no backend is named."""
    return _compile.default_backend()


def set_default_backend(backend: str) -> None:
    """Changes what `get_default_backend` says."""
    _compile.set_default_backend(backend)


def cudagraph_mark_step_begin() -> None:
    """A new step begins: results of the step before may be overwritten. They
    never are, as graphs of `compile` give fresh tensors.
    """


def save_cache_artifacts() -> tuple[bytes, object] | None:
    """Returns what was compiled, to be kept: None, as there is nothing. Graphs
    are captured by every process in the time of a call.
    """
    return None


def load_cache_artifacts(serialized_artifacts: bytes):
    """Loads what `save_cache_artifacts` kept: there is nothing to load."""
    return None


def __getattr__(name: str):
    return part(__name__, name, ("config",))
