"""Adam."""

from __future__ import annotations

from .. import Tensor, maximum, zeros_like
from ._arithmetic import (
    check_lists,
    numbers,
    plus_product_,
    plus_quotient_,
    root,
    unscaled,
    updates,
)
from ._fused import adam_step, takes_fused
from ._listed import Fused, scalar
from ._options import check_betas, check_fused, check_lr, check_options, check_tensors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .optimizer import ParamsT

__all__ = ["Adam", "adam"]


def adam(
    params: list[Tensor],
    grads: list[Tensor],
    exp_avgs: list[Tensor],
    exp_avg_sqs: list[Tensor],
    max_exp_avg_sqs: list[Tensor],
    state_steps: list[Tensor],
    foreach: bool | None = None,
    capturable: bool = False,
    differentiable: bool = False,
    fused: bool | None = None,
    grad_scale: Tensor | None = None,
    found_inf: Tensor | None = None,
    has_complex: bool = False,
    decoupled_weight_decay: bool = False,
    *,
    amsgrad: bool,
    beta1: float | Tensor,
    beta2: float | Tensor,
    lr: float | Tensor,
    weight_decay: float,
    eps: float,
    maximize: bool,
) -> None:
    """The update of `Adam`, in place, for lists of parameters and state."""
    check_lists(
        params,
        state_steps,
        foreach=foreach,
        capturable=capturable and not fused,
        differentiable=differentiable,
    )
    one_by_one = differentiable or (capturable and not fused)
    if takes_fused(params, grads, fused, foreach, one_by_one=one_by_one):
        return adam_step(
            params,
            grads,
            exp_avgs,
            exp_avg_sqs,
            max_exp_avg_sqs,
            state_steps,
            decoupled=decoupled_weight_decay,
            grad_scale=grad_scale,
            found_inf=found_inf,
            amsgrad=amsgrad,
            beta1=beta1,
            beta2=beta2,
            lr=lr,
            weight_decay=weight_decay,
            eps=eps,
            maximize=maximize,
        )
    if not unscaled(grads, grad_scale, found_inf):
        return None
    exact = capturable or differentiable
    lr, beta1, beta2, weight_decay = numbers(exact, lr, beta1, beta2, weight_decay)
    for update in updates(
        params,
        grads,
        state_steps,
        exp_avgs,
        exp_avg_sqs,
        max_exp_avg_sqs,
        maximize=maximize,
        weight_decay=weight_decay,
        decoupled=lr if decoupled_weight_decay else None,
        capturable=capturable,
    ):
        _update(*update, lr, beta1, beta2, eps, amsgrad, differentiable)
    return None


def _update(
    param: Tensor,
    grad: Tensor,
    step,
    mean: Tensor,
    square: Tensor,
    largest: Tensor | None,
    lr,
    beta1,
    beta2,
    eps: float,
    amsgrad: bool,
    differentiable: bool,
) -> None:
    """The step of one parameter."""
    mean.lerp_(grad, 1 - beta1)
    square *= beta2
    plus_product_(square, grad, grad, 1 - beta2)
    if differentiable:  # later steps change what is kept for gradients
        mean, square = mean.clone(), square.clone()
    if amsgrad:
        seen = largest.clone() if differentiable else largest
        square = largest.copy_(maximum(seen, square))
    # √v̂ + eps is (√v + eps √(1 - β2ᵗ)) / √(1 - β2ᵗ).
    correction = (1 - beta2**step) ** 0.5
    scale = -lr * correction / (1 - beta1**step)
    bottom = root(square, eps * correction, differentiable)
    plus_quotient_(param, mean, bottom, scale)


class Adam(Fused):
    """Adam, steps from running means of gradients (Kingma & Ba 2014).

    "Adam: A Method for Stochastic Optimization", arXiv 1412.6980:
    m = β1 m + (1 - β1) g; v = β2 v + (1 - β2) g²; p -= lr m̂ / (√v̂ + eps), with
    m̂ and v̂ divided by 1 - βᵗ.

    Args:
        params: parameters or groups, see `Optimizer`.
        lr: learning rate (0.001).
        betas: decay of the running means of g and g², in [0, 1); both floats
            or both tensors (0.9, 0.999).
        eps: added to the root (1e-8).
        amsgrad: divide by the root of the largest v so far ("On the
            Convergence of Adam and Beyond", Reddi et al. 2018).
        decoupled_weight_decay: take weight decay from p directly (`AdamW`).
        weight_decay, foreach, maximize, capturable, differentiable, fused: see
            `hotaru.optim`.

    Raises:
        ValueError: an option out of its range; tensors as options with
            `foreach`.
        RuntimeError: `fused` with `foreach` or `differentiable`.
    """

    _function = staticmethod(adam)
    _instead = ", please consider SparseAdam instead"
    _passes = (
        "amsgrad",
        "lr",
        "weight_decay",
        "eps",
        "maximize",
        "foreach",
        "capturable",
        "differentiable",
        "fused",
        "decoupled_weight_decay",
    )
    _changing = ("lr", "weight_decay", "eps", "betas")
    _keeps = ("exp_avg", "exp_avg_sq", "max_exp_avg_sq", "step")
    _later = (
        "amsgrad",
        "maximize",
        "foreach",
        "capturable",
        "differentiable",
        "decoupled_weight_decay",
        "fused",
    )

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-3,
        betas: tuple[float | Tensor, float | Tensor] = (0.9, 0.999),
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
        check_lr(lr)
        check_tensors({"lr": lr}, foreach, capturable)
        check_options(lr=lr, eps=eps)
        check_betas(betas)
        check_options(weight_decay=weight_decay)
        if isinstance(betas[0], Tensor) != isinstance(betas[1], Tensor):
            raise ValueError("betas must be either both floats or both Tensors")
        named = {f"betas[{i}]": beta for i, beta in enumerate(betas)}
        check_tensors(named, foreach, capturable)
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
        check_fused(fused, foreach, differentiable)
        self._allow_scaling(fused)

    def _numbers(self, group: dict) -> list[float] | None:
        values = super()._numbers(group)
        if values is None:
            return None
        rate, *others = values
        return [rate, 0.0, *others]

    def _start(self, state: dict, param: Tensor, group: dict) -> None:
        state["step"] = scalar(0.0, param, group)
        state["exp_avg"] = zeros_like(param)
        state["exp_avg_sq"] = zeros_like(param)
        if group["amsgrad"]:
            state["max_exp_avg_sq"] = zeros_like(param)
