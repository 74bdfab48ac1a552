"""Sizes that vary, and what is known of them while a program is traced.

Beside the example's sizes there are a few other assignments of sizes, the
worlds. Each operator's shapes are computed in all of them: what is equal in all
is a number, what is not is an expression that gives the right number in all.
Where the program asks for more than it was told (equal sizes, a bound, a
number), that is learned, and the trace begins again; a named dimension that
cannot be as it was promised is an error.
"""

from __future__ import annotations

import contextlib
import itertools
import math
import random

from ._errors import ConstraintViolationError, Restart, UserError
from ._expressions import Expression, Symbol
from .dynamic_shapes import Dim, _DerivedDim

__all__ = ["Sizes"]

# A size that varies is at least this while tracing, as in PyTorch: programs
# treat 0 and 1 (which broadcast) otherwise.
_LEAST = 2
_ATTEMPTS = 4000
_FEWEST = 3
_TRUE = {
    "==": lambda d: d == 0,
    "!=": lambda d: d != 0,
    "<": lambda d: d < 0,
    "<=": lambda d: d <= 0,
    ">": lambda d: d > 0,
    ">=": lambda d: d >= 0,
}
_NOT = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}


class _Variable:
    """A dimension of an input that varies."""

    def __init__(self, source: str, dim, size: int) -> None:
        self.source = source  # "L['x'].size()[0]"
        self.dim = dim
        self.size = size
        self.named = isinstance(dim, Dim)
        self.may_be_static = not self.named and dim.kind == "AUTO"

    @property
    def name(self) -> str:
        """As messages call it."""
        return self.dim.__name__ if self.named else self.source


class _Group:
    """Dimensions that have the same size, or follow from one."""

    def __init__(self, hint: int, low: float, high: float) -> None:
        self.members: list[_Variable] = []
        self.hint, self.low, self.high = hint, low, high
        self.root: Dim | None = None
        self.static = False
        # Operators fail below this; it is no bound of the program's.
        self.least = _LEAST

    @property
    def name(self) -> str:
        """The symbol's: PyTorch's own, which follows from where it is."""
        import hashlib

        digest = hashlib.sha256(self.members[-1].source.encode()).hexdigest()
        return f"s{int(digest, 16) % 100}"


