"""Programs that PyTorch's `torch.export.save` wrote: to run and to train.

Exporting takes PyTorch; here its files are loaded.
"""

from __future__ import annotations

from .exported_program import ExportedProgram, load
from .graph_signature import ExportGraphSignature

__all__ = ["ExportGraphSignature", "ExportedProgram", "load"]
