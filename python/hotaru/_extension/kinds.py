"""Classes of the extension that have no name there."""

from __future__ import annotations

from .. import Tensor

# The class of tensor classes, for programs that check against it.
_TensorMeta = type(Tensor)
