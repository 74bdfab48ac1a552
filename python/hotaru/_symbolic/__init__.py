"""Numbers and truth values that nobody knows: `torch.SymInt` and its kin."""

from .floats import SymBool, SymFloat
from .integers import SymInt

__all__ = ["SymBool", "SymFloat", "SymInt"]
