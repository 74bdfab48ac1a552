"""The text of graphs, as TorchScript has it."""

from __future__ import annotations

import enum
import math

from ... import _C
from ..._types import Type
from .._state import _enabled

_ESCAPES = {
    "\\": "\\\\",
    '"': '\\"',
    "\n": "\\n",
    "\t": "\\t",
    "\r": "\\r",
    "\a": "\\a",
    "\b": "\\b",
    "\f": "\\f",
    "\v": "\\v",
}


def graph_text(graph, places: bool | None = None) -> str:
    """A graph; with files and lines of its source unless `places` is False, and
    by default as `_hide_source_ranges` says.
    """
    places = _enabled.shows_places if places is None else places
    params = ",\n      ".join(map(_definition, graph.inputs()))
    lines = [f"graph({params}):"]
    _block_lines(graph.block(), 1, places, lines)
    results = ", ".join(f"%{v.debugName()}" for v in graph.outputs())
    return "\n".join([*lines, f"  return ({results})", ""])


def node_text(node) -> str:
    """A node, with the blocks inside."""
    if node._gone:
        raise RuntimeError(
            f"a node of kind '{node.kind()}' has been invalidated: a pass has taken "
            "it out of its graph"
        )
    lines: list[str] = []
    _node_lines(node, 0, True, lines)
    return "\n".join([*lines, ""])


def _definition(value) -> str:
    return f"%{value.debugName()} : {value.type().str()}"


def _block_lines(block, depth: int, places: bool, lines: list[str]) -> None:
    for node in block.nodes():
        _node_lines(node, depth, places, lines)


def _node_lines(node, depth: int, places: bool, lines: list[str]) -> None:
    indent = "  " * depth
    outputs = ", ".join(map(_definition, node.outputs()))
    inputs = ", ".join(f"%{v.debugName()}" for v in node.inputs())
    line = f"{indent}{outputs} = {node.kind()}{_attributes(node)}({inputs})"
    if places and node._place and node._place[0]:
        file, number, column, _ = node._place
        line += f" # {file}:{number}:{column}"
    lines.append(line)
    for i, block in enumerate(node.blocks()):
        params = ", ".join(map(_definition, block.inputs()))
        lines.append(f"{indent}  block{i}({params}):")
        _block_lines(block, depth + 2, places, lines)
        gives = ", ".join(f"%{v.debugName()}" for v in block.outputs())
        lines.append(f"{indent}    -> ({gives})")


def _attributes(node) -> str:
    def shown(value) -> str:
        if isinstance(value, enum.Enum):  # by the class's name in the program
            return f"{node.output().type().annotation_str}.{value.name}"
        return value_text(value)

    parts = [f"{name}={shown(node.value(name))}" for name in node.attributeNames()]
    return f"[{', '.join(parts)}]" if parts else ""


def value_text(value) -> str:
    """An attribute's value."""
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return _float_text(value)
    if isinstance(value, complex):
        real, imag = _float_text(value.real), _float_text(value.imag)
        return f"{real}{'' if imag.startswith('-') else '+'}{imag}j"
    if isinstance(value, (str, _C.device)):
        return f'"{"".join(_ESCAPES.get(c, c) for c in str(value))}"'
    if isinstance(value, _C.Tensor):
        return _tensor_text(value)
    if isinstance(value, (list, tuple)):
        opening, closing = "[]" if isinstance(value, list) else "()"
        items = ", ".join(map(_item_text, value))
        return f"{opening}{items}{closing}"
    if isinstance(value, dict):
        pairs = (f"{_item_text(k)}: {_item_text(v)}" for k, v in value.items())
        return f"{{{', '.join(pairs)}}}"
    if isinstance(value, Type):
        return value.str()
    if isinstance(value, enum.Enum):
        return f"{value.__class__.__qualname__}.{value.name}"
    if value is None:
        return "None"
    return f"<{type(value).__name__}>"


def _item_text(value) -> str:
    return str(value) if isinstance(value, bool) else value_text(value)


def _float_text(value: float) -> str:
    if not math.isfinite(value):
        return str(value)
    text = f"{value:.17g}"
    return text if "." in text or "e" in text else f"{text}."


def _tensor_text(value) -> str:
    if value.numel() != 1 or value.is_meta or value.is_complex():
        return "<Tensor>"
    item = value.item()
    text = value_text(int(item) if isinstance(item, bool) else item)
    return f"{{{text.rstrip('.')}}}"
