"""Texts of tensors, by the names that libraries take them from."""

from __future__ import annotations

from contextlib import contextmanager

from . import _C
from ._C import Tensor, get_default_dtype
from ._functions import get_printoptions, set_printoptions

__all__ = ["PRINT_OPTS", "printoptions"]

_OPENING = len("tensor(")


class _PrinterOptions:
    """The options that `set_printoptions` sets, as they are now."""

    def __getattr__(self, name: str):
        options = get_printoptions()
        if name not in options:
            raise AttributeError(f"print options have no {name!r}")
        return options[name]

    def __repr__(self) -> str:
        inside = ", ".join(f"{k}={v}" for k, v in get_printoptions().items())
        return f"PrinterOptions({inside})"


PRINT_OPTS = _PrinterOptions()


@contextmanager
def printoptions(**kwargs):
    """Tensors print by these options of `set_printoptions` within."""
    before = _C._get_print_options()
    try:
        set_printoptions(**kwargs)
        yield
    finally:
        _C._set_print_options(before)


def _tensor_str(self, indent: int) -> str:
    """The elements as `repr` shows them, later lines indented."""
    before = _C._get_print_options()
    # Lines end where they would with this indent.
    set_printoptions(
        linewidth=before.linewidth + _OPENING - indent, sci_mode=before.sci_mode
    )
    try:
        text = repr(self.detach())
    finally:
        _C._set_print_options(before)
    body = text[_OPENING:-1]
    end = body.rfind("]") + 1 or (body + ",").index(",")
    return body[:end].replace("\n" + " " * _OPENING, "\n" + " " * indent)


def _add_suffixes(tensor_str, suffixes, indent, force_newline) -> str:
    """The text of a tensor, closed behind `suffixes`; one that would be beyond
    the width of a line begins the next one, with `force_newline` the first.
    """
    # The last line counts from its newline, as PyTorch counts it.
    width = len(tensor_str) - tensor_str.rfind("\n") + 1
    for suffix in suffixes:
        if force_newline or width + len(suffix) + 2 > PRINT_OPTS.linewidth:
            tensor_str += ",\n" + " " * indent + suffix
            width = indent + len(suffix)
            force_newline = False
        else:
            tensor_str += ", " + suffix
            width += len(suffix) + 2
    return tensor_str + ")"


def _str_intern(inp, *, tensor_contents=None) -> str:
    """The text of a tensor, with `tensor_contents` for its elements."""
    if tensor_contents is None:
        return repr(inp)
    name = type(inp).__name__
    if type(inp) is Tensor or name == "Parameter":
        name = "tensor"
    suffixes = []
    if inp.device.type != "cpu":
        suffixes.append(f"device='{inp.device}'")
    usual = (_C.int64, _C.bool, get_default_dtype(), get_default_dtype().to_complex())
    if inp.dtype not in usual:
        suffixes.append(f"dtype={inp.dtype}")
    if inp.grad_fn is not None:
        suffixes.append(f"grad_fn=<{inp.grad_fn.name()}>")
    elif inp.requires_grad:
        suffixes.append("requires_grad=True")
    indent = len(name) + 1
    return _add_suffixes(f"{name}({tensor_contents}", suffixes, indent, False)
