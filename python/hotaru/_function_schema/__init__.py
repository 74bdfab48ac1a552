"""Schemas of operators as objects: parsed, printed, compared.

The text of a schema is `ns::name.overload(Tensor x, int y=1, *, Tensor(a!) z)
-> Tensor(a!)`. Everything here is immutable and safe to share between threads.
"""

from __future__ import annotations

from .parse import parse_schema
from .schema import AliasInfo, Argument, FunctionSchema

__all__ = ["AliasInfo", "Argument", "FunctionSchema", "parse_schema"]
