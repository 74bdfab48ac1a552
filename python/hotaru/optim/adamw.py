"""AdamW."""

from __future__ import annotations

from .. import Tensor
from .adam import Adam, adam

__all__ = ["AdamW", "adamw"]


class AdamW(Adam):
    """Adam with decoupled weight decay (Loshchilov & Hutter 2017).

    "Decoupled Weight Decay Regularization", arXiv 1711.05101: p -= lr
    weight_decay p, beside the step of `Adam`, whose arguments it has.
    `weight_decay` is 0.01.
    """

    def __init__(
        self,
        params,
        lr: float | Tensor = 1e-3,
        betas: tuple[float | Tensor, float | Tensor] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        super().__init__(
            params,
            lr,
            betas,
            eps,
            weight_decay,
            amsgrad,
            foreach=foreach,
            maximize=maximize,
            capturable=capturable,
            differentiable=differentiable,
            fused=fused,
            decoupled_weight_decay=True,
        )

    def __setstate__(self, state: dict) -> None:
        super().__setstate__(state)
        # Files of old versions were written when there was no such option.
        for group in self.param_groups:
            group["decoupled_weight_decay"] = True


def adamw(*lists, **options) -> None:
    """The update of `AdamW`, in place: `adam` with decoupled weight decay."""
    adam(*lists, **options, decoupled_weight_decay=True)
