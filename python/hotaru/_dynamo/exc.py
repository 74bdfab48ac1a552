"""Errors of operators that take functions, by the names that PyTorch has."""

from __future__ import annotations

__all__ = ["TorchDynamoException", "UncapturedHigherOrderOpError"]


class TorchDynamoException(RuntimeError):  # noqa: N818
    """A program that cannot be traced as it stands."""


class UncapturedHigherOrderOpError(TorchDynamoException):
    """A function that its operator can't run: what it returns does not fit, or
    it changes its arguments.
    """
