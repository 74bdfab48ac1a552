"""How parameters that are shared out are computed with and kept."""

from __future__ import annotations

from dataclasses import dataclass

from ... import dtype as Dtype

__all__ = ["CPUOffloadPolicy", "MixedPrecisionPolicy", "OffloadPolicy"]


@dataclass(frozen=True)
class MixedPrecisionPolicy:
    """Dtypes; None is that of the parameters.

    Whole parameters are of `param_dtype`, and so are floating inputs with
    `cast_forward_inputs`; gradients are reduced in `reduce_dtype` (None: that
    of the whole parameters); floating outputs are cast to `output_dtype`.
    """

    param_dtype: Dtype | None = None
    reduce_dtype: Dtype | None = None
    output_dtype: Dtype | None = None
    cast_forward_inputs: bool = True


@dataclass
class OffloadPolicy:
    """Parts stay on the device of the mesh."""


@dataclass
class CPUOffloadPolicy(OffloadPolicy):
    """Parts stay in the CPU's memory, where those of a mesh of CPUs are."""

    pin_memory: bool = True
