"""One door for programs in files, whatever their format."""

from __future__ import annotations

import os

from .. import _C


def load_program(f, map_location=None):
    """Loads a program: a TorchScript archive, a `.pt2` of torch.export, or an
    ONNX model. The bytes say which, not the file's name.

    Args:
        f: a path, or a file opened for reading bytes.
        map_location: the device to move parameters and buffers to.

    Returns:
        A script module, in the mode that it was saved in; of an ONNX model, in
        eval mode. It can be called, trained if it has parameters, frozen,
        graphed, and saved by `jit.save`.

    Raises:
        RuntimeError: no program, or a damaged one; the text names the file and
            the place in it. NotImplementedError: operators that are not here,
            all of them at once. ValueError: no such file; what is no device.
    """
    from ._files import existing, place_of
    from ._module import RecursiveScriptModule

    place = place_of(map_location)
    if isinstance(f, (str, os.PathLike)):
        native = _C._load_program(existing(f))
    else:
        name = str(getattr(f, "name", "<bytes>"))
        native = _C._load_program_bytes(f.read(), name)
    module = RecursiveScriptModule._wrap(native)
    return module if place is None else module.to(place)
