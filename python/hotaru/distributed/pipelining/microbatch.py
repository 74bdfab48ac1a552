"""Batches are cut into microbatches, and results put together."""

from __future__ import annotations

import operator

from ... import Tensor, cat, empty, full_like, tensor, tensor_split, zeros_like
from ...fx.node import map_aggregate
from ...nn.attention.flex_attention import BlockMask
from ...utils._pytree import tree_flatten, tree_map, tree_unflatten
from ..tensor import DTensor

__all__ = ["TensorChunkSpec", "merge_chunks", "split_args_kwargs_into_chunks"]

DEFAULT_CHUNK_DIM = 0
# True makes microbatches as large as the batch, with zeros around what is theirs.
_debug_mask_minibatches = False


class _CustomReducer:
    """A result that is put together by a function, from a value to begin with."""

    def __init__(self, init_value, reduce_fn) -> None:
        self.init_value, self.reduce_fn = init_value, reduce_fn


class _LossReducer(_CustomReducer):
    """The same of losses."""


sum_reducer = _LossReducer(tensor(0.0), operator.add)


class TensorChunkSpec:
    """The dimension along which a tensor is cut."""

    split_dim: int

    def __init__(self, split_dim) -> None:
        self.split_dim = split_dim

    def __repr__(self) -> str:
        kind = type(self)
        return f"{kind.__module__}.{kind.__name__}({self.split_dim})"

    def __str__(self) -> str:
        return f"TensorChunkSpec({self.split_dim})"

    @staticmethod
    def from_tuple(chunk_dims: tuple):
        """Specs of several arguments, from the numbers of the dimensions."""
        return map_aggregate(chunk_dims, TensorChunkSpec)

    @staticmethod
    def from_dict(chunk_dims: dict):
        """Specs of arguments by name."""
        return map_aggregate(chunk_dims, TensorChunkSpec)


class _Replicate:
    """An argument that each microbatch has whole."""


def _is_mask(x) -> bool:
    return isinstance(x, BlockMask)


def _replicated(spec) -> bool:
    return spec is _Replicate or isinstance(spec, _Replicate)


def _split_tensor(tensor: Tensor, spec: TensorChunkSpec, num_chunks: int):
    """The parts of a tensor; those of a leaf keep their gradients.

    AssertionError: there are fewer rows than parts.
    """
    size = tensor.size(spec.split_dim)
    if size < num_chunks:
        raise AssertionError(f"Tensor size {size} is smaller than num_chunks")
    if isinstance(tensor, DTensor):
        chunks = _split_parts(tensor, spec.split_dim, num_chunks)
    else:
        chunks = tensor_split(tensor, num_chunks, spec.split_dim)
    if tensor.requires_grad and tensor.is_leaf:
        for chunk in chunks:
            chunk.retain_grad()
    if not _debug_mask_minibatches:
        return chunks
    found, start = [], 0
    for chunk in chunks:
        whole = zeros_like(tensor)
        count = chunk.size(spec.split_dim)
        whole.narrow(spec.split_dim, start, count).copy_(chunk)
        found.append(whole)
        start += count
    return found


def _split_parts(tensor: DTensor, dim: int, num_chunks: int) -> list:
    """The parts of a DTensor, cut where it lies: nothing is sent."""
    parts = tensor_split(tensor.to_local(), num_chunks, dim)
    size, rest = divmod(tensor.shape[dim], num_chunks)
    found = []
    for i, part in enumerate(parts):
        shape = list(tensor.shape)
        shape[dim] = size + (1 if i < rest else 0)
        found.append(_whole(part, tensor, shape))
    return found


def _whole(part: Tensor, like: DTensor, shape: list) -> DTensor:
    return DTensor.from_local(
        part,
        like.device_mesh,
        like.placements,
        run_check=False,
        shape=tuple(shape),
        stride=like.stride(),
    )


def _split_block_mask(block_mask: BlockMask, num_chunks: int) -> list:
    """The parts of a mask along the batch; one for all is each part's."""
    count = block_mask.kv_num_blocks.size(0)
    if count == 1:
        return [block_mask] * num_chunks
    if count < num_chunks:
        raise AssertionError(
            "Block mask has fewer batch size than the number of chunks. "
        )

    def parts(x):
        return [None] * num_chunks if x is None else tensor_split(x, num_chunks, 0)

    names = ("kv_num_blocks", "kv_indices", "full_kv_num_blocks", "full_kv_indices")
    columns = [parts(getattr(block_mask, name)) for name in names]
    found, start = [], 0
    for row in zip(*columns):

        def mask_mod(b, h, q, kv, start: int = start):
            return block_mask.mask_mod(b + full_like(b, start), h, q, kv)

        found.append(
            BlockMask.from_kv_blocks(
                **dict(zip(names, row)),
                BLOCK_SIZE=block_mask.BLOCK_SIZE,
                mask_mod=mask_mod,
                seq_lengths=block_mask.seq_lengths,
            )
        )
        start += row[0].size(0)
    return found


def _size(value, spec, num_chunks: int) -> int:
    """How many parts there can be."""
    if _replicated(spec):
        return num_chunks
    if not isinstance(value, (Tensor, BlockMask)):
        raise ValueError(
            f"Unsupported chunk spec: {spec} and value: {value} combination."
        )
    if not isinstance(spec, TensorChunkSpec):
        raise AssertionError(f"Expected TensorChunkSpec, got {type(spec)}")
    if isinstance(value, Tensor):
        return value.size(spec.split_dim)
    if spec.split_dim != 0:
        raise AssertionError("BlockMask only supports split_dim=0")
    count = value.kv_num_blocks.size(0)
    return num_chunks if count == 1 else count


