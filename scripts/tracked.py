"""Files that git knows."""

from __future__ import annotations

import subprocess
from pathlib import Path


def tracked(*patterns: str, root: Path = Path()) -> list[str]:
    """Names of a repository's files by git's patterns, from its root, without
    those that are deleted.
    """
    listed = subprocess.run(
        ["git", "ls-files", *patterns],
        check=True,
        capture_output=True,
        text=True,
        cwd=root,
    )
    names = listed.stdout.splitlines()
    return [name for name in names if (root / name).exists()]
