"""Which of PyTorch's ways to compute a convolution its rules choose.

hotaru has one way for all of them; the names say what PyTorch without optional
libraries (oneDNN, NNPACK) does on the CPU with such arguments.
"""

from __future__ import annotations

from enum import Enum

from .._C import Tensor, ops


class _ConvBackend(Enum):
    """PyTorch's names and numbers."""

    CudaDepthwise2d = 0
    CudaDepthwise3d = 1
    Cudnn = 2
    CudnnTranspose = 3
    Empty = 4
    Miopen = 5
    MiopenDepthwise = 6
    MiopenTranspose = 7
    Mkldnn = 8
    MkldnnEmpty = 10
    NnpackSpatial = 11
    Overrideable = 12
    Slow2d = 13
    Slow3d = 14
    SlowDilated2d = 15
    SlowDilated3d = 16
    SlowTranspose2d = 17
    SlowTranspose3d = 18
    Winograd3x3Depthwise = 19
    Xnnpack2d = 20
    Mps = 21

    def __int__(self) -> int:
        return self.value


def _select_conv_backend(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride,
    padding,
    dilation,
    transposed: bool,
    output_padding,
    groups: int,
    bias_sizes=None,
) -> _ConvBackend:
    """The way for a convolution of these arguments, which are those of
    `aten.convolution`; one dimension counts as two.

    What that refuses is refused here, too.
    """
    ops.convolution(
        *(t if t is None else t.detach().to("meta") for t in (input, weight)),
        None if bias is None else bias.detach().to("meta"),
        stride,
        padding,
        dilation,
        transposed,
        output_padding,
        groups,
    )
    if input.shape[0] == 0 or input.shape[1] == 0:
        return _ConvBackend.Empty
    kind = "Slow"
    if transposed:
        kind = "SlowTranspose"
    elif any(d != 1 for d in dilation):
        kind = "SlowDilated"
    return _ConvBackend[f"{kind}{max(2, weight.dim() - 2)}d"]
