"""Expressions for sizes of which the numbers are known for several inputs."""

from __future__ import annotations

import itertools
from fractions import Fraction

from ._expressions import Expression, Quotient, Symbol
from ._sizes import Sizes

__all__ = ["fitted", "strides_of"]

# Windows and strides that are looked for in quotients.
_DIVISORS = range(2, 65)


def fitted(sizes: Sizes, numbers: tuple, given: list, probe=None):
    """A number, or the expression that has these numbers in the worlds; None
    where none is found.

    Args:
        given: expressions that it may be made of.
        probe: gives the number for other sizes by name, or None. Quotients of
            several roundings fit a few numbers; more of them decide.
    """
    first = numbers[0]
    if all(n == first for n in numbers):
        return first
    known = sizes.expressions.get(numbers)
    if known is not None:
        return known
    found = _found(sizes, numbers, given, probe)
    if found is not None:
        sizes.expressions[numbers] = found
    return found


def _found(sizes: Sizes, numbers: tuple, given: list, probe):
    bases = _bases(sizes, given)
    for base in bases:
        values = sizes.values(base)
        found = _linear(base, values, numbers)
        if found is not None and _holds(sizes, found, probe):
            return found
        found = _quotient(sizes, base, values, numbers, probe)
        if found is not None:
            return found
    for count in (2, 3, 4):
        for some in itertools.combinations(bases, count):
            product = Expression.of(1)
            for base in some:
                product = product * base
            found = _linear(product, sizes.values(product), numbers)
            if found is not None and _holds(sizes, found, probe):
                return found
    return _sum(sizes, bases, numbers)


def _bases(sizes: Sizes, given: list) -> list[Expression]:
    """Lists what was given, then all symbols, each once."""
    symbols = [Expression.of(Symbol(name)) for name in sizes.by_name]
    found = []
    for one in (*given, *symbols):
        if isinstance(one, Expression) and one not in found:
            found.append(one)
    return found[:12]


def _slope(values, numbers) -> Fraction | None:
    for i, j in itertools.combinations(range(len(values)), 2):
        if values[i] != values[j]:
            return Fraction(numbers[i] - numbers[j], values[i] - values[j])
    return None


def _linear(base: Expression, values, numbers):
    """A * base + b, or base * a // b where that is exact."""
    slope = _slope(values, numbers)
    if not slope:
        return None
    offset = numbers[0] - slope * values[0]
    if any(slope * v + offset != n for v, n in zip(values, numbers)):
        return None
    scaled = base * slope.numerator
    if slope.denominator == 1:
        return scaled + int(offset)
    below = scaled + int(offset * slope.denominator)
    return below // slope.denominator


def _nearby(sizes: Sizes, names, probe, count: int):
    """More worlds, with the number in each: sizes in a row."""
    if probe is None:
        return
    for name in sorted(names):
        for step in range(count):
            world = {**sizes.worlds[-1]}
            world[name] += step
            number = probe(world)
            if number is not None:
                yield world, number


def _holds(sizes: Sizes, found: Expression, probe) -> bool:
    """True if an expression is right for sizes in a row."""
    by = [
        atom.by.number or 2
        for key in found.terms
        for atom, _ in key
        if isinstance(atom, Quotient)
    ]
    near = _nearby(sizes, found.symbols(), probe, 2 * max([2, *by]))
    return all(found.value(world) == number for world, number in near)


def _quotient(sizes: Sizes, base: Expression, values, numbers, probe):
    """(a * base + b) // c + d."""
    for factor in (1, 2, 3):
        for by in _DIVISORS:
            gaps = [n * by - factor * v for v, n in zip(values, numbers)]
            # Every b from `low` to `high` gives these numbers.
            low, high = max(gaps), min(gaps) + by - 1
            if low > high:
                continue
            near = _nearby(sizes, base.symbols(), probe, 2 * by)
            for world, number in near:
                gap = number * by - factor * base.value(world)
                low, high = max(low, gap), min(high, gap + by - 1)
                if low > high:
                    break
            if low <= high:
                whole = low // by
                return (base * factor + (low - whole * by)) // by + whole
    return None


def _sum(sizes: Sizes, bases: list, numbers: tuple):
    """A sum of multiples of several, by elimination."""
    count = len(bases)
    if count + 2 > len(sizes.worlds):
        bases = bases[: len(sizes.worlds) - 2]
        count = len(bases)
    rows = [
        [Fraction(v) for v in (*column, 1)]
        for column in zip(*(sizes.values(b) for b in bases))
    ]
    factors = _solved(rows, [Fraction(n) for n in numbers])
    if factors is None or any(f.denominator != 1 for f in factors):
        return None
    total = Expression.of(int(factors[count]))
    for base, factor in zip(bases, factors):
        total = total + base * int(factor)
    return total


def _solved(rows: list, wanted: list) -> list | None:
    """The solution of more equations than unknowns; None if there is none."""
    table = [[*row, n] for row, n in zip(rows, wanted)]
    width = len(rows[0])
    place = 0
    pivots = []
    for column in range(width):
        found = next((r for r in table[place:] if r[column]), None)
        if found is None:
            continue
        at = next(i for i, r in enumerate(table) if r is found)
        table[place], table[at] = table[at], table[place]
        pivot = table[place]
        table[place] = pivot = [x / pivot[column] for x in pivot]
        for i, row in enumerate(table):
            if i != place and row[column]:
                factor = row[column]
                table[i] = [x - factor * y for x, y in zip(row, pivot)]
        pivots.append(column)
        place += 1
    if any(row[width] for row in table[place:]):
        return None
    answer = [Fraction(0)] * width
    for row, column in zip(table, pivots):
        answer[column] = row[width]
    return answer


def strides_of(sizes: Sizes, shape: tuple, strides: list[tuple]) -> tuple:
    """Strides as expressions, of those in each world.

    They are products of sizes in the order in which the dimensions lie; where
    they are something else, those of a tensor without gaps.
    """
    found: list = [None] * len(shape)
    hints = strides[0]
    order = sorted(range(len(shape)), key=lambda i: (hints[i], -i))
    step = 1
    for place in order:
        numbers = tuple(s[place] for s in strides)
        if all(n == numbers[0] for n in numbers):
            found[place] = numbers[0]
        elif tuple(sizes.values(step)) == numbers:
            found[place] = step
        else:
            fit = fitted(sizes, numbers, [*shape, step])
            if fit is None:
                return _dense(shape)
            found[place] = fit
        step = _multiplied(found[place], shape[place])
    return tuple(found)


def _dense(shape: tuple) -> tuple:
    found: list = []
    step = 1
    for size in reversed(shape):
        found.insert(0, step)
        step = _multiplied(step, size)
    return tuple(found)


def _multiplied(a, b):
    if type(a) is int and type(b) is int:
        return a * b
    return Expression.of(a) * b
