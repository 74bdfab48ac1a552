"""Metadata that says which release of PyTorch the alias stands for."""

from __future__ import annotations

import importlib.metadata
from pathlib import Path

from ..version import __version__

# Packages that ask for `torch` ask for its version; nothing is required, as
# hotaru requires nothing.
_METADATA = """\
Metadata-Version: 2.1
Name: {alias}
Version: {version}
Summary: PyTorch's names over hotaru: `import torch` gives hotaru
License: Apache-2.0
Provides-Extra: opt-einsum
"""
INSTALLER = "hotaru"


def files(alias: str) -> dict[str, str]:
    """The contents of the folder `*.dist-info`, without its RECORD."""
    return {
        "METADATA": _METADATA.format(alias=alias, version=__version__),
        "INSTALLER": f"{INSTALLER}\n",
        "WHEEL": "Wheel-Version: 1.0\nGenerator: hotaru\n"
        "Root-Is-Purelib: true\nTag: py3-none-any\n",
        "top_level.txt": f"{alias}\n",
    }


def folder_name(alias: str) -> str:
    return f"{alias}-{__version__}.dist-info"


class _Distribution(importlib.metadata.Distribution):
    """Metadata of an alias that is in this process alone."""

    def __init__(self, alias: str) -> None:
        self._files = files(alias)

    def read_text(self, filename) -> str | None:
        return self._files.get(str(filename))

    def locate_file(self, path) -> Path:
        """Its files are this package's."""
        return Path(__file__).resolve().parents[2] / path


def distribution(alias: str) -> importlib.metadata.Distribution:
    return _Distribution(alias)
