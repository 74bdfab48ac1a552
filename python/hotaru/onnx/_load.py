"""ONNX models as script modules."""

from __future__ import annotations

import os

from .. import _C


def load(f):
    """Loads an ONNX model.

    Args:
        f: a path, or a file opened for reading bytes. External data is looked
            for in the model's folder, and nowhere else.

    Returns:
        A script module: `forward` takes the graph's inputs by position or by
        name and gives its output, or a tuple of several. Initializers of
        floating-point types are parameters, so the model can be trained;
        `jit.save`, `jit.freeze`, `compile` and graphs take it as any other.

    Raises:
        RuntimeError: no ONNX model, or a damaged one; the text names file and
            node. NotImplementedError: operators that are not here, all of
            them at once. ValueError: no such file.
    """
    from ..jit._files import existing
    from ..jit._module import RecursiveScriptModule

    if isinstance(f, (str, os.PathLike)):
        native = _C._onnx_load(existing(f))
    else:
        name = str(getattr(f, "name", "<bytes>"))
        native = _C._onnx_load_bytes(f.read(), name)
    return RecursiveScriptModule._wrap(native)


def operators() -> list[str]:
    """Names of the operators that `load` knows, sorted."""
    return _C._onnx_operators()
