"""Which of PyTorch's ways to compute a convolution its rules choose.

hotaru has one way for all of them; the names say what PyTorch with oneDNN does
on the CPU with such arguments.
"""

from __future__ import annotations

from enum import Enum

from .. import _C
from .._C import Tensor, ops
from .._late import lent


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
    MkldnnTranspose = 9
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
        *map(_without_values, (input, weight, bias)),
        stride,
        padding,
        dilation,
        transposed,
        output_padding,
        groups,
    )
    if input.shape[0] == 0 or input.shape[1] == 0:
        return _ConvBackend.MkldnnEmpty if input.is_mkldnn else _ConvBackend.Empty
    if _by_onednn(input, weight, stride, dilation, transposed, output_padding, groups):
        return _ConvBackend.MkldnnTranspose if transposed else _ConvBackend.Mkldnn
    kind = "Slow"
    if transposed:
        kind = "SlowTranspose"
    elif any(d != 1 for d in dilation):
        kind = "SlowDilated"
    return _ConvBackend[f"{kind}{max(2, weight.dim() - 2)}d"]


def _without_values(tensor: Tensor | None) -> Tensor | None:
    """A tensor of the same sizes and dtype, of no values."""
    if tensor is None:
        return None
    return ops.empty(list(tensor.shape), dtype=tensor.dtype, device="meta")


def _by_onednn(
    input: Tensor,
    weight: Tensor,
    stride,
    dilation,
    transposed: bool,
    output_padding,
    groups: int,
) -> bool:
    """Tells whether PyTorch would take oneDNN, where that is enabled."""
    if not lent("backends").mkldnn.enabled:
        return False
    if transposed and any(
        more >= step for more, step in zip(output_padding, stride, strict=False)
    ):
        return False
    if input.is_mkldnn:
        return True
    if not input.is_cpu:
        return False
    if input.dtype in (_C.bfloat16, _C.float16):
        return True
    if input.dtype is not _C.float32:
        return False
    one = input.dim() == 3
    sizes = [*input.shape[:2], *([1] if one else []), *input.shape[2:]]
    kernel = [*([1] if one else []), *weight.shape[2:]]
    moves = any(n != 1 for n in stride) or any(n != 1 for n in dilation)
    if not (
        moves
        or sizes[0] >= 16
        or kernel[-1] != 1
        or kernel[-2] != 1
        or _C.get_num_threads() > 1
    ):
        return False
    if groups > 1 or sizes[0] > 1 or (kernel[-1] > 3 and kernel[-2] > 3):
        return True
    return sizes[0] * sizes[1] * sizes[2] * sizes[3] > 20480
