"""RAdam."""

from __future__ import annotations

from .. import Tensor, where, zeros_like
from ._arithmetic import check_lists, numbers, plus_, plus_product_, root, updates
from ._listed import Listed, scalar
from ._options import check_betas, check_lr, check_options

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .optimizer import ParamsT

__all__ = ["RAdam", "radam"]


def radam(
    params: list[Tensor],
    grads: list[Tensor],
    exp_avgs: list[Tensor],
    exp_avg_sqs: list[Tensor],
    state_steps: list[Tensor],
    decoupled_weight_decay: bool = False,
    foreach: bool | None = None,
    differentiable: bool = False,
    capturable: bool = False,
    has_complex: bool = False,
    maximize: bool = False,
    *,
    beta1: float,
    beta2: float,
    lr: float | Tensor,
    weight_decay: float,
    eps: float,
) -> None:
    """The update of `RAdam`, in place, for lists of parameters and state."""
    check_lists(
        params,
        state_steps,
        foreach=foreach,
        capturable=capturable,
        differentiable=differentiable,
    )
    exact = capturable or differentiable
    lr, beta1, beta2, weight_decay = numbers(exact, lr, beta1, beta2, weight_decay)
    for param, grad, step, mean, square in updates(
        params,
        grads,
        state_steps,
        exp_avgs,
        exp_avg_sqs,
        maximize=maximize,
        weight_decay=weight_decay,
        decoupled=lr if decoupled_weight_decay else None,
        capturable=capturable,
    ):
        mean.lerp_(grad, 1 - beta1)
        square *= beta2
        plus_product_(square, grad, grad, 1 - beta2)
        change = mean / (1 - beta1**step)
        longest, length = _lengths(beta2, step)
        trusted = length > 5.0
        if isinstance(trusted, Tensor):
            factor = _rectified(longest, where(trusted, length, 6.0))
            factor = factor * (1 - beta2**step) ** 0.5
            factor = factor / root(square, eps, differentiable)
            change = change * where(trusted, factor, 1.0)
        elif trusted:
            factor = _rectified(longest, length) * (1 - beta2**step) ** 0.5
            change = change * (factor / root(square, eps, differentiable))
        plus_(param, change, -lr)


def _lengths(beta2, step):
    """Lengths of the running mean of squares: in the end, and now."""
    longest = 2 / (1 - beta2) - 1
    return longest, longest - 2 * step * beta2**step / (1 - beta2**step)


def _rectified(longest, length):
    """The factor for the variance of the rate, from the lengths."""
    top = (length - 4) * (length - 2) * longest
    return (top / ((longest - 4) * (longest - 2) * length)) ** 0.5


class RAdam(Listed):
    """Adam with rates rectified for their variance (Liu et al. 2019).

    "On the Variance of the Adaptive Learning Rate and Beyond", arXiv
    1908.03265. While the running mean of squares is of at most 5 gradients,
    p -= lr m̂; then p -= lr r m̂ / √v̂, with the rectification r.

    Args:
        params: parameters or groups, see `Optimizer`.
        lr: learning rate (0.001).
        betas: decay of the running means of g and g², in [0, 1) (0.9, 0.999).
        eps: added to the root (1e-8).
        decoupled_weight_decay: take weight decay from p directly, as `AdamW`.
        weight_decay, foreach, maximize, capturable, differentiable: see
            `hotaru.optim`.

    Raises:
        ValueError: an option out of its range.
    """

    _function = staticmethod(radam)
    _passes = (
        "lr",
        "weight_decay",
        "eps",
        "maximize",
        "foreach",
        "capturable",
        "differentiable",
        "decoupled_weight_decay",
    )
    _keeps = ("exp_avg", "exp_avg_sq", "step")
    _later = (
        "foreach",
        "maximize",
        "differentiable",
        "decoupled_weight_decay",
        "capturable",
    )

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
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
        check_options(weight_decay=weight_decay)
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "decoupled_weight_decay": decoupled_weight_decay,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def _start(self, state: dict, param: Tensor, group: dict) -> None:
        state["step"] = scalar(0.0, param, group)
        state["exp_avg"] = zeros_like(param)
        state["exp_avg_sq"] = zeros_like(param)
