"""Calls that compressed tensors have no code for, with PyTorch's errors."""

from __future__ import annotations

from ..._answering.table import answers
from ...utils import _pytree
from .._kind import CSX
from ..tensor import SparseTensor
from .check import layout_text


def _no(what: str, names: tuple, error=RuntimeError) -> None:
    def refuse(*args, **kwargs):
        raise error(what)

    answers(*names, of=CSX)(refuse)


def _lacking(what: str, names: str) -> None:
    def refuse(*args, **kwargs):
        leaves = _pytree.tree_leaves((args, kwargs))
        kind = next(x.layout for x in leaves if isinstance(x, SparseTensor))
        short = layout_text(kind)[-3:].upper()
        raise RuntimeError(f"Sparse {short} tensors do not have {what}")

    answers(*names.split(), of=CSX)(refuse)


_lacking("strides", "stride squeeze unsqueeze narrow diagonal as_strided")
_lacking("is_contiguous", "is_contiguous contiguous reshape cat stack")
_no(
    "Cannot access storage of SparseCsrTensorImpl",
    ("storage", "untyped_storage", "_typed_storage"),
    NotImplementedError,
)
_no(
    "Cannot access data pointer of Tensor that doesn't have storage",
    ("data_ptr", "tolist"),
)


@answers("expand", of=CSX)
def expand(tensor: SparseTensor, *size) -> SparseTensor:
    """Refused, as PyTorch does."""
    raise RuntimeError(
        f"expand is unsupported for {layout_text(tensor.layout)} tensors"
    )
