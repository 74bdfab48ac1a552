"""Programs of operators: made of modules, saved for PyTorch, and loaded.

`export` traces a module, `save` writes what PyTorch's `torch.export.load`
reads, `load` reads what either of both wrote.
"""

from __future__ import annotations

from ..utils import _pytree as pytree
from ._draft_export import draft_export
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
    "draft_export",
    "export",
    "load",
    "register_dataclass",
    "save",
]


def register_dataclass(cls: type, *, serialized_type_name=None) -> None:
    """Objects of a dataclass may be inputs and results of exported programs.

    Files know the class by `serialized_type_name`; who loads them registers it
    by the same name. Without one, programs with such objects are not saved.

    A class that is registered already is registered anew.

    Raises:
        ValueError: the class is no dataclass.
    """
    if cls in pytree.SUPPORTED_NODES:
        pytree._deregister_pytree_node(cls)
    pytree.register_dataclass(cls, serialized_type_name=serialized_type_name)
