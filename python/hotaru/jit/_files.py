"""Files of compiled modules: paths, places, archives that are written."""

from __future__ import annotations

import functools
import os

from .. import _C
from ._native_module import unwrapped


def place_of(map_location):
    """The device of an argument, or None. ValueError: it names none."""
    if isinstance(map_location, str):
        return _C.device(map_location)
    if map_location is None or isinstance(map_location, _C.device):
        return map_location
    raise ValueError(
        "map_location should be either None, string or torch.device, but got "
        f"type: {type(map_location)}"
    )


def existing(file) -> str:
    """A path as a text; ValueError if nothing is there."""
    path = os.fspath(file)
    if not os.path.exists(path):
        raise ValueError(f"The provided filename {path} does not exist")
    return path


def existing_file(file) -> str:
    """A path as a text; ValueError if no file is there."""
    path = existing(file)
    if os.path.isdir(path):
        raise ValueError(f"The provided filename {path} is a directory")
    return path


def save(m, f, _extra_files=None) -> None:
    """Writes a script module as an archive for `jit.load`, PyTorch's, too.

    Args:
        m: the module, with all it holds; or a script function, which becomes
            the forward of a module.
        f: a path, or a file opened for writing bytes.
        _extra_files: a dict of names and contents (str or bytes) that become
            records of `extra/`.

    Raises:
        TypeError: `m` is neither, or holds something that has no form in a
            file; an extra file is no text and no bytes. RuntimeError: the file
            cannot be written, or the program calls Python.
    """
    native = unwrapped(m)
    if hasattr(native, "save_file"):
        to_file, to_stream = native.save_file, native.save_stream
    elif isinstance(m, _C.ScriptFunction):
        to_file = functools.partial(_C._save_function_file, m)
        to_stream = functools.partial(_C._save_function_stream, m)
    else:
        raise TypeError(
            f"jit.save: expected a ScriptModule, not '{type(m).__name__}'; "
            "compile it with jit.script or jit.trace first"
        )
    extra = {} if _extra_files is None else _extra_files
    _check_extra(extra)
    if isinstance(f, (str, os.PathLike)):
        to_file(os.fspath(f), extra)
    else:
        to_stream(f.write, extra)


def _check_extra(files: dict) -> None:
    """TypeError for extra files that are not texts or bytes by a name."""
    if not isinstance(files, dict):
        raise TypeError(
            "jit.save: _extra_files must be a dict of names and contents, not "
            f"'{type(files).__name__}'"
        )
    for name, content in files.items():
        if not isinstance(name, str) or not isinstance(content, (str, bytes)):
            raise TypeError(
                "jit.save: _extra_files maps str to str or bytes, not "
                f"'{type(name).__name__}' to '{type(content).__name__}'"
            )
