"""Containers of tensors that `vmap` maps whole, as tensordict's.

Their classes say so by PyTorch's protocol, `_add_batch_dim` and
`_maybe_remove_batch_dim`. A slice is the container at an index of its batch
dimensions; containers that the calls return are stacked along one.
"""

from __future__ import annotations

from .. import Size, Tensor, stack
from .._trees import flat as _tree
from .extension import SliceLevel

__all__ = ["is_whole", "one_of", "shape_of", "shared", "sized", "stacked", "tensors"]


def is_whole(value) -> bool:
    """Tells whether `vmap` takes a container as one leaf."""
    kind = type(value)
    return not isinstance(value, Tensor) and (
        hasattr(kind, "_add_batch_dim") and hasattr(kind, "_maybe_remove_batch_dim")
    )


def shape_of(leaf) -> Size:
    """The dimensions that can be mapped: all of a tensor, a container's own."""
    return leaf.batch_size if is_whole(leaf) else leaf.shape


def tensors(leaf) -> list[Tensor]:
    """The tensors of a leaf that is cut."""
    if isinstance(leaf, Tensor):
        return [leaf]
    values = getattr(leaf, "values", None)
    found = _tree.flatten(leaf)[0] if values is None else values(True, True)
    return [value for value in found if isinstance(value, Tensor)]


def shared(leaf):
    """A container that each call gets whole: keys that a call sets are its own."""
    return leaf.clone(False)


def sized(leaf, dim: int):
    """A container with batch dimensions up to `dim`, if its tensors agree on
    those: one that was put together again from tensors may have none.
    """
    least = dim + 1 if dim >= 0 else -dim
    if len(leaf.batch_size) >= least:
        return leaf  # nobody asks tensors that may have no shape yet
    shapes = [tensor.shape for tensor in tensors(leaf)]
    count = 0
    while shapes and count < min(least, *map(len, shapes)):
        if any(shape[count] != shapes[0][count] for shape in shapes):
            break
        count += 1
    if count < least:
        return leaf
    leaf = leaf.clone(False)
    leaf.batch_size = shapes[0][:count]
    return leaf


def one_of(leaf, dim: int, index: int):
    """The container of one call: a view, with keys of its own."""
    place = dim % len(leaf.batch_size)
    if any(hasattr(type(tensor), "materialize") for tensor in tensors(leaf)):
        # Parameters without a shape are cut by the container's own protocol,
        # once the call has given them one.
        return leaf._add_batch_dim(in_dim=place, vmap_level=SliceLevel(index))
    part = leaf[(slice(None),) * place + (index,)]
    if hasattr(leaf, "tensordicts"):  # a lazy stack gives what it holds
        part = part.clone(False)
    return part.lock_() if getattr(leaf, "is_locked", False) else part


def stand_in(leaf, dim: int):
    """Zeros in place of a slice, for a dimension of size zero."""
    place = dim % len(leaf.batch_size)

    def without(shape) -> list[int]:
        return [size for i, size in enumerate(shape) if i != place]

    return leaf.apply(
        lambda tensor: tensor.new_zeros(without(tensor.shape)),
        batch_size=without(leaf.batch_size),
    )


def stacked(results: list, dim: int, size: int, lazily):
    """One container of those that the calls returned.

    `lazily` is the class of the lazy stack that the calls got slices of and
    returned, None elsewhere: as it came in, it goes out.
    """
    if lazily is not None:
        return lazily.lazy_stack(results, dim)
    first = results[0]
    joined = stack(results, dim)
    names = list(getattr(first, "names", None) or ())
    if any(name is not None for name in names):
        names.insert(dim % (len(names) + 1), None)
        joined.names = names
    if size:
        return joined
    return joined[(slice(None),) * (dim % joined.ndim) + (slice(0, 0),)]
