"""TorchScript: archives that `torch.jit.save` wrote, and code from source."""

from __future__ import annotations

from ._async import Future, _fork, _wait, fork, wait
from ._errors import Error
from ._freeze import freeze, optimize_for_inference
from ._marks import (
    Attribute,
    Final,
    annotate,
    export,
    ignore,
    interface,
    is_scripting,
    is_tracing,
    isinstance,
    script_method,
    unused,
)
from ._module import RecursiveScriptModule, ScriptModule, load, save
from ._script import ScriptFunction, script
from ._trace import TracerWarning, trace, trace_module

__all__ = [
    "Attribute",
    "Error",
    "Final",
    "Future",
    "RecursiveScriptModule",
    "ScriptFunction",
    "ScriptModule",
    "TracerWarning",
    "_fork",
    "_wait",
    "annotate",
    "export",
    "fork",
    "freeze",
    "ignore",
    "interface",
    "is_scripting",
    "is_tracing",
    "isinstance",
    "load",
    "optimize_for_inference",
    "save",
    "script",
    "script_method",
    "trace",
    "trace_module",
    "unused",
    "wait",
]
