"""Files of `torch.save`: state dicts and other values that hold tensors."""

from __future__ import annotations

import io
import os
import re
import tempfile
import zipfile

from . import _C

__all__ = ["load", "save"]


def save(obj, f, pickle_module=None, pickle_protocol=2, **kwargs) -> None:
    """Writes a value so that `torch.load` reads it.

    Args:
        obj: numbers, strings, tensors, and lists, tuples and dicts of these.
            Tensors of a GPU are copied, and go back there when loaded. Objects
            of other classes, as modules, are pickled; `load` gives them back
            with `weights_only=False` only.
        f: a path, or a file opened for writing bytes.
        pickle_module, pickle_protocol, kwargs: accepted and not used.

    Raises:
        TypeError, pickle.PicklingError: what pickle refuses.
    """
    try:
        _save_plain(obj, f)
    except TypeError:
        from . import _object_files

        if not isinstance(f, (str, os.PathLike)):
            _object_files.save(obj, f, pickle_protocol)
            return
        with open(f, "wb") as file:
            _object_files.save(obj, file, pickle_protocol)


def _save_plain(obj, f) -> None:
    """Writes what has a counterpart in the library; else TypeError."""
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
    """Reads what `torch.save` wrote; executes nothing by default.

    Args:
        f: a path, or a file opened for reading bytes.
        map_location: where tensors go, by default where they were saved from:
            a device or its name; a dict from names of devices to such; or a
            function of a storage and the name of its device. A storage is a
            tensor of all its bytes, (nbytes,) of uint8 on the CPU; the
            function returns it, or its copy elsewhere, or ``None`` for the
            default; all tensors must have been on one device. Tensors that
            share a storage still do.
        weights_only: False reads objects of any class as well, which runs what
            the file says: only for files that one trusts.
        pickle_module, kwargs: accepted and not used.

    Raises:
        RuntimeError: anything but such a file, and the text names file, record
            and offset; a device that this machine lacks. FileNotFoundError: no
            such file.
    """
    if isinstance(f, (str, os.PathLike)):
        path = os.fspath(f)
        if not os.path.exists(path):
            raise FileNotFoundError(2, "No such file or directory", path)
        source = (_C._load_torch_file, path)
    else:
        name = str(getattr(f, "name", "<bytes>"))
        source = (_C._load_torch_bytes, f.read(), name)
    try:
        return _read(map_location, *source)
    except RuntimeError:
        file = source[1]
        if weights_only is not False:
            raise
        file = io.BytesIO(file) if isinstance(file, bytes) else file
        if not zipfile.is_zipfile(file):
            raise
        from . import _object_files

        return _object_files.load(file, _placement(map_location))


def _read(map_location, read, *source):
    """Reads with storages where ``map_location`` wants them."""
    where = _placement(map_location)
    errors = []

    def place(saved_on: str, storage: _C.Tensor) -> _C.Tensor:
        try:
            return where(saved_on, storage)
        except Exception as error:
            # As it is: the reader would say of it where in the file it was.
            errors.append(error)
            return storage

    value = read(*source, place)
    if errors:
        raise errors[0]
    return value


def _placement(map_location):
    """(name of a device, storage on the CPU) -> storage where it belongs."""
    if isinstance(map_location, bytes):
        map_location = map_location.decode()
    if map_location is None:
        return lambda saved_on, storage: storage.to(_existing(saved_on))
    if isinstance(map_location, (str, _C.device)):
        wanted = str(map_location)
        return lambda saved_on, storage: storage.to(_existing(wanted))
    if isinstance(map_location, dict):

        def by_name(saved_on: str, storage: _C.Tensor) -> _C.Tensor:
            wanted = str(map_location.get(saved_on, saved_on))
            return storage.to(_existing(wanted))

        return by_name
    if not callable(map_location):
        raise TypeError(
            f"{type(map_location).__name__!r} object is not callable"
        )

    def by_call(saved_on: str, storage: _C.Tensor) -> _C.Tensor:
        placed = map_location(storage, saved_on)
        if placed is None:
            return storage.to(_existing(saved_on))
        return _same_bytes(placed, storage)

    return by_call


def _same_bytes(placed, storage: _C.Tensor) -> _C.Tensor:
    if (
        not isinstance(placed, _C.Tensor)
        or placed.dtype != _C.uint8
        or placed.shape != storage.shape
        or not placed.is_contiguous()
    ):
        raise TypeError(
            "map_location must return the storage that it was given, a copy "
            "of it on another device, or None, but it returned "
            f"{type(placed)}"
        )
    return placed


def _existing(location: str) -> _C.device:
    """The device of a location's name.

    RuntimeError where this machine has none such.
    """
    if location == "cpu":
        return _C.device("cpu")
    if location != "cuda" and not re.match("cuda(:|[0-9]+)", location):
        raise RuntimeError(
            "don't know how to restore data location of "
            f"torch.storage.UntypedStorage (tagged with {location})"
        )
    from . import cuda

    device = _C.device(location)
    if not cuda.is_available():
        raise RuntimeError(
            "Attempting to deserialize object on a CUDA device but "
            "torch.cuda.is_available() is False. If you are running on a "
            "CPU-only machine, please use torch.load with "
            "map_location=torch.device('cpu') to map your storages to the CPU."
        )
    index = cuda.current_device() if device.index is None else device.index
    if index >= cuda.device_count():
        raise RuntimeError(
            f"Attempting to deserialize object on CUDA device {index} but "
            f"torch.cuda.device_count() is {cuda.device_count()}. Please use "
            "torch.load with map_location to map your storages to an existing "
            "device."
        )
    return _C.device("cuda", index)


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