class Sizes:
    """Symbols with their bounds, worlds and guards."""

    def __init__(self) -> None:
        self.groups: list[_Group] = []
        self.guards: list[tuple[Expression, str]] = []
        self.worlds: list[dict] = []
        self.expressions: dict[tuple, Expression] = {}
        #: Called with each condition that is learned, and the names in it.
        self.learned = None

    # --- variables ---

    def add(self, source: str, dim, size: int) -> None:
        """A dimension that varies, and its size in the example."""
        variable = _Variable(source, dim, size)
        group = self._group_for(variable)
        group.members.append(variable)

    def _group_for(self, variable: _Variable) -> _Group:
        dim, size = variable.dim, variable.size
        root, factor, offset = dim, 1, 0
        if isinstance(dim, _DerivedDim):
            root, factor, offset = dim.root, dim.factor, dim.offset
        if (size - offset) % factor:
            raise UserError(
                f"Expected input {variable.source} = {size} to be of the form "
                f"{dim.__name__}, where {root.__name__} is an integer"
            )
        hint = (size - offset) // factor
        for group in self.groups:
            if variable.named and _same(group.root, root):
                if group.hint != hint:
                    first = group.members[0]
                    raise UserError(
                        f"Constraints violated ({root.__name__})! For more "
                        'information, run with TORCH_LOGS="+dynamic".\n'
                        f"  - The values of {variable.name} = "
                        f"{variable.source} and {first.name} = {first.source} "
                        f"must always be equal, but they are {size} and "
                        f"{first.size}."
                    )
                return group
        least = _LEAST if not variable.named else 0
        low = least if root.min is None else root.min
        high = math.inf if root.max is None else root.max
        group = _Group(hint, low, high)
        group.root = root if variable.named else None
        self.groups.append(group)
        if size in (0, 1):
            self._static(group, variable)
        elif not low <= hint <= high:
            raise UserError(
                f"Constraints violated ({variable.name})! For more information,"
                ' run with TORCH_LOGS="+dynamic".\n  - Not all values of '
                f"{variable.name} = {variable.source} in the specified range "
                f"are valid: the example has {size}, which is outside of "
                f"[{low}, {high}]."
            )
        return group

    def begin(self) -> None:
        """Chooses the worlds of a trace, after all variables were added."""
        self.expressions = {}
        self.by_name: dict[str, _Group] = {}
        for group in self._varying():
            name = group.name
            while name in self.by_name:  # PyTorch, too, takes the next
                name = f"s{int(name[1:]) + 1}"
            self.by_name[name] = group
        hints = {name: g.hint for name, g in self.by_name.items()}
        self.worlds = [hints]
        if not hints:
            return
        chance = random.Random(len(hints))
        wanted = len(hints) + 4
        for attempt in range(_ATTEMPTS):
            if len(self.worlds) == wanted:
                break
            world = {
                name: self._chosen(group, chance, attempt)
                for name, group in self.by_name.items()
            }
            if self._fits(world) and world not in self.worlds:
                self.worlds.append(world)
        if len(self.worlds) < _FEWEST and self.guards:
            self._give_up()

    def _give_up(self) -> None:
        """Too few sizes meet the conditions: those in equations are fixed."""
        some = [d for d, op in self.guards if op == "=="]
        names = set().union(*(d.symbols() for d in some or [self.guards[0][0]]))
        with contextlib.suppress(Restart):
            self.specialize(sorted(names & set(self.by_name)))
        self.begin()

    def _varying(self) -> list[_Group]:
        return [g for g in self.groups if not g.static and g.members]

    def _chosen(self, group: _Group, chance, attempt: int) -> int:
        low = int(max(group.low, group.least))
        wide = 300 if attempt < _ATTEMPTS // 2 else 30
        high = int(min(group.high, low + wide))
        chosen = chance.randint(low, max(low, high))
        # Worlds differ in their remainders, which roundings show.
        other = chosen - (chosen - len(self.worlds)) % 4
        return other if attempt % 2 == 0 and other >= low else chosen

    def _fits(self, world: dict) -> bool:
        return all(_TRUE[op](d.value(world)) for d, op in self.guards)

    def expression(self, source: str):
        """Expression of the size of an input's dimension; None if fixed."""
        for name, group in self.by_name.items():
            for variable in group.members:
                if variable.source == source:
                    found = Expression.of(Symbol(name))
                    if isinstance(variable.dim, _DerivedDim):
                        dim = variable.dim
                        found = found * dim.factor + dim.offset
                    return found
        return None

    def values(self, value) -> list[int]:
        """An expression's number in each world."""
        if isinstance(value, Expression):
            return [value.value(world) for world in self.worlds]
        return [value] * len(self.worlds)

    def hint(self, value) -> int:
        """Its number for the example."""
        if isinstance(value, Expression):
            return value.value(self.worlds[0])
        return value

    def range_of(self, name: str) -> tuple:
        """The bounds of a symbol."""
        group = self.by_name[name]
        return group.low, group.high

    # --- what is learned ---

    def _static(self, group: _Group, variable: _Variable, where="") -> None:
        if all(v.may_be_static for v in (*group.members, variable)):
            group.static = True
            return
        name = group.root.__name__ if group.root else variable.source
        problem = (
            f"  - You marked {variable.name} as dynamic but your code "
            f"specialized it to be a constant ({variable.size}). If you're "
            "using mark_dynamic, either remove it or use maybe_mark_dynamic. "
            "If you're using Dim.DYNAMIC, replace it with either Dim.STATIC or "
            "Dim.AUTO."
        )
        fixes = [f"{name} = {group.hint}"] if group.root else []
        _violated(name, problem, where, fixes)

    def specialize(self, names, where: str = "") -> None:
        """Makes symbols the example's numbers, and begins again.

        UserError where one was promised to vary.
        """
        for name in names:
            group = self.by_name[name]
            self._tell(f"Eq({name}, {group.hint})", [name])
            fixed = [v for v in group.members if not v.may_be_static]
            self._static(group, (fixed or group.members)[0], where)
        self.guards.clear()  # the next trace finds those that still matter
        raise Restart

    def unite(self, a: str, b: str, where: str = "") -> None:
        """Makes two symbols one, and begins again.

        UserError where they have two names.
        """
        names = sorted((a, b), key=lambda n: self.groups.index(self.by_name[n]))
        self._tell(f"Eq({names[0]}, {names[1]})", names)
        first, second = sorted(
            (self.by_name[a], self.by_name[b]), key=self.groups.index
        )
        if first.root and second.root:
            v, w = second.members[0], first.members[0]
            problem = (
                f"  - The values of {v.name} = {v.source} and {w.name} = "
                f"{w.source} must always be equal."
            )
            _violated(v.name, problem, where, [f"{v.name} = {w.name}"])
        first.members += second.members
        first.root = first.root or second.root
        low, high = max(first.low, second.low), min(first.high, second.high)
        first.low, first.high = low, high
        self.groups.remove(second)
        self.guards.clear()
        raise Restart

    def _bound(self, name: str, low, high, where: str) -> None:
        group = self.by_name[name]
        tighter = low > max(group.low, _LEAST) or high < group.high
        if not tighter:
            return
        if group.root:
            v = group.members[0]
            lower = max(low, group.low, _LEAST)
            guard = f"{lower} <= {v.source}"
            if high != math.inf:
                guard += f" and {v.source} <= {min(high, group.high)}"
            changed = []
            if low > max(group.low, _LEAST):
                changed.append(f"min={low}")
            elif group.low > _LEAST:
                changed.append(f"min={group.low}")
            if min(high, group.high) != math.inf:
                changed.append(f"max={min(high, group.high)}")
            problem = (
                f"  - Not all values of {v.name} = {v.source} in the specified "
                f"range satisfy the generated guard {guard}"
            )
            shown = ", ".join([f"'{v.name}'", *changed])
            _violated(v.name, problem, where, [f"{v.name} = Dim({shown})"])
        group.low, group.high = max(low, group.low), min(high, group.high)
        if group.low == group.high:
            self.specialize([name], where)
        if any(not group.low <= w[name] <= group.high for w in self.worlds):
            raise Restart

    # --- questions ---

    def holds(self, difference: Expression, op: str, where: str) -> bool:
        """Tells whether `difference op 0`, for all sizes or, as is then
        remembered, for the example's.
        """
        low, high = self._interval(difference)
        if low == high:
            return _TRUE[op](low)
        known = _known(low, high, op)
        if known is not None:
            return known
        for guard, sign in self.guards:
            if guard == difference and sign in (op, _NOT[op]):
                return sign == op
        truth = _TRUE[op](difference.value(self.worlds[0]))
        self._require(difference, op if truth else _NOT[op], where)
        return truth

    def _require(self, d: Expression, op: str, where: str) -> None:
        linear = _linear(d)
        names = sorted(d.symbols())
        self._tell(_condition(d, op), names)
        if op == "==":
            if linear and len(linear[0]) == 2 and linear[1] == 0:
                (a, m), (b, n) = linear[0].items()
                if m == -n:
                    self.unite(a, b, where)
            if linear:
                self.specialize(names, where)
        if linear and len(linear[0]) == 1 and op not in ("==", "!="):
            ((name, factor),) = linear[0].items()
            self._bound(name, *_bounds(factor, linear[1], op), where)
            return
        self._refuse_named(d, op, names, where)
        self.guards.append((d, op))
        if not all(map(self._fits, self.worlds)):
            raise Restart

    def _tell(self, condition: str, names) -> None:
        if self.learned is not None:
            self.learned(condition, names)

    def _refuse_named(self, d, op: str, names: list, where: str) -> None:
        """Named dimensions have no conditions but bounds."""
        if op == "!=":
            return
        for name in names:
            group = self.by_name[name]
            if group.root:
                v = group.members[0]
                _violated(
                    v.name,
                    f"  - Not all values of {v.name} = {v.source} in the "
                    f"specified range satisfy the generated guard {d} {op} 0",
                    where,
                    [],
                )

    def _interval(self, e: Expression) -> tuple:
        low = high = 0
        for factors, count in e.terms.items():
            a, b = count, count
            for atom, power in factors:
                for _ in range(power):
                    c, d = self._interval_of(atom)
                    ends = [_times(x, y) for x in (a, b) for y in (c, d)]
                    a, b = min(ends), max(ends)
            low, high = low + a, high + b
        return low, high

    def _interval_of(self, atom) -> tuple:
        if isinstance(atom, Symbol):
            low, high = self.range_of(atom.name)
            return max(low, _LEAST), high
        by = self._interval(atom.by)
        base = self._interval(atom.base)
        if by[0] <= 0:
            return -math.inf, math.inf
        if atom.rest:
            return 0, by[1] - 1
        ends = [
            x if abs(x) == math.inf else (0 if y == math.inf else x // y)
            for x in base
            for y in by
        ]
        return min(ends), max(ends)

    # --- expressions for sizes that an operator gave ---

    def conflict(self, names, works, error: Exception, world: dict, where: str):
        """Learns from an operator that failed in another world.

        Args:
            names: the symbols in its arguments.
            works: whether it works for such sizes by name.
            world: where it failed.
        """
        names = sorted(names)
        hints = self.worlds[0]
        self._try_larger(names, works, world)
        pairs = [
            (a, b) for a, b in itertools.combinations(names, 2) if hints[a] == hints[b]
        ]
        for a, b in pairs:
            if works({**world, b: world[a]}):
                self.unite(a, b, where)
        for count in (1, 2):
            for some in itertools.combinations(names, count):
                if works({**world, **{n: hints[n] for n in some}}):
                    self.specialize(some, where)
        if not names:
            raise error
        for a, b in pairs:
            self.unite(a, b, where)
        self.specialize(names, where)

    def _try_larger(self, names: list, works, world: dict) -> None:
        """Windows need sizes that are not too small: finds how small."""
        for name in names:
            group = self.by_name[name]
            large = min(max(world[name], group.hint) + 211, group.high)
            if not works({**world, name: large}):
                continue
            low, high = world[name], large  # fails, works
            while high - low > 1:
                middle = int(low + high) // 2
                if works({**world, name: middle}):
                    high = middle
                else:
                    low = middle
            # One size that happens to fit (a multiple, say) is no bound.
            others = [min(high + i, group.high) for i in (1, 3, 8, 20)]
            if all(works({**world, name: n}) for n in others):
                group.least = max(group.least, int(high))
                raise Restart


def _violated(name: str, problem: str, where: str, fixes: list) -> None:
    text = (
        f"Constraints violated ({name})! For more information, run with "
        f'TORCH_LOGS="+dynamic".\n{problem}'
    )
    if where:
        text += f"\n    at {where}"
    if fixes:
        text += "\nSuggested fixes:\n  " + "\n  ".join(fixes)
    raise ConstraintViolationError(text)


def _same(a: Dim | None, b: Dim) -> bool:
    return a is not None and a.__name__ == b.__name__


def _times(a, b):
    return 0 if a == 0 or b == 0 else a * b


def _known(low, high, op: str) -> bool | None:
    """Tells whether it holds everywhere or nowhere between two ends."""
    if op in ("==", "!="):
        return (op == "!=") if low > 0 or high < 0 else None
    ends = {_TRUE[op](low), _TRUE[op](high)}
    return ends.pop() if len(ends) == 1 else None


def _condition(d: Expression, op: str) -> str:
    """The text of `d op 0`, with the constant on the right."""
    constant = d.terms.get((), 0)
    left, right = d - constant, str(-constant)
    names = _linear(left)
    if names and sorted(names[0].values()) == [-1, 1] and not constant:
        (a, _), (b, _) = sorted(names[0].items(), key=lambda item: -item[1])
        left, right = a, b
    elif names and list(names[0].values()) == [-1]:
        turned = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
        left, right, op = -left, str(constant), turned.get(op, op)
    if op in ("==", "!="):
        return f"{'Eq' if op == '==' else 'Ne'}({left}, {right})"
    return f"{left} {op} {right}"


def _linear(e: Expression) -> tuple[dict, int] | None:
    """Coefficients by symbols' names, and the constant."""
    factors: dict = {}
    for key, count in e.terms.items():
        if not key:
            continue
        if len(key) != 1 or key[0][1] != 1 or not isinstance(key[0][0], Symbol):
            return None
        factors[key[0][0].name] = count
    return factors, e.terms.get((), 0)


def _bounds(factor: int, constant: int, op: str) -> tuple:
    """The bounds of s from `factor * s + constant op 0`."""
    if op in ("<", ">"):  # of whole numbers
        constant += 1 if op == "<" else -1
        op += "="
    if factor < 0:
        factor, constant = -factor, -constant
        op = "<=" if op == ">=" else ">="
    if op == "<=":
        return -math.inf, -constant // factor
    return -(constant // factor), math.inf
