"""The names by which nested tensors are reached: they load `hotaru.nested`."""

from __future__ import annotations

from importlib import import_module

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


def _lazy(name: str):
    def function(*args, **kwargs):
        found = import_module("hotaru.nested.create")
        return getattr(found, name)(*args, **kwargs)

    function.__name__ = name
    return function


FUNCTIONS = (
    "_nested_from_padded", "_nested_from_padded_and_nested_example",
    "_nested_tensor_from_mask",
    "_nested_tensor_from_mask_left_aligned", "_nested_tensor_from_tensor_list",
)  # fmt: skip


globals().update({name: _lazy(name) for name in FUNCTIONS})
