"""Operators by namespace: PyTorch's own in `ops.aten`, a program's in its own."""

from typing import Any

loaded_libraries: set[str]

def load_library(path: str) -> None: ...

# Namespaces come to be while a program runs, and have what it registers.
def __getattr__(name: str) -> Any: ...
