"""Modules of `nn` as compiled code sees them: methods by class.

Each class here holds methods for the class of `hotaru.nn` with the same name,
inherited by its subclasses as they are there. `self` is the module. What a
class lacks is compiled from `hotaru.nn` itself.
"""

from __future__ import annotations

import hotaru as torch
import hotaru.nn.functional as F
from hotaru import Tensor


class Sequential:
    def forward(self, input):
        result = input  # of another type, perhaps, after each module
        for module in self:
            result = module(result)
        return result


class Linear:
    def forward(self, input: Tensor) -> Tensor:
        return F.linear(input, self.weight, self.bias)


class Bilinear:
    def forward(self, input1: Tensor, input2: Tensor) -> Tensor:
        return F.bilinear(input1, input2, self.weight, self.bias)


# --- convolutions ---


class _Conv:
    def forward(self, input: Tensor) -> Tensor:
        return self._conv_forward(input, self.weight, self.bias)


class Conv1d:
    def _conv_forward(
        self, input: Tensor, weight: Tensor, bias: Tensor | None
    ) -> Tensor:
        step, spread, groups = self.stride, self.dilation, self.groups
        if self.padding_mode != "zeros":
            pads = self._reversed_padding_repeated_twice
            padded = F.pad(input, pads, mode=self.padding_mode)
            return F.conv1d(padded, weight, bias, step, 0, spread, groups)
        return F.conv1d(input, weight, bias, step, self.padding, spread, groups)


class Conv2d:
    def _conv_forward(
        self, input: Tensor, weight: Tensor, bias: Tensor | None
    ) -> Tensor:
        step, spread, groups = self.stride, self.dilation, self.groups
        if self.padding_mode != "zeros":
            pads = self._reversed_padding_repeated_twice
            padded = F.pad(input, pads, mode=self.padding_mode)
            return F.conv2d(padded, weight, bias, step, 0, spread, groups)
        return F.conv2d(input, weight, bias, step, self.padding, spread, groups)


class Conv3d:
    def _conv_forward(
        self, input: Tensor, weight: Tensor, bias: Tensor | None
    ) -> Tensor:
        step, spread, groups = self.stride, self.dilation, self.groups
        if self.padding_mode != "zeros":
            pads = self._reversed_padding_repeated_twice
            padded = F.pad(input, pads, mode=self.padding_mode)
            return F.conv3d(padded, weight, bias, step, 0, spread, groups)
        return F.conv3d(input, weight, bias, step, self.padding, spread, groups)


class _ConvTransposeNd:
    def _extra(self, input: Tensor, output_size: list[int] | None):
        if output_size is None:
            return torch.jit.annotate(list[int], list(self.output_padding))
        axes = len(self.kernel_size)
        leading = input.dim() - axes
        if len(output_size) == input.dim():
            output_size = output_size[leading:]
        if len(output_size) != axes:
            raise ValueError(
                f"output_size must have {axes} or {input.dim()} elements (got "
                f"{len(output_size)})"
            )
        step: list[int] = list(self.stride)
        pad: list[int] = list(self.padding)
        spread: list[int] = list(self.dilation)
        kernel: list[int] = list(self.kernel_size)
        out: list[int] = []
        for d in range(axes):
            least = (
                (input.size(leading + d) - 1) * step[d]
                - 2 * pad[d]
                + spread[d] * (kernel[d] - 1)
                + 1
            )
            if output_size[d] < least or output_size[d] > least + step[d] - 1:
                raise ValueError(
                    f"requested an output size of {output_size}, but valid "
                    f"sizes of dimension {d} range from {least} to "
                    f"{least + step[d] - 1}"
                )
            out.append(output_size[d] - least)
        return out


class ConvTranspose1d:
    def forward(
        self, input: Tensor, output_size: list[int] | None = None
    ) -> Tensor:
        return F.conv_transpose1d(
            input,
            self.weight,
            self.bias,
            self.stride,
            self.padding,
            self._extra(input, output_size),
            self.groups,
            self.dilation,
        )


class ConvTranspose2d:
    def forward(
        self, input: Tensor, output_size: list[int] | None = None
    ) -> Tensor:
        return F.conv_transpose2d(
            input,
            self.weight,
            self.bias,
            self.stride,
            self.padding,
            self._extra(input, output_size),
            self.groups,
            self.dilation,
        )


