"""Models whose `backward` gives each sample's gradients."""

from __future__ import annotations

import functools
from collections.abc import Callable

from ... import Tensor
from ..._late import lent
from ...utils import _pytree
from ..modules.module import Module
from ._expanded_weights import ExpandedWeight


def call_for_per_sample_grads(
    module: Module,
    *,
    batch_size: int | None = None,
    loss_reduction: str = "sum",
    batch_first: bool = True,
) -> Callable:
    """A module's `forward` behind which weights get `grad_sample`.

    `backward` gives each parameter that requires grad the attribute, of shape
    ``[batch_size, *shape]``: the gradient of each sample alone. `grad` stays
    as it is. Layers may be linear, convolutions, embeddings, layer, group and
    instance normalisations, and recurrent ones, whose samples do not meet.

    Args:
        batch_size: the number of samples; by default the size of the batch
            dimension, which all tensors among the arguments share.
        loss_reduction: whether the loss is a "sum" or a "mean" over samples.
        batch_first: whether the batch is the first dimension of the arguments,
            or else the second; only for their number.

    Raises:
        RuntimeError: arguments of another kind, parameters that have
            `grad_sample` already, and, when called, layers that have no rule.
    """
    _check(module, batch_size, loss_reduction)

    @functools.wraps(module.forward)
    def forward(*args, **kwargs):
        size = batch_size or _batch_size(args, kwargs, 0 if batch_first else 1)
        weights = {
            name: ExpandedWeight(weight, size, loss_reduction)
            if weight.requires_grad
            else weight
            for name, weight in module.named_parameters()
        }
        return lent("functional_call")(module, weights, args, kwargs)

    return forward


def _check(module, batch_size, loss_reduction) -> None:
    if loss_reduction not in ("sum", "mean"):
        raise RuntimeError(
            f"Expected loss_reduction argument to be sum or mean, got {loss_reduction}"
        )
    if not isinstance(module, Module):
        raise RuntimeError(
            f"Module passed must be nn.Module, got {type(module).__name__}"
        )
    if batch_size is not None and not isinstance(batch_size, int):
        raise RuntimeError(
            "Batch size passed must be None or an integer, got "
            f"{type(batch_size).__name__}"
        )
    if batch_size is not None and batch_size < 1:
        raise RuntimeError(f"Batch size must be positive, got {batch_size}")
    for weight in module.parameters():
        if getattr(weight, "grad_sample", None) is not None:
            raise RuntimeError(
                "Current Expanded Weights accumulates the gradients, which "
                "will be incorrect for multiple calls without clearing "
                "gradients. Please clear out the grad_sample parameter of "
                f"{weight} or post an issue to pytorch/pytorch to prioritize "
                "correct behavior"
            )


def _batch_size(args: tuple, kwargs: dict, dim: int) -> int:
    found = None
    for value in _pytree.tree_leaves((args, kwargs)):
        if not isinstance(value, Tensor):
            continue
        size = value.shape[dim]
        if found is not None and found != size:
            raise RuntimeError(
                "When computing batch size, found at least one input with "
                f"batch size {found} and one with batch size {size}. "
                "Please specify it explicitly using the batch size kwarg in "
                "call_for_per_sample_grads"
            )
        found = size
    if found is None:
        raise RuntimeError(
            "Unable to find a tensor in the passed args and kwargs. "
            "They may not be pytree-able and so ExpandedWeights cannot compute "
            "the batch size from the inputs. Please specify it explicitly"
        )
    return found
