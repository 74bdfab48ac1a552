"""RMSprop."""

from __future__ import annotations

from .. import Tensor, zeros_like
from ._arithmetic import check_lists, numbers, plus_, plus_quotient_, root, updates
from ._listed import Listed, scalar
from ._options import check_lr, check_options

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .optimizer import ParamsT

__all__ = ["RMSprop", "rmsprop"]


def rmsprop(
    params: list[Tensor],
    grads: list[Tensor],
    square_avgs: list[Tensor],
    grad_avgs: list[Tensor],
    momentum_buffer_list: list[Tensor],
    state_steps: list[Tensor],
    foreach: bool | None = None,
    maximize: bool = False,
    differentiable: bool = False,
    capturable: bool = False,
    has_complex: bool = False,
    *,
    lr: float | Tensor,
    alpha: float,
    eps: float,
    weight_decay: float,
    momentum: float,
    centered: bool,
) -> None:
    """The update of `RMSprop`, in place, for lists of parameters and state."""
    check_lists(
        params,
        state_steps,
        foreach=foreach,
        capturable=capturable,
        differentiable=differentiable,
    )
    exact = capturable or differentiable
    lr, weight_decay, momentum = numbers(exact, lr, weight_decay, momentum)
    scale, share = -lr, 1 - alpha
    for param, grad, _, square, mean, velocity in updates(
        params,
        grads,
        state_steps,
        square_avgs,
        grad_avgs,
        momentum_buffer_list,
        maximize=maximize,
        weight_decay=weight_decay,
        capturable=capturable,
    ):
        square *= alpha
        square.addcmul_(grad, grad, value=share)
        if centered:
            mean.lerp_(grad, 1 - alpha)
            square = square.addcmul(mean, mean, value=-1)
        bottom = root(square, eps, differentiable)
        if momentum > 0:
            velocity *= momentum
            velocity.addcdiv_(grad, bottom)
            plus_(param, velocity, scale)
        else:
            plus_quotient_(param, grad, bottom, scale)


class RMSprop(Listed):
    """Gradients divided by their running root mean square (Hinton 2012).

    Lecture 6e of "Neural Networks for Machine Learning": v = α v + (1 - α) g²;
    p -= lr g / (√v + eps). `centered` subtracts the squared mean of g from v
    ("Generating Sequences With Recurrent Neural Networks", Graves 2013).

    Args:
        params: parameters or groups, see `Optimizer`.
        lr: learning rate (0.01).
        alpha: decay of the running means (0.99).
        eps: added to the root (1e-8).
        momentum: of a velocity that takes the place of the step (0).
        centered: divide by the standard deviation.
        weight_decay, capturable, foreach, maximize, differentiable: see
            `hotaru.optim`.

    Raises:
        ValueError: an option that is negative.
    """

    _function = staticmethod(rmsprop)
    _passes = (
        "lr",
        "alpha",
        "eps",
        "weight_decay",
        "momentum",
        "centered",
        "foreach",
        "maximize",
        "differentiable",
        "capturable",
    )
    _keeps = ("square_avg", "grad_avg", "momentum_buffer", "step")
    _later = ("momentum", "centered", *Listed._later)

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum: float = 0,
        centered: bool = False,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_lr(lr)
        check_options(
            lr=lr, eps=eps, momentum=momentum, weight_decay=weight_decay, alpha=alpha
        )
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "alpha": alpha,
            "eps": eps,
            "centered": centered,
            "weight_decay": weight_decay,
            "capturable": capturable,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def _start(self, state: dict, param: Tensor, group: dict) -> None:
        state["step"] = scalar(0.0, param, group)
        state["square_avg"] = zeros_like(param)
        if group["momentum"] > 0:
            state["momentum_buffer"] = zeros_like(param)
        if group["centered"]:
            state["grad_avg"] = zeros_like(param)
