"""Errors of exporting."""

from __future__ import annotations

__all__ = ["ConstraintViolationError", "DataDependentError", "Restart", "UserError"]


class UserError(RuntimeError):
    """The program or the arguments of `export` do not go together."""


class ConstraintViolationError(UserError):
    """A dimension cannot vary as it was promised."""


class DataDependentError(UserError):
    """Raised where what a program does depends on a tensor's elements."""


class Restart(BaseException):
    """Something was learned of sizes: the program is to be traced again."""
