"""How many files a folder has: more than a reader takes in are two subjects."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

LARGEST_ROOM = 30


def overfull(files: list[str]) -> list[str]:
    """Folders with too many files of one language."""
    sizes = Counter(Path(name).parent.as_posix() for name in files)
    return [
        f"{folder}:1: {size} files; a room holds {LARGEST_ROOM} at most"
        for folder, size in sizes.items()
        if size > LARGEST_ROOM
    ]
