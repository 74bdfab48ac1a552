"""Modules that PyTorch keeps by their former names."""

from __future__ import annotations

import warnings

from ... import Tensor
from .. import functional as F
from .loss import NLLLoss
from .module import Module

__all__ = ["Container", "CrossMapLRN2d", "NLLLoss2d"]


class Container(Module):
    """A module of named children; FutureWarning: modules hold any."""

    def __init__(self, **kwargs) -> None:
        super().__init__()
        warnings.warn(
            "nn.Container is deprecated. All of it's functionality is now "
            "implemented in nn.Module. Subclass that instead.",
            FutureWarning,
            stacklevel=2,
        )
        for name, module in kwargs.items():
            self.add_module(name, module)


class NLLLoss2d(NLLLoss):
    """`NLLLoss`, which takes pictures, too; FutureWarning."""

    def __init__(
        self,
        weight=None,
        size_average=None,
        ignore_index: int = -100,
        reduce=None,
        reduction: str = "mean",
    ) -> None:
        warnings.warn(
            "`NLLLoss2d` has been deprecated. Please use `NLLLoss` instead as "
            "a drop-in replacement and see https://pytorch.org/docs/main/nn."
            "html#torch.nn.NLLLoss for more details.",
            FutureWarning,
            stacklevel=2,
        )
        super().__init__(weight, size_average, ignore_index, reduce, reduction)


class CrossMapLRN2d(Module):
    """Pictures, each value divided by those of the channels around it, as
    `LocalResponseNorm` does.
    """

    def __init__(
        self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1
    ) -> None:
        super().__init__()
        self.size, self.alpha, self.beta, self.k = size, alpha, beta, k

    def forward(self, input: Tensor) -> Tensor:
        return F.local_response_norm(input, self.size, self.alpha, self.beta, self.k)

    def extra_repr(self) -> str:
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"
