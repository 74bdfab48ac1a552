"""Modules as functions of their parameters and buffers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from .. import Tensor, nn, stack
from ..nn.utils.stateless import call_with


def functional_call(
    module,
    parameter_and_buffer_dicts,
    args=None,
    kwargs: dict | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
):
    """Calls a module with other tensors as its parameters and buffers.

    The module has its own again when the call ends, also by an exception; what
    the call assigned to these names is then in the dictionary given. Not to be
    called for one module from several threads at the same time.

    Args:
        module: the module to call.
        parameter_and_buffer_dicts: tensors by name ("0.weight"), in one
            dictionary or a sequence of them. Names that are not given keep
            the module's tensors.
        args: the arguments; anything but a tuple is the only one.
        kwargs: arguments by name.
        tie_weights: a tensor given for one name stands also for the other
            names of the same parameter.
        strict: RuntimeError for names that miss or are unknown.

    Raises:
        ValueError: what is no dictionary, a name in two of them, or different
            tensors for names that are tied.
        RuntimeError: as `strict` says, or a compiled module.
        TypeError: what is no tensor, or would replace what is none.
        AttributeError: a name in a submodule that does not exist.
    """
    return call_with(
        module,
        _merged(parameter_and_buffer_dicts),
        args,
        kwargs,
        tie_weights,
        strict,
    )


def _merged(dicts) -> dict:
    if isinstance(dicts, dict):
        return dicts
    if not isinstance(dicts, Sequence):
        raise ValueError(
            "Expected parameter_and_buffer_dicts to be a dict, or a list/tuple "
            f"of dicts, but got {type(dicts)}"
        )
    if not all(isinstance(part, dict) for part in dicts):
        raise ValueError(
            "Expected all elements of parameter_and_buffer_dicts to be "
            "dictionaries"
        )
    counts = Counter(name for part in dicts for name in part)
    repeated = [name for name, count in counts.items() if count > 1]
    if repeated:
        raise ValueError(
            f"{repeated} appeared in multiple dictionaries; behavior of "
            "functional call is ambiguous"
        )
    return {name: value for part in dicts for name, value in part.items()}


def stack_module_state(models) -> tuple[dict, dict]:
    """Parameters and buffers of modules of one class, stacked by name.

    To be mapped over with `vmap` and `functional_call`. Parameters are leaves
    that require gradients where the models' do.

    Raises:
        RuntimeError: no module, different classes or modes, or a parameter
            that requires gradients only in some.
    """
    if len(models) == 0:
        raise RuntimeError(
            "stack_module_state: Expected at least one model, got 0."
        )
    if len({m.training for m in models}) > 1:
        raise RuntimeError(
            "stack_module_state: Expected all models to have the same "
            "training/eval mode."
        )
    if any(type(m) is not type(models[0]) for m in models):
        raise RuntimeError(
            "stack_module_state: Expected all models to be of the same class."
        )
    params = [dict(m.named_parameters()) for m in models]
    buffers = [dict(m.named_buffers()) for m in models]
    return (
        {name: _stacked([p[name] for p in params], name) for name in params[0]},
        {
            name: _stacked([b[name] for b in buffers], name)
            for name in buffers[0]
        },
    )


def _stacked(tensors: list[Tensor], name: str) -> Tensor:
    wants = {t.requires_grad for t in tensors}
    if len(wants) > 1:
        raise RuntimeError(
            f"Expected {name} from each model to have the same .requires_grad"
        )
    result = stack(tensors)
    return result.detach().requires_grad_() if wants.pop() else result


def replace_all_batch_norm_modules_(root):
    """Takes the running statistics off all batch norms below `root`, in place.

    They then use those of each batch, and write nothing. Returns `root`.
    """
    for module in root.modules():
        if isinstance(module, nn.modules.batchnorm._BatchNorm):
            module.running_mean = None
            module.running_var = None
            module.num_batches_tracked = None
            module.track_running_stats = False
    return root
