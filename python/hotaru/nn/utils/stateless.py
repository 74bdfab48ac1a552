"""Calls of a module with tensors in place of its own."""

from __future__ import annotations

import contextlib
import threading
import warnings
import weakref

import hotaru

from ... import Tensor
from ..modules import Module
from ._named_member_accessor import NamedMemberAccessor

__all__ = ["functional_call"]


def functional_call(
    module: Module,
    parameters_and_buffers: dict[str, Tensor],
    args=None,
    kwargs: dict | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
):
    """The older name of `func.functional_call`, for one dict."""
    warnings.warn(
        "`torch.nn.utils.stateless.functional_call` is deprecated as of "
        "PyTorch 2.0 and will be removed in a future version of PyTorch. "
        "Please use `torch.func.functional_call` instead which is a drop-in "
        "replacement.",
        FutureWarning,
        stacklevel=2,
    )
    return _functional_call(
        module,
        parameters_and_buffers,
        args,
        kwargs,
        tie_weights=tie_weights,
        strict=strict,
    )


def _functional_call(
    module: Module,
    parameters_and_buffers: dict[str, Tensor],
    args=None,
    kwargs: dict | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
):
    from ..parallel import DataParallel

    if hotaru.jit.is_tracing() or isinstance(module, hotaru.jit.ScriptModule):
        raise RuntimeError("The stateless API can't be used with Jitted modules")
    if isinstance(module, DataParallel):
        raise RuntimeError(
            "The stateless API can't be used with nn.DataParallel module"
        )
    if args is None:
        args = ()
    elif not isinstance(args, tuple):
        args = (args,)
    with (
        _in_turn(module),
        _reparametrize_module(module, parameters_and_buffers, tie_weights, strict),
    ):
        return module(*args, **({} if kwargs is None else kwargs))


# A module has one set of tensors at a time, so its calls with others take
# turns; a call inside of a call is of the same thread.
_turns: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()
_turns_lock = threading.Lock()


def _in_turn(module: Module):
    with _turns_lock:
        return _turns.setdefault(module, threading.RLock())


@contextlib.contextmanager
def _reparametrize_module(
    module: Module,
    parameters_and_buffers: dict[str, Tensor],
    tie_weights: bool = False,
    strict: bool = False,
    stack_weights: bool = False,
):
    """Inside, the module has these tensors; those that it then puts in their
    place are in the dict afterwards.

    `stack_weights` gives the module its own back in the opposite order.
    """
    given = parameters_and_buffers
    if tie_weights:
        given = _with_tied(module, given)
    accessor = NamedMemberAccessor(module)
    if strict:
        _check(module, accessor, given)
    own: dict = {}
    try:
        own, _ = accessor.swap_tensors_dict(given, allow_missing=True)
        yield
    finally:
        if stack_weights:
            own = dict(reversed(own.items()))
        now, _ = accessor.swap_tensors_dict(own, allow_missing=True)
        for name in parameters_and_buffers:
            if name in now:
                parameters_and_buffers[name] = now[name]


def _check(module: Module, accessor: NamedMemberAccessor, given) -> None:
    missing, unexpected = accessor.check_keys(given)
    problems = [
        f"{what} key(s): {', '.join(map(repr, names))}."
        for what, names in (("Unexpected", unexpected), ("Missing", missing))
        if names
    ]
    if problems:
        text = "\n\t".join(problems)
        raise RuntimeError(
            f"Error(s) in reparametrizing for {module._get_name()}:\n\t{text}"
        )


def _with_tied(module: Module, given: dict) -> dict:
    """The dict with each value under all names of the tensor it stands for.

    Raises:
        ValueError: two values for one tensor.
    """
    names_of: dict[int, set] = {}
    own = NamedMemberAccessor(module).named_tensors(remove_duplicate=False)
    for name, tensor in own:
        names_of.setdefault(id(tensor), set()).add(name)
    all_given = dict(given)
    for names in names_of.values():
        values = {id(given[name]): given[name] for name in names & given.keys()}
        if len(names) == 1 or not values:
            continue
        if len(values) > 1:
            raise ValueError(
                "functional_call got multiple values for keys "
                f"{sorted(names)}, which are tied. "
                "Consider using tie_weights=False"
            )
        (value,) = values.values()
        all_given.update(dict.fromkeys(names, value))
    return all_given
