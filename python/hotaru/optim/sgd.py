"""Stochastic gradient descent."""

from __future__ import annotations

from .. import no_grad
from .optimizer import Optimizer, check_options, check_unsupported, gradients


class SGD(Optimizer):
    """Gradient descent with momentum (Sutskever et al. 2013).

    g += weight_decay p; v = momentum v + (1 - dampening) g, at first g; then
    p -= lr v, or with `nesterov` p -= lr (g + momentum v). `foreach` and
    `fused` are accepted and change nothing.
    """

    def __init__(
        self,
        params,
        lr: float = 1e-3,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        check_options(lr=lr, momentum=momentum, weight_decay=weight_decay)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError(
                "Nesterov momentum requires a momentum and zero dampening"
            )
        check_unsupported(differentiable=differentiable)
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "dampening": dampening,
            "weight_decay": weight_decay,
            "nesterov": nesterov,
            "maximize": maximize,
            "foreach": foreach,
            "differentiable": differentiable,
            "fused": fused,
        }
        super().__init__(params, defaults)

    def step(self, closure=None):
        """Updates all parameters; see `Optimizer.step`."""
        loss = self._loss(closure)
        with no_grad():
            for group in self.param_groups:
                self._update(group)
        return loss

    def _update(self, group: dict) -> None:
        lr, momentum = float(group["lr"]), group["momentum"]
        weight_decay = group["weight_decay"]
        for param, grad in gradients(group):
            if weight_decay != 0:
                grad = grad.add(param, alpha=weight_decay)
            if momentum != 0:
                state = self.state[param]
                velocity = state.get("momentum_buffer")
                if velocity is None:
                    velocity = state["momentum_buffer"] = grad.detach().clone()
                else:
                    velocity.mul_(momentum).add_(
                        grad, alpha=1 - group["dampening"]
                    )
                if group["nesterov"]:
                    grad = grad.add(velocity, alpha=momentum)
                else:
                    grad = velocity
            param.add_(grad, alpha=-lr)
