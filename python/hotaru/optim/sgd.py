"""Stochastic gradient descent."""

from __future__ import annotations

from .. import Tensor
from ._arithmetic import descents, numbers, unscaled
from ._fused import sgd_step, takes_fused
from ._listed import Fused
from ._options import check_fused, check_fused_param, check_lr, check_options

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .optimizer import ParamsT

__all__ = ["SGD", "sgd"]


def sgd(
    params: list[Tensor],
    d_p_list: list[Tensor],
    momentum_buffer_list: list[Tensor | None],
    has_sparse_grad: bool = False,
    foreach: bool | None = None,
    fused: bool | None = None,
    grad_scale: Tensor | None = None,
    found_inf: Tensor | None = None,
    *,
    weight_decay: float | Tensor,
    momentum: float,
    lr: float | Tensor,
    dampening: float,
    nesterov: bool,
    maximize: bool,
) -> None:
    """The update of `SGD`, in place, for lists of parameters and velocities.

    A velocity that is None is put into the list.
    """
    begins = {velocity is None for velocity in momentum_buffer_list}
    if takes_fused(params, d_p_list, fused, foreach, one_by_one=len(begins) > 1):
        return sgd_step(
            params,
            d_p_list,
            momentum_buffer_list,
            momentum=momentum,
            grad_scale=grad_scale,
            found_inf=found_inf,
            weight_decay=weight_decay,
            lr=lr,
            dampening=dampening,
            nesterov=nesterov,
            maximize=maximize,
        )
    scaled = grad_scale is not None or found_inf is not None
    if scaled and not unscaled(d_p_list, grad_scale, found_inf):
        return None
    grads = descents(params, d_p_list, maximize, weight_decay)
    if momentum != 0:
        grads = _moved(grads, momentum_buffer_list, momentum, dampening, nesterov)
    if isinstance(lr, Tensor):
        for param, grad in zip(params, grads):
            param += grad * -lr
    else:
        for param, grad in zip(params, grads):
            param.add_(grad, alpha=-lr)
    return None


def _moved(grads, velocities: list, momentum, dampening, nesterov):
    """The steps by momentum, one after the other."""
    for i, grad in enumerate(grads):
        velocity = velocities[i]
        if velocity is None:
            velocity = velocities[i] = grad.detach().clone()
        else:
            velocity *= momentum
            if dampening == 0:
                velocity += grad
            else:
                velocity.add_(grad, alpha=1 - dampening)
        yield grad.add(velocity, alpha=momentum) if nesterov else velocity


def _is_plain(group: dict) -> bool:
    """True if steps are the gradient times a number, and nothing else."""
    return (
        group["momentum"] == 0
        and not group["maximize"]
        and not group["fused"]
        and not isinstance(group["lr"], Tensor)
        and not isinstance(group["weight_decay"], Tensor)
        and group["weight_decay"] == 0
    )


def _on_cuda(params) -> bool:
    return bool(params) and params[0].is_cuda


class SGD(Fused):
    """Gradient descent with momentum.

    As in "On the importance of initialization and momentum in deep learning"
    (Sutskever et al. 2013), with rates outside of the velocity: v = momentum v
    + (1 - dampening) g, at first g; p -= lr v, or with `nesterov` p -= lr (g +
    momentum v).

    Args:
        params: parameters or groups, see `Optimizer`.
        lr: learning rate (0.001).
        momentum: share of the velocity that stays (0).
        dampening: share of the gradient that does not enter it (0).
        nesterov: look ahead by one step; needs momentum and no dampening.
        weight_decay, maximize, foreach, differentiable, fused: see
            `hotaru.optim`.

    Raises:
        ValueError: an option that is negative, `nesterov` without momentum.
        RuntimeError: `fused` with `foreach` or `differentiable`.
    """

    _scalars = ()
    _later = ("nesterov", "maximize", "foreach", "differentiable")

    _changing = ("lr", "weight_decay", "momentum", "dampening")

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-3,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float | Tensor = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        check_lr(lr)
        check_options(lr=lr, momentum=momentum, weight_decay=weight_decay)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
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
        check_fused(fused, foreach, differentiable)
        self._allow_scaling(fused)

    def _update_group(self, group: dict) -> None:
        if _is_plain(group) and not _on_cuda(group["params"]) and self._lifted is None:
            # Without lists: they take as long as the steps of a small layer.
            scale = -group["lr"]
            for param in group["params"]:
                grad = param.grad
                if grad is not None:
                    param.add_(grad, alpha=scale)
            return
        params = [p for p in group["params"] if p.grad is not None]
        scaling = {}
        if group["fused"]:
            for param in params:
                check_fused_param(param)
                if param.grad.is_sparse:
                    raise RuntimeError("`_fused_sgd` does not support sparse gradients")
            scaling = self._scaling()
        momentum, velocities, new = group["momentum"], [], ()
        if momentum != 0:
            velocities = [self.state[p].get("momentum_buffer") for p in params]
            new = [i for i, v in enumerate(velocities) if v is None]
        options = {
            "lr": group["lr"],
            "fused": False if group["differentiable"] else group["fused"],
            "foreach": group["foreach"],
        }
        grads = [param.grad for param in params]
        if self._lifted is not None:
            self._lift(options, group, params, grads)
        elif isinstance(options["lr"], Tensor):
            exact = group["differentiable"]
            (options["lr"],) = numbers(exact, options["lr"])
        sgd(
            params,
            grads,
            velocities,
            weight_decay=group["weight_decay"],
            momentum=momentum,
            dampening=group["dampening"],
            nesterov=group["nesterov"],
            maximize=group["maximize"],
            **options,
            **scaling,
        )
        for i in new:
            self.state[params[i]]["momentum_buffer"] = velocities[i]

    def _numbers(self, group: dict) -> list[float] | None:
        values = super()._numbers(group)
        if values is None:
            return None
        rate, decay, momentum, dampening = values
        return [rate, 0.0, decay, 0.0, momentum, 1 - dampening]

    def _fixed(self, group: dict) -> tuple:
        return *super()._fixed(group), group["momentum"] != 0

    def __setstate__(self, state: dict) -> None:
        super().__setstate__(state)
        for group in self.param_groups:
            group.setdefault("fused", False)
