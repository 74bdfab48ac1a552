"""Where the storages of a file go: devices and their names in files."""

from __future__ import annotations

import re

from .. import _C
from .._C import UntypedStorage
from ..storage._typed import TypedStorage

_registry: list[tuple] = []


def register_package(priority: int, tagger, deserializer) -> None:
    """Adds a kind of places of storages.

    Args:
        priority: those of lower numbers are asked first.
        tagger: a function of a storage: the name of its place, or None if it
            is none of this kind.
        deserializer: a function of a storage on the CPU and such a name: the
            storage there, or None.
    """
    _registry.append((priority, tagger, deserializer))
    _registry.sort(key=lambda entry: entry[0])


def location_tag(storage) -> str:
    """The name that says in files where a storage was. RuntimeError: none."""
    for _, tagger, _ in _registry:
        name = tagger(storage)
        if name:
            return name
    raise RuntimeError(f"don't know how to determine data location of {_name(storage)}")


def default_restore_location(storage, location: str):
    """A storage where a file's name of a place says; RuntimeError if nobody
    knows the name or this machine has no such device.
    """
    for _, _, deserializer in _registry:
        placed = deserializer(storage, location)
        if placed is not None:
            return placed
    raise RuntimeError(
        f"don't know how to restore data location of {_name(storage)} "
        f"(tagged with {location})"
    )


def _name(storage) -> str:
    return f"torch.storage.{type(storage).__name__}"


def validate_cuda_device(location: str) -> int:
    """The index of a CUDA device by its name; RuntimeError if it lacks."""
    from .. import cuda

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
            f"torch.cuda.device_count() is {cuda.device_count()}. "
            "Please use torch.load with map_location to map your storages to "
            "an existing device."
        )
    return index


def _cpu_tag(storage) -> str | None:
    return "cpu" if storage.device.type == "cpu" else None


def _to_cpu(storage, location: str):
    return storage if location == "cpu" else None


def _cuda_tag(storage) -> str | None:
    return str(storage.device) if storage.device.type == "cuda" else None


def _to_cuda(storage, location: str):
    if location != "cuda" and not re.match("cuda(:|[0-9]+)", location):
        return None
    index = validate_cuda_device(location)
    return storage.to(device=_C.device("cuda", index))


def _meta_tag(storage) -> str | None:
    return "meta" if storage.device.type == "meta" else None


def _to_meta(storage, location: str):
    if location != "meta":
        return None
    return UntypedStorage(storage.nbytes(), device="meta")


register_package(10, _cpu_tag, _to_cpu)
register_package(20, _cuda_tag, _to_cuda)
register_package(22, _meta_tag, _to_meta)


def placement(map_location):
    """The `map_location` of `load` as a function of a storage on the CPU and
    the name of the place where it was.
    """
    if isinstance(map_location, bytes):
        map_location = map_location.decode()
    if map_location is None:
        return default_restore_location
    if isinstance(map_location, (str, _C.device)):
        wanted = str(map_location)
        return lambda storage, _: default_restore_location(storage, wanted)
    if isinstance(map_location, dict):
        return lambda storage, location: default_restore_location(
            storage, str(map_location.get(location, location))
        )
    if not callable(map_location):
        raise TypeError(f"{type(map_location).__name__!r} object is not callable")

    def by_call(storage, location: str):
        placed = map_location(storage, location)
        if placed is None:
            return default_restore_location(storage, location)
        if isinstance(placed, TypedStorage):
            placed = placed._untyped_storage
        if not isinstance(placed, _C.StorageBase):
            raise TypeError(
                "map_location must return the storage that it was given, a "
                "copy of it on another device, or None, but it returned "
                f"{type(placed)}"
            )
        return placed

    return by_call


def is_meta(map_location) -> bool:
    """Tells whether all goes to the meta device, so no bytes need be read."""
    if isinstance(map_location, _C.device):
        return map_location.type == "meta"
    return isinstance(map_location, str) and map_location == "meta"
