"""Programs of this package as StableHLO, run by XLA through jaxlib.

`compile(f, backend="xla")` is the door. `values` and `writer` know the text,
`table` and `ops_*` how operators are written, `walk` goes through a program's
graph, `program` keeps an executable with its parameters, `client` is jaxlib.
"""

from __future__ import annotations

from .table import operators
from .values import NotWritten

__all__ = ["NotWritten", "operators"]
