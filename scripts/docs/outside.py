"""Files of the repository that pages link to and that are no pages.

With the address of a repository links lead there; without one the files are copied
into the site as text, so that no link is dead.
"""

from __future__ import annotations

import posixpath
from pathlib import Path


class Outside:
    """Leads links to files that are no pages."""

    def __init__(self, root: Path, names: list[str], repository: str | None):
        self.root = root
        self.repository = repository and repository.rstrip("/") + "/"
        self.names = set(names)
        self._taken: set[str] = set()

    def link(self, name: str, place: str) -> str:
        """The address of a file or folder, from the page at a place."""
        if self.repository:
            return self.repository + name
        self._taken.add(name)
        start = posixpath.dirname(place) or "."
        return posixpath.relpath(f"files/{name}.txt", start)

    def write(self, folder: Path) -> None:
        """Copies what was linked to, and lists of what folders hold."""
        for name in sorted(self._taken):
            target = folder / "files" / f"{name}.txt"
            target.parent.mkdir(parents=True, exist_ok=True)
            if name in self.names:
                target.write_bytes((self.root / name).read_bytes())
                continue
            below = sorted(n for n in self.names if n.startswith(f"{name}/"))
            target.write_text("\n".join(below) + "\n", encoding="utf-8")
