"""How tensors of subclasses print: as others, with the name of their class."""

from __future__ import annotations

from .. import _C
from .._C import Tensor
from .._late import lent

_PLAIN = "tensor("


def text_of(tensor: Tensor) -> str:
    """The text of a tensor whose class is not Tensor itself.

    While it is made, other threads see a line that is as much longer as the
    name is shorter than "tensor".
    """
    parameters = lent("parameter")
    kind = type(tensor)
    if kind is parameters.Parameter or parameters.is_lazy(tensor):
        return _C._tensor_repr(tensor)
    head = f"{kind.__name__}("
    return _as_parameter(tensor, _reindented(tensor, head))


def _as_parameter(tensor: Tensor, text: str) -> str:
    parameter = lent("parameter").Parameter
    return f"Parameter({text})" if isinstance(tensor, parameter) else text


def wrapper_text(tensor: Tensor, contents: str | None) -> str:
    """The text of a tensor that keeps its elements itself, which are shown as
    its class says (`contents`).
    """
    from .. import get_default_dtype

    parts = ["..." if contents is None else contents]
    usual = (get_default_dtype(), _C.int64, _C.bool)
    if tensor.dtype not in usual:
        parts.append(f"dtype={tensor.dtype}")
    if tensor.grad_fn is not None:
        parts.append(f"grad_fn=<{type(tensor.grad_fn).__name__}>")
    elif tensor.requires_grad:
        parts.append("requires_grad=True")
    return _as_parameter(tensor, f"{type(tensor).__name__}({', '.join(parts)})")


def _reindented(tensor: Tensor, head: str) -> str:
    options = _C._get_print_options()
    width = options.linewidth
    options.linewidth = width + len(_PLAIN) - len(head)
    _C._set_print_options(options)
    try:
        text = _C._tensor_repr(tensor)
    finally:
        options.linewidth = width
        _C._set_print_options(options)
    margin = "\n" + " " * len(_PLAIN)
    return head + text[len(_PLAIN) :].replace(margin, "\n" + " " * len(head))
