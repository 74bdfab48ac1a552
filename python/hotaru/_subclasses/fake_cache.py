"""Remembers what results look like of calls that were made before."""

from __future__ import annotations

from dataclasses import dataclass

from .. import _C, empty_strided
from .._C import Tensor
from .._dynamo import config
from ..utils import _pytree
from ..utils._python_dispatch import _disable_current_modes
from . import fake_kernels

# Entries of one mode; at the limit all are forgotten.
_LIMIT = 4096


@dataclass(frozen=True)
class _Look:
    """All of a tensor but its memory."""

    dtype: object
    size: tuple
    stride: tuple
    offset: int
    flags: tuple

    @staticmethod
    def of(x: Tensor) -> _Look:
        return _Look(
            x.dtype, tuple(x.size()), tuple(x.stride()), x.storage_offset(),
            (x.is_conj(), x.is_neg()),
        )  # fmt: skip


def cached(mode, func, args: tuple, kwargs: dict, changed: list):
    """What `fake_kernels.run` gives; from memory where the same operator met
    arguments that look the same, and where results own their memory.

    `torch._dynamo.config.fake_tensor_cache_enabled` turns it off; with
    `fake_tensor_cache_crosscheck_enabled` it runs nevertheless, and a
    RuntimeError says where the memory is wrong.
    """
    key = None
    if config.fake_tensor_cache_enabled and not changed:
        key = _key(func, args, kwargs)
    if key is not None and key in mode.cache:
        looks, spec = mode.cache[key]
        if config.fake_tensor_cache_crosscheck_enabled:
            _check(func, looks, fake_kernels.run(mode, func, args, kwargs))
        with _disable_current_modes():
            return _pytree.tree_unflatten([_made(x) for x in looks], spec)
    result = fake_kernels.run(mode, func, args, kwargs)
    if key is not None and result is not NotImplemented:
        _remember(mode.cache, key, result, (args, kwargs))
    return result


def _key(func, args, kwargs):
    leaves, spec = _pytree.tree_flatten((args, kwargs))
    parts = [
        _Look.of(x) if isinstance(x, Tensor) else (type(x), x) for x in leaves
    ]
    made = (func, tuple(parts), str(spec), _C.get_default_dtype())
    try:
        hash(made)
    except TypeError:
        return None
    return made


def _remember(cache: dict, key, result, given) -> None:
    leaves, spec = _pytree.tree_flatten(result)
    inputs = [x for x in _pytree.tree_leaves(given) if isinstance(x, Tensor)]
    for place, leaf in enumerate(leaves):
        if not isinstance(leaf, Tensor) or leaf.storage_offset():
            return
        others = (*inputs, *leaves[:place])
        if any(_C._shares_storage(leaf, other) for other in others):
            return
        if leaf.is_conj() or leaf.is_neg():
            return
    if len(cache) >= _LIMIT:
        cache.clear()
    cache[key] = ([_Look.of(leaf) for leaf in leaves], spec)


def _made(look: _Look) -> Tensor:
    return empty_strided(
        look.size, look.stride, dtype=look.dtype, device="meta"
    )


def _check(func, looks: list, result) -> None:
    found = [_Look.of(x) for x in _pytree.tree_leaves(result)]
    if found != looks:
        raise RuntimeError(
            f"{func}: the cache of fake results has {looks}, the operator "
            f"gives {found}"
        )
