"""The files that hotaru writes: whole or not at all, where there is a choice.

A regular file, or a name without one, gets the new contents when they are
complete and keeps its permissions and its owner; links are followed; pipes,
devices and names of open files are written into (hotaru/io/new_file.h).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from .. import _C


class NewFile:
    """A file that is open for writing, and is there when `finish` is called.

    Args:
        path: where.
        mode: "wb" or "w".
        options: of `open`, for texts.

    Raises:
        OSError: it cannot be written.
        ValueError: no file can have that name.
    """

    def __init__(self, path, mode: str = "wb", **options) -> None:
        name = os.fsencode(path)
        if b"\0" in name:
            raise ValueError("embedded null byte")
        self._whole = _C._NewFile(name)
        #: The file object.
        self.file = open(  # noqa: SIM115
            self._whole.descriptor(), mode, closefd=False, **options
        )

    def finish(self) -> None:
        """Closes the file: what was written is all of it."""
        self.file.close()
        self._whole.finish()

    def abandon(self) -> None:
        """Leaves what was there before, unless `finish` was called."""
        try:
            self.file.close()
        finally:
            self._whole.abandon()


@contextmanager
def new_file(path, mode: str = "wb", **options) -> Iterator:
    """The file object of a `NewFile`, which an exception abandons."""
    new = NewFile(path, mode, **options)
    try:
        yield new.file
    except BaseException:
        new.abandon()
        raise
    try:
        new.finish()
    finally:
        new.abandon()
