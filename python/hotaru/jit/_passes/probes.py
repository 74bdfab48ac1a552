"""Sizes with symbols: an operator runs with several numbers in their place, and
what its results have in common follows.
"""

from __future__ import annotations

import contextlib
import random

from ..._types import new_symbol

_SMALL, _LARGE = (1, 6, 35), 4099
_DRAWS, _ENOUGH, _FEWEST, _DISTINCT = 600, 16, 6, 3
# Operators whose results have the sizes that a list says, by its place.
GIVEN = {
    "aten::view": 1,
    "aten::reshape": 1,
    "aten::_unsafe_view": 1,
    "aten::zeros": 0,
    "aten::ones": 0,
    "aten::empty": 0,
    "aten::full": 0,
    "aten::rand": 0,
    "aten::randn": 0,
    "aten::new_zeros": 1,
    "aten::new_ones": 1,
    "aten::new_empty": 1,
    "aten::new_full": 1,
}
# Operators that change a tensor in place, and its sizes.
RESHAPED = frozenset(
    f"aten::{name}_"
    for name in [
        "as_strided",
        "resize",
        "resize_as",
        "set",
        "squeeze",
        "swapaxes",
        "swapdims",
        "t",
        "transpose",
        "unsqueeze",
    ]
)


class Symbol:
    """A number of a program that is a size with a symbol."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __eq__(self, other) -> bool:
        return isinstance(other, Symbol) and other.number == self.number

    __hash__ = None


def has_symbols(value) -> bool:
    """True if a number is one, or a list holds one."""
    if isinstance(value, (list, tuple)):
        return any(map(has_symbols, value))
    return isinstance(value, Symbol)


def without_symbols(value, numbers: dict[int, int]):
    """The value with numbers in their place."""
    if isinstance(value, (list, tuple)):
        return value.__class__(without_symbols(v, numbers) for v in value)
    return numbers[value.number] if isinstance(value, Symbol) else value


def probed(run, symbols, sizes) -> list:
    """Sizes of each result: numbers, and symbols, new ones where no other is
    the size in every run. None for a result whose number of them differs.

    Args:
        run: gives the results' sizes for numbers by symbols; raises where the
            operator refuses them.
        symbols: all that the inputs have.
        sizes: other sizes of inputs, which a symbol may have to equal.
    """
    draw = random.Random(0)
    known = sorted({*_SMALL, *sizes})[:8]
    runs: list[tuple[dict, list]] = []
    for turn in range(_DRAWS):
        numbers = {symbol: draw.choice(known) for symbol in symbols}
        if turn % 4 == 1:
            numbers[draw.choice(symbols)] = _LARGE
        elif turn % 4 == 3:
            same = draw.choice(_SMALL[1:])
            numbers = {s: same if n not in sizes else n for s, n in numbers.items()}
        elif turn % 8 == 2:
            numbers[draw.choice(symbols)] = 0
        with contextlib.suppress(Exception):  # the operator refuses these numbers
            runs.append((numbers, run(numbers)))
        enough = len(runs) >= _ENOUGH and turn > _ENOUGH * 2
        if enough or (not runs and turn > _DRAWS // 4):
            break
    if len(runs) < _FEWEST:
        return []
    fresh: dict[tuple, int] = {}  # symbols of sizes that go together
    return [_common(runs, i, fresh) for i in range(len(runs[0][1]))]


def _common(runs, i: int, fresh):
    found = [(numbers, results[i]) for numbers, results in runs]
    if any(sizes is None or len(sizes) != len(found[0][1]) for _, sizes in found):
        return None
    return tuple(
        _one([(numbers, sizes[d]) for numbers, sizes in found], fresh)
        for d in range(len(found[0][1]))
    )


def _one(found, fresh):
    values = {size for _, size in found}
    if len(values) == 1:
        # A symbol that must be this number says no more than the number.
        return values.pop()
    if len(values) < _DISTINCT:  # what is alike may be so by chance
        return None
    symbols = [s for s in found[0][0] if all(n[s] == size for n, size in found)]
    if symbols:
        return symbols[0]
    return fresh.setdefault(tuple(size for _, size in found), new_symbol())
