"""Weights whose gradient is wanted for each sample."""

from __future__ import annotations

from collections.abc import Callable

from .... import Tensor

# By the function that a layer calls: what runs when a weight of it is one of
# ours, with that function's arguments.
HANDLED_FUNCTIONS: dict[Callable, Callable] = {}


def implements_per_sample_grads(*functions: Callable):
    """Makes what it decorates answer for these functions."""

    def register(rule: Callable) -> Callable:
        for function in functions:
            HANDLED_FUNCTIONS[function] = rule
        return rule

    return register


class ExpandedWeight(Tensor):
    """Stands for a weight in one call of a model.

    Functions with a rule compute as with the weight; `backward` then gives
    that an attribute `grad_sample`, of shape ``[batch_size, *weight.shape]``,
    adding to what is there, and leaves its `grad` alone. All other functions
    are a RuntimeError, as nobody knows which of their dimensions is the batch.

    Args:
        orig_weight: the weight, which requires grad.
        batch_size: the number of samples.
        loss_reduction: "sum", or "mean" for a loss that is a mean over the
            batch, whose factor is then taken out again.

    Raises:
        RuntimeError: no tensor, or one that requires no gradient.
    """

    handled_functions = HANDLED_FUNCTIONS

    def __new__(cls, orig_weight, batch_size: int, loss_reduction: str):
        if not isinstance(orig_weight, Tensor):
            raise RuntimeError(
                "Can only make Expanded Weights of Tensors, got "
                f"{type(orig_weight).__name__}"
            )
        if not orig_weight.requires_grad:
            raise RuntimeError(
                "Can only build ExpandedWeights objects of tensors that requires_grad"
            )
        return Tensor._make_subclass(cls, orig_weight, True)

    def __init__(self, orig_weight, batch_size: int, loss_reduction: str) -> None:
        self.orig_weight = orig_weight
        self.batch_size = batch_size
        self.loss_reduction = loss_reduction

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        rule = cls.handled_functions.get(func)
        if rule is None:
            raise RuntimeError(
                "Expanded Weights encountered but cannot handle function "
                f"{func.__name__}"
            )
        return rule(*args, **(kwargs or {}))

    # Layers look at these without computing anything.

    @property
    def dtype(self):
        """That of the weight."""
        return self.orig_weight.dtype

    @property
    def data(self):
        """That of the weight."""
        return self.orig_weight.data

    @property
    def shape(self):
        """That of the weight."""
        return self.orig_weight.shape

    @property
    def device(self):
        """That of the weight."""
        return self.orig_weight.device

    @property
    def is_cuda(self) -> bool:
        """True if the weight is on a GPU."""
        return self.orig_weight.is_cuda

    def data_ptr(self) -> int:
        """That of the weight."""
        return self.orig_weight.data_ptr()

    def get_device(self) -> int:
        """That of the weight."""
        return self.orig_weight.get_device()