def _split(value, spec, num_chunks: int):
    if _replicated(spec):
        return [value] * num_chunks
    if isinstance(value, BlockMask):
        return _split_block_mask(value, num_chunks)
    return _split_tensor(value, spec, num_chunks)


def _shard_dict_of_args(args_dict, args_chunk_spec, num_chunks: int) -> list[dict]:
    """The arguments of each part."""
    if not args_dict:
        return [{} for _ in range(num_chunks)]
    if len(args_dict) != len(args_chunk_spec):
        raise AssertionError(
            f"args_dict.keys() = {list(args_dict.keys())} "
            f"args_chunk_spec.keys() = {list(args_chunk_spec.keys())}"
        )
    values, tree = tree_flatten(args_dict, is_leaf=_is_mask)
    specs, _ = tree_flatten(args_chunk_spec, is_leaf=_is_mask)
    if len(values) != len(specs):
        raise ValueError(
            f"{len(values)} values have {len(specs)} chunk specs: they are to be in "
            "the same containers"
        )
    count = min(*(_size(v, s, num_chunks) for v, s in zip(values, specs)), num_chunks)
    columns = [_split(v, s, count) for v, s in zip(values, specs)]
    return [tree_unflatten(list(row), tree) for row in zip(*columns)]


def split_args_kwargs_into_chunks(
    args: tuple,
    kwargs: dict | None,
    chunks: int,
    args_chunk_spec: tuple | None = None,
    kwargs_chunk_spec: dict | None = None,
) -> tuple[list[tuple], list[dict]]:
    """The arguments of each microbatch.

    Args:
        args, kwargs: the batch's.
        chunks: how many microbatches; fewer if a tensor has fewer rows.
        args_chunk_spec, kwargs_chunk_spec: a `TensorChunkSpec` for each tensor,
            in the same containers; without one tensors are cut along their first
            dimension, and all else is each microbatch's.
    """

    def default(value):
        cut = isinstance(value, (Tensor, BlockMask))
        return TensorChunkSpec(DEFAULT_CHUNK_DIM) if cut else _Replicate()

    kwargs = kwargs or {}
    if args_chunk_spec is None:
        args_chunk_spec = tree_map(default, args, is_leaf=_is_mask)
    if kwargs_chunk_spec is None:
        kwargs_chunk_spec = tree_map(default, kwargs, is_leaf=_is_mask)

    def positional(count: int) -> list[dict]:
        return _shard_dict_of_args(
            dict(enumerate(args)), dict(enumerate(args_chunk_spec)), count
        )

    given = positional(chunks)
    named = _shard_dict_of_args(kwargs, kwargs_chunk_spec, len(given))
    if len(named) < len(given):
        given = positional(len(named))
    if len(given) != len(named):
        raise RuntimeError(
            "args and kwargs are split into different number of chunks: "
            f"{len(given)}, {len(named)}"
        )
    return [tuple(part[i] for i in range(len(part))) for part in given], named


def merge_chunks(chunks: list, chunk_spec):
    """The results of microbatches as one.

    Args:
        chunks: them.
        chunk_spec: for each leaf a `TensorChunkSpec`, a reducer, or anything else
            for what is the same in all; None: tensors go together along their
            first dimension.
    """
    if chunk_spec is not None:
        specs, tree = tree_flatten(chunk_spec)
    else:
        leaves, tree = tree_flatten(chunks[0])
        specs = [TensorChunkSpec(DEFAULT_CHUNK_DIM)] * len(leaves)
    rows = []
    for chunk in chunks:
        row, _ = tree_flatten(chunk)
        if len(row) != len(specs):
            raise ValueError(f"Chunk {chunk} did not match chunk spec {chunk_spec}")
        rows.append(row)
    merged = [_merged(list(column), spec) for column, spec in zip(zip(*rows), specs)]
    return tree_unflatten(merged, tree)


def _merged(values: list, spec):
    if isinstance(spec, TensorChunkSpec):
        if _debug_mask_minibatches:
            values = _own_parts(values, spec.split_dim)
        return _together(values, spec.split_dim)
    if isinstance(spec, _CustomReducer):
        found = spec.init_value
        for value in values:
            found = spec.reduce_fn(found, value)
        return found
    for value in values[1:]:
        if not value == values[0]:
            raise AssertionError(f"Expected {values[0]}, got {value}")
    return values[0]


def _own_parts(values: list, dim: int) -> list:
    shape = values[0].shape
    for value in values[1:]:
        if value.shape != shape:
            raise AssertionError(f"Expected shape {shape}, got {value.shape}")
    found, start = [], 0
    for value, part in zip(
        values, tensor_split(empty(shape, device="meta"), len(values), dim)
    ):
        found.append(value.narrow(dim, start, part.size(dim)))
        start += part.size(dim)
    return found


def _together(values: list, dim: int) -> Tensor:
    flags = [isinstance(value, DTensor) for value in values]
    if not any(flags):
        return cat(values, dim=dim)
    if not all(flags):
        raise AssertionError(
            "merge_chunks: expected all values to be DTensors or none to be "
            "DTensors, got a mix"
        )
    first = values[0]
    for i, value in enumerate(values[1:], 1):
        if value.placements != first.placements:
            raise AssertionError(
                f"merge_chunks: placement mismatch at chunk {i}: expected "
                f"{first.placements}, got {value.placements}"
            )
    shape = list(first.shape)
    shape[dim] = sum(value.shape[dim] for value in values)
    return _whole(cat([value.to_local() for value in values], dim=dim), first, shape)
