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


def to_padded_tensor(self, padding: float, output_size=None) -> Tensor:
    """A nested tensor as one with `padding` where an element is smaller.

    NotImplementedError for other tensors.
    """
    raise NotImplementedError(
        "Could not run 'aten::to_padded_tensor' with arguments from the "
        f"'{self.device.type.upper()}' backend: it is of nested tensors."
    )
