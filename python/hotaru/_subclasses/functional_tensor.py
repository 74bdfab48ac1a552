"""PyTorch's tensors that write mutations down as functions: there are none.

hotaru keeps mutations where they are, in graphs and in exported programs, so
no tensor is of this class and no such mode is entered: questions are answered,
and what would make one says so.
"""

from __future__ import annotations

import contextlib

from .. import Tensor
from ..utils._python_dispatch import TorchDispatchMode

__all__ = [
    "FunctionalTensor",
    "FunctionalTensorMode",
    "disable_functional_mode",
    "dispatch_functionalize",
    "mb_unwrap_functional_tensor",
]


def _none(name: str) -> NotImplementedError:
    return NotImplementedError(
        f"{name}: hotaru has no functionalisation; torch.export.export and "
        "torch.fx.experimental.proxy_tensor.make_fx give graphs of operators, "
        "with those in place as they are"
    )


class FunctionalTensor(Tensor):
    """Programs ask whether a tensor is one: none is."""

    def __new__(cls, *args, **kwargs):
        raise _none("FunctionalTensor")

    @staticmethod
    def to_functional(x):
        """Raises: there are none."""
        raise _none("FunctionalTensor.to_functional")


class FunctionalTensorMode(TorchDispatchMode):
    """The mode that would make them."""

    def __init__(self, *args, **kwargs) -> None:
        raise _none("FunctionalTensorMode")


@contextlib.contextmanager
def disable_functional_mode():
    """A block without the mode, which is never entered."""
    yield


def dispatch_functionalize(func, mode=None):
    """Raises: nothing makes functions of mutations."""
    raise _none("dispatch_functionalize")


def mb_unwrap_functional_tensor(tensor: Tensor) -> Tensor:
    """The tensor within, where there is one: the tensor itself."""
    return tensor
