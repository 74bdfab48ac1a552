"""Files that hold tensors by name: safetensors and GGUF.

The functions are those of the package `safetensors.torch`, so programs written
for it need another import and nothing else. Files are recognised by their
bytes, not by their names; a sharded model is opened by its index
(`model.safetensors.index.json`). Tensors on the CPU lie in a private mapping of
the file: opening takes the same time for any size, and writing to them never
changes the file. GGUF's quantised tensors are read as float32, or kept in their
blocks, which `BlockLinear` multiplies by.
"""

from ._blocks import BlockLinear, Blocks
from ._info import FileInfo, TensorInfo, info
from ._model import load_model, save_model
from ._open import TensorSlice, load, load_file, safe_open
from ._save import save, save_file

# Error that the package raises for files that it refuses.
SafetensorError = RuntimeError

__all__ = [
    "BlockLinear",
    "Blocks",
    "FileInfo",
    "SafetensorError",
    "TensorInfo",
    "TensorSlice",
    "info",
    "load",
    "load_file",
    "load_model",
    "safe_open",
    "save",
    "save_file",
    "save_model",
]
