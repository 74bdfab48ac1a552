"""What compressed tensors have no code for, with PyTorch's errors."""

from __future__ import annotations

from ._answers import answers_compressed
from .compressed_check import layout_text
from .tensor import SparseTensor


def _no(what: str, names: tuple, error=RuntimeError) -> None:
    def refuse(*args, **kwargs):
        raise error(what)

    answers_compressed(*names)(refuse)


_no("Sparse CSR tensors do not have strides",
    ("stride", "squeeze", "unsqueeze", "narrow", "diagonal", "as_strided"))  # fmt: skip
_no("Sparse CSR tensors do not have is_contiguous",
    ("is_contiguous", "contiguous", "reshape", "cat", "stack"))  # fmt: skip
_no(
    "Cannot access storage of SparseCsrTensorImpl",
    ("storage", "untyped_storage", "_typed_storage"),
    NotImplementedError,
)
_no(
    "Cannot access data pointer of Tensor that doesn't have storage",
    ("data_ptr", "tolist"),
)


@answers_compressed("expand")
def expand(tensor: SparseTensor, *size) -> SparseTensor:
    """Refused, as PyTorch does."""
    raise RuntimeError(
        f"expand is unsupported for {layout_text(tensor.layout)} tensors"
    )


@answers_compressed("numpy", "__array__")
def numpy(tensor: SparseTensor, *args, **kwargs):
    """Refused: to_dense() first."""
    raise TypeError(
        f"can't convert {layout_text(tensor.layout)} layout tensor to numpy. "
        "Use Tensor.to_dense() first."
    )
