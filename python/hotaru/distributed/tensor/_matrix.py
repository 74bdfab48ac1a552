"""Ways of matrix products."""

from __future__ import annotations

from collections.abc import Sequence

from ._call import Call, R, Rule, Way, all_replicated, composed, rule
from ._plan import run
from ._pointwise import SUM
from .placement_types import Placement, Shard


def _contracted(
    call: Call, inputs: Sequence[str], output: str, added: int = 0
) -> list[Way]:
    """Ways of a sum of products, by the letters of its dimensions; a letter in
    several is cut in all of them. `added` arguments come before the factors,
    and are broadcast to the result.
    """
    ways = [all_replicated(call)]
    letters = dict.fromkeys("".join(inputs) + output)
    rest = len(call.places) - added - len(inputs)
    for letter in letters:
        if any(text.count(letter) > 1 for text in (*inputs, output)):
            continue
        factors: list[Placement] = []
        for text, shape in zip(inputs, call.shapes[added:]):
            place = text.find(letter)
            cut = place >= 0 and (shape[place] > 1 or call.mesh_size == 1)
            factors.append(Shard(place) if cut else R)
        if all(p == R for p in factors):
            continue
        place = output.find(letter)
        out: Placement = SUM if place < 0 else Shard(place)
        before = [
            _of_added(shape, place, len(output), out) for shape in call.shapes[:added]
        ]
        ways.append(Way(out, (*before, *factors, *(R,) * rest)))
    for which in range(len(inputs)):
        ins = [SUM if i == which else R for i in range(len(inputs))]
        ways.append(Way(SUM, (*(SUM,) * added, *ins, *(R,) * rest)))
    return ways


def _of_added(shape: Sequence[int], place: int, ndim: int, out: Placement) -> Placement:
    if out == SUM:
        return SUM
    own = place - (ndim - len(shape))
    return Shard(own) if own >= 0 and shape[own] != 1 else R


def _batch(count: int) -> str:
    return "abcdefghijABCDEFGHIJ"[:count]


def linear(call: Call) -> list[Way]:
    """X W^T + b."""
    shapes = call.shapes
    if len(shapes[1]) != 2 or call.place_of(call.args[0]) != 0:
        return [all_replicated(call)]
    batch = _batch(len(shapes[0]) - 1)
    ways = _contracted(call, (batch + "k", "nk"), batch + "n")
    if len(shapes) == 2:
        return ways
    last = len(shapes[0]) - 1
    return [
        Way(
            way.out,
            (
                *way.ins[:2],
                SUM if way.out == SUM else Shard(0) if way.out == Shard(last) else R,
            ),
        )
        for way in ways
    ]


def matmul(call: Call) -> list[Way]:
    """Ways of products of matrices and batches of them, broadcast."""
    a, b = call.shapes[:2]
    if len(a) == 0 or len(b) == 0:
        return [all_replicated(call)]
    rows = "" if len(a) == 1 else "m"
    columns = "" if len(b) == 1 else "n"
    batch = _batch(max(len(a), len(b), 2) - 2)
    first = batch[len(batch) - max(len(a) - 2, 0) :] + rows + "k"
    second = batch[len(batch) - max(len(b) - 2, 0) :] + "k" + columns
    return _contracted(call, (first, second), batch + rows + columns)


def added(inputs: Sequence[str], output: str):
    """Makes the rule of `input + factor * product`."""
    return lambda call: _contracted(call, inputs, output, added=1)


rule("linear", linear)
rule("matmul mm bmm mv dot", matmul)
rule("addmm", added(("mk", "kn"), "mn"))
rule("baddbmm", added(("bmk", "bkn"), "bmn"))
rule("addmv", added(("mk", "k"), "m"))
rule("outer ger", lambda call: _contracted(call, ("m", "n"), "mn"))


@composed("einsum")
def einsum(call: Call):
    """By the letters of its equation, where those are all."""
    equation = call.args[0]
    if not isinstance(equation, str) or "." in equation:
        return run(call, Rule(lambda c: [all_replicated(c)]))
    text = equation.replace(" ", "")
    left, arrow, output = text.partition("->")
    inputs = left.split(",")
    if not arrow:
        output = "".join(sorted(c for c in set(left) - {","} if left.count(c) == 1))
    return run(call, Rule(lambda c: _contracted(c, inputs, output)))
