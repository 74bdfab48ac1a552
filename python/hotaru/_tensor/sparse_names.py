"""The methods of sparse tensors, which other tensors refuse."""

from __future__ import annotations

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
    "_indices",
    "_values",
    "_nnz",
    "_dimI",
    "_dimV",
    "_coalesced_",
    "sparse_resize_",
    "sparse_resize_and_clear_",
    "resize_as_sparse_",
)


def layout_name(layout) -> str:
    """SparseCsr of sparse_csr, Sparse of sparse_coo: as errors have it."""
    name = "".join(word.title() for word in str(layout)[6:].split("_"))
    return "Sparse" if name == "SparseCoo" else name


def expected(name: str, kind: str, layout) -> RuntimeError:
    """The error of a part that tensors of the layout do not have."""
    return RuntimeError(f"{name} expected {kind} layout but got {layout_name(layout)}")


def _part(name: str, kind: str):
    def method(self, *args):
        raise expected(name, kind, self.layout)

    method.__name__ = name
    return method


def _inside(name: str):
    def method(self, *args, **kwargs):
        raise NotImplementedError(
            f"Could not run 'aten::{name}' with arguments from the "
            f"'{self.device.type.upper()}' backend. "
            "It is of sparse tensors alone: convert with to_sparse()."
        )

    method.__name__ = name
    return method


globals().update({name: _part(name, kind) for name, kind in _PARTS.items()})
globals().update({name: _inside(name) for name in _INSIDE})
