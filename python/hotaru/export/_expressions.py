"""Sizes as expressions of symbols: sums of products with whole coefficients.

An expression is canonical: two that are equal as polynomials of the same
symbols and quotients are equal objects. `str` and `spelled` write them as
SymPy does.
"""

from __future__ import annotations

import dataclasses
import functools

__all__ = ["Atom", "Expression", "Quotient", "Symbol", "number_or"]


@dataclasses.dataclass(frozen=True)
class Symbol:
    """A size of an input that varies, by its name."""

    name: str

    def value(self, sizes: dict) -> int:
        """Its size."""
        return sizes[self.name]

    def symbols(self) -> set[str]:
        """Itself."""
        return {self.name}

    def __str__(self) -> str:
        return self.name

    def inside(self) -> str:
        """As a part of a sum or product."""
        return self.name

    def spelled(self) -> str:
        """As a constructor's call."""
        return f"Symbol('{self.name}', positive=True, integer=True)"


@dataclasses.dataclass(frozen=True)
class Quotient:
    """`base // by`, or with `rest` the remainder `base % by`."""

    base: Expression
    by: Expression
    rest: bool = False

    def value(self, sizes: dict) -> int:
        """The number for such sizes."""
        a, b = self.base.value(sizes), self.by.value(sizes)
        return a % b if self.rest else a // b

    def symbols(self) -> set[str]:
        """The names in it."""
        return self.base.symbols() | self.by.symbols()

    def __str__(self) -> str:
        if self.rest:
            return f"(Mod({self.base}, {self.by}))"
        return f"({self.base.inside()}//{self.by.inside()})"

    def inside(self) -> str:
        """As a part of a sum or product."""
        return str(self) if self.rest else f"({self})"

    def spelled(self) -> str:
        """As a constructor's call."""
        name = "Mod" if self.rest else "FloorDiv"
        return f"{name}({self.base.spelled()}, {self.by.spelled()})"


Atom = Symbol | Quotient


