"""Files of `torch.save`: state dicts and other values that hold tensors."""

from __future__ import annotations

import os
import tempfile

from . import _C

__all__ = ["load", "save"]


def save(obj, f, pickle_module=None, pickle_protocol=2, **kwargs) -> None:
    """Writes a value so that `torch.load` reads it.

    Args:
        obj: numbers, strings, tensors, and lists, tuples and dicts of these.
        f: a path, or a file opened for writing bytes.
        pickle_module, pickle_protocol, kwargs: accepted and not used.

    Raises:
        TypeError: a value of another kind.
    """
    if isinstance(f, (str, os.PathLike)):
        _C._save_torch_file(os.fspath(f), _plain(obj))
        return
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "archive.pt")
        _C._save_torch_file(path, _plain(obj))
        with open(path, "rb") as file:
            f.write(file.read())


def load(
    f, map_location=None, pickle_module=None, *, weights_only=True, **kwargs
):
    """Reads what `torch.save` wrote; executes nothing.

    Args:
        f: a path, or a file opened for reading bytes.
        map_location: a device, or a function or dict as PyTorch takes; tensors
            are on the CPU without it.
        pickle_module, weights_only, kwargs: accepted; nothing is executed
            whatever they say.

    Raises:
        RuntimeError: anything but such a file; the text names file, record and
            offset. FileNotFoundError: no such file.
    """
    if isinstance(f, (str, os.PathLike)):
        path = os.fspath(f)
        if not os.path.exists(path):
            raise FileNotFoundError(2, "No such file or directory", path)
        value = _C._load_torch_file(path)
    else:
        name = str(getattr(f, "name", "<bytes>"))
        value = _C._load_torch_bytes(f.read(), name)
    if map_location is None or callable(map_location):
        return value
    if isinstance(map_location, dict):
        map_location = map_location.get("cpu", "cpu")
    return _moved(value, _C.device(map_location))


def _plain(obj):
    """Subclasses of the containers that only add behaviour become plain."""
    if isinstance(obj, _C.Tensor):
        return obj
    if isinstance(obj, dict):
        return {_plain(k): _plain(v) for k, v in obj.items()}
    if isinstance(obj, tuple):
        return tuple(map(_plain, obj))
    if isinstance(obj, list):
        return list(map(_plain, obj))
    return obj


def _moved(value, device):
    if isinstance(value, _C.Tensor):
        return value.to(device)
    if isinstance(value, dict):
        return {k: _moved(v, device) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_moved(v, device) for v in value)
    return value