class ConvTranspose3d:
    def forward(
        self, input: Tensor, output_size: list[int] | None = None
    ) -> Tensor:
        return F.conv_transpose3d(
            input,
            self.weight,
            self.bias,
            self.stride,
            self.padding,
            self._extra(input, output_size),
            self.groups,
            self.dilation,
        )


# --- normalisation ---


class _NormBase:
    def _check_input_dim(self, input: Tensor) -> None:
        ranks: list[int] = list(self._ranks)
        if input.dim() not in ranks:
            raise ValueError(
                f"expected input of {ranks} dimensions (got {input.dim()}D "
                "input)"
            )


class _BatchNorm:
    def forward(self, input: Tensor) -> Tensor:
        self._check_input_dim(input)
        momentum = 0.0
        if self.momentum is not None:
            momentum = self.momentum
        if self.track_running_stats:
            if self.training:
                self.num_batches_tracked.add_(1)
                if self.momentum is None:
                    momentum = 1.0 / float(self.num_batches_tracked)
            return F.batch_norm(
                input,
                self.running_mean,
                self.running_var,
                self.weight,
                self.bias,
                self.training,
                momentum,
                self.eps,
            )
        return F.batch_norm(
            input, None, None, self.weight, self.bias, True, momentum, self.eps
        )


class _InstanceNorm:
    def forward(self, input: Tensor) -> Tensor:
        self._check_input_dim(input)
        ranks: list[int] = list(self._ranks)
        unbatched = input.dim() == ranks[0]
        channels = input.size(0 if unbatched else 1)
        if channels != self.num_features and self.affine:
            raise ValueError(
                f"expected input's size at dim={input.dim() - ranks[0]} to "
                f"match num_features ({self.num_features}), but got: "
                f"{channels}."
            )
        if unbatched:
            return self._normalise(input.unsqueeze(0)).squeeze(0)
        return self._normalise(input)

    def _normalise(self, input: Tensor) -> Tensor:
        momentum = 0.0
        if self.momentum is not None:
            momentum = self.momentum
        return F.instance_norm(
            input,
            self.running_mean,
            self.running_var,
            self.weight,
            self.bias,
            self.training or not self.track_running_stats,
            momentum,
            self.eps,
        )


class LayerNorm:
    def forward(self, input: Tensor) -> Tensor:
        return F.layer_norm(
            input, self.normalized_shape, self.weight, self.bias, self.eps
        )


class GroupNorm:
    def forward(self, input: Tensor) -> Tensor:
        return F.group_norm(
            input, self.num_groups, self.weight, self.bias, self.eps
        )


# --- pooling and padding ---


class MaxPool1d:
    def forward(self, input: Tensor):
        return F.max_pool1d(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.dilation,
            self.ceil_mode,
            self.return_indices,
        )


class MaxPool2d:
    def forward(self, input: Tensor):
        return F.max_pool2d(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.dilation,
            self.ceil_mode,
            self.return_indices,
        )


class MaxPool3d:
    def forward(self, input: Tensor):
        return F.max_pool3d(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.dilation,
            self.ceil_mode,
            self.return_indices,
        )


class AvgPool2d:
    def forward(self, input: Tensor) -> Tensor:
        return F.avg_pool2d(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.ceil_mode,
            self.count_include_pad,
            self.divisor_override,
        )


class AvgPool3d:
    def forward(self, input: Tensor) -> Tensor:
        return F.avg_pool3d(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.ceil_mode,
            self.count_include_pad,
            self.divisor_override,
        )


class LPPool1d:
    def forward(self, input: Tensor) -> Tensor:
        return F.lp_pool1d(
            input,
            float(self.norm_type),
            self.kernel_size,
            self.stride,
            self.ceil_mode,
        )


class LPPool2d:
    def forward(self, input: Tensor) -> Tensor:
        return F.lp_pool2d(
            input,
            float(self.norm_type),
            self.kernel_size,
            self.stride,
            self.ceil_mode,
        )


class _CircularPad:
    def forward(self, input: Tensor) -> Tensor:
        if input.dim() != self._axes + 1 and input.dim() != self._axes + 2:
            raise ValueError(
                f"expected {self._axes + 1}D or {self._axes + 2}D input (got "
                f"{input.dim()}D input)"
            )
        return F.pad(input, self.padding, self._mode)


class Softmax2d:
    def forward(self, input: Tensor) -> Tensor:
        if input.dim() != 3 and input.dim() != 4:
            raise ValueError(
                f"Softmax2d: expected input to be 3D or 4D, got {input.dim()}D "
                "instead"
            )
        return F.softmax(input, -3)
