"""SparseAdam."""

from __future__ import annotations

from .. import Tensor, no_grad, zeros_like
from ._arithmetic import value_of
from ._hooks import loss_of
from ._options import check_betas, check_lr
from ._sparse import sparse_adam
from .optimizer import Optimizer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .optimizer import ParamsT

__all__ = ["SparseAdam"]


class SparseAdam(Optimizer):
    """Adam for parameters with sparse gradients, such as embeddings.

    What a gradient has no elements for keeps its running means and is not
    moved, so a step takes as long as there are elements: see `Adam` for the
    arithmetic.

    Args:
        params: parameters or groups, see `Optimizer`.
        lr: learning rate (0.001).
        betas: decay of the running means, in [0, 1) (0.9, 0.999).
        eps: added to the root (1e-8).
        maximize: see `hotaru.optim`.

    Raises:
        ValueError: an option out of its range, complex or sparse parameters.
        RuntimeError: dense gradients, in `step`.
    """

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        maximize: bool = False,
    ) -> None:
        check_lr(lr)
        if not lr > 0.0:
            raise ValueError(f"Invalid learning rate: {lr}")
        if not eps > 0.0:
            raise ValueError(f"Invalid epsilon value: {eps}")
        check_betas(betas)
        defaults = {"lr": lr, "betas": betas, "eps": eps, "maximize": maximize}
        super().__init__(params, defaults)
        sparse = self._places(lambda param: param.is_sparse)
        if sparse:
            raise ValueError(
                f"Sparse params at indices {sparse}: SparseAdam requires dense "
                "parameter tensors"
            )
        places = self._places(lambda param: param.is_complex())
        if places:
            raise ValueError(
                f"Complex params at indices {places}: SparseAdam does not "
                "support complex parameters"
            )

    def _places(self, has) -> list[list[int]]:
        """[group, place in it] of every parameter that has something."""
        return [
            [i, j]
            for i, group in enumerate(self.param_groups)
            for j, param in enumerate(group["params"])
            if has(param)
        ]

    def step(self, closure=None):
        """Updates all parameters that have a gradient.

        `closure`, if given, computes the loss again; it is returned.
        """
        loss = loss_of(closure)
        with no_grad():
            for group in self.param_groups:
                self._update_group(group)
        return loss

    def _update_group(self, group: dict) -> None:
        rows = []
        for param in group["params"]:
            grad = param.grad
            if grad is None:
                continue
            if not grad.is_sparse:
                raise RuntimeError(
                    "SparseAdam does not support dense gradients, please "
                    "consider Adam instead"
                )
            state = self.state[param]
            if not state:
                state["step"] = 0
                state["exp_avg"] = zeros_like(param)
                state["exp_avg_sq"] = zeros_like(param)
            state["step"] += 1
            means = state["exp_avg"], state["exp_avg_sq"]
            rows.append((param, grad, *means, state["step"]))
        if not rows:
            return
        beta1, beta2 = group["betas"]
        sparse_adam(
            *zip(*rows),
            eps=group["eps"],
            beta1=beta1,
            beta2=beta2,
            lr=value_of(group["lr"]),
            maximize=group.get("maximize", False),
        )
