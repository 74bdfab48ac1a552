"""Averaged stochastic gradient descent."""

from __future__ import annotations

from .. import Tensor, as_tensor, zeros_like
from ._arithmetic import check_lists, numbers, plus_, updates, value_of
from ._listed import Listed, scalar
from ._options import check_lr, check_options

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .optimizer import ParamsT

__all__ = ["ASGD", "asgd"]


def asgd(
    params: list[Tensor],
    grads: list[Tensor],
    axs: list[Tensor],
    mus: list[Tensor],
    etas: list[Tensor],
    state_steps: list[Tensor],
    foreach: bool | None = None,
    maximize: bool = False,
    differentiable: bool = False,
    capturable: bool = False,
    has_complex: bool = False,
    *,
    lambd: float,
    lr: float | Tensor,
    t0: float,
    alpha: float,
    weight_decay: float,
) -> None:
    """The update of `ASGD`, in place, for lists of parameters and state."""
    check_lists(
        params,
        state_steps,
        foreach=foreach,
        capturable=capturable,
        differentiable=differentiable,
        what="params, mus, etas, and state_steps",
    )
    exact = capturable or differentiable
    lr, weight_decay = numbers(exact, lr, weight_decay)
    for param, grad, step, mean, share, rate in updates(
        params,
        grads,
        state_steps,
        axs,
        mus,
        etas,
        maximize=maximize,
        weight_decay=weight_decay,
        capturable=capturable,
    ):
        eta = rate.clone() if exact else value_of(rate)
        mu = share if capturable else value_of(share)
        param.mul_(1 - lambd * eta)
        plus_(param, grad, -eta)
        if capturable:
            mean.add_((param - mean) * mu)
        elif mu == 1:
            mean.copy_(param)
        else:
            mean.add_(param - mean, alpha=mu)
        _put(rate, lr / (1 + lambd * lr * step) ** alpha)
        if capturable:
            share.copy_(1 / (step - t0).clamp(min=1))
        else:
            _put(share, 1 / max(1, step - t0))


def _put(target: Tensor, value) -> None:
    """Rounds as fresh state does: read from a file it may be float64."""
    target.copy_(as_tensor(value))


class ASGD(Listed):
    """Gradient descent whose parameters are averaged (Polyak & Juditsky 1992).

    "Acceleration of Stochastic Approximation by Averaging": rates fall as η =
    lr / (1 + λ lr t)^α; after `t0` steps state "ax" is the mean of parameters.

    Args:
        params: parameters or groups, see `Optimizer`.
        lr: learning rate at the start (0.01).
        lambd: λ, decay of parameters and of the rate (1e-4).
        alpha: power of the rate's decay (0.75).
        t0: the step at which to start averaging (1e6).
        weight_decay, foreach, maximize, differentiable, capturable: see
            `hotaru.optim`.

    Raises:
        ValueError: a negative rate or weight decay.
    """

    _function = staticmethod(asgd)
    _passes = (
        "lambd",
        "lr",
        "t0",
        "alpha",
        "weight_decay",
        "foreach",
        "maximize",
        "differentiable",
        "capturable",
    )
    _keeps = ("ax", "mu", "eta", "step")
    _scalars = ("step", "eta", "mu")

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-2,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        check_lr(lr)
        check_options(lr=lr, weight_decay=weight_decay)
        defaults = {
            "lr": lr,
            "lambd": lambd,
            "alpha": alpha,
            "t0": t0,
            "weight_decay": weight_decay,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "capturable": capturable,
        }
        super().__init__(params, defaults)

    def _start(self, state: dict, param: Tensor, group: dict) -> None:
        state["step"] = scalar(0.0, param, group)
        state["eta"] = scalar(float(group["lr"]), param, group)
        state["mu"] = scalar(1.0, param, group)
        state["ax"] = zeros_like(param)
