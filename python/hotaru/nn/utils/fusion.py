"""A batch norm taken into the convolution or linear map before it."""

from __future__ import annotations

import copy

import hotaru

from ... import Tensor
from ..modules import Module
from ..parameter import Parameter

__all__ = [
    "fuse_conv_bn_eval",
    "fuse_conv_bn_weights",
    "fuse_linear_bn_eval",
    "fuse_linear_bn_weights",
]


def fuse_conv_bn_eval(conv: Module, bn: Module, transpose: bool = False) -> Module:
    """A copy of `conv` that does what `conv` and then `bn` do.

    Args:
        conv, bn: in evaluation mode; `bn` has running statistics.
        transpose: the convolution is a transposed one.

    Raises:
        AssertionError: they train, or there are no statistics.
    """
    return _fused(conv, bn, fuse_conv_bn_weights, transpose)


def fuse_conv_bn_weights(
    conv_w: Tensor,
    conv_b: Tensor | None,
    bn_rm: Tensor,
    bn_rv: Tensor,
    bn_eps: float,
    bn_w: Tensor | None,
    bn_b: Tensor | None,
    transpose: bool = False,
) -> tuple[Parameter, Parameter]:
    """Weight and bias of a convolution with a batch norm behind it, in the
    dtypes of weight and bias.
    """
    axis = 1 if transpose else 0
    return _folded(conv_w, conv_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, axis)


def fuse_linear_bn_eval(linear: Module, bn: Module) -> Module:
    """A copy of `linear` that does what `linear` and then `bn` do.

    Raises:
        AssertionError: they train; there are no statistics; or the norm's
            features are neither the map's nor one.
    """
    if not (linear.training or bn.training):
        outputs, features = linear.out_features, bn.num_features
        if outputs != features and features != 1:
            raise AssertionError(
                "To fuse, linear.out_features == bn.num_features or "
                f"bn.num_features == 1, got linear.out_features={outputs} and "
                f"bn.num_features={features}"
            )
    return _fused(linear, bn, fuse_linear_bn_weights)


def fuse_linear_bn_weights(
    linear_w: Tensor,
    linear_b: Tensor | None,
    bn_rm: Tensor,
    bn_rv: Tensor,
    bn_eps: float,
    bn_w: Tensor,
    bn_b: Tensor,
) -> tuple[Parameter, Parameter]:
    """Weight and bias of a linear map with a batch norm behind it."""
    return _folded(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, 0)


def _fused(module: Module, bn: Module, fuse, *options) -> Module:
    if module.training or bn.training:
        raise AssertionError("Fusion only for eval!")
    if bn.running_mean is None or bn.running_var is None:
        raise AssertionError("bn.running_mean and bn.running_var must not be None")
    fused = copy.deepcopy(module)
    fused.weight, fused.bias = with_norm(fused, bn, fuse, *options)
    return fused


def with_norm(module: Module, bn: Module, fuse, *options) -> tuple:
    """Weight and bias of a module with those of a norm in them."""
    norm = bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias
    return fuse(module.weight, module.bias, *norm, *options)


def _folded(weight, bias, mean, var, eps, scale, shift, axis) -> tuple:
    """(x w + b - mean) * scale / sqrt(var + eps) + shift as weight and bias."""
    dtypes = weight.dtype, weight.dtype if bias is None else bias.dtype
    bias = hotaru.zeros_like(mean) if bias is None else bias
    scale = hotaru.ones_like(mean) if scale is None else scale
    shift = hotaru.zeros_like(mean) if shift is None else shift
    inverse = hotaru.rsqrt(var + eps)
    shape = [1] * weight.dim()
    shape[axis] = -1
    new_weight = (weight * (scale * inverse).reshape(shape)).to(dtypes[0])
    new_bias = ((bias - mean) * inverse * scale + shift).to(dtypes[1])
    return (
        Parameter(new_weight, weight.requires_grad),
        Parameter(new_bias, bias.requires_grad),
    )
