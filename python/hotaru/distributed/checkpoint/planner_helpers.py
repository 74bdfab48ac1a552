"""Items of a plan for the parts of a tensor."""

from __future__ import annotations

from typing import Any

from ... import Size, Tensor
from ..tensor import DTensor
from ..tensor._utils import compute_local_shape_and_global_offset
from .metadata import (
    STORAGE_TYPES,
    BytesStorageMetadata,
    ChunkStorageMetadata,
    MetadataIndex,
    TensorProperties,
    TensorStorageMetadata,
)
from .planner import LoadItemType, ReadItem, TensorWriteData, WriteItem, WriteItemType


def chunks_of_dtensor(tensor: DTensor) -> list[ChunkStorageMetadata]:
    """The box of this rank's part; none if it has none."""
    if tensor.device_mesh.get_coordinate() is None:
        return []
    sizes, offsets = compute_local_shape_and_global_offset(
        tensor.shape, tensor.device_mesh, tensor.placements
    )
    if 0 in sizes and 0 not in tensor.shape:
        return []
    return [ChunkStorageMetadata(Size(offsets), Size(sizes))]


def chunks_of(tensor: Tensor) -> list[ChunkStorageMetadata]:
    """The boxes of a tensor that this rank has."""
    if isinstance(tensor, DTensor):
        return chunks_of_dtensor(tensor)
    shape = tensor.shape
    return [ChunkStorageMetadata(Size([0] * len(shape)), Size(shape))]


def write_items(fqn: str, value: Any) -> list[WriteItem]:
    """Items of what this rank has of a value to write.

    Raises:
        ValueError: a DTensor that is a reduction of the ranks' parts.
    """
    if not isinstance(value, Tensor):
        return [WriteItem(MetadataIndex(fqn), WriteItemType.BYTE_IO)]
    kind = WriteItemType.TENSOR
    if isinstance(value, DTensor):
        kind = WriteItemType.SHARD
        if any(p.is_partial() for p in value.placements):
            raise ValueError(
                f"{fqn}: the ranks have parts of a sum; redistribute() it "
                "before it is saved"
            )
    return [
        WriteItem(
            MetadataIndex(fqn, chunk.offsets),
            kind,
            tensor_data=TensorWriteData(
                chunk, TensorProperties.create_from_tensor(value), Size(value.shape)
            ),
        )
        for chunk in chunks_of(value)
    ]


def read_items(fqn: str, stored: STORAGE_TYPES, value: Any) -> list[ReadItem]:
    """Items of what this rank reads for a value.

    Raises:
        ValueError: a tensor where there is none, or of another size.
    """
    if isinstance(stored, BytesStorageMetadata):
        if isinstance(value, Tensor):
            raise ValueError(
                f"Invalid checkpoint metadata for {fqn}: it is no tensor there"
            )
        index = MetadataIndex(fqn)
        zero = Size((0,))
        return [ReadItem(LoadItemType.BYTE_IO, index, zero, index, zero, zero)]
    if not isinstance(value, Tensor):
        raise ValueError(
            f"Invalid checkpoint metadata for {fqn}, expected "
            f"BytesStorageMetadata but found {type(stored)}"
        )
    return [
        item
        for place, own in enumerate(chunks_of(value))
        for item in _overlaps(fqn, stored, own, place)
    ]


def _overlaps(
    fqn: str, stored: TensorStorageMetadata, own: ChunkStorageMetadata, place: int
) -> list[ReadItem]:
    found = []
    for i, chunk in enumerate(stored.chunks):
        begins = [max(a, b) for a, b in zip(own.offsets, chunk.offsets)]
        lengths = [
            min(a + m, b + n) - begin
            for a, m, b, n, begin in zip(
                own.offsets, own.sizes, chunk.offsets, chunk.sizes, begins
            )
        ]
        if any(length <= 0 for length in lengths):
            continue
        found.append(
            ReadItem(
                LoadItemType.TENSOR,
                MetadataIndex(fqn, own.offsets, place),
                Size([b - o for b, o in zip(begins, own.offsets)]),
                MetadataIndex(fqn, chunk.offsets, i),
                Size([b - o for b, o in zip(begins, chunk.offsets)]),
                Size(lengths),
            )
        )
    return found


def local_part(value: Any, index: MetadataIndex) -> Any:
    """The memory of this rank's part that an index names."""
    return value._local_tensor if isinstance(value, DTensor) else value
