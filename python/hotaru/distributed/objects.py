"""Collectives of any Python objects: they travel pickled.

What a process receives is unpickled, so every process of the group has to be
trusted; with `weights_only`, which all of
them have to say, objects travel as `torch.save` writes them, and are those
that `torch.load` knows alone.
"""

from __future__ import annotations

import io
import pickle

from .. import empty, frombuffer, int64, tensor, uint8
from ..serialization import load, save
from .collectives import _group_of, all_gather, broadcast, gather, root_of, scatter
from .messages import recv, send


def _packed(obj, weights_only: bool = False):
    """The bytes of an object, and how many, as tensors."""
    if weights_only:
        file = io.BytesIO()
        save(obj, file)
        data = bytearray(file.getbuffer())
    else:
        data = bytearray(pickle.dumps(obj))
    size = tensor([len(data)], dtype=int64, device="cpu")
    return frombuffer(data, dtype=uint8).cpu(), size


def _unpacked(data, size: int, weights_only: bool = False):
    """The object; with `weights_only` one that `torch.load` lets through."""
    found = data[:size].numpy().tobytes()
    if weights_only:
        return load(io.BytesIO(found), weights_only=True)
    return pickle.loads(found)


def all_gather_object(
    object_list: list, obj, group=None, weights_only: bool = False
) -> None:
    """Each process gets all objects, in the list."""
    found = _group_of(group, "all_gather_object")
    if found is None:
        return
    data, size = _packed(obj, weights_only)
    sizes = [empty(1, dtype=int64, device="cpu") for _ in range(found.size())]
    all_gather(sizes, size, group=found)
    counts = [int(s) for s in sizes]
    parts = [empty(max(counts), dtype=uint8, device="cpu") for _ in counts]
    all_gather(parts, _padded(data, max(counts)), group=found)
    for i, count in enumerate(counts):
        object_list[i] = _unpacked(parts[i], count, weights_only)


def _padded(data, size: int):
    if data.numel() == size:
        return data
    out = empty(size, dtype=uint8, device="cpu").zero_()
    out[: data.numel()] = data
    return out


def gather_object(
    obj,
    object_gather_list=None,
    dst=None,
    group=None,
    group_dst=None,
    weights_only: bool = False,
) -> None:
    """`dst` gets all objects, in the list."""
    found = _group_of(group, "gather_object")
    if found is None:
        return
    root = root_of(found, dst, group_dst, 0)
    mine = root == found.rank()
    if mine and not object_gather_list:
        raise ValueError(
            "Argument ``object_gather_list`` must be specified on destination rank."
        )
    if not mine and object_gather_list:
        raise ValueError(
            "Argument ``object_gather_list`` must NOT be specified on "
            "non-destination ranks."
        )
    data, size = _packed(obj, weights_only)
    sizes = [empty(1, dtype=int64, device="cpu") for _ in range(found.size())]
    all_gather(sizes, size, group=found)
    counts = [int(s) for s in sizes]
    parts = (
        [empty(max(counts), dtype=uint8, device="cpu") for _ in counts]
        if mine
        else None
    )
    gather(_padded(data, max(counts)), parts, group=found, group_dst=root)
    if mine:
        for i, count in enumerate(counts):
            object_gather_list[i] = _unpacked(parts[i], count, weights_only)


def broadcast_object_list(
    object_list: list,
    src=None,
    group=None,
    device=None,
    group_src=None,
    weights_only: bool = False,
) -> None:
    """Every process's list becomes that of `src`."""
    found = _group_of(group, "broadcast_object_list")
    if found is None:
        return
    root = root_of(found, src, group_src, 0)
    mine = root == found.rank()
    sizes = empty(len(object_list), dtype=int64, device="cpu")
    packed = [_packed(obj, weights_only) for obj in object_list] if mine else []
    for i, (_, size) in enumerate(packed):
        sizes[i] = size
    broadcast(sizes, group=found, group_src=root)
    data = empty(int(sizes.sum()), dtype=uint8, device="cpu")
    at = 0
    for part, _ in packed:
        data[at : at + part.numel()] = part
        at += part.numel()
    broadcast(data, group=found, group_src=root)
    if mine:
        return
    at = 0
    for i, size in enumerate(sizes.tolist()):
        object_list[i] = _unpacked(data[at:], size, weights_only)
        at += size


def scatter_object_list(
    scatter_object_output_list: list,
    scatter_object_input_list: list | None = None,
    src=None,
    group=None,
    group_src=None,
    weights_only: bool = False,
) -> None:
    """Each process gets one object of the list of `src`."""
    found = _group_of(group, "scatter_object_list")
    if found is None:
        return
    if (
        not isinstance(scatter_object_output_list, list)
        or len(scatter_object_output_list) < 1
    ):
        raise ValueError(
            "Expected argument scatter_object_output_list to be a list of size "
            "at least 1."
        )
    root = root_of(found, src, group_src, 0)
    mine = root == found.rank()
    packed = []
    if mine:
        if scatter_object_input_list is None:
            raise ValueError(
                "source rank must provide non-None scatter_object_input_list"
            )
        packed = [_packed(obj, weights_only) for obj in scatter_object_input_list]
    longest = tensor(
        [max((data.numel() for data, _ in packed), default=0)], dtype=int64
    )
    broadcast(longest, group=found, group_src=root)
    data = empty(int(longest), dtype=uint8, device="cpu")
    size = empty(1, dtype=int64, device="cpu")
    parts = [_padded(part, int(longest)) for part, _ in packed]
    scatter(data, parts if mine else None, group=found, group_src=root)
    sizes = [count for _, count in packed] if mine else None
    scatter(size, sizes, group=found, group_src=root)
    scatter_object_output_list[0] = _unpacked(data, int(size), weights_only)


def send_object_list(
    object_list: list,
    dst=None,
    group=None,
    device=None,
    group_dst=None,
    use_batch: bool = False,
    weights_only: bool = False,
) -> None:
    """Sends a list of objects to a rank."""
    packed = [_packed(obj, weights_only) for obj in object_list]
    sizes = tensor([data.numel() for data, _ in packed], dtype=int64, device="cpu")
    send(sizes, dst, group, group_dst=group_dst)
    for data, _ in packed:
        send(data, dst, group, group_dst=group_dst)


def recv_object_list(
    object_list: list,
    src=None,
    group=None,
    device=None,
    group_src=None,
    use_batch: bool = False,
    weights_only: bool = False,
) -> int:
    """Receives as many objects as the list has; the rank of who sent."""
    sizes = empty(len(object_list), dtype=int64, device="cpu")
    sender = recv(sizes, src, group, group_src=group_src)
    if sender < 0:
        return sender
    for i, size in enumerate(sizes.tolist()):
        data = empty(size, dtype=uint8, device="cpu")
        recv(data, sender, group)
        object_list[i] = _unpacked(data, size, weights_only)
    return sender
