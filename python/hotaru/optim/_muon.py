"""Muon."""

from __future__ import annotations

import math

from .. import Tensor, addmm, bfloat16, zeros_like
from ._arithmetic import value_of
from ._listed import Listed
from ._options import check_amounts, check_lr

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .optimizer import ParamsT

__all__ = ["Muon"]

_COEFFICIENTS = (3.4445, -4.775, 2.0315)
_MOST_STEPS = 100


def _orthogonal(grad: Tensor, coefficients, steps: int, eps: float) -> Tensor:
    """Nearly the nearest matrix with singular values of 1, in bfloat16.

    By Newton-Schulz iterations with a polynomial of the fifth degree, which
    leaves singular values between about 0.7 and 1.2.
    """
    if steps >= _MOST_STEPS:
        raise ValueError(
            "Number of steps must be less than 100 for computational efficiency"
        )
    if grad.dim() != 2:
        raise ValueError("Input tensor gradient must be a 2D matrix")
    if len(coefficients) != 3:
        raise ValueError("Coefficients must be a tuple of exactly 3 values")
    a, b, c = coefficients
    x = grad.to(bfloat16)
    tall = x.size(0) > x.size(1)
    if tall:
        x = x.T
    x = x / x.norm().clamp(min=eps)
    for _ in range(steps):
        square = x @ x.T
        factor = addmm(square, square, square, beta=b, alpha=c)
        x = addmm(x, factor, x, beta=a)
    return x.T if tall else x


def _adjusted(lr, how: str | None, shape) -> float:
    """The rate for a matrix of this shape."""
    rows, columns = shape[:2]
    if how in (None, "original"):
        return lr * math.sqrt(max(1, rows / columns))
    if how == "match_rms_adamw":
        return lr * 0.2 * math.sqrt(max(rows, columns))
    return lr


def muon(
    params: list[Tensor],
    grads: list[Tensor],
    muon_momentum_bufs: list[Tensor],
    *,
    foreach: bool | None = None,
    lr: float,
    weight_decay: float,
    momentum: float,
    nesterov: bool,
    ns_coefficients: tuple[float, float, float],
    ns_steps: int,
    eps: float,
    adjust_lr_fn: str | None,
    has_complex: bool = False,
) -> None:
    """The update of `Muon`, in place, for lists with velocities."""
    if foreach:
        raise RuntimeError("Foreach is not supported for Muon yet")
    lr = value_of(lr)
    for param, grad, velocity in zip(params, grads, muon_momentum_bufs):
        velocity.lerp_(grad, 1 - momentum)
        change = grad.lerp(velocity, momentum) if nesterov else velocity
        change = _orthogonal(change, ns_coefficients, ns_steps, eps)
        rate = _adjusted(lr, adjust_lr_fn, param.shape)
        param.mul_(1 - lr * weight_decay)
        param.add_(change.to(param.dtype), alpha=-rate)


class Muon(Listed):
    """Momentum whose steps are made orthogonal, for matrices (Jordan 2024).

    "Muon: An optimizer for hidden layers in neural networks"; with weight
    decay and rates of "Muon is Scalable for LLM Training" (Liu et al. 2025,
    arXiv 2502.16982). Other parameters, embeddings and the last layer are for
    `AdamW`.

    Args:
        params: matrices or groups of them, see `Optimizer`.
        lr: learning rate (0.001).
        weight_decay: taken from p directly, as in `AdamW` (0.1).
        momentum: share of the velocity that stays (0.95).
        nesterov: look ahead by one step (True).
        ns_coefficients: of x, x³ and x⁵ in an iteration.
        eps: least norm to divide by (1e-7).
        ns_steps: iterations, below 100 (5).
        adjust_lr_fn: "original" (or None): times the root of rows by columns,
            if above 1; "match_rms_adamw": steps of the size of `AdamW`'s.

    Raises:
        ValueError: a parameter that is no matrix, an option out of its range.
        RuntimeError: complex parameters, in `step`.
    """

    _function = staticmethod(muon)
    _passes = (
        "lr",
        "weight_decay",
        "momentum",
        "nesterov",
        "ns_coefficients",
        "eps",
        "ns_steps",
        "adjust_lr_fn",
    )
    _keeps = ("momentum_buffer",)
    _scalars = ()
    _later = ()

    def __init__(
        self,
        params: ParamsT,
        lr: float = 1e-3,
        weight_decay: float = 0.1,
        momentum: float = 0.95,
        nesterov: bool = True,
        ns_coefficients: tuple[float, float, float] = _COEFFICIENTS,
        eps: float = 1e-7,
        ns_steps: int = 5,
        adjust_lr_fn: str | None = None,
    ) -> None:
        check_lr(lr)
        check_amounts(
            **{"Learning rate": lr, "momentum": momentum, "weight decay": weight_decay}
        )
        if adjust_lr_fn not in (None, "original", "match_rms_adamw"):
            raise ValueError(
                f"Adjust learning rate function {adjust_lr_fn} is not supported"
            )
        defaults = {
            "lr": lr,
            "weight_decay": weight_decay,
            "momentum": momentum,
            "nesterov": nesterov,
            "ns_coefficients": ns_coefficients,
            "eps": eps,
            "ns_steps": ns_steps,
            "adjust_lr_fn": adjust_lr_fn,
        }
        super().__init__(params, defaults)
        for group in self.param_groups:
            for param in group["params"]:
                if param.dim() != 2:
                    raise ValueError(
                        "Muon only supports 2D parameters whereas we found a "
                        f"parameter with size: {param.size()}"
                    )

    def _start(self, state: dict, param: Tensor, group: dict) -> None:
        if param.is_complex():
            raise RuntimeError("Muon does not support complex parameters")
        state["momentum_buffer"] = zeros_like(param)
