"""Values that are known of fake tensors.

A number that a program wrote down (`torch.tensor(4.0)`) keeps its value, and
so do results of such numbers, until something unknown is written to them.
"""

from __future__ import annotations

import weakref

from .. import _C
from .._C import Tensor
from .._operators.tags import Tag
from ..utils import _pytree
from ..utils._python_dispatch import _disable_current_modes

# Results that are larger are not kept.
_LIMIT = 1


class Constants:
    """The fake tensors of a mode whose values are known."""

    def __init__(self) -> None:
        self._known: dict[int, weakref.ref] = {}

    def keep(self, fake, value: Tensor) -> None:
        """`value` is what `fake` has."""
        fake.constant = value
        key = id(fake)
        self._known[key] = weakref.ref(fake, lambda _: self._known.pop(key, 0))

    def forget_memory_of(self, written: list) -> None:
        """Nothing is known of tensors that share memory with these."""
        for ref in list(self._known.values()):
            other = ref()
            if other is not None and any(
                _C._shares_storage(other, fake) for fake in written
            ):
                other.constant = None
                self._known.pop(id(other), None)

    def computed(self, func, args, kwargs, fakes: list):
        """Computes what the operator gives for values that are known; None if
        some are not, or it draws random numbers.
        """
        if not fakes or any(fake.constant is None for fake in fakes):
            return None
        if any(fake.numel() > _LIMIT for fake in fakes):
            return None
        if Tag.nondeterministic_seeded in getattr(func, "tags", ()):
            return None
        args, kwargs = _pytree.tree_map(_value, (args, kwargs))
        with _disable_current_modes():
            return func(*args, **kwargs)

    def keep_all(self, fakes, values) -> None:
        """The same of every small tensor of a result."""
        pairs = zip(_pytree.tree_leaves(fakes), _pytree.tree_leaves(values))
        for fake, value in pairs:
            if not isinstance(fake, Tensor) or not isinstance(value, Tensor):
                continue
            if value.numel() <= _LIMIT:
                self.keep(fake, value)
            else:
                fake.constant = None


def _value(x):
    return x.constant if isinstance(x, Tensor) else x


def written(func, args: tuple, kwargs: dict) -> list[Tensor]:
    """The tensors that an overload writes to."""
    if not hasattr(func, "_text"):
        return []
    found = []
    for place, argument in enumerate(func._schema.arguments):
        if argument.is_write:
            value = args[place] if place < len(args) else kwargs.get(argument.name)
            found += _pytree.tree_leaves(value)
    return [x for x in found if isinstance(x, Tensor)]
