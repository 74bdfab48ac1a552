"""Sparse tensors as text."""

from __future__ import annotations

import hotaru

from .. import _C
from .tensor import SparseTensor, parts_of

_NAMES = {
    _C.sparse_coo: ("indices", ""),
    _C.sparse_csr: ("crow_indices", "col_indices"),
    _C.sparse_csc: ("ccol_indices", "row_indices"),
    _C.sparse_bsr: ("crow_indices", "col_indices"),
    _C.sparse_bsc: ("ccol_indices", "row_indices"),
}
_HEAD = "tensor("


def text(tensor: SparseTensor) -> str:
    """The parts and what is known of the whole, as PyTorch prints them."""
    parts = parts_of(tensor)
    margin = " " * len(_HEAD)
    outer, inner = _NAMES[parts.layout]
    names = {outer: parts.index, inner: parts.inner, "values": parts.values}
    body = f",\n{margin}".join(
        _part(name, part, margin) for name, part in names.items() if part is not None
    )
    return _HEAD + _with_suffixes(body, _suffixes(tensor), margin, parts)


def _part(name: str, part, margin: str) -> str:
    start = f"{name}={_HEAD}"
    indent = "\n" + " " * (len(margin) + len(start))
    if part.is_meta:
        return f"{start}..., size={tuple(part.shape)})"
    options = _C._get_print_options()
    width = options.linewidth
    options.linewidth = width - len(margin) - len(name) - 1
    _C._set_print_options(options)
    try:
        found = _C._tensor_repr(_bare(part))
    finally:
        options.linewidth = width
        _C._set_print_options(options)
    found = found[len(_HEAD) : -1].replace("\n" + " " * len(_HEAD), indent)
    if part.numel() == 0:
        found = f"[], size={tuple(part.shape)}"
    elif ", dtype=" in found or ",\n" in found:
        found = _without_dtype(found)
    return f"{start}{found})"


def _bare(part):
    return part.detach()


def _without_dtype(found: str) -> str:
    head, comma, tail = found.rpartition("dtype=")
    if not comma or "]" in tail:
        return found
    return head.rstrip().rstrip(",")


def _suffixes(tensor: SparseTensor) -> list[str]:
    found = []
    if tensor.device.type != "cpu":
        found.append(f"device='{tensor.device}'")
    found += [f"size={tuple(tensor.shape)}"]
    if not tensor.is_meta:
        found.append(f"nnz={tensor._nnz()}")
    default = hotaru.get_default_dtype()
    usual = (default, default.to_complex(), hotaru.int64, hotaru.bool)
    if tensor.dtype not in usual:
        found.append(f"dtype={tensor.dtype}")
    found.append(f"layout={tensor.layout}")
    if tensor.grad_fn is not None:
        name = _made_by(tensor)
        found.append(f"grad_fn=<{name}>")
    elif tensor.requires_grad:
        found.append("requires_grad=True")
    return found


def _made_by(tensor: SparseTensor) -> str:
    """The name PyTorch gives to the node of this operator."""
    name = tensor.__dict__.get("made_by")
    if name is None:
        return tensor.grad_fn.name()
    words = name.strip("_").split("_")
    return "".join(w.title() for w in words) + "Backward0"


def _with_suffixes(body: str, suffixes, margin: str, parts) -> str:
    """Behind the body, in a new line; no line longer than the width."""
    last = body.rfind("\n") + 1
    length = len(body) - last + 2 + len(margin) * (last == 0)
    pieces = [body]
    width = _C._get_print_options().linewidth
    for i, suffix in enumerate(suffixes):
        size = len(suffix)
        own_line = i == 0 and parts.inner is None
        if own_line or length + size + 2 > width:
            pieces.append(f",\n{margin}{suffix}")
            length = len(margin) + size
        else:
            pieces.append(f", {suffix}")
            length += size + 2
    return "".join(pieces) + ")"
