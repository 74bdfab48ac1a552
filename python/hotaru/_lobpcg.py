"""`lobpcg` by the name of the module that PyTorch has it in."""

from ._functions.eigenpairs import lobpcg

__all__ = ["lobpcg"]
