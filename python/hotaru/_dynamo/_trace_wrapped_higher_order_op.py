"""A mode under which a tensor picks elements without becoming a number."""

from __future__ import annotations

from .. import Tensor, as_tensor, ops
from ..overrides import TorchFunctionMode


class TransformGetItemToIndex(TorchFunctionMode):
    """Reads `x[i, j]` of tensors and numbers as the operator `index`.

    Where `func.vmap` maps over `i`, it is no number and can't be made one.
    """

    def __torch_function__(self, func, types, args=(), kwargs=None):
        if func is Tensor.__getitem__:
            x, index = args
            places = index if isinstance(index, (tuple, list)) else (index,)
            if places and all(_is_place(place) for place in places):
                places = [as_tensor(place, device=x.device) for place in places]
                return ops.index(x, places)
        return func(*args, **(kwargs or {}))


def _is_place(value) -> bool:
    return isinstance(value, (Tensor, int)) and not isinstance(value, bool)
