"""Elements of tensors that a program made of numbers which only the run knows.

A file's arithmetic of sizes makes a tensor of a size, gives it another shape
and reads its elements again; they are the numbers that it was made of.
"""

from __future__ import annotations

from .. import Tensor
from ._numbers import SymbolicFloat, SymbolicInt

__all__ = ["Elements"]

_SYMBOLIC = (SymbolicInt, SymbolicFloat)
_SAME = {"clone", "contiguous", "detach", "flatten", "ravel", "reshape", "squeeze"}
_SAME |= {"unsqueeze", "view", "view_as", "reshape_as"}


class Elements:
    """Numbers in the order of a tensor's elements, by the tensor."""

    def __init__(self) -> None:
        # By identity; the entries keep the tensors alive.
        self._numbers: dict[int, tuple[Tensor, list]] = {}

    def of(self, tensor: Tensor) -> list | None:
        """The numbers of a tensor, if it was made of such."""
        found = self._numbers.get(id(tensor))
        return found[1] if found else None

    def called(self, base: str, inputs, result) -> None:
        """Notes what an operator made."""
        if not isinstance(result, Tensor) or not inputs:
            return
        first = inputs[0]
        if base == "tensor":
            numbers = first if isinstance(first, list) else [first]
            if any(type(x) in _SYMBOLIC for x in numbers):
                self._numbers[id(result)] = (result, list(numbers))
            return
        known = self.of(first) if isinstance(first, Tensor) else None
        if known is None:
            return
        if base in _SAME:
            self._numbers[id(result)] = (result, known)
        elif base == "select" and first.dim() == 1 and isinstance(inputs[2], int):
            self._numbers[id(result)] = (result, [known[inputs[2]]])
        elif base.endswith("_"):  # what is written is another's
            self._numbers.pop(id(first), None)
