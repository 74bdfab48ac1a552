"""NAdam."""

from __future__ import annotations

from .. import Tensor, zeros_like
from ._arithmetic import (
    check_lists,
    numbers,
    plus_product_,
    plus_quotient_,
    root,
    updates,
    value_of,
)
from ._listed import Listed, scalar
from ._options import check_betas, check_lr, check_options

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .optimizer import ParamsT

__all__ = ["NAdam", "nadam"]


def nadam(
    params: list[Tensor],
    grads: list[Tensor],
    exp_avgs: list[Tensor],
    exp_avg_sqs: list[Tensor],
    mu_products: list[Tensor],
    state_steps: list[Tensor],
    decoupled_weight_decay: bool = False,
    foreach: bool | None = None,
    capturable: bool = False,
    differentiable: bool = False,
    has_complex: bool = False,
    maximize: bool = False,
    *,
    beta1: float,
    beta2: float,
    lr: float | Tensor,
    weight_decay: float,
    momentum_decay: float,
    eps: float,
) -> None:
    """The update of `NAdam`, in place, for lists of parameters and state."""
    check_lists(
        params,
        state_steps,
        foreach=foreach,
        capturable=capturable,
        differentiable=differentiable,
        what="params, mu_products and state_steps",
    )
    exact = capturable or differentiable
    lr, beta1, beta2, weight_decay = numbers(exact, lr, beta1, beta2, weight_decay)
    for param, grad, step, mean, square, product in updates(
        params,
        grads,
        state_steps,
        exp_avgs,
        exp_avg_sqs,
        mu_products,
        maximize=maximize,
        weight_decay=weight_decay,
        decoupled=lr if decoupled_weight_decay else None,
        capturable=capturable,
    ):
        now = beta1 * (1 - 0.5 * 0.96 ** (step * momentum_decay))
        after = beta1 * (1 - 0.5 * 0.96 ** ((step + 1) * momentum_decay))
        product.mul_(now)
        so_far = product.clone() if exact else value_of(product)
        mean.lerp_(grad, 1 - beta1)
        square *= beta2
        plus_product_(square, grad, grad, 1 - beta2)
        bottom = root(square / (1 - beta2**step), eps, differentiable)
        of_grad = -lr * (1 - now) / (1 - so_far)
        of_mean = -lr * after / (1 - so_far * after)
        plus_quotient_(param, grad, bottom, of_grad)
        mean = mean.clone() if differentiable else mean
        plus_quotient_(param, mean, bottom, of_mean)


class NAdam(Listed):
    """Adam with Nesterov's momentum (Dozat 2016).

    "Incorporating Nesterov Momentum into Adam": with μ(t) = β1 (1 - ½
    0.96^(t momentum_decay)) and Π the product of all μ so far, p -= lr
    ((1 - μ(t)) / (1 - Π) g + μ(t+1) / (1 - Π μ(t+1)) m) / (√v̂ + eps).

    Args:
        params: parameters or groups, see `Optimizer`.
        lr: learning rate (0.002).
        betas: decay of the running means of g and g², in [0, 1) (0.9, 0.999).
        eps: added to the root (1e-8).
        momentum_decay: how fast μ approaches β1 (0.004).
        decoupled_weight_decay: take weight decay from p directly, as `AdamW`.
        weight_decay, foreach, maximize, capturable, differentiable: see
            `hotaru.optim`.

    Raises:
        ValueError: an option out of its range.
    """

    _function = staticmethod(nadam)
    _passes = (
        "lr",
        "weight_decay",
        "momentum_decay",
        "eps",
        "maximize",
        "decoupled_weight_decay",
        "foreach",
        "capturable",
        "differentiable",
    )
    _keeps = ("exp_avg", "exp_avg_sq", "mu_product", "step")
    _scalars = ("step", "mu_product")
    _later = (
        "maximize",
        "foreach",
        "capturable",
        "differentiable",
        "decoupled_weight_decay",
    )

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum_decay: float = 4e-3,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_lr(lr)
        check_options(lr=lr, eps=eps)
        check_betas(betas)
        check_options(weight_decay=weight_decay, momentum_decay=momentum_decay)
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "momentum_decay": momentum_decay,
            "decoupled_weight_decay": decoupled_weight_decay,
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def _start(self, state: dict, param: Tensor, group: dict) -> None:
        state["step"] = scalar(0.0, param, group)
        state["mu_product"] = scalar(1.0, param, group)
        state["exp_avg"] = zeros_like(param)
        state["exp_avg_sq"] = zeros_like(param)
