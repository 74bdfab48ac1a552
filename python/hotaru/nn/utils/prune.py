"""Pruning: weights that a mask sets to zero before each call.

A pruned tensor `name` becomes a parameter `name_orig` and a buffer `name_mask`;
their product is an attribute `name`, which a hook renews.
"""

from __future__ import annotations

from collections.abc import Iterable

import hotaru

from ... import Tensor
from ..modules import Module
from ._pruning_checks import (  # noqa: F401  (reached by their names here)
    _compute_norm,
    _compute_nparams_toprune,
    _validate_pruning_amount,
    _validate_pruning_amount_init,
    _validate_pruning_dim,
    _validate_structured_pruning,
)
from ._pruning_methods import (
    BasePruningMethod,
    CustomFromMask,
    Identity,
    L1Unstructured,
    LnStructured,
    PruningContainer,
    RandomStructured,
    RandomUnstructured,
    keys_of,
)
from .convert_parameters import parameters_to_vector


def identity(module: Module, name: str) -> Module:
    """Brings the parts of a pruned tensor about without pruning it."""
    Identity.apply(module, name)
    return module


def random_unstructured(module: Module, name: str, amount: float) -> Module:
    """Prunes `amount` entries (a fraction if it is a float) at random."""
    RandomUnstructured.apply(module, name, amount)
    return module


def l1_unstructured(
    module: Module, name: str, amount: float, importance_scores: Tensor | None = None
) -> Module:
    """Prunes `amount` entries (a fraction if it is a float) of the least
    magnitude, of the tensor or of `importance_scores`.
    """
    L1Unstructured.apply(
        module, name, amount=amount, importance_scores=importance_scores
    )
    return module


def random_structured(module: Module, name: str, amount: float, dim: int) -> Module:
    """Prunes `amount` channels (a fraction if it is a float) along an axis at
    random.
    """
    RandomStructured.apply(module, name, amount, dim)
    return module


def ln_structured(
    module: Module,
    name: str,
    amount: float,
    n,
    dim: int,
    importance_scores: Tensor | None = None,
) -> Module:
    """Prunes `amount` channels (a fraction if it is a float) along an axis of
    the least n-norm, of the tensor or of `importance_scores`.
    """
    LnStructured.apply(
        module, name, amount, n, dim, importance_scores=importance_scores
    )
    return module


def global_unstructured(
    parameters, pruning_method, importance_scores: dict | None = None, **kwargs
) -> None:
    """Prunes entries of several tensors as if they were one.

    Args:
        parameters: pairs of a module and a name.
        pruning_method: a class for unstructured pruning.
        importance_scores: tensors by such pairs, in place of the tensors.
        **kwargs: what the method is made of, as `amount`.

    Raises:
        TypeError: arguments of another kind, or a structured method.
    """
    if not isinstance(parameters, Iterable):
        raise TypeError("global_unstructured(): parameters is not an Iterable")
    scores = {} if importance_scores is None else importance_scores
    if not isinstance(scores, dict):
        raise TypeError("global_unstructured(): importance_scores must be of type dict")
    chosen = [(m, name, getattr(m, name)) for m, name in parameters]
    joined = parameters_to_vector(
        [scores.get((m, name), tensor) for m, name, tensor in chosen]
    )
    present = parameters_to_vector(
        [
            getattr(m, name + "_mask", hotaru.ones_like(tensor))
            for m, name, tensor in chosen
        ]
    )
    container = PruningContainer()
    method = pruning_method(**kwargs)
    container._tensor_name = method._tensor_name = "temp"
    if method.PRUNING_TYPE != "unstructured":
        raise TypeError(
            'Only "unstructured" PRUNING_TYPE supported for the '
            f"`pruning_method`. Found method {pruning_method} of type "
            f"{method.PRUNING_TYPE}"
        )
    container.add_pruning_method(method)
    mask = container.compute_mask(joined, present)
    parts = mask.split([tensor.numel() for _, _, tensor in chosen])
    for (m, name, tensor), part in zip(chosen, parts):
        custom_from_mask(m, name, mask=part.view_as(tensor))


def custom_from_mask(module: Module, name: str, mask: Tensor) -> Module:
    """Prunes the entries where `mask` is 0."""
    CustomFromMask.apply(module, name, mask)
    return module


def remove(module: Module, name: str) -> Module:
    """Makes a pruned tensor a plain parameter, which stays pruned.

    Raises:
        ValueError: it is not pruned.
    """
    keys = keys_of(module, name)
    if not keys:
        raise ValueError(
            f"Parameter '{name}' of module {module} has to be pruned before "
            "pruning can be removed"
        )
    module._forward_pre_hooks[keys[0]].remove(module)
    del module._forward_pre_hooks[keys[0]]
    return module


def is_pruned(module: Module) -> bool:
    """Tells whether a tensor of the module, or of one below, is pruned."""
    return any(
        isinstance(hook, BasePruningMethod)
        for below in module.modules()
        for hook in below._forward_pre_hooks.values()
    )
