"""Files of weights where `load` is asked for one of `save`."""

from __future__ import annotations

import os

from .. import _C
from ._places import placement

# Where an index has said what it is.
_BEGINNING = 64 << 10


def is_weights(file) -> bool:
    """True if the file, from its position on, begins as one of weights."""
    start = file.tell()
    head = file.read(9)
    if head[:1] in (b"{", b" ", b"\t", b"\r", b"\n"):
        head += file.read(_BEGINNING)
    file.seek(start)
    return _C._looks_like_weights(head)


def load_weights(source, file, map_location) -> dict[str, _C.Tensor]:
    """The tensors of a file of weights by name.

    Args:
        source: what `load` was asked for: a path, or the file.
        file: the open file.
        map_location: as for `load`.
    """
    if isinstance(source, (str, os.PathLike)):
        opened = _C._open_weights(os.fsdecode(os.fspath(source)))
    else:
        name = getattr(file, "name", "file")
        opened = _C._open_weights_bytes(file.read(), str(name))
    place = _placing(map_location)
    return {name: place(opened.tensor(name)) for name in opened.names()}


def _placing(map_location):
    """A function of a tensor on the CPU that puts it where it belongs."""
    if map_location is None:
        return lambda tensor: tensor
    if isinstance(map_location, (str, bytes, _C.device)):
        if isinstance(map_location, bytes):
            map_location = map_location.decode()
        return lambda tensor: tensor.to(map_location)
    place = placement(map_location)

    def placed(tensor):
        storage = place(tensor.untyped_storage(), "cpu")
        empty = _C.ops.empty([0], dtype=tensor.dtype, device=storage.device)
        return empty.set_(
            storage, tensor.storage_offset(), tensor.shape, tensor.stride()
        )

    return placed
