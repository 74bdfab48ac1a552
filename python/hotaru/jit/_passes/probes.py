"""Sizes with symbols: an operator runs with several numbers in their place, and
what its results have in common follows.
"""

from __future__ import annotations

import random

_SMALL, _LARGE = (1, 6, 35), 4099
_DRAWS, _ENOUGH = 120, 8
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
    """Sizes of each result: numbers, symbols, None where neither follows.

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
        try:
            runs.append((numbers, run(numbers)))
        except Exception:  # the operator refuses these numbers
            continue
        if len(runs) >= _ENOUGH and turn > _ENOUGH * 2:
            break
    if len(runs) < 3:
        return []
    return [_common(runs, i) for i in range(len(runs[0][1]))]


def _common(runs, i: int):
    found = [(numbers, results[i]) for numbers, results in runs]
    if any(sizes is None or len(sizes) != len(found[0][1]) for _, sizes in found):
        return None
    return tuple(
        _one([(numbers, sizes[d]) for numbers, sizes in found])
        for d in range(len(found[0][1]))
    )


def _one(found):
    values = {size for _, size in found}
    symbols = [s for s in found[0][0] if all(n[s] == size for n, size in found)]
    if len(values) == 1:
        # A symbol that must be this number says no more than the number.
        return values.pop()
    return symbols[0] if symbols else None
