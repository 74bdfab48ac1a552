"""Tells the launcher why a process failed."""

from __future__ import annotations

import functools
import json
import os
import time
import traceback

__all__ = ["record"]


def record(fn, error_handler=None):
    """The function, whose exceptions are also written for the launcher.

    Into the file of $TORCHELASTIC_ERROR_FILE, if there is one.
    """

    @functools.wraps(fn)
    def wrapper(*args, **kwargs):
        try:
            return fn(*args, **kwargs)
        except Exception as error:
            path = os.environ.get("TORCHELASTIC_ERROR_FILE")
            if path:
                told = {
                    "message": f"{type(error).__name__}: {error}",
                    "extraInfo": {
                        "py_callstack": traceback.format_exc(),
                        "timestamp": str(int(time.time())),
                    },
                }
                with open(path, "w") as file:
                    json.dump({"message": told}, file)
            raise

    return wrapper
