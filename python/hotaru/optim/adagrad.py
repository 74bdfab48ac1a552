"""Adagrad."""

from __future__ import annotations

import hotaru

from .. import Tensor
from .optimizer import (
    ByParameter,
    as_real,
    check_options,
    check_unsupported,
)


class Adagrad(ByParameter):
    """Adagrad (Duchi et al. 2011).

    s += g²; p -= lr / (1 + (t - 1) lr_decay) g / (√s + eps).
    """

    def __init__(
        self,
        params,
        lr: float | Tensor = 1e-2,
        lr_decay: float = 0,
        weight_decay: float = 0,
        initial_accumulator_value: float = 0,
        eps: float = 1e-10,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        check_options(
            lr=lr,
            lr_decay=lr_decay,
            weight_decay=weight_decay,
            initial_accumulator_value=initial_accumulator_value,
            eps=eps,
        )
        check_unsupported(differentiable=differentiable)
        defaults = {
            "lr": lr,
            "lr_decay": lr_decay,
            "eps": eps,
            "weight_decay": weight_decay,
            "initial_accumulator_value": initial_accumulator_value,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "fused": fused,
        }
        super().__init__(params, defaults)

    def add_param_group(self, param_group: dict) -> None:
        """Adds a group; its sums exist from the start."""
        super().add_param_group(param_group)
        start = param_group["initial_accumulator_value"]
        for param in param_group["params"]:
            # A complex start: both parts are squares of their own.
            value = complex(start, start) if param.is_complex() else start
            self.state[param] = {
                "step": hotaru.tensor(0.0, dtype=hotaru.float32),
                "sum": hotaru.full_like(param, value),
            }

    def _update(self, param: Tensor, grad: Tensor, group: dict) -> None:
        state = self.state[param]
        state["step"] += 1
        if group["weight_decay"] != 0:
            grad = grad.add(param, alpha=group["weight_decay"])
        steps = state["step"].item() - 1
        lr = float(group["lr"]) / (1 + steps * group["lr_decay"])
        param, grad, total = as_real(param, grad, state["sum"])
        total.addcmul_(grad, grad, value=1)
        param.addcdiv_(grad, total.sqrt().add_(group["eps"]), value=-lr)
