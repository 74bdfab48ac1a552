"""Batching rules of operators defined in Python."""

from __future__ import annotations

from typing import NamedTuple

from .. import Tensor
from ..utils import _tree


class VmapInfo(NamedTuple):
    """What a rule is told of the `vmap` that calls it."""

    batch_size: int
    randomness: str


def run_rule(rule, inputs, randomness: str, kwargs: dict) -> tuple:
    """(results, the dimension of each leaf), as a batching rule says.

    Args:
        rule: `rule(info, in_dims, *args, **kwargs)`.
        inputs: the arguments of the mapped call, `_functorch.slices.Inputs`.
        randomness: of the `vmap`.
        kwargs: of the mapped call.
    """
    args, in_dims = inputs.whole()
    info = VmapInfo(inputs.size, randomness)
    result, dims = rule(info, in_dims, *args, **kwargs)
    leaves, structure = _tree.flatten(result)
    spread = _tree.spread(dims, structure)
    if spread is None:
        raise ValueError(
            "the out_dims of a rule registered with register_vmap have to fit "
            f"its results: got {dims} for {structure}"
        )
    return [
        _batched(leaf, dim, inputs.size) for leaf, dim in zip(leaves, spread)
    ], structure


def _batched(leaf, dim: int | None, size: int):
    """The result with the batch in front."""
    if not isinstance(leaf, Tensor):
        return leaf
    if dim is None:
        return leaf.unsqueeze(0).expand(size, *leaf.shape)
    return leaf.movedim(dim, 0)
