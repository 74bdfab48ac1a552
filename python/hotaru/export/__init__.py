"""Programs of operators: made of modules, saved for PyTorch, and loaded.

`export` traces a module, `save` writes what PyTorch's `torch.export.load`
reads, `load` reads what either of both wrote.
"""

from __future__ import annotations

from ._errors import DataDependentError, UserError
from ._export import export
from ._save import save
from ._traced_program import ModuleCallEntry, ModuleCallSignature
from .dynamic_shapes import Dim, dims
from .exported_program import ExportedProgram, load
from .graph_signature import ExportGraphSignature

__all__ = [
    "DataDependentError",
    "Dim",
    "ExportGraphSignature",
    "ExportedProgram",
    "ModuleCallEntry",
    "ModuleCallSignature",
    "UserError",
    "dims",
    "export",
    "load",
    "save",
]
