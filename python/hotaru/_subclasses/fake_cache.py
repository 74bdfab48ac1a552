"""Remembers what results look like of calls that were made before."""

from __future__ import annotations

import threading
from collections import Counter
from dataclasses import dataclass

from .. import _C, empty_strided
from .._C import Tensor, ops
from .._dispatch.stack import native
from .._late import loaded
from .._operators.tags import Tag
from .._ops import DefinedOverload
from ..utils import _pytree
from ..utils._python_dispatch import _disable_current_modes
from . import fake_kernels

# At the limit all entries are forgotten.
_LIMIT = 16384


@dataclass(frozen=True)
class TensorMetadata:
    """All of a tensor but its memory and history."""

    dtype: object
    shape: tuple
    stride: tuple
    device: object
    layout: object
    storage_offset: int
    requires_grad: bool
    is_conj: bool
    is_neg: bool
    is_inference: bool


def extract_tensor_metadata(t: Tensor) -> TensorMetadata:
    """Records what is remembered of a tensor."""
    return TensorMetadata(
        t.dtype,
        tuple(t.shape),
        tuple(t.stride()),
        t.device,
        t.layout,
        t.storage_offset(),
        t.requires_grad,
        t.is_conj(),
        t.is_neg(),
        t.is_inference(),
    )


@dataclass(frozen=True)
class DispatchCacheInfo:
    """How often calls were remembered, and why they were not asked for."""

    hits: int
    misses: int
    bypasses: dict
    size: int


class _Cache:
    """One for all modes; changes take a lock."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.clear()

    def clear(self) -> None:
        self.entries: dict = {}
        self.hits = self.misses = 0
        self.bypasses: Counter = Counter()

    def put(self, key, entry) -> None:
        with self.lock:
            if len(self.entries) >= _LIMIT:
                self.entries.clear()
            self.entries[key] = entry


_cache = _Cache()


def clear() -> None:
    """Forgets all, and counts from zero."""
    _cache.clear()


def info() -> DispatchCacheInfo:
    """The counts since then."""
    return DispatchCacheInfo(
        _cache.hits, _cache.misses, dict(_cache.bypasses), len(_cache.entries)
    )


def cached(mode, func, args: tuple, kwargs: dict, changed: list):
    """Gives what `fake_kernels.run` does; from memory where the same operator
    met arguments that look the same, and results own their memory or are the
    first argument.

    `torch._dynamo.config.fake_tensor_cache_enabled` turns it off; with
    `fake_tensor_cache_crosscheck_enabled` operators run nevertheless, and a
    RuntimeError says where the memory is wrong.
    """
    if not _is_on("fake_tensor_cache_enabled", True):
        return fake_kernels.run(mode, func, args, kwargs)
    reason = _no_use(func, args, changed)
    key = None if reason else key_of(func, args, kwargs)
    if key is None:
        _cache.bypasses[reason or "unhashable argument"] += 1
        return fake_kernels.run(mode, func, args, kwargs)
    entry = _cache.entries.get(key)
    if entry is None:
        result = fake_kernels.run(mode, func, args, kwargs)
        _cache.misses += 1
        _remember(key, result, args, kwargs)
        return result
    _cache.hits += 1
    looks, spec = entry
    if _is_on("fake_tensor_cache_crosscheck_enabled", False):
        _check(func, looks, fake_kernels.run(mode, func, args, kwargs))
    if looks is None:
        return args[0]
    with _disable_current_modes():
        made = [_made(look, args[0] if view else None) for look, view in looks]
        return _pytree.tree_unflatten(made, spec)


def _is_on(name: str, unset: bool) -> bool:
    """A switch of the module that programs set them in, if one has it."""
    config = loaded("dynamo_config")
    return unset if config is None else getattr(config, name)


def _no_use(func, args, changed) -> str | None:
    tags = func.tags
    for tag, reason in (
        (Tag.inplace_view, "inplace view"),
        (Tag.data_dependent_output, "data dependent output"),
        (Tag.dynamic_output_shape, "dynamic output shape"),
    ):
        if tag in tags:
            return reason
    if isinstance(func, DefinedOverload):
        return "non-builtin"
    if changed and not (len(changed) == 1 and args and changed[0] is args[0]):
        return "writes to several tensors, or to a keyword"
    return None


def key_of(func, args, kwargs):
    """Returns what calls have in common that give results that look the same;
    None where that cannot be said.
    """
    leaves, spec = _pytree.tree_flatten((args, kwargs))
    parts = [
        extract_tensor_metadata(x) if isinstance(x, Tensor) else (type(x), x)
        for x in leaves
    ]
    surroundings = (
        _C.get_default_dtype(),
        _C.is_inference_mode_enabled(),
        _C._autocast_key(),
    )
    made = (func, tuple(parts), str(spec), surroundings)
    try:
        hash(made)
    except TypeError:
        return None
    return made


def _remember(key, result, args, kwargs) -> None:
    if args and result is args[0]:
        if extract_tensor_metadata(result) in key[1]:  # its shape is the same
            _cache.put(key, (None, None))
        return
    leaves, spec = _pytree.tree_flatten(result)
    given = _pytree.tree_leaves((args, kwargs))
    inputs = [x for x in given if isinstance(x, Tensor)]
    looks = []
    for place, leaf in enumerate(leaves):
        if not isinstance(leaf, Tensor) or leaf.is_conj() or leaf.is_neg():
            return
        if any(leaf is x for x in inputs):
            return
        view = _is_view(leaf, args)
        others = (*inputs, *leaves[:place])
        if not view and (
            leaf.storage_offset()
            or any(_C._shares_storage(leaf, other) for other in others)
        ):
            return
        looks.append((extract_tensor_metadata(leaf), view))
    _cache.put(key, (looks, spec))


def _is_view(leaf: Tensor, args: tuple) -> bool:
    """True if it is a look at the memory of the first argument."""
    return (
        bool(args)
        and isinstance(args[0], Tensor)
        and leaf.dtype == args[0].dtype
        and not (args[0].is_conj() or args[0].is_neg())
        and _C._shares_storage(leaf, args[0])
    )


def _made(look: TensorMetadata, base: Tensor | None) -> Tensor:
    if base is not None:
        place = look.shape, look.stride, look.storage_offset
        found = native(ops.as_strided, (base, *place), {})
        # Histories are recorded above; `detach` gives none at all.
        return native(Tensor.detach, (found,), {})
    return empty_strided(look.shape, look.stride, dtype=look.dtype, device="meta")


def _check(func, looks: list | None, result) -> None:
    if looks is None:
        return
    found = [extract_tensor_metadata(x) for x in _pytree.tree_leaves(result)]
    if found != [look for look, _ in looks]:
        raise RuntimeError(
            f"{func}: the cache of fake results has {looks}, the operator gives {found}"
        )
