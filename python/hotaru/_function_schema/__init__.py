"""Schemas of operators as objects: parsed, printed, compared.

The text of a schema is `ns::name.overload(Tensor x, int y=1, *, Tensor(a!) z)
-> Tensor(a!)`. Everything here is immutable and safe to share between threads.
"""

from __future__ import annotations

from .argument import AliasInfo, Argument
from .parse import parse_schema
from .schema import FunctionSchema

__all__ = ["AliasInfo", "Argument", "FunctionSchema", "parse_schema"]
