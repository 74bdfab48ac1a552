"""Records of packages, as `importlib.resources` asks for them."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from pathlib import PurePosixPath

from ._directory_reader import DirectoryReader


class _PackageResourceReader:
    """Follows `importlib.abc.ResourceReader`.

    Args:
        importer: a PackageImporter. fullname: a package of it.
    """

    def __init__(self, importer, fullname: str) -> None:
        self._importer = importer
        self._package = fullname

    def open_resource(self, resource: str) -> io.BytesIO:
        """A file of the record's bytes."""
        return io.BytesIO(self._importer.load_binary(self._package, resource))

    def resource_path(self, resource: str) -> str:
        """The path of the record. FileNotFoundError: it is in an archive."""
        reader = self._importer.zip_reader
        name = self._importer._zipfile_path(self._package, resource)
        if isinstance(reader, DirectoryReader) and reader.has_record(name):
            return os.path.join(reader.directory, name)
        raise FileNotFoundError(name)

    def is_resource(self, name: str) -> bool:
        """Tells whether there is a record of that name, not a folder."""
        path = self._importer._zipfile_path(self._package, name)
        return self._importer.zip_reader.has_record(path)

    def contents(self) -> Iterator[str]:
        """The names of records and folders of the package, each once."""
        folder = PurePosixPath(self._importer._zipfile_path(self._package))
        names = {}
        for record in self._importer.zip_reader.get_all_records():
            path = PurePosixPath(record)
            if folder in path.parents:
                names[path.relative_to(folder).parts[0]] = None
        yield from names
