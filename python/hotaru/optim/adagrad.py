"""Adagrad."""

from __future__ import annotations

from .. import Tensor, full_like, zeros
from ..nn.parameter import is_lazy
from ._arithmetic import check_lists, numbers, plus_quotient_, root, unscaled, updates
from ._fused import adagrad_step, takes_fused
from ._listed import Fused
from ._options import check_fused, check_options
from ._sparse import adagrad_sparse
from .optimizer import _get_scalar_dtype

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .optimizer import ParamsT

__all__ = ["Adagrad", "adagrad"]


def adagrad(
    params: list[Tensor],
    grads: list[Tensor],
    state_sums: list[Tensor],
    state_steps: list[Tensor],
    fused: bool | None = None,
    grad_scale: Tensor | None = None,
    found_inf: Tensor | None = None,
    has_sparse_grad: bool = False,
    foreach: bool | None = None,
    differentiable: bool = False,
    has_complex: bool = False,
    *,
    lr: float | Tensor,
    weight_decay: float,
    lr_decay: float,
    eps: float,
    maximize: bool,
) -> None:
    """The update of `Adagrad`, in place, for lists of parameters and state.

    Of sparse gradients it changes what they have elements for.

    Raises:
        RuntimeError: sparse gradients with `weight_decay` or `fused`.
    """
    check_lists(params, state_steps, foreach=foreach, differentiable=differentiable)
    if True in [grad.is_sparse for grad in grads]:
        _check_sparse(fused, weight_decay)
    if takes_fused(params, grads, fused, foreach, one_by_one=differentiable):
        return adagrad_step(
            params,
            grads,
            state_sums,
            state_steps,
            grad_scale=grad_scale,
            found_inf=found_inf,
            lr=lr,
            weight_decay=weight_decay,
            lr_decay=lr_decay,
            eps=eps,
            maximize=maximize,
        )
    if not unscaled(grads, grad_scale, found_inf):
        return None
    lr, weight_decay = numbers(differentiable, lr, weight_decay)
    for param, grad, step, total in updates(
        params,
        grads,
        state_steps,
        state_sums,
        maximize=maximize,
        weight_decay=weight_decay,
    ):
        rate = lr / (1 + (step - 1) * lr_decay)
        if grad.is_sparse:
            adagrad_sparse(param, grad, total, rate, eps)
            continue
        total.addcmul_(grad, grad)
        plus_quotient_(param, grad, root(total, eps, differentiable), -rate)
    return None


def _check_sparse(fused: bool | None, weight_decay: float) -> None:
    if fused:
        raise RuntimeError("`fused` does not support sparse grad or complex param")
    if weight_decay != 0:
        raise RuntimeError(
            "weight_decay option is not compatible with sparse gradients"
        )


class Adagrad(Fused):
    """Rates that fall with the sum of squared gradients (Duchi et al. 2011).

    "Adaptive Subgradient Methods for Online Learning and Stochastic
    Optimization", JMLR 12: s += g²; p -= lr / (1 + (t - 1) lr_decay) g /
    (√s + eps).

    Args:
        params: parameters or groups, see `Optimizer`.
        lr: learning rate (0.01).
        lr_decay: how fast the rate falls with the steps (0).
        initial_accumulator_value: s at the start (0).
        eps: added to the root (1e-10).
        weight_decay, foreach, maximize, differentiable, fused: see
            `hotaru.optim`.

    Raises:
        ValueError: an option that is negative.
        RuntimeError: `fused` with `foreach` or `differentiable`.
    """

    _function = staticmethod(adagrad)
    _takes_sparse = True
    _passes = (
        "lr",
        "weight_decay",
        "lr_decay",
        "eps",
        "maximize",
        "foreach",
        "differentiable",
        "fused",
    )
    _changing = ("lr", "lr_decay", "weight_decay", "eps")
    _keeps = ("sum", "step")
    _later = ("foreach", "maximize", "differentiable", "fused")

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-2,
        lr_decay: float = 0,
        weight_decay: float = 0,
        initial_accumulator_value: float = 0,
        eps: float = 1e-10,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        check_options(
            lr=lr,
            lr_decay=lr_decay,
            weight_decay=weight_decay,
            initial_accumulator_value=initial_accumulator_value,
            eps=eps,
        )
        defaults = {
            "lr": lr,
            "lr_decay": lr_decay,
            "eps": eps,
            "weight_decay": weight_decay,
            "initial_accumulator_value": initial_accumulator_value,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "fused": fused,
        }
        super().__init__(params, defaults)
        check_fused(fused, foreach, differentiable)
        self._allow_scaling(fused)

    def add_param_group(self, param_group: dict) -> None:
        """Adds a group; its sums exist from the start."""
        super().add_param_group(param_group)
        for param in param_group["params"]:
            self._start(self.state[param], param, param_group)

    def _numbers(self, group: dict) -> list[float] | None:
        values = super()._numbers(group)
        return None if values is None else [*values, 0.0, 0.0]

    def share_memory(self) -> None:
        """Moves the sums to shared memory, for processes that train at once."""
        for group in self.param_groups:
            for param in group["params"]:
                self.state[param]["sum"].share_memory_()

    def _start(self, state: dict, param: Tensor, group: dict) -> None:
        if is_lazy(param):
            raise ValueError(
                f"Attempted to use an uninitialized parameter in {full_like}. "
                "Call the module once before making an optimizer that starts "
                "with sums of its parameters' shapes"
            )
        start = group["initial_accumulator_value"]
        # A complex start: both parts are squares of their own.
        value = complex(start, start) if param.is_complex() else start
        state["step"] = zeros(
            (),
            dtype=_get_scalar_dtype(group["fused"]),
            device=param.device if group["fused"] else "cpu",
        )
        state["sum"] = full_like(param, value)
