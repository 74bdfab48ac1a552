"""The names of nested tensors that other tensors know."""

from __future__ import annotations

from .. import _C
from .._C import Tensor
from .._own_names import own_root


class _Jagged(_C.layout):
    """The layout of tensors of which one dimension is ragged."""

    def __repr__(self) -> str:
        return "torch.jagged"

    def __eq__(self, other) -> bool:
        return self is other

    def __hash__(self) -> int:
        return hash("torch.jagged")

    def __reduce__(self):
        return "jagged"


jagged = _C.layout.__new__(_Jagged)
_Jagged.__module__ = own_root()


def _refused(x: Tensor, name: str) -> NotImplementedError:
    return NotImplementedError(
        f"Could not run 'aten::{name}' with arguments from the "
        f"'{x.device.type.upper()}' backend: it is of nested tensors."
    )


def to_padded_tensor(self, padding: float, output_size=None) -> Tensor:
    """A nested tensor as one with `padding` where an element is smaller.

    NotImplementedError for other tensors.
    """
    raise _refused(self, "to_padded_tensor")


def _nested_tensor_size(self) -> Tensor:
    """Sizes of the elements, a row each; NotImplementedError for tensors that
    are not nested, as below.
    """
    raise _refused(self, "_nested_tensor_size")


def _nested_tensor_strides(self) -> Tensor:
    """Strides of the elements, a row each."""
    raise _refused(self, "_nested_tensor_strides")


def _nested_tensor_storage_offsets(self) -> Tensor:
    """Places of the elements in the buffer."""
    raise _refused(self, "_nested_tensor_storage_offsets")