class Expression:
    """A polynomial: coefficients by products, which are sorted tuples of pairs
    of atom and power.
    """

    __slots__ = ("_hash", "terms")

    def __init__(self, terms: dict) -> None:
        self.terms = {k: c for k, c in terms.items() if c}
        self._hash = hash(frozenset(self.terms.items()))

    @staticmethod
    def of(value) -> Expression:
        """Makes one of a number, an atom or an expression."""
        if isinstance(value, Expression):
            return value
        if isinstance(value, (Symbol, Quotient)):
            return Expression({((value, 1),): 1})
        return Expression({(): int(value)})

    def __eq__(self, other) -> bool:
        return isinstance(other, Expression) and self.terms == other.terms

    def __hash__(self) -> int:
        return self._hash

    @property
    def number(self) -> int | None:
        """The number that it is, whatever the sizes; else None."""
        if not self.terms:
            return 0
        if len(self.terms) == 1 and () in self.terms:
            return self.terms[()]
        return None

    @property
    def symbol(self) -> str | None:
        """The name of the symbol that it is; else None."""
        if len(self.terms) != 1:
            return None
        ((factors, count),) = self.terms.items()
        alone = count == 1 and len(factors) == 1 and factors[0][1] == 1
        atom = factors[0][0] if alone else None
        return atom.name if isinstance(atom, Symbol) else None

    def symbols(self) -> set[str]:
        """The names in it."""
        return {n for key in self.terms for a, _ in key for n in a.symbols()}

    def value(self, sizes: dict) -> int:
        """The number for such sizes by name."""
        total = 0
        for factors, count in self.terms.items():
            for atom, power in factors:
                count *= atom.value(sizes) ** power
            total += count
        return total

    def renamed(self, names: dict) -> Expression:
        """With expressions in place of symbols."""
        total = Expression({})
        for factors, count in self.terms.items():
            product = Expression.of(count)
            for atom, power in factors:
                product = product * _renamed(atom, names) ** power
            total = total + product
        return total

    # --- arithmetic ---

    def __add__(self, other) -> Expression:
        terms = dict(self.terms)
        for key, count in Expression.of(other).terms.items():
            terms[key] = terms.get(key, 0) + count
        return Expression(terms)

    def __neg__(self) -> Expression:
        return Expression({key: -count for key, count in self.terms.items()})

    def __sub__(self, other) -> Expression:
        return self + -Expression.of(other)

    def __mul__(self, other) -> Expression:
        terms: dict = {}
        for a, m in self.terms.items():
            for b, n in Expression.of(other).terms.items():
                key = _product(a, b)
                terms[key] = terms.get(key, 0) + m * n
        return Expression(terms)

    def __pow__(self, power: int) -> Expression:
        result = Expression.of(1)
        for _ in range(power):
            result = result * self
        return result

    def __floordiv__(self, other) -> Expression:
        by = Expression.of(other)
        whole, rest = self._divided(by)
        if not rest.terms:
            return whole
        if by.number is not None and whole.terms:  # (4*a + b)//4 is a + b//4
            return whole + rest // by
        if self.number is not None and by.number is not None:
            return Expression.of(self.number // by.number)
        return Expression.of(Quotient(self, by))

    def __mod__(self, other) -> Expression:
        by = Expression.of(other)
        _, rest = self._divided(by)
        if not rest.terms:
            return rest
        if by.number is None:
            rest = self
        if rest.number is not None and by.number is not None:
            return Expression.of(rest.number % by.number)
        return Expression.of(Quotient(rest, by, True))

    def _divided(self, by: Expression) -> tuple[Expression, Expression]:
        """The terms that are multiples of `by`, divided, and the others.

        `by` has one term, or divides the whole by a number.
        """
        if len(by.terms) != 1:
            whole = self._multiple(by)
            if whole is None:
                return Expression({}), self
            return whole, Expression({})
        ((factors, count),) = by.terms.items()
        whole, rest = {}, {}
        for key, n in self.terms.items():
            left = _without(key, factors)
            if left is None or n % count:
                rest[key] = n
            else:
                whole[left] = n // count
        return Expression(whole), Expression(rest)

    def _multiple(self, by: Expression) -> Expression | None:
        """The quotient of two sums, one of which is a product of the other."""
        for key, n in self.terms.items():
            for factors, count in by.terms.items():
                left = _without(key, factors)
                if left is None or n % count:
                    continue
                guess = Expression({left: n // count})
                if guess * by == self:
                    return guess
        return None

    # --- text ---

    def _sorted(self) -> list:
        def order(item):
            factors, _ = item
            degree = sum(power for _, power in factors)
            parts = [(isinstance(a, Quotient), str(a), -power) for a, power in factors]
            return -degree, parts

        return sorted(self.terms.items(), key=order)

    def __str__(self) -> str:
        if not self.terms:
            return "0"
        text = ""
        alone = len(self.terms) == 1
        for factors, count in self._sorted():
            size = abs(count)
            parts = [str(size)] if size != 1 or not factors else []
            single = alone and not parts and len(factors) == 1
            for atom, power in factors:
                shown = str(atom) if single and power == 1 else atom.inside()
                parts.append(shown if power == 1 else f"{shown}**{power}")
            sign = "-" if count < 0 else "+"
            if text:
                text += f" {sign} "
            elif count < 0:
                text += sign
            text += "*".join(parts)
        return text

    __repr__ = __str__

    def inside(self) -> str:
        """As a part of a quotient."""
        if self.symbol or (self.number is not None and self.number >= 0):
            return str(self)
        return f"({self})"

    def spelled(self) -> str:
        """As constructors' calls, which files have."""
        parts = []
        for factors, count in self._sorted():
            inner = [] if count == 1 and factors else [f"Integer({count})"]
            for atom, power in factors:
                shown = atom.spelled()
                if power != 1:
                    shown = f"Pow({shown}, Integer({power}))"
                inner.append(shown)
            parts.append(inner[0] if len(inner) == 1 else f"Mul({', '.join(inner)})")
        if not parts:
            return "Integer(0)"
        return parts[0] if len(parts) == 1 else f"Add({', '.join(parts)})"


def number_or(value):
    """An expression that is a number as that number."""
    if not isinstance(value, Expression) or value.number is None:
        return value
    return value.number


def _renamed(atom: Atom, names: dict) -> Expression:
    if isinstance(atom, Symbol):
        return Expression.of(names.get(atom.name, atom))
    base, by = atom.base.renamed(names), atom.by.renamed(names)
    return base % by if atom.rest else base // by


@functools.lru_cache(4096)
def _product(a: tuple, b: tuple) -> tuple:
    powers = dict(a)
    for atom, power in b:
        powers[atom] = powers.get(atom, 0) + power
    return tuple(sorted(powers.items(), key=lambda item: str(item[0])))


def _without(key: tuple, factors: tuple) -> tuple | None:
    """The product without those factors; None if it lacks one."""
    powers = dict(key)
    for atom, power in factors:
        left = powers.get(atom, 0) - power
        if left < 0:
            return None
        powers[atom] = left
    return tuple((atom, power) for atom, power in powers.items() if power)
