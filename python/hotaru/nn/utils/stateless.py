"""Calls of modules with other tensors in place of parameters and buffers."""

from __future__ import annotations

import contextlib
import warnings

from ... import Tensor

__all__ = ["functional_call"]

_ABSENT = object()


def functional_call(
    module,
    parameters_and_buffers: dict,
    args=None,
    kwargs: dict | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
):
    """Deprecated: `hotaru.func.functional_call` is the same, and newer."""
    warnings.warn(
        "`torch.nn.utils.stateless.functional_call` is deprecated as of "
        "PyTorch 2.0 and will be removed in a future version of PyTorch. "
        "Please use `torch.func.functional_call` instead which is a drop-in "
        "replacement.",
        FutureWarning,
        stacklevel=2,
    )
    return call_with(
        module, parameters_and_buffers, args, kwargs, tie_weights, strict
    )


def call_with(
    module,
    given: dict,
    args=None,
    kwargs: dict | None = None,
    tie_weights: bool = True,
    strict: bool = False,
):
    """Calls the module with the tensors of `given`; undoes that at the end.

    Arguments and errors are those of `hotaru.func.functional_call`.
    """
    from ... import jit

    if jit.is_tracing() or isinstance(
        module, (jit.ScriptModule, jit.ScriptFunction)
    ):
        raise RuntimeError(
            "The stateless API can't be used with Jitted modules"
        )
    if not isinstance(args, tuple):
        args = () if args is None else (args,)
    with _replaced(module, given, tie_weights, strict):
        return module(*args, **(kwargs or {}))


def _named(module) -> dict[str, Tensor]:
    names = dict(module.named_parameters(remove_duplicate=False))
    names.update(module.named_buffers(remove_duplicate=False))
    return names


def _tied(module, given: dict) -> dict:
    """The tensors with those of other names of the same parameters."""
    groups: dict[int, list[str]] = {}
    for name, tensor in _named(module).items():
        groups.setdefault(id(tensor), []).append(name)
    full = dict(given)
    for names in groups.values():
        chosen = [name for name in names if name in given]
        if len({id(given[name]) for name in chosen}) > 1:
            raise ValueError(
                "functional_call got multiple values for keys "
                f"{sorted(chosen)}, which are tied. Consider using "
                "tie_weights=False"
            )
        if chosen:
            full.update(dict.fromkeys(names, given[chosen[0]]))
    return full


def _check_names(module, given: dict) -> None:
    known = set(_named(module))
    lines = [
        f"{what} key(s): {', '.join(map(repr, sorted(names)))}."
        for what, names in (
            ("Unexpected", set(given) - known),
            ("Missing", known - set(given)),
        )
        if names
    ]
    if lines:
        raise RuntimeError(
            f"Error(s) in reparametrizing for {type(module).__name__}:\n\t"
            + "\n\t".join(lines)
        )


@contextlib.contextmanager
def _replaced(module, given: dict, tie_weights: bool, strict: bool):
    """The module with the given tensors, for the time of the block.

    What the block assigned to their names is in `given` afterwards.
    """
    full = _tied(module, given) if tie_weights else given
    if strict:
        _check_names(module, full)
    before: dict[str, object] = {}
    after: dict[str, object] = {}
    try:
        for name, tensor in full.items():
            before[name] = _swap(module, name, tensor)
        yield
    finally:
        for name in reversed(before):
            after[name] = _swap(module, name, before[name])
        given.update({name: after[name] for name in given if name in after})


def _owner(module, path: str):
    for part in path.split(".") if path else ():
        try:
            module = getattr(module, part)
        except AttributeError:
            raise AttributeError(
                f"{type(module).__name__} has no attribute `{part}`"
            ) from None
    return module


def _swap(module, name: str, tensor):
    """Puts a tensor in place; what was there, `_ABSENT` for nothing."""
    path, _, last = name.rpartition(".")
    target = _owner(module, path)
    if tensor is not _ABSENT and tensor is not None:
        _check_tensor(tensor, f"{tensor}")
    for table in (target._parameters, target._buffers):
        if last in table:
            old = table.pop(last) if tensor is _ABSENT else table[last]
            if tensor is not _ABSENT:
                table[last] = tensor
            return old
    old = getattr(target, last, _ABSENT)
    if old is not _ABSENT and old is not None:
        _check_tensor(old, f"attribute `{last}`: {old}")
    if tensor is not _ABSENT:
        setattr(target, last, tensor)
    elif old is not _ABSENT:
        delattr(target, last)
    return old


def _check_tensor(value, what: str) -> None:
    if not isinstance(value, Tensor):
        raise TypeError(f"{what} is not an instance of torch.Tensor")
