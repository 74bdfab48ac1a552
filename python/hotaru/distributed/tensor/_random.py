"""Draws of random numbers: alike in ranks that have the same part, anew in
others.
"""

from __future__ import annotations

from ... import empty, get_rng_state, int64, manual_seed, set_rng_state
from ..collectives import broadcast
from ..groups import get_process_group_ranks
from ._call import Call, rule
from ._plan import plain
from ._pointwise import like, pointwise
from .placement_types import Shard


def seed_of(spec) -> int:
    """A seed for this rank's part, from the generator of the mesh's first rank;
    every rank of the mesh draws it.
    """
    mesh = spec.mesh
    drawn = empty(1, dtype=int64, device="cpu").random_()
    for dim in range(mesh.ndim):
        group = mesh.get_group(dim)
        broadcast(drawn, get_process_group_ranks(group)[0], group)
    index, place = 0, mesh.get_coordinate()
    for dim, placement in enumerate(spec.placements):
        if isinstance(placement, Shard):
            index = index * mesh.size(dim) + place[dim]
    return (int(drawn) + index * 0x9E3779B97F4A7C15) % (1 << 63)


def drawn(spec, draw):
    """Calls `draw()` with a generator seeded for this rank's part."""
    seed = seed_of(spec)
    state = get_rng_state()
    try:
        manual_seed(seed)
        return draw()
    finally:
        set_rng_state(state)


def _drawn_part(call: Call, parts: list):
    given, named = call.with_tensors(parts)
    if named.get("generator") is not None:
        raise RuntimeError(
            f"{call.name}: the ranks of a DTensor draw from the default "
            "generator; `generator` can't be told"
        )
    return drawn(call.placed[0]._spec, lambda: plain(call.function, *given, **named))


def _dropped_part(call: Call, parts: list):
    given, named = call.with_tensors(parts)
    if call.get(2, "train", call.kwargs.get("training", True)) is False:
        return plain(call.function, *given, **named)
    return _drawn_part(call, parts)


rule(
    "normal uniform random exponential bernoulli cauchy geometric log_normal rrelu",
    pointwise,
    _drawn_part,
)
rule("rand_like randn_like randint_like", like, _drawn_part)
rule("dropout native_dropout alpha_dropout", pointwise, _dropped_part)
