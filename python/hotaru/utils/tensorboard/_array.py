"""Values of any kind as arrays."""

from __future__ import annotations

import numpy as np

from ... import Tensor, float32


def array(value) -> np.ndarray:
    """A tensor, an array or a number as an array."""
    if isinstance(value, Tensor):
        value = value.detach().cpu()
        if value.is_floating_point() and value.element_size() < 4:
            value = value.to(float32)
        return value.numpy()
    return np.asarray(value)
