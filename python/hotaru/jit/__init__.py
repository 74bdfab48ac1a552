"""TorchScript: archives that `torch.jit.save` wrote, and code from source."""

from __future__ import annotations

from .._awaits import _Await, _awaitable, _awaitable_nowait, _awaitable_wait
from . import _logging, _recursive, _state, annotations, frontend
from ._async import Future, _fork, _wait, fork, wait
from ._compilation_unit import CompilationUnit
from ._errors import Error
from ._export_opnames import export_opnames
from ._files import save
from ._freeze import freeze, optimize_for_inference, run_frozen_optimizations
from ._fusion import (
    enable_onednn_fusion,
    fuser,
    onednn_fusion_enabled,
    set_fusion_strategy,
)
from ._interface import interface
from ._marks import (
    Attribute,
    Final,
    _drop,
    _overload,
    _overload_method,
    _unwrap_optional,
    annotate,
    export,
    ignore,
    is_scripting,
    is_tracing,
    isinstance,
    optimized_execution,
    script_method,
    unused,
)
from ._module import RecursiveScriptModule, ScriptModule, load
from ._passes.register import _register_decomposition
from ._script import ScriptFunction, script, script_if_tracing
from ._script import script_if_tracing as _script_if_tracing
from ._state import _hide_source_ranges
from ._trace import TracerWarning, TracingCheckError, trace, trace_module
from ._tracing.graph import _get_trace_graph, _unique_state_dict

__all__ = [
    "Attribute",
    "CompilationUnit",
    "Error",
    "Final",
    "Future",
    "RecursiveScriptModule",
    "ScriptFunction",
    "ScriptModule",
    "TracerWarning",
    "TracingCheckError",
    "_Await",
    "_awaitable",
    "_awaitable_nowait",
    "_awaitable_wait",
    "_drop",
    "_fork",
    "_get_trace_graph",
    "_hide_source_ranges",
    "_overload",
    "_overload_method",
    "_register_decomposition",
    "_script_if_tracing",
    "_unique_state_dict",
    "_unwrap_optional",
    "_wait",
    "annotate",
    "annotations",
    "enable_onednn_fusion",
    "export",
    "export_opnames",
    "fork",
    "freeze",
    "frontend",
    "fuser",
    "ignore",
    "interface",
    "is_scripting",
    "is_tracing",
    "isinstance",
    "load",
    "onednn_fusion_enabled",
    "optimize_for_inference",
    "optimized_execution",
    "run_frozen_optimizations",
    "save",
    "script",
    "script_if_tracing",
    "script_method",
    "set_fusion_strategy",
    "trace",
    "trace_module",
    "unused",
    "wait",
]
