"""Texts of tensors, by the names that libraries take them from."""

from __future__ import annotations

from contextlib import contextmanager

from . import _C
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
