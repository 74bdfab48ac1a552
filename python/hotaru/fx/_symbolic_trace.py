"""Graphs of programs, by PyTorch's names."""

from __future__ import annotations

import functools  # noqa: F401  (tracers of libraries take it from here)
import inspect
from types import FunctionType  # noqa: F401

from .. import nn
from .._C import ScriptObject  # noqa: F401
from . import _tracer
from ._compatibility import compatibility  # noqa: F401  (libraries' name)
from ._patching import (
    WRAPPED_FUNCTIONS,
    WRAPPED_METHODS,
    Patcher,
    find_proxy,
    patch_globals,
    patch_wrapped,
    recording,
    recording_method,
)
from ._tracer import PH, PHBase, PHWithMeta, ProxyableClassMeta, Tracer, is_fx_tracing
from .graph_module import GraphModule
from .proxy import Proxy  # noqa: F401

__all__ = [
    "PH",
    "PHBase",
    "PHWithMeta",
    "ProxyableClassMeta",
    "Tracer",
    "is_fx_symbolic_tracing",
    "is_fx_tracing",
    "symbolic_trace",
    "wrap",
]

is_fx_symbolic_tracing = is_fx_tracing
_assert_is_none = _tracer._assert_is_none
# Parts that tracers with a `trace` of their own are put together from.
_Patcher = Patcher
_autowrap_check = patch_globals
_create_wrapped_func = recording
_create_wrapped_method = recording_method
_find_proxy = find_proxy
_orig_module_call = nn.Module.__call__
_orig_module_getattr = nn.Module.__getattr__
_patch_wrapped_functions = patch_wrapped
_proxyable_classes = _tracer._proxyable_classes
_wrapped_fns_to_patch = WRAPPED_FUNCTIONS
_wrapped_methods_to_patch = WRAPPED_METHODS


def wrap(fn_or_name):
    """Calls of a global function with proxies are nodes, not traced through.

    Takes the function or its name, in the module that calls it and outside of
    functions; is a decorator, too. NotImplementedError elsewhere.
    """
    if not callable(fn_or_name) and not isinstance(fn_or_name, str):
        raise RuntimeError(
            "Unsupported type for global function! "
            "Must be either a callable or string name"
        )
    name = fn_or_name if isinstance(fn_or_name, str) else fn_or_name.__name__
    frame = inspect.currentframe().f_back
    if frame.f_code.co_name != "<module>":
        raise NotImplementedError("wrap must be called at the top level of a module")
    names = frame.f_globals
    WRAPPED_FUNCTIONS[id(names), name] = names
    return fn_or_name


def symbolic_trace(root, concrete_args=None) -> GraphModule:
    """The module or function as a module with a graph.

    TraceError where what it does depends on values; see `Tracer.trace` for
    `concrete_args`.
    """
    tracer = Tracer()
    graph = tracer.trace(root, concrete_args)
    is_module = isinstance(root, nn.Module)
    name = type(root).__name__ if is_module else root.__name__
    return GraphModule(tracer.root, graph, name)
