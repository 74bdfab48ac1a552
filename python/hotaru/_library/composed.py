"""Operators of `torch.ops.aten` that are compositions of others here.

Programs name them where they take operators apart (`__torch_dispatch__`); each
is defined when it is first asked for.
"""

from __future__ import annotations

from .definitions import Library

_library: Library | None = None


def _to_copy(
    self, *, dtype=None, layout=None, device=None, pin_memory=None,
    non_blocking=False, memory_format=None,
):  # fmt: skip
    out = self.to(
        device=self.device if device is None else device,
        dtype=self.dtype if dtype is None else dtype,
        non_blocking=non_blocking,
        copy=True,
        **({} if memory_format is None else {"memory_format": memory_format}),
    )
    return out.pin_memory() if pin_memory else out


def _pin_memory(self, device=None):
    return self.pin_memory()


def _sparse_addmm(self, mat1, mat2, *, beta=1, alpha=1):
    return self.addmm(mat1, mat2, beta=beta, alpha=alpha)


def _sparse_mm_reduce_impl(self, other, reduce):
    raise NotImplementedError(
        "aten::_sparse_mm_reduce_impl is not implemented in hotaru: "
        "torch.sparse.mm(a, b) gives the sum"
    )


_DEFINED = {
    "_to_copy": (
        "(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, "
        "Device? device=None, bool? pin_memory=None, "
        "bool non_blocking=False, MemoryFormat? memory_format=None) -> Tensor",
        _to_copy,
    ),
    "_pin_memory": (
        "(Tensor self, Device? device=None) -> Tensor",
        _pin_memory,
    ),
    "_sparse_addmm": (
        "(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, "
        "Scalar alpha=1) -> Tensor",
        _sparse_addmm,
    ),
    "_sparse_mm_reduce_impl": (
        "(Tensor self, Tensor other, str reduce) -> (Tensor, Tensor)",
        _sparse_mm_reduce_impl,
    ),
}


def define(name: str) -> None:
    """Defines the operator of this name, if it is one of these."""
    global _library
    if name not in _DEFINED:
        return
    if _library is None:
        _library = Library("aten", "FRAGMENT")
    schema, kernel = _DEFINED.pop(name)
    _library.define(name + schema)
    _library.impl(name, kernel, "CompositeImplicitAutograd")
