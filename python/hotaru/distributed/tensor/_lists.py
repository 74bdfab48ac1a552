"""Operators of lists of tensors: those of optimizers."""

from __future__ import annotations

from typing import Any

from ... import _C, inf, is_grad_enabled, stack
from ..._C import Tensor
from ...linalg import vector_norm
from . import _history
from ._dtensor_spec import DTensorSpec, TensorMeta
from ._plan import plain, replicated
from ._redistribute import moved
from .placement_types import Partial, Replicate

_NUMBERS = ("scalar", "scalars", "weight")
_OF_NUMBERS = {"maximum": "clamp_min", "minimum": "clamp_max"}


def of_lists(function, name: str, args: tuple, kwargs: dict) -> Any:
    """An operator of lists: of every rank's parts, where the first list's are.

    Tensors of other lists are moved there; those that are no DTensors are
    taken as they are (a step's number, a factor).
    """
    if name.startswith("_foreach_norm"):
        return _norms(args, kwargs)
    first = next(x for x in args if isinstance(x, (list, tuple)))
    lists = [x for x in args if isinstance(x, (list, tuple))]
    if name.startswith("_foreach_") and _is_recorded(lists):
        return _one_by_one(name, args, kwargs, len(first))
    placements = [_placements(x, name) for x in first]

    def local(value):
        if isinstance(value, (list, tuple)):
            return [
                _part(item, placements[i] if i < len(placements) else None)
                for i, item in enumerate(value)
            ]
        return _part(value, None)

    given = [local(x) for x in args]
    named = {key: local(x) for key, x in kwargs.items()}
    with _C.DisableTorchFunctionSubclass():
        results = plain(function, *given, **named)
    if results is None or name.endswith("_"):
        return None if results is None else first
    return [
        _history.wrap(result, x._spec.placed(p)) if p is not None else result
        for result, x, p in zip(results, first, placements)
    ]


def _is_recorded(lists: list) -> bool:
    """True if somebody may ask for a derivative."""
    return is_grad_enabled() and any(
        isinstance(x, Tensor) and x.requires_grad for row in lists for x in row
    )


def _one_by_one(name: str, args: tuple, kwargs: dict, count: int):
    """Runs the operator of single tensors for each, with its history."""
    word = name.removeprefix("_foreach_")
    in_place = word.endswith("_")

    def nth(value, i: int):
        return value[i] if isinstance(value, (list, tuple)) else value

    results = []
    for i in range(count):
        given = [nth(x, i) for x in args]
        named = {key: nth(x, i) for key, x in kwargs.items()}
        given += [named.pop(key) for key in _NUMBERS if key in named]
        if word.strip("_") in ("addcmul", "addcdiv") and len(given) == 4:
            factor = given.pop()
            is_row = isinstance(factor, Tensor)
            named["value"] = factor[i].item() if is_row else factor
        own = word
        if len(given) == 2 and not isinstance(given[1], Tensor):
            own = _OF_NUMBERS.get(word.strip("_"), word.strip("_"))
            own += "_" if in_place else ""
        function = getattr(Tensor if in_place else _C.ops, own)
        results.append(function(*given, **named))
    return None if in_place else results


def _placements(x, name: str):
    if not isinstance(x, _history._made[0]):
        return None
    placements = x._spec.placements
    if not any(isinstance(p, Partial) for p in placements):
        return placements
    if name.endswith("_"):
        raise RuntimeError(
            f"{name}: a tensor whose ranks have parts of a sum is not changed "
            "in place; redistribute() it before"
        )
    return tuple(Replicate() if isinstance(p, Partial) else p for p in placements)


def _part(value, placements):
    if not isinstance(value, Tensor) or not isinstance(value, _history._made[0]):
        return value
    if placements is None:
        placements = (Replicate(),) * value._spec.mesh.ndim
    return _history.redistributed(value.detach(), placements)._local_tensor


def _norms(args: tuple, kwargs: dict) -> list:
    """The norm of each tensor, whole in each rank: one message for all that lie
    alike.
    """
    order = args[1] if len(args) > 1 else kwargs.get("ord", 2)
    dtype = args[2] if len(args) > 2 else kwargs.get("dtype")
    found: list = [None] * len(args[0])
    alike: dict = {}
    for i, x in enumerate(args[0]):
        if _is_cut_only(x) and order != 0 and dtype is None:
            alike.setdefault((x._spec.mesh, x._spec.placements), []).append(i)
        else:
            found[i] = vector_norm(x, order, dtype=dtype)
    for (mesh, placements), places in alike.items():
        parts = [_some(args[0][i]._local_tensor, order) for i in places]
        row = stack(_C.ops._foreach_norm(parts, order))
        kind = {inf: "max", -inf: "min"}.get(order, "sum")
        cut = [Replicate() if p.is_replicate() else Partial(kind) for p in placements]
        meta = TensorMeta((len(places),), (1,), row.dtype)
        spec = DTensorSpec(mesh, tuple(cut), meta)
        row = row if kind != "sum" else row.pow_(order)
        row = moved(row, spec, (Replicate(),) * mesh.ndim)
        row = row if kind != "sum" else row.pow(1 / order)
        for i, norm in zip(places, row):
            found[i] = replicated(norm, mesh)
    return found


def _is_cut_only(x) -> bool:
    return isinstance(x, _history._made[0]) and not (
        x.requires_grad or any(isinstance(p, Partial) for p in x._spec.placements)
    )


def _some(part: Tensor, order: float) -> Tensor:
    """A part with at least one number, for a norm that needs one."""
    if part.numel():
        return part
    return part.new_full((1,), inf if order == -inf else 0.0)
