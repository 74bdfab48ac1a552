"""Paths of files beside a program's own."""

from __future__ import annotations

import os


def get_file_path(*path_components: str) -> str:
    """A path below the folder of the package."""
    return os.path.join(os.path.dirname(__file__), *path_components)


def get_file_path_2(*path_components: str) -> str:
    """The parts joined to one path."""
    return os.path.join(*path_components)
