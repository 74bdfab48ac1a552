"""Functions of one score, as functions of all of them."""

from __future__ import annotations

import weakref

from ... import Tensor, allclose, no_grad
from ..._late import lent
from ._block_mask import noop_mask

# Functions that were seen to mean the same for whole tensors.
_elementwise: weakref.WeakSet = weakref.WeakSet()


def over_scores(function, places: list[Tensor], scores: Tensor | None = None):
    """Computes what a function gives for every score.

    It is written for one: its arguments are tensors without dimensions. Most
    mean the same for whole tensors that broadcast, which is tried first and
    compared at the corners; others go through `vmap`, a dimension at a time.

    Args:
        function: of a score, if there are scores, and of the numbers of its
            batch, head, query and key.
        places: these numbers, one vector each.
        scores: of four dimensions.
    """
    if function is noop_mask:
        return places[0].new_ones((1, 1, 1, 1)) != 0
    at = [
        place.reshape([-1 if i == dim else 1 for i in range(4)])
        for dim, place in enumerate(places)
    ]
    given = at if scores is None else [scores, *at]
    try:
        made = function(*given)
    except Exception:  # written for one score only
        made = None
    if isinstance(made, Tensor) and made.dim() == 4:
        known = function in _elementwise
        if known or _is_elementwise(function, made, places, scores):
            return made
    return _mapped(function, places, scores)


def _is_elementwise(function, made, places, scores) -> bool:
    """Tells if single scores at the corners, and one inside, give the same."""
    if made.device.type == "meta":
        return True
    lengths = [len(place) for place in places]
    if 0 in lengths:
        return True
    corners = [
        tuple(n - 1 if last else 0 for n, last in zip(lengths, lasts))
        for lasts in ((0, 0, 0, 0), (1, 1, 1, 1), (0, 1, 0, 1), (1, 0, 1, 0))
    ]
    corners.append(tuple(n // 2 for n in lengths))
    whole = made.detach().expand(lengths)
    with no_grad():
        for corner in corners:
            one = [place[i] for place, i in zip(places, corner)]
            if scores is not None:
                one.insert(0, scores.detach()[corner])
            single = function(*one)
            if not isinstance(single, Tensor) or single.dim() != 0:
                return False
            if not _same(single, whole[corner]):
                return False
    _remember(function)
    return True


def _same(a: Tensor, b: Tensor) -> bool:
    if a.dtype != b.dtype or not a.is_floating_point():
        return bool((a == b).item())
    # The same operations on one element and on many may round differently.
    return allclose(a, b, rtol=1e-4, atol=1e-6, equal_nan=True)


def _remember(function) -> None:
    try:
        _elementwise.add(function)
    except TypeError:  # an object that nothing can refer to weakly
        return


def _mapped(function, places, scores):
    first = () if scores is None else (0,)
    for dim in (3, 2, 1, 0):
        dims = [0 if i == dim else None for i in range(4)]
        function = lent("vmap")(function, in_dims=(*first, *dims))
    return function(*places) if scores is None else function(scores, *places)
