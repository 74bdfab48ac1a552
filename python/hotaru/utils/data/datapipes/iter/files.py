"""Pipes of files: their paths, their handles, what is in them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .._decorator import functional_datapipe
from ..datapipe import IterDataPipe
from ..utils.common import (
    get_file_binaries_from_pathnames,
    get_file_pathnames_from_root,
)
from .utils import IterableWrapperIterDataPipe

__all__ = [
    "FileListerIterDataPipe",
    "FileOpenerIterDataPipe",
    "StreamReaderIterDataPipe",
]


@functional_datapipe("list_files")
class FileListerIterDataPipe(IterDataPipe):
    """Gives the paths of files in folders (functional name: ``list_files``).

    `root` is a folder, several, or a pipe of them; `masks` patterns of which
    names fit one; "" or [] any. In the order of names unless
    `non_deterministic`.
    """

    def __init__(
        self,
        root: str | Sequence[str] | IterDataPipe = ".",
        masks: str | list[str] = "",
        *,
        recursive: bool = False,
        abspath: bool = False,
        non_deterministic: bool = False,
        length: int = -1,
    ) -> None:
        root = [root] if isinstance(root, str) else root
        if not isinstance(root, IterDataPipe):
            root = IterableWrapperIterDataPipe(root)
        self.datapipe, self.masks, self.length = root, masks, length
        self.recursive, self.abspath = recursive, abspath
        self.non_deterministic = non_deterministic

    def __iter__(self):
        for folder in self.datapipe:
            yield from get_file_pathnames_from_root(
                folder, self.masks, self.recursive, self.abspath, self.non_deterministic
            )

    def __len__(self) -> int:
        if self.length == -1:
            raise self._no_length()
        return self.length


@functional_datapipe("open_files")
class FileOpenerIterDataPipe(IterDataPipe):
    """Gives pairs of a path and the open file (functional name:
    ``open_files``).

    Modes are those that read: "r", "b", "t", "rb", "rt"; ValueError for others,
    and for an encoding of bytes.
    """

    def __init__(
        self,
        datapipe: Iterable[str],
        mode: str = "r",
        encoding: str | None = None,
        length: int = -1,
    ) -> None:
        if mode not in ("b", "t", "rb", "rt", "r"):
            raise ValueError(f"Invalid mode {mode}")
        if "b" in mode and encoding is not None:
            raise ValueError("binary mode doesn't take an encoding argument")
        self.datapipe, self.mode = datapipe, mode
        self.encoding, self.length = encoding, length

    def __iter__(self):
        yield from get_file_binaries_from_pathnames(
            self.datapipe, self.mode, self.encoding
        )

    def __len__(self) -> int:
        if self.length == -1:
            raise self._no_length()
        return self.length


@functional_datapipe("read_from_stream")
class StreamReaderIterDataPipe(IterDataPipe):
    """Gives paths with what is in the files.

    Pairs of them (functional name: ``read_from_stream``); files are closed.

    Args:
        datapipe: gives pairs of a path and an open file.
        chunk: how many bytes a piece has; by default all that is there.

    Example:
        >>> import io
        >>> import hotaru.utils.data.datapipes as dp
        >>> source = dp.iter.IterableWrapper([("a", io.BytesIO(b"bytes"))])
        >>> list(source.read_from_stream(3))
        [('a', b'byt'), ('a', b'es')]
    """

    def __init__(self, datapipe: IterDataPipe, chunk: int | None = None) -> None:
        self.datapipe, self.chunk = datapipe, chunk

    def __iter__(self):
        for path, stream in self.datapipe:
            while piece := stream.read(self.chunk):
                yield path, piece
            stream.close()
