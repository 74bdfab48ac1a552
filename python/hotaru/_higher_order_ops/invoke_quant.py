"""Functions of quantization that stay one operator: they are run as they are."""

from __future__ import annotations

import dataclasses

from ._operator import HigherOrderOperator

__all__ = ["InvokeQuant", "invoke_quant", "invoke_quant_packed"]


def _called(function, *args, scheme=None, quant_options=None):
    return function(*args)


#: invoke_quant(function, *args, scheme=None)
invoke_quant = HigherOrderOperator("invoke_quant", _called)
#: invoke_quant_packed(function, *args, scheme=None, quant_options=None)
invoke_quant_packed = HigherOrderOperator("invoke_quant_packed", _called)


@dataclasses.dataclass(frozen=True)
class InvokeQuant:
    """Calls a function of quantization.

    Args:
        codegen_low_precision: what a compiler should compute in; kept for it.
    """

    codegen_low_precision: bool = True

    def __call__(self, function, *args, scheme: str | None = None, **kwargs):
        """The function's result.

        Args:
            function: called with the other arguments.
            *args: those by place.
            scheme: a name for compilers, not handed on.
            **kwargs: those by name.
        """
        return function(*args, **kwargs)
