"""Adam and AdamW."""

from __future__ import annotations

import hotaru

from .. import Tensor
from .optimizer import (
    ByParameter,
    as_real,
    check_betas,
    check_options,
    check_unsupported,
)


class Adam(ByParameter):
    """Adam (Kingma & Ba 2014).

    m = β1 m + (1 - β1) g; v = β2 v + (1 - β2) g²; p -= lr m̂ / (√v̂ + eps), with
    m̂ and v̂ divided by 1 - βᵗ. Weight decay is added to g, or taken from p
    directly if `decoupled_weight_decay` (AdamW). `amsgrad` uses the largest v
    so far (Reddi et al. 2018). `foreach` and `fused` change nothing.
    """

    def __init__(
        self,
        params,
        lr: float | Tensor = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        amsgrad: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ) -> None:
        check_options(lr=lr, eps=eps)
        check_betas(betas)
        check_options(weight_decay=weight_decay)
        check_unsupported(capturable=capturable, differentiable=differentiable)
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "amsgrad": amsgrad,
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "differentiable": differentiable,
            "fused": fused,
            "decoupled_weight_decay": decoupled_weight_decay,
        }
        super().__init__(params, defaults)

    def _state_of(self, param: Tensor, amsgrad: bool) -> dict:
        state = self.state[param]
        if not state:
            # A float32 scalar on the CPU, as in PyTorch's files.
            state["step"] = hotaru.tensor(0.0, dtype=hotaru.float32)
            state["exp_avg"] = hotaru.zeros_like(param)
            state["exp_avg_sq"] = hotaru.zeros_like(param)
            if amsgrad:
                state["max_exp_avg_sq"] = hotaru.zeros_like(param)
        return state

    def _update(self, param: Tensor, grad: Tensor, group: dict) -> None:
        lr, weight_decay = float(group["lr"]), group["weight_decay"]
        beta1, beta2 = group["betas"]
        state = self._state_of(param, group["amsgrad"])
        mean, square = state["exp_avg"], state["exp_avg_sq"]
        state["step"] += 1
        step = state["step"].item()
        if weight_decay != 0:
            if group["decoupled_weight_decay"]:
                param.mul_(1 - lr * weight_decay)
            else:
                grad = grad.add(param, alpha=weight_decay)
        largest = state["max_exp_avg_sq"] if group["amsgrad"] else None
        param, grad, mean, square, largest = as_real(
            param, grad, mean, square, largest
        )
        mean.lerp_(grad, 1 - beta1)
        square.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
        if largest is not None:
            square = largest.copy_(hotaru.maximum(largest, square))
        root = (1 - beta2**step) ** 0.5
        scale = (square.sqrt() / root).add_(group["eps"])
        param.addcdiv_(mean, scale, value=-lr / (1 - beta1**step))


class AdamW(Adam):
    """Adam with decoupled weight decay (Loshchilov & Hutter 2017)."""

    def __init__(
        self,
        params,
        lr: float | Tensor = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        super().__init__(
            params,
            lr,
            betas,
            eps,
            weight_decay,
            amsgrad,
            foreach=foreach,
            maximize=maximize,
            capturable=capturable,
            differentiable=differentiable,
            fused=fused,
            decoupled_weight_decay=True,
        )
