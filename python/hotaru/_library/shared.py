"""torch.ops.load_library: shared libraries of a program's own."""

from __future__ import annotations

import ctypes
import os

from .._late import lent
from . import elf

#: The paths of the libraries that were loaded.
loaded_libraries: set[str] = set()


# Names that the loader misses where a library was built against PyTorch: its
# libraries, or functions that are only there.
_PYTORCH = ("libtorch", "libc10", "_ZN3c10", "_ZN2at", "_ZN5torch")
_FOREIGN = (
    ". It was built against PyTorch's own libraries{}: build it from its "
    "sources against hotaru's (torch.utils.cpp_extension)"
)


def load_library(path: str | os.PathLike) -> None:
    """Loads a shared library into the process, which runs its initialisers.

    It stays loaded. Operators that it registers (TORCH_LIBRARY) are in
    `torch.ops` then. It must have been built against hotaru (docs/cpp.md): one
    built against PyTorch is refused; torchvision's operators are hotaru's own
    in its place.

    Raises:
        OSError: it cannot be loaded; the text or the cause says why.
    """
    torchvision = lent("torchvision")
    path = os.path.realpath(path)
    if torchvision.is_its_library(path):
        torchvision.install()
        loaded_libraries.add(path)
        return
    # Where the loader finds PyTorch's, operators would be registered there.
    theirs = [n for n in elf.needed(path) if n.startswith(("libtorch", "libc10"))]
    if theirs:
        why = _FOREIGN.format(f" ({', '.join(theirs)})")
        raise _not_loaded(path, why)
    try:
        ctypes.CDLL(path)
    except Exception as error:
        foreign = any(name in str(error) for name in _PYTORCH)
        why = _FOREIGN.format("") if foreign else ""
        raise _not_loaded(path, why) from error
    loaded_libraries.add(path)


def _not_loaded(path: str, why: str) -> OSError:
    return OSError(f"Could not load this library: {path}{why}")
