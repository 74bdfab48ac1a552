"""Programs of operators: made of modules, saved for PyTorch, and loaded.

`export` traces a module, `save` writes what PyTorch's `torch.export.load`
reads, `load` reads what either of both wrote.
"""

from __future__ import annotations

from ..nn import Module
from ..utils import _pytree as pytree
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


def draft_export(
    mod: Module,
    args: tuple,
    kwargs: dict | None = None,
    *,
    dynamic_shapes=None,
    preserve_module_call_signature: tuple = (),
    strict: bool = False,
    pre_dispatch: bool = True,
    prefer_deferred_runtime_asserts_over_guards: bool = False,
) -> ExportedProgram:
    """As `export`, but what cannot be known of the program is guessed from the
    example inputs instead of an error; `_report` of the result lists the guesses.

    Elements that Python asks for, and sizes that follow from elements, are those
    of the example, and the program checks them; operators without a fake kernel,
    or with a wrong one, give the shapes of the real one; dimensions that cannot
    vary as promised are `Dim.AUTO`.

    Args:
        strict, pre_dispatch, prefer_deferred_runtime_asserts_over_guards: taken;
            programs are traced in the same way.

    Raises:
        Errors of `export` other than those.
    """
    from ._draft_export import draft_export as drafted

    return drafted(
        mod,
        args,
        kwargs,
        dynamic_shapes=dynamic_shapes,
        preserve_module_call_signature=preserve_module_call_signature,
        strict=strict,
        pre_dispatch=pre_dispatch,
        prefer_deferred_runtime_asserts_over_guards=prefer_deferred_runtime_asserts_over_guards,
    )


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
