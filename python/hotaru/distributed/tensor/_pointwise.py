"""Ways of operators whose every element is made of one of each argument, and of
those that go along some dimensions only.
"""

from __future__ import annotations

import dataclasses

from ..._C import bool as bool_
from ..._C import dtype as Dtype
from ..._operators._native_tag_names import NAMES
from ._call import Call, R, Way, all_replicated, rule
from .placement_types import Partial, Placement, Shard, _StridedShard

SUM, AVERAGE = Partial("sum"), Partial("avg")
_ALL = tuple(map(Partial, ("sum", "avg", "product", "max", "min")))


def wrap_dim(dim: int, ndim: int) -> int:
    """A dimension counted from the front."""
    return dim + max(ndim, 1) if dim < 0 else dim


def cut_dim(placement: Placement) -> int | None:
    """The dimension that a placement cuts, in parts or in pieces."""
    cuts = isinstance(placement, (Shard, _StridedShard))
    return placement.dim if cuts else None


def aligned(call: Call, dim: int, ndim: int) -> tuple[Placement, ...]:
    """Parts of all arguments that a part of dimension `dim` of a result of
    `ndim` dimensions needs: the arguments are broadcast to it.
    """
    found: list[Placement] = []
    for shape in call.shapes:
        own = dim - (ndim - len(shape))
        found.append(Shard(own) if own >= 0 and shape[own] != 1 else R)
    return tuple(found)


def pointwise(call: Call) -> list[Way]:
    """Parts of the result of the same parts of the arguments."""
    ndim = max(map(len, call.shapes))
    ways = [all_replicated(call)]
    for dim in range(ndim):
        ins = aligned(call, dim, ndim)
        if any(p != R for p in ins):
            ways.append(Way(Shard(dim), ins))
    for kind in strided(call):
        ins = aligned(call, kind.dim, ndim)
        if len(call.shapes[0]) == ndim and ins[0] != R:
            ways.append(Way(kind, tuple(_in_pieces(p, kind) for p in ins)))
    return ways


def _in_pieces(placement: Placement, kind: _StridedShard) -> Placement:
    """The placement `kind` of the dimension that an argument is cut along."""
    if not isinstance(placement, Shard):
        return placement
    return dataclasses.replace(kind, dim=placement.dim)


def strided(call: Call) -> set[_StridedShard]:
    """Placements of the arguments that are cut in pieces."""
    return {
        p
        for t in call.tensors
        for p in t._spec.placements
        if isinstance(p, _StridedShard)
    }


def linear(call: Call) -> list[Way]:
    """The same, and sums of sums: of each argument, or of the first one where
    others are factors.
    """
    ways = pointwise(call)
    count, operands = len(call.places), call.args[:2]
    for kind in (SUM, AVERAGE):
        if _is_sum(call):
            if count == len(operands):
                ways.append(Way(kind, (kind,) * count))
        elif operands and operands[0] is call.tensors[0]:
            ways.append(Way(kind, (kind,) + (R,) * (count - 1)))
            if call.name in ("mul", "__mul__", "__rmul__") and count == 2:
                ways.append(Way(kind, (R, kind)))
    return ways


def _is_sum(call: Call) -> bool:
    word = call.name.strip("_")
    return word in ("add", "sub", "radd", "rsub", "iadd", "isub", "subtract", "rsub")


def same(call: Call) -> list[Way]:
    """The result is the argument, so it may be in any placement."""
    count = len(call.places)
    kinds = _ALL if holds_parts(call) else ()
    return pointwise(call) + [Way(p, (p,) * count) for p in kinds]


def holds_parts(call: Call) -> bool:
    """Tells whether casting parts, and then adding them, is casting what they
    add up to: not where each would be cut to an integer by itself.
    """
    types = [t.dtype for t in call.tensors]
    given = [leaf for leaf in call.leaves if isinstance(leaf, Dtype)]
    if call.name.startswith("copy"):
        types.reverse()
    source, target = types[0], (given + types[1:] + types[:1])[0]
    if target.is_floating_point or target.is_complex:
        return True
    is_whole = not (source.is_floating_point or source.is_complex)
    return is_whole and (target != bool_ or source == bool_)


def filled(call: Call) -> list[Way]:
    """One number everywhere: also what its mean, least and greatest are."""
    ways = pointwise(call)
    rest = (R,) * (len(call.places) - 1)
    return ways + [
        Way(Partial(how), (Partial(how), *rest)) for how in ("avg", "max", "min")
    ]


def like(call: Call) -> list[Way]:
    """Only the argument's shape matters."""
    ways = pointwise(call)
    return ways + [Way(R, (p,) + (R,) * (len(call.places) - 1)) for p in _ALL]


def new(call: Call) -> list[Way]:
    """Not even that: dtype and mesh."""
    kinds = dict.fromkeys(call.tensors[0]._spec.placements)
    rest = (R,) * (len(call.places) - 1)
    return [all_replicated(call), *(Way(R, (p, *rest)) for p in kinds)]


def along(call: Call, *dims: int) -> list[Way]:
    """Needs some dimensions of all arguments whole, others in parts."""
    ndim = len(call.shapes[0])
    whole = {wrap_dim(d, ndim) for d in dims}
    return [way for way in pointwise(call) if cut_dim(way.out) not in whole]


def _along_dim(place: int, default):
    def ways(call: Call) -> list[Way]:
        dim = call.get(place, "dim", default)
        if dim is None:
            return [all_replicated(call)]
        dims = dim if isinstance(dim, (tuple, list)) else (dim,)
        if not all(isinstance(d, int) for d in dims):
            return [all_replicated(call)]
        return along(call, *dims)

    return ways


def _tagged() -> str:
    names = NAMES["pointwise"].split()
    return " ".join({n.partition(".")[0].rstrip("_") for n in names})


rule(
    "relu silu gelu sigmoid tanh leaky_relu elu selu celu hardtanh relu6 "
    "hardswish hardsigmoid mish softplus softshrink hardshrink prelu "
    "log_sigmoid threshold where masked_fill lerp isclose logical_and "
    "logical_or logical_xor logical_not bitwise_and bitwise_or bitwise_xor "
    "maximum minimum fmax fmin fmod remainder floor_divide xlogy",
    pointwise,
)
rule(_tagged(), pointwise)
rule("add sub mul div neg true_divide", linear)
rule(
    "clone contiguous alias to float half bfloat16 double type_as cpu cuda "
    "copy _to_copy positive zero",
    same,
)
rule("fill", filled)
rule("zeros_like ones_like empty_like full_like", like)
rule("new_empty new_full new_ones new_zeros", new)
for _names, _place, _default in (
    ("softmax log_softmax _softmax _log_softmax softmin", 1, None),
    ("cumsum cumprod cummax cummin logcumsumexp flip", 1, None),
    ("sort argsort", 1, -1),
    ("topk", 2, -1),
    ("roll", 2, None),
    ("glu", 1, -1),
):
    rule(_names, _along_dim(_place, _default))


def _two_last(call: Call) -> list[Way]:
    return along(call, -1, -2)


rule("tril triu", _two_last)


def _renorm(call: Call) -> list[Way]:
    """Each slice of `dim` by itself: all other dimensions are needed whole."""
    dim = wrap_dim(call.get(2, "dim", 0), len(call.shapes[0]))
    return [way for way in pointwise(call) if cut_dim(way.out) in (None, dim)]


rule("renorm", _renorm)
