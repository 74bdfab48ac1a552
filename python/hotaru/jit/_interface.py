"""`interface`: classes that say which methods a value must have."""

from __future__ import annotations

import ast
import inspect

from .. import _C
from ..nn import Module
from . import _marks
from ._scripter import _UNIT, SCRIPTER, _qualified_name
from ._source import source_of


def interface(obj: type) -> type:
    """Declares what a program may call on a value whose class it doesn't know.

    An attribute of a module that is annotated with the interface takes any
    compiled module with such methods, also when it is assigned later; so does
    a parameter or variable, and for interfaces that inherit from object, of
    compiled classes.

    Args:
        obj: a class that inherits from `nn.Module` or from nothing, whose
            methods have annotations and `pass` for a body.

    Returns:
        The class itself.

    Raises:
        RuntimeError: `obj` is none such.
    """
    if not inspect.isclass(obj):
        raise RuntimeError("interface must be applied to a class")
    bases = obj.__bases__
    if bases not in ((object,), (Module,)):
        raise RuntimeError(
            "TorchScript interface does not support inheritance yet. "
            "Please directly inherit from 'object' or 'nn.Module'."
        )
    kind = "module interface" if bases == (Module,) else "interface"
    methods = {k: v for k, v in vars(obj).items() if inspect.isfunction(v)}
    for method in methods.values():
        _check_method(method)
    setattr(obj, _marks.INTERFACE, True)
    with _UNIT:
        native = _C._script_define_class(_UNIT, _qualified_name(obj), kind)
        SCRIPTER._classes[obj] = native.type
        known = {obj.__name__: obj}  # the name is not bound yet
        for name, method in methods.items():
            full = f"{native.name}.{name}"
            declared = SCRIPTER.define(method, full, native, known)
            declared.schema  # noqa: B018 - reads the types
            native.add_method(name, declared)
    return obj


def _is_text(statement) -> bool:
    """True if it is a string alone: documentation."""
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )


def _check_method(method) -> None:
    source = source_of(method)
    (definition,) = ast.parse(source.text).body
    texts = [item for item in definition.body if _is_text(item)]
    body = [item for item in definition.body if item not in texts] or texts
    trouble = None
    if definition.returns is None and "# type:" not in source.text:
        trouble = "interface declarations must have a return type annotated."
    elif len(body) != 1 or not isinstance(body[0], ast.Pass):
        trouble = (
            "interfaces declarations should only contain a single 'pass' statement."
        )
    if trouble:
        raise RuntimeError(
            f'{trouble}:\n  File "{source.file}", line {source.line}, in '
            f"{method.__qualname__}"
        )
