"""Adamax."""

from __future__ import annotations

from .. import Tensor, maximum, zeros_like
from ._arithmetic import check_lists, numbers, plus_quotient_, updates
from ._listed import Listed, scalar
from ._options import check_betas, check_lr, check_options

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .optimizer import ParamsT

__all__ = ["Adamax", "adamax"]


def adamax(
    params: list[Tensor],
    grads: list[Tensor],
    exp_avgs: list[Tensor],
    exp_infs: list[Tensor],
    state_steps: list[Tensor],
    foreach: bool | None = None,
    maximize: bool = False,
    differentiable: bool = False,
    capturable: bool = False,
    has_complex: bool = False,
    *,
    eps: float,
    beta1: float,
    beta2: float,
    lr: float | Tensor,
    weight_decay: float,
) -> None:
    """The update of `Adamax`, in place, for lists of parameters and state."""
    check_lists(
        params,
        state_steps,
        foreach=foreach,
        capturable=capturable,
        differentiable=differentiable,
    )
    exact = capturable or differentiable
    lr, beta1, beta2, weight_decay = numbers(exact, lr, beta1, beta2, weight_decay)
    for param, grad, step, mean, largest in updates(
        params,
        grads,
        state_steps,
        exp_avgs,
        exp_infs,
        maximize=maximize,
        weight_decay=weight_decay,
        capturable=capturable,
    ):
        mean.lerp_(grad, 1 - beta1)
        largest.copy_(maximum(largest * beta2, grad.abs() + eps))
        bottom = largest.clone() if differentiable else largest
        plus_quotient_(param, mean, bottom, -lr / (1 - beta1**step))


class Adamax(Listed):
    """Adam with the largest gradient instead of the mean square.

    The variant by the infinity norm of "Adam: A Method for Stochastic
    Optimization" (Kingma & Ba 2014, arXiv 1412.6980): m = β1 m + (1 - β1) g;
    u = max(β2 u, |g| + eps); p -= lr / (1 - β1ᵗ) m / u.

    Args:
        params: parameters or groups, see `Optimizer`.
        lr: learning rate (0.002).
        betas: decay of the mean and of the maximum, in [0, 1) (0.9, 0.999).
        eps: added to |g| (1e-8).
        weight_decay, foreach, maximize, differentiable, capturable: see
            `hotaru.optim`.

    Raises:
        ValueError: an option out of its range.
    """

    _function = staticmethod(adamax)
    _passes = (
        "lr",
        "eps",
        "weight_decay",
        "foreach",
        "maximize",
        "differentiable",
        "capturable",
    )
    _keeps = ("exp_avg", "exp_inf", "step")

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        check_lr(lr)
        check_options(lr=lr, eps=eps)
        check_betas(betas)
        check_options(weight_decay=weight_decay)
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "capturable": capturable,
        }
        super().__init__(params, defaults)

    def _start(self, state: dict, param: Tensor, group: dict) -> None:
        state["step"] = scalar(0.0, param, group)
        state["exp_avg"] = zeros_like(param)
        state["exp_inf"] = zeros_like(param)
