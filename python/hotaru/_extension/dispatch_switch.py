"""`__torch_dispatch__` switched off, as `torch._C` has it."""

from __future__ import annotations

from .. import _C


class _DisableTorchDispatch:
    """From its making to its end, or of a `with` block, this thread's operators
    ask no class and no mode: tensors that have memory are computed as plain ones.
    """

    def __init__(self) -> None:
        self._before = _C._without_dispatch(True)
        self._over = False

    def __enter__(self) -> None:
        return None

    def __exit__(self, *error) -> None:
        self._end()

    def __del__(self) -> None:
        self._end()

    def _end(self) -> None:
        if not self._over:
            self._over = True
            _C._without_dispatch(self._before)


_DisableTorchDispatch.__module__ = _C.__name__
