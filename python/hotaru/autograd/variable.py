"""`Variable`, which wrapped tensors before PyTorch 0.4."""

from __future__ import annotations

import warnings

from .. import _C, Tensor, empty

_REMOVED = (
    "volatile was removed and now has no effect. Use `with torch.no_grad():` instead."
)
_BOTH = "Variable can't be volatile and require_grad at the same time!"


class _Engine:
    """The engine as programs know it: `Variable._execution_engine`."""

    @staticmethod
    def queue_callback(callback) -> None:
        """Calls `callback()` when the backward pass that runs is through.

        Raises:
            RuntimeError: none runs in this thread.
        """
        _C._queue_callback(callback)


class VariableMeta(type):
    """Every tensor is an instance of `Variable`."""

    def __instancecheck__(cls, other) -> bool:
        return isinstance(other, Tensor)


class Variable(metaclass=VariableMeta):
    """Makes a leaf over the memory of `data`.

    Raises:
        TypeError: `data` is no tensor, or an argument that does not exist.
        ValueError: both `volatile` and `requires_grad`.
        RuntimeError: integers that are to require gradients.
    """

    _execution_engine = _Engine()

    def __new__(
        cls,
        data: Tensor | None = None,
        requires_grad: bool = False,
        volatile: bool = False,
        **others,
    ) -> Tensor:
        for name in others:
            raise TypeError(
                f"'{name}' is an invalid keyword argument for this function"
            )
        if volatile:
            warnings.warn(_REMOVED, stacklevel=2)
            if requires_grad:
                raise ValueError(_BOTH)
        if data is None:
            leaf = empty(0)
        elif isinstance(data, Tensor):
            leaf = data.detach()
        else:
            raise TypeError(
                f"Variable data has to be a tensor, but got {type(data).__name__}"
            )
        return leaf.requires_grad_(bool(requires_grad))
