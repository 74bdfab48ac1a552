"""Functions that move elements, and move the mask along."""

from __future__ import annotations

from ..._answering.table import answers
from ._kind import STRIDED
from .core import MaskedTensor, data_of, mask_of, wrap

PASSTHROUGH_NAMES = [
    "__getitem__",
    "broadcast_tensors",
    "broadcast_to",
    "cat",
    "chunk",
    "col2im",
    "concat",
    "concatenate",
    "contiguous",
    "diagonal",
    "expand",
    "expand_as",
    "flatten",
    "fold",
    "im2col",
    "index_select",
    "narrow",
    "reshape",
    "reshape_as",
    "select",
    "split",
    "split_with_sizes",
    "stack",
    "swapaxes",
    "swapdims",
    "t",
    "tensor_split",
    "transpose",
    "unflatten",
    "unfold",
    "unsqueeze",
    "view",
    "view_as",
]
#: Blocks of pictures, which have no form for bool.
_BLOCKS = ("col2im", "fold", "im2col", "unfold")


@answers(
    *("H", "adjoint", "mH", "mT", "ravel"), *PASSTHROUGH_NAMES, of=STRIDED, asked=True
)
def passthrough(function, *args, **kwargs):
    """The function of the data, with the same function of the mask."""
    data = function(*_mapped(data_of, args), **_mapped(data_of, kwargs))
    of_mask = _countable if function.__name__ in _BLOCKS else mask_of
    mask = function(*_mapped(of_mask, args), **_mapped(of_mask, kwargs))
    if of_mask is _countable:
        mask = mask != 0
    if isinstance(data, (tuple, list)):
        return type(data)(wrap(d, m) for d, m in zip(data, mask))
    return wrap(data, mask)


def _countable(x):
    """The mask as numbers: those of blocks that overlap are added."""
    return mask_of(x).float()


def _mapped(part, x):
    """Replaces every MaskedTensor in the arguments by `part` of it."""
    if isinstance(x, MaskedTensor):
        return part(x)
    if type(x) in (list, tuple):
        return type(x)(_mapped(part, item) for item in x)
    if type(x) is dict:
        return {key: _mapped(part, item) for key, item in x.items()}
    return x
