"""SparseAdam."""

from __future__ import annotations

from .. import Tensor
from ._functional import sparse_adam
from ._hooks import loss_of
from ._options import check_betas, check_lr
from .optimizer import Optimizer

__all__ = ["SparseAdam"]


class SparseAdam(Optimizer):
    """Adam for parameters with sparse gradients, such as embeddings.

    hotaru has no sparse tensors: parameters with the gradients that it makes
    are for `Adam`, as the error of `step` says, in PyTorch as well.

    Args:
        params: parameters or groups, see `Optimizer`.
        lr: learning rate (0.001).
        betas: decay of the running means, in [0, 1) (0.9, 0.999).
        eps: added to the root (1e-8).
        maximize: see `hotaru.optim`.

    Raises:
        ValueError: an option out of its range, complex parameters.
        RuntimeError: dense gradients, in `step`.
    """

    def __init__(
        self,
        params,
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
        places = [
            [i, j]
            for i, group in enumerate(self.param_groups)
            for j, param in enumerate(group["params"])
            if param.is_complex()
        ]
        if places:
            raise ValueError(
                f"Complex params at indices {places}: SparseAdam does not "
                "support complex parameters"
            )

    def step(self, closure=None):
        """Runs the closure; fails for any parameter with a gradient."""
        loss = loss_of(closure)
        for group in self.param_groups:
            for param in group["params"]:
                if param.grad is None:
                    continue
                if not param.grad.is_sparse:
                    raise RuntimeError(
                        "SparseAdam does not support dense gradients, please "
                        "consider Adam instead"
                    )
                sparse_adam()
        return loss
