"""Tensors of the layout `torch._mkldnn`, oneDNN's in PyTorch.

The layout is here, the library is not: such a tensor keeps a dense one, which
hotaru's own kernels compute with, and has the operators that PyTorch has for
the layout. `torch.utils.mkldnn` makes modules of them.
"""

from __future__ import annotations

# Their operators answer from now on.
from . import convert, layers, operators, shape
