"""Errors of calls of fake tensors that have no answer without values."""

from __future__ import annotations


class _OfOperatorError(RuntimeError):
    """`func` is the overload that was called."""

    def __init__(self, func) -> None:
        super().__init__(func)
        self.func = func


class DataDependentOutputException(_OfOperatorError):  # noqa: N818
    """A number, or a truth value, that depends on values."""


class DynamicOutputShapeException(_OfOperatorError):  # noqa: N818
    """A result whose shape depends on values."""


class UnsupportedOperatorException(_OfOperatorError):  # noqa: N818
    """An operator that has no kernel for shapes alone."""


class UnsupportedFakeTensorException(RuntimeError):  # noqa: N818
    """A tensor of a layout that fakes have not; `reason` says which."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class MetadataMismatchError(RuntimeError):
    """A fake result differs from the real one."""
