"""torchvision's operators, for PyPI's torchvision as it is.

Its compiled library is built for PyTorch's own libraries. Where torchvision
asks for that library, these operators take its place: `install` declares them
in `torch.ops.torchvision`, and torchvision's Python adds shapes and gradients.
They are the library's own, which archives and C++ call by the same names.
"""

from __future__ import annotations

import os

from .. import _C
from .._library.definitions import Library
from . import schemas

_library: Library | None = None


def is_its_library(path: str) -> bool:
    """True if a path is that of torchvision's compiled operators."""
    folder, name = os.path.split(path)
    return os.path.basename(folder) == "torchvision" and (
        name == "_C.so" or name.startswith("_C.cpython")
    )


def install() -> None:
    """Declares the operators; does nothing the second time."""
    global _library
    if _library is not None:
        return
    _library = Library("torchvision", "DEF")
    for name in (*schemas.NATIVE, *schemas.QUANTISED):
        _library.define(schemas.schema(name))
        kernel = _missing(name)
        if name in schemas.NATIVE:
            kernel = _C._operator(schemas.native(name))
        for device in ("CPU", "CUDA"):
            _library.impl(name, kernel, device)
    _library.define("_cuda_version() -> int")
    _library.impl("_cuda_version", lambda: -1, "CompositeExplicitAutograd")


def _missing(name: str):
    def kernel(*args):
        raise NotImplementedError(
            f"torchvision::{name} is not implemented in hotaru for such "
            "tensors: use tensors of floating-point numbers"
        )

    return kernel
