"""Limiting gradients."""

from __future__ import annotations

import warnings

import hotaru

from ... import Tensor, no_grad, ops
from ..._overrides import has_torch_function


def get_total_norm(
    tensors,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """The `norm_type` norm of all values of all tensors together (a scalar).

    RuntimeError for an infinite or undefined norm, with `error_if_nonfinite`.
    """
    tensors = [tensors] if isinstance(tensors, Tensor) else list(tensors)
    norm_type = float(norm_type)
    if not tensors:
        return hotaru.tensor(0.0)
    device = tensors[0].device
    if has_torch_function(tensors):  # one message for those in parts
        norms = hotaru._foreach_norm(tensors, norm_type)
    else:
        norms = [ops.linalg_vector_norm(t, norm_type).to(device) for t in tensors]
    total = ops.linalg_vector_norm(hotaru.stack(norms), norm_type)
    if error_if_nonfinite and bool((total.isnan() | total.isinf()).item()):
        raise RuntimeError(
            f"The total norm of order {norm_type} for gradients from "
            "`parameters` is non-finite, so it cannot be clipped. "
            "To disable this error and scale the gradients by the non-finite "
            "norm anyway, set `error_if_nonfinite=False`"
        )
    return total


def clip_grads_with_norm_(
    parameters, max_norm: float, total_norm: Tensor, foreach: bool | None = None
) -> None:
    """Scales gradients in place by max_norm / total_norm, at most 1."""
    scale = (float(max_norm) / (total_norm + 1e-6)).clamp(max=1.0)
    grads = _grads(parameters)
    if grads and has_torch_function(grads):
        hotaru._foreach_mul_(grads, scale)
        return
    for grad in grads:
        grad.mul_(scale.to(grad.device))


def clip_grad_norm_(
    parameters,
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """Scales gradients in place so that their joint norm is at most `max_norm`.

    Returns:
        The norm before (a scalar).
    """
    if not isinstance(parameters, Tensor):
        # An iterator would be used up by the first pass.
        parameters = list(parameters)
    with no_grad():
        total = get_total_norm(_grads(parameters), norm_type, error_if_nonfinite)
        clip_grads_with_norm_(parameters, max_norm, total)
    return total


def clip_grad_norm(
    parameters,
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """Old name of `clip_grad_norm_`."""
    warnings.warn(
        "`torch.nn.utils.clip_grad_norm` is now deprecated in favor of "
        "`torch.nn.utils.clip_grad_norm_`.",
        FutureWarning,
        stacklevel=2,
    )
    return clip_grad_norm_(parameters, max_norm, norm_type, error_if_nonfinite, foreach)


def clip_grad_value_(
    parameters, clip_value: float, foreach: bool | None = None
) -> None:
    """Clamps every gradient in place to [-clip_value, clip_value]."""
    clip_value = float(clip_value)
    with no_grad():
        for grad in _grads(parameters):
            grad.clamp_(min=-clip_value, max=clip_value)


def _grads(parameters) -> list[Tensor]:
    if isinstance(parameters, Tensor):
        parameters = [parameters]
    return [param.grad for param in parameters if param.grad is not None]
