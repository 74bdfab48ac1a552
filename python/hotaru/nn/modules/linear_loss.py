"""A linear layer with the cross entropy of what it gives."""

from __future__ import annotations

import dataclasses
import math
import re

import hotaru

from .. import functional as F
from .linear import Linear
from .loss import _WeightedLoss

_POLICIES = ("accurate", "balanced", "compact", "auto")
_ACC_DTYPES = (None, hotaru.float16, hotaru.bfloat16, hotaru.float32, hotaru.float64)


@dataclasses.dataclass
class LinearCrossEntropyOptions:
    """How PyTorch computes the loss by chunks; here without effect.

    Raises ValueError for values that PyTorch does not know.
    """

    allow_retain_graph: bool = False
    batch_chunk_size: int | None = None
    chunking_method: str | None = "auto"
    acc_policy: str = "auto"
    acc_dtype: hotaru.dtype | None = None

    def __post_init__(self) -> None:
        if self.acc_policy not in _POLICIES:
            raise ValueError(f"invalid acc_policy: {self.acc_policy!r}")
        size = self.batch_chunk_size
        if size is not None and size < 1:
            raise ValueError(
                f"batch_chunk_size must be positive int or None, got {size}"
            )
        method = self.chunking_method
        if method not in (None, "auto") and not re.fullmatch(
            r"aspect_ratio(:\d+)?", method
        ):
            raise ValueError(f"invalid chunking_method: {method!r}")
        if self.acc_dtype not in _ACC_DTYPES:
            names = ", ".join(map(str, _ACC_DTYPES))
            raise ValueError(
                f"acc_dtype must be one of {{{names}}}, got {self.acc_dtype}. "
                "Pass acc_dtype=None to let the op pick automatically."
            )


class LinearCrossEntropyLoss(_WeightedLoss):
    """Cross entropy of logits that a linear layer of its own makes.

    Args:
        in_features: of each input.
        num_classes: classes.
        out_features: further dimensions of the targets.
        bias: whether the layer has one.
        device: of the layer.
        dtype: of the layer.
        reduction: "mean", "sum" or "none".
        weight: of each class.
        ignore_index: a class that does not count.
        label_smoothing: 0 to 1.
        options: accepted.
    """

    def __init__(
        self,
        in_features: int,
        num_classes: int,
        *,
        out_features: tuple[int, ...] = (),
        bias: bool = False,
        device=None,
        dtype=None,
        reduction: str = "mean",
        weight: hotaru.Tensor | None = None,
        ignore_index: int | None = None,
        label_smoothing: float = 0.0,
        options: LinearCrossEntropyOptions | None = None,
    ) -> None:
        super().__init__(weight, None, None, reduction)
        if weight is not None and tuple(weight.shape) != (num_classes,):
            raise RuntimeError(
                f"expected weight shape to be ({num_classes},), got "
                f"{tuple(weight.shape)}"
            )
        if not 0 <= label_smoothing <= 1:
            raise RuntimeError(
                f"expected label_smoothing to be in range [0, 1], got {label_smoothing}"
            )
        self.num_classes = num_classes
        self.out_features = tuple(out_features)
        self.ignore_index = ignore_index
        self.label_smoothing = label_smoothing
        self.options = options
        outputs = num_classes * math.prod(self.out_features)
        self.linear = Linear(
            in_features, outputs, bias=bias, device=device, dtype=dtype
        )

    def forward(self, input, target):
        shape = (self.num_classes, *self.out_features)
        bias = self.linear.bias
        return F.linear_cross_entropy(
            input,
            self.linear.weight.reshape(*shape, self.linear.in_features),
            target,
            linear_bias=None if bias is None else bias.reshape(shape),
            weight=self.weight,
            reduction=self.reduction,
            ignore_index=self.ignore_index,
            label_smoothing=self.label_smoothing,
            options=self.options,
        )

    def extra_repr(self) -> str:
        return (
            f"in_features={self.linear.in_features}, "
            f"num_classes={self.num_classes}, "
            f"out_features={self.out_features}, "
            f"bias={self.linear.bias is not None}, "
            f"reduction={self.reduction}, ignore_index={self.ignore_index}, "
            f"label_smoothing={self.label_smoothing}, options={self.options}"
        )
