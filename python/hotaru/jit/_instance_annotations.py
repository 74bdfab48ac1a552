"""Annotations within `__init__`, which say nothing to the compiler."""

from __future__ import annotations

import ast
import inspect
import textwrap
import warnings

from .._own_names import is_own
from ..nn import Module
from ._declared.annotations import own_annotations

_TEXT = (
    "The TorchScript type system doesn't support instance-level annotations on "
    "empty non-base types in `__init__`. Instead, either 1) use a type "
    "annotation in the class body, or 2) wrap the type in "
    "`torch.jit.Attribute`."
)
_CONTAINERS = {"List", "Dict", "Optional", "list", "dict"}


def warn_of_annotations(module: Module) -> None:
    """Warns of `self.x: List[int] = []`: the list is of unknown elements."""
    cls = type(module)
    if is_own(cls.__module__):
        return
    try:
        source = textwrap.dedent(inspect.getsource(vars(cls)["__init__"]))
        tree = ast.parse(source)
    except (KeyError, OSError, TypeError, SyntaxError):
        return
    declared = own_annotations(cls)
    for node in ast.walk(tree):
        if isinstance(node, ast.AnnAssign) and _is_empty(node, declared):
            warnings.warn(_TEXT, UserWarning, stacklevel=4)


def _is_empty(node: ast.AnnAssign, declared: dict) -> bool:
    target, annotation, value = node.target, node.annotation, node.value
    if not isinstance(target, ast.Attribute) or target.attr in declared:
        return False
    if not isinstance(annotation, ast.Subscript):
        return False
    name = annotation.value
    name = name.attr if isinstance(name, ast.Attribute) else name.id
    if name not in _CONTAINERS:
        return False
    if isinstance(value, ast.Call):  # jit.annotate(List[int], [])
        value = value.args[1] if len(value.args) > 1 else None
    if isinstance(value, (ast.List, ast.Dict)):
        return not (value.elts if isinstance(value, ast.List) else value.keys)
    return isinstance(value, ast.Constant) and value.value is None
