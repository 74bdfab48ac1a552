"""Stand-ins for sizes, and for numbers that are computed of them."""

from __future__ import annotations

import math
import operator

from .._dispatch.calls import stand_ins
from ._expressions import Expression

__all__ = ["SymbolicFloat", "SymbolicInt", "symbolic"]


def symbolic(trace, value):
    """A size as the program sees it: a number, or a stand-in."""
    if isinstance(value, Expression):
        number = value.number
        return SymbolicInt(trace, value) if number is None else number
    return value


class SymbolicInt:
    """A size. Arithmetic stays symbolic; a comparison is decided for all
    sizes, or learned; a use as a number makes it one.
    """

    __slots__ = ("expression", "trace")

    def __init__(self, trace, expression: Expression) -> None:
        self.trace, self.expression = trace, expression

    @property
    def __class__(self):
        return int

    @property
    def hint(self) -> int:
        """Its number in the example."""
        return self.trace.sizes.hint(self.expression)

    def values(self) -> list[int]:
        """Its numbers in all worlds."""
        return self.trace.sizes.values(self.expression)

    def _number(self) -> int:
        return self.trace.specialized(self.expression)

    __index__ = __int__ = _number

    def __float__(self) -> float:
        return float(self._number())

    def __hash__(self) -> int:
        return hash(self._number())

    def __bool__(self) -> bool:
        return self != 0

    def __repr__(self) -> str:
        return str(self.expression)

    def __format__(self, spec: str) -> str:
        return format(self._number(), spec) if spec else repr(self)

    def __neg__(self):
        return symbolic(self.trace, -self.expression)

    def __pos__(self):
        return self

    def __abs__(self):
        return self if self >= 0 else -self

    def __trunc__(self):
        return self

    __floor__ = __ceil__ = __trunc__

    def __round__(self, digits=None):
        return self

    def bit_length(self) -> int:
        """Bit length of the number that it is then."""
        return self._number().bit_length()

    def is_integer(self) -> bool:
        """Yes."""
        return True

    def __pow__(self, other):
        if type(other) is int and other >= 0:
            return symbolic(self.trace, self.expression**other)
        return _floats(operator.pow)(self, other)

    def __rpow__(self, other):
        return other ** self._number()

    def __divmod__(self, other):
        return self // other, self % other

    def __lshift__(self, other):
        return self._number() << other

    def __rshift__(self, other):
        return self._number() >> other

    def __and__(self, other):
        return self._number() & other


def _expression(value):
    if isinstance(value, Expression):
        return value
    if type(value) is SymbolicInt:
        return value.expression
    if type(value) in (int, bool):
        return Expression.of(value)
    return None


def _whole(function, reflected: bool):
    def method(self, other):
        given = _expression(other)
        if given is None:
            if isinstance(other, float):
                return _floats(function, reflected)(self, other)
            return NotImplemented
        a, b = self.expression, given
        if reflected:
            a, b = b, a
        if function in (operator.floordiv, operator.mod) and b.number == 0:
            raise ZeroDivisionError("integer division or modulo by zero")
        return symbolic(self.trace, function(a, b))

    return method


def _compared(op: str):
    def method(self, other):
        given = _expression(other)
        if given is None:
            if isinstance(other, float):
                if other.is_integer():
                    given = Expression.of(int(other))
                elif op in ("==", "!="):
                    return op == "!="
                elif math.isinf(other):
                    return (other > 0) == (op in ("<", "<="))
                else:  # x < 2.5 is x <= 2, and x > 2.5 is x >= 3
                    below = op in ("<", "<=")
                    bound = math.floor(other) if below else math.ceil(other)
                    sign = "<=" if below else ">="
                    difference = self.expression - bound
                    return self.trace.holds(difference, sign)
            else:
                return NotImplemented
        return self.trace.holds(self.expression - given, op)

    return method


def _floats(function, reflected: bool = False):
    def method(self, other):
        if not isinstance(other, (int, float)):
            return NotImplemented
        a, b = (other, self) if reflected else (self, other)
        return SymbolicFloat(self.trace, function, (a, b))

    return method


class SymbolicFloat:
    """Float that was computed of sizes: a function and its arguments."""

    __slots__ = ("args", "function", "trace")

    def __init__(self, trace, function, args: tuple) -> None:
        self.trace, self.function, self.args = trace, function, args

    @property
    def __class__(self):
        return float

    def values(self) -> list[float]:
        """Its numbers in all worlds."""
        count = len(self.trace.sizes.worlds)
        rows = [
            a.values() if type(a) in (SymbolicInt, SymbolicFloat) else [a] * count
            for a in self.args
        ]
        return [self.function(*row) for row in zip(*rows)]

    @property
    def hint(self) -> float:
        """Its number in the example."""
        return self.values()[0]

    def symbols(self) -> set[str]:
        """The names in it."""
        found: set = set()
        for arg in self.args:
            if type(arg) is SymbolicInt:
                found |= arg.expression.symbols()
            elif type(arg) is SymbolicFloat:
                found |= arg.symbols()
        return found

    def _number(self) -> float:
        numbers = self.values()
        if any(n != numbers[0] for n in numbers):
            self.trace.specialize(self.symbols())
        return numbers[0]

    __float__ = _number

    def __int__(self) -> int:
        numbers = [int(n) for n in self.values()]
        if any(n != numbers[0] for n in numbers):
            self.trace.specialize(self.symbols())
        return numbers[0]

    __trunc__ = __int__

    def __floor__(self) -> int:
        return math.floor(self._number())

    def __ceil__(self) -> int:
        return math.ceil(self._number())

    def __bool__(self) -> bool:
        return self != 0

    def __hash__(self) -> int:
        return hash(self._number())

    def __repr__(self) -> str:
        return repr(self.hint)

    def __neg__(self):
        return self * -1

    def is_integer(self) -> bool:
        """True if it is whole, whatever the sizes."""
        return self._number().is_integer()


def _float_compared(function):
    def method(self, other):
        others = (
            other.values()
            if type(other) in (SymbolicInt, SymbolicFloat)
            else [other] * len(self.trace.sizes.worlds)
        )
        answers = [function(a, b) for a, b in zip(self.values(), others)]
        if any(x != answers[0] for x in answers):
            self.trace.specialize(self.symbols())
        return answers[0]

    return method


for _name in ("add", "sub", "mul", "floordiv", "mod"):
    _function = getattr(operator, _name)
    setattr(SymbolicInt, f"__{_name}__", _whole(_function, False))
    setattr(SymbolicInt, f"__r{_name}__", _whole(_function, True))
for _name in ("add", "sub", "mul", "truediv", "pow"):
    _function = getattr(operator, _name)
    setattr(SymbolicFloat, f"__{_name}__", _floats(_function))
    setattr(SymbolicFloat, f"__r{_name}__", _floats(_function, True))
SymbolicInt.__truediv__ = _floats(operator.truediv)
SymbolicInt.__rtruediv__ = _floats(operator.truediv, True)
for _name, _op in (
    ("eq", "=="),
    ("ne", "!="),
    ("lt", "<"),
    ("le", "<="),
    ("gt", ">"),
    ("ge", ">="),
):
    setattr(SymbolicInt, f"__{_name}__", _compared(_op))
    _function = _float_compared(getattr(operator, _name))
    setattr(SymbolicFloat, f"__{_name}__", _function)
stand_ins |= {SymbolicFloat, SymbolicInt}
