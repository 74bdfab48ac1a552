"""Opening files for reading and writing: paths, files, archives in them."""

from __future__ import annotations

import io
import os

from .._extension.new_file import NewFile
from ._archive import Reader, Writer, archive_name
from ._options import get_crc32_options


class Opened:
    """A with statement's value, closed or not when it ends."""

    def __init__(self, value, end) -> None:
        self.file_like = value
        self._end = end

    def __enter__(self):
        return self.file_like

    def __exit__(self, *raised) -> None:
        self._end(*raised)


def open_file_like(source, mode: str) -> Opened:
    """A path opened, or a file as it is, flushed after writing."""
    if isinstance(source, (str, os.PathLike)):
        if "w" in mode:
            return _opened_new(NewFile(source, mode))
        file = open(source, mode)  # noqa: SIM115
        return Opened(file, lambda *raised: file.close())
    if "w" in mode:
        return Opened(source, lambda *raised: source.flush())
    check_seekable(source)
    return Opened(source, lambda *raised: None)


def _opened_new(new: NewFile, value=None, complete=None) -> Opened:
    """A new file, or what writes to it, that an exception abandons.

    `complete` is called when all went well, before the file is finished.
    """

    def end(kind, *_) -> None:
        try:
            if kind is None:
                if complete is not None:
                    complete()
                new.finish()
        finally:
            new.abandon()

    return Opened(value or new.file, end)


def check_seekable(file) -> None:
    """AttributeError or io.UnsupportedOperation, saying what to do instead."""
    try:
        file.seek(file.tell())
    except (io.UnsupportedOperation, AttributeError) as error:
        if not any(name in str(error) for name in ("seek", "tell")):
            raise
        raise type(error)(
            f"{error}. You can only torch.load from a file that is seekable. "
            "Please pre-load the data into a buffer like io.BytesIO and try to "
            "load from it instead."
        ) from None


def is_zipfile(file) -> bool:
    """True if the file, from its position on, begins as an archive does."""
    start = file.tell()
    head = file.read(4)
    file.seek(start)
    return head == b"PK\3\4"


def open_zipfile_reader(source) -> Opened:
    """A Reader of a path, or of a file from its position on."""
    tell = getattr(source, "tell", None)
    reader = Reader(source, tell() if tell else 0)
    return Opened(reader, lambda *raised: reader.close())


def open_zipfile_writer(target) -> Opened:
    """A Writer; what it writes to a path is there when it is complete."""
    if not isinstance(target, (str, os.PathLike)):
        return open_zipfile_writer_buffer(target)
    stem = archive_name(os.fspath(target))
    try:
        new = NewFile(target)
    except OSError as error:
        raise RuntimeError(
            f"File {os.fspath(target)} cannot be opened: {error.strerror}."
        ) from None
    writer = Writer(new.file, stem, get_crc32_options())
    return _opened_new(new, writer, writer.write_end_of_file)


def open_zipfile_writer_buffer(buffer) -> Opened:
    if not callable(getattr(buffer, "write", None)):
        text = (
            f"Buffer of {str(type(buffer)).strip('<>')} has no callable "
            "attribute 'write'"
        )
        if not hasattr(buffer, "write"):
            raise AttributeError(text)
        raise TypeError(text)
    writer = Writer(buffer, checksums=get_crc32_options())

    def end(kind, *_) -> None:
        if kind is None:
            writer.write_end_of_file()
        buffer.flush()

    return Opened(writer, end)
