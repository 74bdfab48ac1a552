"""Draws the layers of the C++ code, as they are, for docs/architecture.md.

The order of the layers is that of layers/native_order.py, their rooms are the
folders, and a dot says that some file of the row's layer includes one of the
column's. Nothing in the picture counts files or lines, so it changes when the
structure does.

    python scripts/draw_layers.py            writes docs/images/layers.svg
    python scripts/draw_layers.py --check    fails where that is not up to date
"""

from __future__ import annotations

import argparse
import sys
from html import escape
from pathlib import Path

from layers.native_order import LAYERS
from layers.native_order import ROOMS as ORDERS
from layers.native_rules import UMBRELLA, Edges, includes
from tracked import tracked

PICTURE = Path("docs/images/layers.svg")
# Folders that stand above all layers.
WAYS_IN = ("cli", "python/bindings", "libtorch")
# Measures, in pixels.
MARGIN, NAME, ROOMS, CELL = 12, 116, 560, 21
LINE, BOX, GAP, LETTER = 20, 17, 5, 6.6
STYLE = (
    "text{font:11px sans-serif;fill:#24292f}"
    ".name{font-weight:bold}.small{font-size:10px}"
    ".row{fill:#f3f6fa;stroke:#c8d1dc}.way{fill:#fbf3e6;stroke:#dcc8a4}"
    ".room{fill:#fff;stroke:#c8d1dc}.dot{fill:#2f6fb0}.line{stroke:#e4e9ef}"
)


def layer_of(path: str) -> str | None:
    """The row to which a file belongs; None for tests and the like."""
    for way in WAYS_IN:
        if path.startswith(way + "/"):
            return way
    if not path.startswith("hotaru/") or path == UMBRELLA:
        return None
    return path.split("/")[1]


def rooms(files: list[str]) -> dict[str, list[str]]:
    """The rooms of each row, in the order of the lint where it has one."""
    found: dict[str, set[str]] = {}
    for name in files:
        layer = layer_of(name)
        if layer is None:
            continue
        inner = name.removeprefix("hotaru/").removeprefix(layer + "/")
        room = inner.split("/")[0] if "/" in inner else ""
        found.setdefault(layer, set()).add(room)
    ordered = {}
    for layer, names in found.items():
        order = ORDERS.get(layer, ())
        first = [name for name in order if name in names]
        rest = sorted(names - set(first))
        ordered[layer] = [name for name in first + rest if name]
    return ordered


def uses(edges: Edges) -> set[tuple[str, str]]:
    """Which row includes files of which other one."""
    found = set()
    for name, targets in edges.items():
        here = layer_of(name)
        for _, target in targets:
            there = layer_of(target)
            if here and there and here != there:
                found.add((here, there))
    return found


def lines_of(names: list[str]) -> list[list[tuple[float, float, str]]]:
    """Places of rooms, as (left, width, name), in lines of boxes."""
    lines: list[list[tuple[float, float, str]]] = [[]]
    left = 0.0
    for name in names:
        width = round(len(name) * LETTER + 10, 1)
        if left + width > ROOMS and lines[-1]:
            lines.append([])
            left = 0.0
        lines[-1].append((left, width, name))
        left = round(left + width + GAP, 1)
    return lines


def draw(files: list[str], edges: Edges) -> str:
    """The picture as SVG; the lowest layer stands at the bottom."""
    held = rooms(files)
    columns = [name for name in LAYERS if name in held]
    ways = [way for way in WAYS_IN if way in held]
    used = uses(edges)
    matrix = MARGIN + NAME + ROOMS + 2 * GAP
    width = matrix + CELL * len(columns) + 3 * MARGIN
    y = MARGIN + 74
    body, bottom = [], y
    for row in [*ways, *reversed(columns)]:
        lines = lines_of(held[row])
        height = LINE * len(lines) + GAP
        kind = "way" if row in ways else "row"
        body.append(
            f'<rect class="{kind}" x="{MARGIN}" y="{y}" '
            f'width="{NAME + ROOMS}" height="{height}" rx="4"/>'
        )
        body.append(text(MARGIN + 8, y + 16, row, "name"))
        for number, line in enumerate(lines):
            top = y + 4 + LINE * number
            for left, wide, name in line:
                x = round(MARGIN + NAME + left, 1)
                body.append(
                    f'<rect class="room" x="{x}" y="{top}" width="{wide}" '
                    f'height="{BOX}" rx="3"/>'
                )
                body.append(text(x + 5, top + 12, name, "small"))
        middle = y + height / 2
        body.append(
            f'<line class="line" x1="{matrix}" x2="{width - 3 * MARGIN}" '
            f'y1="{middle}" y2="{middle}"/>'
        )
        for number, column in enumerate(columns):
            if (row, column) in used:
                x = matrix + CELL * number + CELL / 2
                body.append(f'<circle class="dot" cx="{x}" cy="{middle}" r="4"/>')
        y = bottom = y + height + 3
    head = [
        text(MARGIN, MARGIN + 12, "hotaru's layers, the lowest below", "name"),
        text(
            MARGIN,
            MARGIN + 30,
            "A dot: the layer of the row includes files of the column's.",
        ),
    ]
    for number, column in enumerate(columns):
        x = matrix + CELL * number + CELL / 2 + 4
        head.append(
            f'<text class="small" transform="translate({x},{MARGIN + 68}) '
            f'rotate(-60)">{escape(column)}</text>'
        )
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" '
            f'height="{bottom + MARGIN}" viewBox="0 0 {width} '
            f'{bottom + MARGIN}">',
            f"<style>{STYLE}</style>",
            '<rect width="100%" height="100%" fill="#fff"/>',
            *head,
            *body,
            "</svg>",
            "",
        ]
    )


def text(x: float, y: float, words: str, kind: str = "") -> str:
    """A line of text of a class."""
    named = f' class="{kind}"' if kind else ""
    return f'<text{named} x="{round(x, 1)}" y="{y}">{escape(words)}</text>'


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    files = tracked("*.h", "*.cpp", "*.cu")
    picture = draw(files, includes(files))
    if not options.check:
        PICTURE.write_text(picture, encoding="utf-8")
        return 0
    if PICTURE.exists() and PICTURE.read_text(encoding="utf-8") == picture:
        return 0
    print(f"{PICTURE}:1: not the layers of today; run scripts/draw_layers.py")
    return 1


if __name__ == "__main__":
    sys.exit(main())
