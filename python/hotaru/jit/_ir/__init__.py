"""Programs as graphs that Python can read: `torch._C.Graph` and its parts."""

from __future__ import annotations

from .graph import Graph
from .native import graph_of
from .nodes import Block, Node
from .reader import parse_ir
from .values import Use, Value

__all__ = ["Block", "Graph", "Node", "Use", "Value", "graph_of", "parse_ir"]
