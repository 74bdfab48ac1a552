"""Writing safetensors files."""

from __future__ import annotations

import os

from .. import _C


def save_file(
    tensors: dict[str, _C.Tensor],
    filename: str | os.PathLike,
    metadata: dict[str, str] | None = None,
) -> None:
    """Writes tensors to a safetensors file, which appears when it is complete.

    Args:
        tensors: by name; row-major and without memory in common.
        filename: the file's path.
        metadata: texts to go with them.

    Raises:
        ValueError: what is no dict of dense, row-major tensors.
        RuntimeError: tensors with memory in common; see `save_model`.
        TypeError: a dtype that the format lacks, metadata that is no text.
    """
    _check(tensors, metadata)
    path = os.fsdecode(os.fspath(filename))
    folder = os.path.dirname(path) or "."
    if not os.path.isdir(folder):
        raise FileNotFoundError(f"{path}: there is no folder {folder!r}")
    _C._save_weights(tensors, path, metadata or {})


def save(
    tensors: dict[str, _C.Tensor], metadata: dict[str, str] | None = None
) -> bytes:
    """The bytes of a safetensors file; arguments and errors as `save_file`."""
    _check(tensors, metadata)
    return _C._save_weights_bytes(tensors, metadata or {})


def _check(tensors, metadata) -> None:
    if not isinstance(tensors, dict):
        raise ValueError(f"a dict of names and tensors is saved, not a {type(tensors)}")
    for name, tensor in tensors.items():
        if not isinstance(name, str):
            raise ValueError(f"the name {name!r} is no string")
        if not isinstance(tensor, _C.Tensor):
            raise ValueError(f"{name!r} is no tensor but a {type(tensor)}")
        if tensor.layout != _C.strided:
            raise ValueError(
                f"the tensor {name!r} is sparse ({tensor.layout}), which the "
                "format does not know; `.to_dense()` gives one that it does"
            )
        if not tensor.is_contiguous():
            raise ValueError(
                f"the tensor {name!r} is not contiguous; save its "
                "`.contiguous()`, or the tensor that it is a part of"
            )
    shared = [names for names in groups_in_memory(tensors) if len(names) > 1]
    if shared:
        raise RuntimeError(
            "tensors share memory, which a file cannot say, so each would be "
            f"written and they would be apart when loaded: {shared}; "
            "`save_model` writes one of each"
        )
    for key, value in (metadata or {}).items():
        if not isinstance(key, str) or not isinstance(value, str):
            raise TypeError(
                "metadata has strings for strings, not "
                f"{type(value).__name__} for {key!r}"
            )


def groups_in_memory(tensors: dict[str, _C.Tensor]) -> list[list[str]]:
    """The names of tensors, in groups of those that overlap in memory."""
    places: dict[tuple, list[tuple[int, int, str]]] = {}
    groups = []
    for name, tensor in tensors.items():
        if tensor.device.type == "meta" or tensor.numel() == 0:
            groups.append([name])
            continue
        begin, end = extent(tensor)
        storage = tensor.untyped_storage().data_ptr()
        key = (str(tensor.device), storage)
        places.setdefault(key, []).append((begin, end, name))
    for areas in places.values():
        reached = None
        for begin, end, name in sorted(areas):
            if reached is None or begin >= reached:
                groups.append([name])
                reached = end
            else:
                groups[-1].append(name)
                reached = max(reached, end)
    return groups


def extent(tensor: _C.Tensor) -> tuple[int, int]:
    """The first address of a tensor with elements, and one past its last."""
    last = sum(
        (size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride())
    )
    begin = tensor.data_ptr()
    return begin, begin + (last + 1) * tensor.element_size()
