"""Questions of a program about its inputs, as Python."""

from __future__ import annotations

import math

from ..fx import Node
from ._expressions import Expression, Symbol
from .graph_signature import ConstantArgument, InputKind

__all__ = ["check", "guards_code", "input_guards"]


def guards_code(sizes) -> list[str]:
    """The conditions that the trace learned, of sizes by their sources."""
    places = {name: group.members[0].source for name, group in sizes.by_name.items()}
    found = []
    for name, group in sizes.by_name.items():
        if group.low > 2 and not group.root:
            found.append(f"{places[name]} >= {int(group.low)}")
    for difference, op in sizes.guards:
        found.append(f"{_python(difference, places)} {op} 0")
    return found


def _python(e: Expression, places: dict) -> str:
    parts = []
    for factors, count in e._sorted():
        text = [str(count)]
        for atom, power in factors:
            if isinstance(atom, Symbol):
                one = places[atom.name]
            else:
                sign = "%" if atom.rest else "//"
                base, by = _python(atom.base, places), _python(atom.by, places)
                one = f"({base} {sign} {by})"
            text += [one] * power
        parts.append(" * ".join(text))
    return f"({' + '.join(parts) or '0'})"


class _Guard:
    """A condition; `text` is what PyTorch calls it."""

    def __init__(self, text: str, holds) -> None:
        self.text, self.holds = text, holds


def input_guards(program) -> list[_Guard]:
    """The conditions on the leaves of the arguments, in order."""
    sizes = program._trace_sizes
    specs = [
        spec
        for spec in program.graph_signature.input_specs
        if spec.kind is InputKind.USER_INPUT
    ]
    nodes = {n.name: n for n in program.graph.nodes if n.op == "placeholder"}
    found: list[_Guard] = []
    first: dict[str, tuple] = {}
    late: list[_Guard] = []
    for place, spec in enumerate(specs):
        name = spec.arg.name
        shown = _shown(program._sources.get(name, name))
        if isinstance(spec.arg, ConstantArgument):
            value = spec.arg.value
            if value is not None:
                found.append(_constant(shown, place, value))
            continue
        node: Node = nodes[name]
        for dim, size in enumerate(node.meta["facts"].shape):
            where = f"{shown}.size()[{dim}]"
            if not isinstance(size, Expression):
                text = f"{where} == {size}"
                found.append(_Guard(text, _equal(place, dim, size)))
            elif size.symbol is None:
                late.append(
                    _Guard(f"{where} == {size}", _follows(place, dim, size, first))
                )
            elif size.symbol in first:
                other = first[size.symbol]
                text = f"{where} == {other[2]}"
                found.append(_Guard(text, _same(place, dim, *other[:2])))
            else:
                first[size.symbol] = (place, dim, where)
                found += _bounds(sizes, size.symbol, place, dim, where)
    found += late
    for difference, op in sizes.guards:
        if difference.symbols() <= set(first):
            found.append(_relation(difference, op, first))
    return found


def _shown(source: str) -> str:
    """`L['x']['a']` is `x['a']`."""
    if source.startswith("L['"):
        name, _, rest = source[3:].partition("']")
        return name + rest
    return source


def _constant(name: str, place: int, value) -> _Guard:
    def holds(leaves) -> bool:
        given = leaves[place]
        return type(given) is type(value) and given == value

    return _Guard(f"{name} == {value!r}", holds)


def _equal(place: int, dim: int, size: int):
    return lambda leaves: leaves[place].size()[dim] == size


def _same(place: int, dim: int, other: int, other_dim: int):
    return lambda leaves: leaves[place].size()[dim] == leaves[other].size()[other_dim]


def _values(leaves, first: dict, names) -> dict:
    return {name: leaves[first[name][0]].size()[first[name][1]] for name in names}


def _follows(place: int, dim: int, size: Expression, first: dict):
    def holds(leaves) -> bool:
        names = size.symbols()
        if not names <= set(first):
            return True
        expected = size.value(_values(leaves, first, names))
        return leaves[place].size()[dim] == expected

    return holds


def _bounds(sizes, symbol: str, place: int, dim: int, where: str) -> list:
    low, high = sizes.range_of(symbol)
    found = []
    if low > 2:
        found.append(
            _Guard(
                f"{where} >= {int(low)}",
                lambda leaves: leaves[place].size()[dim] >= low,
            )
        )
    if high != math.inf:
        found.append(
            _Guard(
                f"{where} <= {int(high)}",
                lambda leaves: leaves[place].size()[dim] <= high,
            )
        )
    return found


def _relation(difference: Expression, op: str, first: dict) -> _Guard:
    from ._sizes import _TRUE

    places = {name: first[name][2] for name in difference.symbols()}

    def holds(leaves) -> bool:
        values = _values(leaves, first, difference.symbols())
        return _TRUE[op](difference.value(values))

    return _Guard(f"{_python(difference, places)} {op} 0", holds)


def check(guards: list, leaves: list) -> None:
    """AssertionError that names the first condition that does not hold."""
    for guard in guards:
        if not guard.holds(leaves):
            raise AssertionError(f"Guard failed: {guard.text}")
