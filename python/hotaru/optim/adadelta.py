"""Adadelta."""

from __future__ import annotations

from .. import Tensor, zeros_like
from ._arithmetic import check_lists, numbers, plus_, updates
from ._listed import Listed, scalar
from ._options import check_lr, check_options

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .optimizer import ParamsT

__all__ = ["Adadelta", "adadelta"]


def adadelta(
    params: list[Tensor],
    grads: list[Tensor],
    square_avgs: list[Tensor],
    acc_deltas: list[Tensor],
    state_steps: list[Tensor],
    capturable: bool = False,
    foreach: bool | None = None,
    differentiable: bool = False,
    has_complex: bool = False,
    *,
    lr: float | Tensor,
    rho: float,
    eps: float,
    weight_decay: float,
    maximize: bool,
) -> None:
    """The update of `Adadelta`, in place, for lists of parameters and state."""
    check_lists(
        params,
        state_steps,
        foreach=foreach,
        capturable=capturable,
        differentiable=differentiable,
        supports_xla=False,
    )
    exact = capturable or differentiable
    lr, rho, weight_decay = numbers(exact, lr, rho, weight_decay)
    for param, grad, _, square, total in updates(
        params,
        grads,
        state_steps,
        square_avgs,
        acc_deltas,
        maximize=maximize,
        weight_decay=weight_decay,
        capturable=capturable,
    ):
        square *= rho
        square.addcmul_(grad, grad, value=1 - rho)
        if differentiable:
            change = (total + eps).sqrt() / (square + eps).sqrt() * grad
        else:
            change = total.add(eps).sqrt_()
            change.div_(square.add(eps).sqrt_()).mul_(grad)
        total *= rho
        total.addcmul_(change, change, value=1 - rho)
        plus_(param, change, -lr)


class Adadelta(Listed):
    """Steps as large as earlier ones, without a rate (Zeiler 2012).

    "ADADELTA: An Adaptive Learning Rate Method", arXiv 1212.5701:
    v = ρ v + (1 - ρ) g²; Δ = g √(u + eps) / √(v + eps); u = ρ u + (1 - ρ) Δ²;
    p -= lr Δ.

    Args:
        params: parameters or groups, see `Optimizer`.
        lr: factor of each step (1.0).
        rho: decay ρ of the running means, in [0, 1] (0.9).
        eps: added below the roots (1e-6).
        weight_decay, foreach, capturable, maximize, differentiable: see
            `hotaru.optim`.

    Raises:
        ValueError: an option that is negative, or `rho` above 1.
    """

    _function = staticmethod(adadelta)
    _passes = (
        "lr",
        "rho",
        "eps",
        "weight_decay",
        "maximize",
        "foreach",
        "differentiable",
        "capturable",
    )
    _keeps = ("square_avg", "acc_delta", "step")

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        capturable: bool = False,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_lr(lr)
        check_options(lr=lr)
        if not 0.0 <= rho <= 1.0:
            raise ValueError(f"Invalid rho value: {rho}")
        check_options(eps=eps, weight_decay=weight_decay)
        defaults = {
            "lr": lr,
            "rho": rho,
            "eps": eps,
            "weight_decay": weight_decay,
            "maximize": maximize,
            "capturable": capturable,
            "foreach": foreach,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def _start(self, state: dict, param: Tensor, group: dict) -> None:
        state["step"] = scalar(0.0, param, group)
        state["square_avg"] = zeros_like(param)
        state["acc_delta"] = zeros_like(param)
