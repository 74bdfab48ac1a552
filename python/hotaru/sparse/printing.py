"""Sparse tensors as text."""

from __future__ import annotations

from .tensor import SparseTensor, parts_of


def text(tensor: SparseTensor) -> str:
    """The parts and sizes, as PyTorch prints them."""
    parts = parts_of(tensor)
    names = {"indices": parts.index, "values": parts.values}
    body = ",\n       ".join(
        f"{name}={_indented(repr(part))}" for name, part in names.items()
    )
    nnz = tensor._nnz()
    return f"tensor({body},\n       size={tuple(tensor.shape)}, nnz={nnz})"


def _indented(text: str) -> str:
    return text.replace("\n", "\n" + " " * 15)
