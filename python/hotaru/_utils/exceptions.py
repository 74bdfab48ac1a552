"""Exceptions that are sent to another process, or thread."""

from __future__ import annotations

import sys
import traceback


class KeyErrorMessage(str):
    """A text whose repr is the text: KeyError shows its argument's repr."""

    def __repr__(self) -> str:
        return str(self)


class ExceptionWrapper:
    """The exception being handled, with its traceback's text, to be sent.

    Args:
        exc_info: as `sys.exc_info()` gives it; of another exception.
        where: for the message, as in "in DataLoader worker process 0".
    """

    def __init__(self, exc_info=None, where: str = "in background") -> None:
        kind, value, trace = exc_info or sys.exc_info()
        self.exc_type = kind
        self.exc_msg = "".join(traceback.format_exception(kind, value, trace))
        self.where = where

    def reraise(self):
        """Raises an exception of the same type.

        RuntimeError where the type does not take a message.
        """
        kind = self.exc_type
        message = f"Caught {kind.__name__} {self.where}.\nOriginal {self.exc_msg}"
        if kind is KeyError:
            message = KeyErrorMessage(message)
        elif getattr(kind, "message", None):
            raise kind(message=message)
        try:
            error = kind(message)
        except Exception:
            raise RuntimeError(message) from None
        raise error
