"""Archives whose entries may say anything."""

from __future__ import annotations

import os
import re
import zipfile
from pathlib import Path


def extract(archive: zipfile.ZipFile, folder: str) -> None:
    """Writes all entries below the folder.

    Raises ValueError before an entry whose path leads elsewhere is written.
    """
    root = Path(folder).resolve()
    for entry in archive.infolist():
        name = os.path.normpath(entry.filename)
        if name.startswith(("/", "\\")) or re.match("[A-Za-z]:", name):
            raise ValueError(f"Archive entry has absolute path: {entry.filename}")
        if ".." in re.split(r"[/\\]", name):
            raise ValueError(
                f"Archive entry contains directory traversal: {entry.filename}"
            )
        # A link among the entries before may lead out, too.
        if not (root / name).resolve().is_relative_to(root):
            raise ValueError(
                f"Archive entry escapes target directory: {entry.filename}"
            )
        archive.extract(entry, root)
