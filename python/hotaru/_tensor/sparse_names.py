"""The names by which sparse tensors are reached: they load `hotaru.sparse`."""

from __future__ import annotations

from functools import cache
from importlib import import_module

_METHODS = {
    "convert": "to_dense to_sparse to_sparse_coo to_sparse_csr to_sparse_csc "
    "to_sparse_bsr to_sparse_bsc",
    "masks": "sparse_mask",
    "coo.products": "smm sspaddmm hspmm",
}
# These exist of sparse tensors alone: of which layouts.
_PARTS = {
    "coalesce": "sparse coordinate tensor",
    "indices": "sparse coordinate tensor",
    "is_coalesced": "sparse coordinate tensor",
    "values": "sparse tensor",
    "crow_indices": "sparse row compressed tensor",
    "col_indices": "sparse row compressed tensor",
    "ccol_indices": "sparse column compressed tensor",
    "row_indices": "sparse column compressed tensor",
}
_INSIDE = (
    "_indices", "_values", "_nnz", "_dimI", "_dimV", "_coalesced_",
    "sparse_resize_", "sparse_resize_and_clear_", "resize_as_sparse_",
)  # fmt: skip


@cache
def late(module: str):
    """A file of `hotaru.sparse`, for what cannot import it before: what the
    class of sparse tensors answers is made of operators that need the class.
    """
    return import_module(f"hotaru.sparse.{module}")


def _lazy(module: str, name: str):
    def method(*args, **kwargs):
        return getattr(late(module), name)(*args, **kwargs)

    method.__name__ = name
    return method


def layout_name(layout) -> str:
    """SparseCsr of sparse_csr, Sparse of sparse_coo: as errors have it."""
    name = "".join(word.title() for word in str(layout)[6:].split("_"))
    return "Sparse" if name == "SparseCoo" else name


def expected(name: str, kind: str, layout) -> RuntimeError:
    """The error of a part that tensors of the layout do not have."""
    return RuntimeError(
        f"{name} expected {kind} layout but got {layout_name(layout)}"
    )


def _part(name: str, kind: str):
    def method(self, *args):
        raise expected(name, kind, self.layout)

    method.__name__ = name
    return method


def _inside(name: str):
    def method(self, *args, **kwargs):
        raise NotImplementedError(
            f"Could not run 'aten::{name}' with arguments from the "
            f"'{self.device.type.upper()}' backend. It is of sparse tensors "
            "alone: convert with to_sparse()."
        )

    method.__name__ = name
    return method


for _module, _names in _METHODS.items():
    for _name in _names.split():
        globals()[_name] = _lazy(_module, _name)
globals().update({name: _part(name, kind) for name, kind in _PARTS.items()})
globals().update({name: _inside(name) for name in _INSIDE})
