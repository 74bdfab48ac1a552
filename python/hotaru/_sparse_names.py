"""The names by which sparse tensors are reached: they load `hotaru.sparse`."""

from __future__ import annotations

from importlib import import_module

from . import _C
from ._C import Tensor

_METHODS = {
    "convert": "to_dense to_sparse to_sparse_coo to_sparse_csr to_sparse_csc "
    "to_sparse_bsr to_sparse_bsc",
    "masks": "sparse_mask",
}
# These exist of sparse tensors alone.
_PARTS = [
    "coalesce",
    "indices",
    "values",
    "_indices",
    "_values",
    "_nnz",
    "is_coalesced",
    "crow_indices",
    "col_indices",
    "ccol_indices",
    "row_indices",
]


def _lazy(module: str, name: str):
    def method(*args, **kwargs):
        found = import_module(f"hotaru.sparse.{module}")
        return getattr(found, name)(*args, **kwargs)

    method.__name__ = name
    return method


def _part(name: str):
    def method(self, *args):
        raise RuntimeError(
            f"{name} is only of tensors in a sparse layout, but the layout is "
            f"{self.layout}"
        )

    method.__name__ = name
    return method


def _answer(cls, func, types, args=(), kwargs=None):
    """Layouts answer functions that take them and have no code for them."""
    answers = import_module("hotaru.sparse")._answers
    return answers.answer(func, args, dict(kwargs or {}))


def install() -> None:
    """Attaches the methods to Tensor."""
    for module, names in _METHODS.items():
        for name in names.split():
            setattr(Tensor, name, _lazy(module, name))
    for name in _PARTS:
        setattr(Tensor, name, _part(name))
    _C._SparseLayout.__torch_function__ = classmethod(_answer)
