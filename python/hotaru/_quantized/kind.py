"""Who answers for quantised tensors, and what is done where nobody does."""

from __future__ import annotations

from .._answering.base import Kind
from .._answering.table import Table
from .._C import Tensor


def not_quantized(name: str, x: Tensor) -> NotImplementedError:
    """The error of what only quantised tensors have."""
    return NotImplementedError(
        f"Could not run 'aten::{name}' with arguments from the "
        f"'{x.device.type.upper()}' backend. It is of quantised tensors alone: "
        "make one with torch.quantize_per_tensor."
    )


def refused(name: str, why: str = "") -> NotImplementedError:
    """The error of what quantised tensors do not have."""
    return NotImplementedError(
        f"Could not run 'aten::{name}' with arguments from the 'QuantizedCPU' "
        f"backend{why}. Call dequantize() first, or use the modules of "
        "torch.ao.nn.quantized."
    )


def need_one_scale(function, x) -> None:
    """NotImplementedError where the integers of channels mean other numbers."""
    if getattr(x, "_axis", None) is not None:
        name = getattr(function, "__name__", str(function))
        raise refused(name, " whose channels have scales of their own")


class _Quantized(Kind):
    writes_back = False

    def refuse(self, function, name, args, kwargs):
        if args:
            need_one_scale(function, args[0])
        raise refused(name)


HANDLERS = Table()
QUANTIZED = _Quantized("quantized", HANDLERS)
