"""Ways of reductions."""

from __future__ import annotations

from collections.abc import Callable

from ... import inf
from ._call import Call, R, Rule, Way, all_replicated, composed, rule
from ._plan import operator, plain, run
from ._pointwise import AVERAGE, SUM, holds_parts, pointwise, strided, wrap_dim
from .placement_types import Partial, Placement, Shard, _StridedShard


def reduced_dims(call: Call, place: int, name: str = "dim") -> set[int] | None:
    """The dimensions that are reduced; None if that can't be told."""
    ndim = len(call.shapes[0])
    dim = call.get(place, name)
    if dim is None or dim == ():
        return set(range(ndim))
    dims = dim if isinstance(dim, (tuple, list)) else (dim,)
    if not all(isinstance(d, int) for d in dims):
        return None
    return {wrap_dim(d, ndim) for d in dims}


def _keeps(call: Call, place: int) -> bool:
    return bool(call.get(place, "keepdim", False))


def _kept_ways(call: Call, dims: set[int], keepdim: bool) -> list[Way]:
    """Along the dimensions that are not reduced."""
    ways = [all_replicated(call)]
    rest = (R,) * (len(call.places) - 1)
    for dim in range(len(call.shapes[0])):
        if dim not in dims:
            gone = 0 if keepdim else sum(d < dim for d in dims)
            ways.append(Way(Shard(dim - gone), (Shard(dim), *rest)))
    return ways


def _reduction(
    kind: Placement | None,
    place: int = 1,
    keep: int = 2,
    even: bool = False,
    linear: bool = False,
) -> Callable:
    """Ways of a reduction whose parts are put together by `kind`: parts of
    equal lengths only for `even`; with sums of sums for `linear`.
    """

    def ways(call: Call) -> list[Way]:
        if call.place_of(call.args[0] if call.args else None) not in (0, None):
            return [all_replicated(call)]
        dims = reduced_dims(call, place)
        if dims is None:
            return [all_replicated(call)]
        found = _kept_ways(call, dims, _keeps(call, keep))
        shape = call.shapes[0]
        if kind is not None and not (call.recorded and not linear):
            found += [
                Way(kind, (Shard(d),))
                for d in sorted(dims)
                if len(call.places) == 1 and not (even and shape[d] % call.pieces())
            ]
        if linear and holds_parts(call):
            found += [Way(p, (p,)) for p in (SUM, AVERAGE)]
        return found

    return ways


rule("sum", _reduction(SUM, linear=True))
rule("nansum", _reduction(SUM))
rule("mean", _reduction(AVERAGE, even=True, linear=True))
rule("amax", _reduction(Partial("max"), even=True))
rule("amin", _reduction(Partial("min"), even=True))
rule("logsumexp", _reduction(None))
rule("var std var_mean std_mean", lambda call: _spread(call))
rule("argmax argmin all any", _reduction(None))
rule("prod", lambda call: _extreme(call, Partial("product")))
rule("max", lambda call: _extreme(call, Partial("max")))
rule("min", lambda call: _extreme(call, Partial("min")))
rule("median nanmedian mode", lambda call: _extreme(call, None))
rule("kthvalue", _reduction(None, place=2, keep=3))


def _spread(call: Call) -> list[Way]:
    """The second argument is the dimension, or whether to correct."""
    if isinstance(call.get(1, "dim"), bool):
        return [all_replicated(call)]
    return _reduction(None, keep=3)(call)


def _extreme(call: Call, kind: Placement | None) -> list[Way]:
    """Ways to an extreme: one result of all elements, two of a dimension; or
    that of two tensors.
    """
    if len(call.places) > 1:
        return pointwise(call)
    if call.get(1, "dim") is not None:
        return _reduction(None)(call)
    return _reduction(kind, even=True)(call)


@composed("linalg_vector_norm")
def vector_norm(call: Call):
    """Computes it of the ranks' norms, where nobody asks for a derivative."""
    dims = reduced_dims(call, 2)
    order = call.get(1, "ord", 2)
    x = call.tensors[0]
    cut = {p.dim for p in x._spec.placements if isinstance(p, (Shard, _StridedShard))}
    partial = any(isinstance(p, Partial) for p in x._spec.placements)
    if dims is None or partial or not cut & dims or call.recorded or order == 0:
        return run(call, _NORM)
    mine = operator(call.function, "_part_norm", call.args, call.kwargs)
    if order in (inf, -inf):
        return mine
    return mine.pow(1 / order)


def _norm_ways(call: Call) -> list[Way]:
    dims = reduced_dims(call, 2)
    if dims is None:
        return [all_replicated(call)]
    return _kept_ways(call, dims, _keeps(call, 3))


_NORM = Rule(_norm_ways)


def _part_ways(call: Call) -> list[Way]:
    order = call.get(1, "ord", 2)
    kind = {inf: Partial("max"), -inf: Partial("min")}.get(order, SUM)
    dims = reduced_dims(call, 2)
    cuts = [Shard(d) for d in sorted(dims)]
    cuts += [p for p in strided(call) if p.dim in dims]
    return _norm_ways(call) + [Way(kind, (cut,)) for cut in cuts]


def _part_norm(call: Call, parts: list):
    given, named = call.with_tensors(parts)
    found = plain(call.function, *given, **named)
    order = call.get(1, "ord", 2)
    return found if order in (inf, -inf) else found.pow(order)


rule("_part_norm", _part_ways, _part_norm)


@composed("norm")
def norm(call: Call):
    """By `linalg_vector_norm`, where it is one of vectors."""
    order = call.get(1, "p", "fro")
    if order in ("fro", None):
        order = 2
    if isinstance(order, str):
        return run(call, _NORM)
    x = call.tensors[0]
    from ... import linalg

    dim = call.get(2, "dim")
    return linalg.vector_norm(x, order, dim, bool(call.get(3, "keepdim", False)))
