"""Tensors made of a shape; what needs no tensor is computed when writing."""

from __future__ import annotations

from .. import get_default_dtype
from .table import row
from .values import dtype_of


def _like(name: str, value: float) -> None:
    @row(f"{name}_like")
    def write(
        w,
        self,
        dtype=None,
        layout=None,
        device=None,
        pin_memory=None,
        memory_format=None,
    ):
        return w.full(value, self.shape, dtype_of(dtype) or self.dtype)

    @row(f"new_{name}")
    def write_new(w, self, size, dtype=None, layout=None, device=None, pin_memory=None):
        return w.full(value, size, dtype_of(dtype) or self.dtype)


_like("zeros", 0)
_like("ones", 1)
# Fresh memory may hold anything: nobody may ask what.
_like("empty", 0)


@row("full_like")
def full_like(
    w,
    self,
    fill_value,
    dtype=None,
    layout=None,
    device=None,
    pin_memory=None,
    memory_format=None,
):
    return w.full(fill_value, self.shape, dtype_of(dtype) or self.dtype)


@row("new_full")
def new_full(
    w, self, size, fill_value, dtype=None, layout=None, device=None, pin_memory=None
):
    return w.full(fill_value, size, dtype_of(dtype) or self.dtype)


@row("fill")
def fill(w, self, value):
    return w.full(value, self.shape, self.dtype)


@row("zero")
def zero(w, self):
    return w.full(0, self.shape, self.dtype)


@row("scalar_tensor")
def scalar_tensor(w, s, dtype=None, layout=None, device=None, pin_memory=None):
    return w.full(s, (), dtype_of(dtype) or get_default_dtype())
