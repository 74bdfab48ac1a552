"""Arguments of a program that are numbers of sizes."""

from __future__ import annotations

import dataclasses

from .graph_signature import TensorArgument

__all__ = ["SymFloatArgument", "SymIntArgument"]


@dataclasses.dataclass
class SymIntArgument(TensorArgument):
    """An integer that is computed of sizes, by its name."""


@dataclasses.dataclass
class SymFloatArgument(TensorArgument):
    """A float that is computed of sizes, by its name."""
