"""Batching rules of operators defined in Python."""

from __future__ import annotations

from typing import NamedTuple

from .. import Tensor
from .._trees import flat as _tree


class VmapInfo(NamedTuple):
    """Facts that a rule is told of the `vmap` that calls it."""

    batch_size: int
    randomness: str


def run_rule(rule, inputs, randomness: str, kwargs: dict) -> tuple:
    """(results, the dimension of each leaf), as a batching rule says.

    Args:
        rule: `rule(info, in_dims, *args, **kwargs)`.
        inputs: the arguments of the mapped call, `_functorch.slices.Inputs`
            or `Given`.
        randomness: of the `vmap`.
        kwargs: of the mapped call.
    """
    args, in_dims = inputs.whole()
    info = VmapInfo(inputs.size, randomness)
    result, dims = _checked(rule(info, in_dims, *args, **kwargs))
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


def _checked(returned) -> tuple:
    """RuntimeError unless a rule gave two things."""
    many = isinstance(returned, tuple)
    if many and len(returned) == 2:
        return returned
    what = f"{len(returned)} returns" if many else f"a {type(returned)}"
    raise RuntimeError(
        "Expected the vmap staticmethod to have two returns, an output and "
        "out_dims with pytree structure compatible with the output. "
        f"Got {what} instead"
    )


def _batched(leaf, dim: int | None, size: int):
    """The result with the batch in front."""
    if not isinstance(leaf, Tensor):
        return leaf
    if dim is None:
        return leaf.unsqueeze(0).expand(size, *leaf.shape)
    return leaf.movedim(dim, 0)
