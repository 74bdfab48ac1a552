"""RMSprop."""

from __future__ import annotations

import hotaru

from .. import Tensor
from .optimizer import (
    ByParameter,
    as_real,
    check_options,
    check_unsupported,
)


class RMSprop(ByParameter):
    """RMSprop (Hinton, Coursera lecture 6e, 2012).

    v = α v + (1 - α) g²; p -= lr g / (√v + eps), with `momentum` through a
    velocity; `centered` subtracts the squared mean of g from v (Graves 2013).
    """

    def __init__(
        self,
        params,
        lr: float | Tensor = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum: float = 0,
        centered: bool = False,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_options(
            lr=lr,
            eps=eps,
            momentum=momentum,
            weight_decay=weight_decay,
            alpha=alpha,
        )
        check_unsupported(capturable=capturable, differentiable=differentiable)
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "alpha": alpha,
            "eps": eps,
            "centered": centered,
            "weight_decay": weight_decay,
            "capturable": capturable,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def _state_of(self, param: Tensor, group: dict) -> dict:
        state = self.state[param]
        if not state:
            state["step"] = hotaru.tensor(0.0, dtype=hotaru.float32)
            state["square_avg"] = hotaru.zeros_like(param)
            if group["momentum"] > 0:
                state["momentum_buffer"] = hotaru.zeros_like(param)
            if group["centered"]:
                state["grad_avg"] = hotaru.zeros_like(param)
        return state

    def _update(self, param: Tensor, grad: Tensor, group: dict) -> None:
        lr, alpha = float(group["lr"]), group["alpha"]
        state = self._state_of(param, group)
        state["step"] += 1
        if group["weight_decay"] != 0:
            grad = grad.add(param, alpha=group["weight_decay"])
        param, grad, square, mean, velocity = as_real(
            param,
            grad,
            state["square_avg"],
            state.get("grad_avg"),
            state.get("momentum_buffer"),
        )
        square.mul_(alpha).addcmul_(grad, grad, value=1 - alpha)
        if group["centered"]:
            mean.lerp_(grad, 1 - alpha)
            root = square.addcmul(mean, mean, value=-1).sqrt_()
        else:
            root = square.sqrt()
        root.add_(group["eps"])
        if group["momentum"] > 0:
            velocity.mul_(group["momentum"]).addcdiv_(grad, root)
            param.add_(velocity, alpha=-lr)
        else:
            param.addcdiv_(grad, root, value=-lr)
