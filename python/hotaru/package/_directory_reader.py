"""The records of a package that was unpacked into a folder."""

from __future__ import annotations

import os
from pathlib import Path

from ..storage import UntypedStorage

_ID = ".data/serialization_id"


class DirectoryReader:
    """Reads files of a folder as `PyTorchFileReader` reads records.

    OSError where a file is missing. Compiled modules are not read from it.
    """

    def __init__(self, directory) -> None:
        self.directory = os.fspath(directory)

    def _path(self, name: str) -> str:
        return os.path.join(self.directory, name)

    def get_record(self, name: str) -> bytes:
        """The bytes of a file."""
        return Path(self._path(name)).read_bytes()

    def has_record(self, path: str) -> bool:
        """Tells whether there is such a file."""
        return os.path.isfile(self._path(path))

    def get_all_records(self) -> list[str]:
        """The paths of all files, without those of hidden folders."""
        top = Path(self.directory)
        return [
            file.relative_to(top).as_posix()
            for file in sorted(top.glob("**/*"))
            if file.is_file() and not _is_hidden(file.relative_to(top))
        ]

    def get_storage_from_record(self, name: str, numel: int, dtype):
        """The first elements of a file, which is mapped, as a tensor."""
        from .. import empty

        storage = UntypedStorage.from_file(
            self._path(name), False, numel * dtype.itemsize
        )
        return empty(0, dtype=dtype).set_(storage, 0, (numel,), (1,))

    def serialization_id(self) -> str | bytes:
        """Returns the id that the package has in its files, or ""."""
        return self.get_record(_ID) if self.has_record(_ID) else ""


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)
