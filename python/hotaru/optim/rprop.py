"""Rprop."""

from __future__ import annotations

from .. import Tensor, full_like, ones_like, zeros_like
from ._arithmetic import check_lists, updates
from ._listed import Listed, scalar
from ._options import check_lr, check_options

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .optimizer import ParamsT

__all__ = ["Rprop", "rprop"]


def rprop(
    params: list[Tensor],
    grads: list[Tensor],
    prevs: list[Tensor],
    step_sizes: list[Tensor],
    state_steps: list[Tensor],
    foreach: bool | None = None,
    capturable: bool = False,
    maximize: bool = False,
    differentiable: bool = False,
    has_complex: bool = False,
    *,
    step_size_min: float,
    step_size_max: float,
    etaminus: float,
    etaplus: float,
) -> None:
    """The update of `Rprop`, in place, for lists of parameters and state."""
    check_lists(
        params,
        state_steps,
        foreach=foreach,
        capturable=capturable,
        differentiable=differentiable,
    )
    for param, grad, _, before, size in updates(
        params,
        grads,
        state_steps,
        prevs,
        step_sizes,
        maximize=maximize,
        capturable=capturable,
    ):
        same = grad * (before.clone() if differentiable else before)
        turned = same < 0
        # Into tensors of the dtype: numbers alone would make float32 ones.
        factor = ones_like(size).masked_fill_(same > 0, etaplus)
        factor.masked_fill_(turned, etaminus)
        size.mul_(factor).clamp_(step_size_min, step_size_max)
        # After a change of sign the gradient is forgotten, for one step.
        grad = grad.masked_fill(turned, 0)
        scale = size.clone() if differentiable else size
        param.addcmul_(grad.sign(), scale, value=-1)
        before.copy_(grad)


class Rprop(Listed):
    """Steps by the signs of gradients alone (Riedmiller & Braun 1993).

    "A Direct Adaptive Method for Faster Backpropagation Learning: The RPROP
    Algorithm": each number has its own step size, which grows by η⁺ while its
    gradient keeps its sign and shrinks by η⁻ when it changes.

    Args:
        params: parameters or groups, see `Optimizer`.
        lr: the first step size (0.01).
        etas: η⁻ below 1 and η⁺ above it (0.5, 1.2).
        step_sizes: smallest and largest step size (1e-6, 50).
        capturable, foreach, maximize, differentiable: see `hotaru.optim`.

    Raises:
        ValueError: a negative rate, or `etas` out of their range.
    """

    _function = staticmethod(rprop)
    _passes = ("foreach", "capturable", "maximize", "differentiable")
    # Rates are of each element, in the state.
    _changing = ()
    _keeps = ("prev", "step_size", "step")

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-2,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50),
        *,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_lr(lr)
        check_options(lr=lr)
        if not 0.0 < etas[0] < 1.0 < etas[1]:
            raise ValueError(f"Invalid eta values: {etas[0]}, {etas[1]}")
        defaults = {
            "lr": lr,
            "etas": etas,
            "step_sizes": step_sizes,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "capturable": capturable,
        }
        super().__init__(params, defaults)

    def _start(self, state: dict, param: Tensor, group: dict) -> None:
        lr = float(group["lr"])
        state["step"] = scalar(0.0, param, group)
        state["prev"] = zeros_like(param)
        # A complex number's parts have a step size each.
        start = complex(lr, lr) if param.is_complex() else lr
        state["step_size"] = full_like(param, start)

    def _options(self, group: dict) -> dict:
        options = super()._options(group)
        options["etaminus"], options["etaplus"] = group["etas"]
        low, high = group["step_sizes"]
        return {**options, "step_size_min": low, "step_size_max": high}
