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

    def answer(self, function, args, kwargs):
        # Operators of their own namespace have names of others.
        packet = getattr(function, "overloadpacket", function)
        whole = getattr(packet, "_qualified_op_name", "")
        if whole.startswith("quantized::"):
            return OWN[function.__name__.partition(".")[0]](*args, **kwargs)
        return super().answer(function, args, kwargs)

    def refuse(self, function, name, args, kwargs):
        if args:
            need_one_scale(function, args[0])
        raise refused(name)


HANDLERS = Table()
# By name, what operators of `torch.ops.quantized` do.
OWN: dict = {}
QUANTIZED = _Quantized("quantized", HANDLERS)
