"""torch.ops.load_library: shared libraries of a program's own."""

from __future__ import annotations

import ctypes
import os

#: The paths of the libraries that were loaded.
loaded_libraries: set[str] = set()


def load_library(path: str | os.PathLike) -> None:
    """Loads a shared library into the process, which runs its initialisers.

    It stays loaded. A library that registers operators or classes with PyTorch
    needs PyTorch's own libraries and does not load; torchvision's operators are
    hotaru's own in its place.

    Raises:
        OSError: it cannot be loaded; the cause says why.
    """
    from .. import _torchvision

    path = os.path.realpath(path)
    if _torchvision.is_its_library(path):
        _torchvision.install()
        loaded_libraries.add(path)
        return
    try:
        ctypes.CDLL(path)
    except Exception as error:
        raise OSError(f"Could not load this library: {path}") from error
    loaded_libraries.add(path)
