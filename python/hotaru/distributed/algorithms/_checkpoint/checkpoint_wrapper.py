"""Modules in wrappers: what they compute is computed again in a backward pass,
or kept in the memory of the CPU. Their states have the names of before.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from enum import Enum, auto
from functools import partial

from ....autograd.graph import save_on_cpu
from ....nn import Module
from ....utils.checkpoint import checkpoint
from ...fsdp.wrap import (
    _construct_wrap_fn,
    _Policy,
    _post_order_apply,
    _recursive_wrap,
    lambda_auto_wrap_policy,
)

__all__ = [
    "ActivationWrapper",
    "CheckpointImpl",
    "CheckpointWrapper",
    "OffloadWrapper",
    "apply_activation_checkpointing",
    "checkpoint_wrapper",
    "offload_wrapper",
]

_CHECKPOINT_WRAPPED_MODULE = "_checkpoint_wrapped_module"
_CHECKPOINT_PREFIX = _CHECKPOINT_WRAPPED_MODULE + "."


class CheckpointImpl(Enum):
    """Which of the two forms of `checkpoint` is used."""

    REENTRANT = auto()
    NO_REENTRANT = auto()


class ActivationWrapper(Module, ABC):
    """A module in the place of another one; what it lacks, that one has."""

    def __init__(self, mod: Module) -> None:
        super().__init__()
        self._checkpoint_wrapped_module = mod
        self.register_state_dict_post_hook(self._post_state_dict_hook)
        self.register_load_state_dict_pre_hook(self._pre_load_state_dict_hook)

    @abstractmethod
    def forward(self, *args, **kwargs):
        """Runs the module."""

    def __getattr__(self, name: str):
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(self._checkpoint_wrapped_module, name)

    def __getitem__(self, key):
        return self._checkpoint_wrapped_module[key]

    def named_parameters(self, *args, **kwargs):
        """Parameters by the names that they have in the module itself."""
        for name, param in super().named_parameters(*args, **kwargs):
            yield name.replace(_CHECKPOINT_PREFIX, ""), param

    @staticmethod
    def _post_state_dict_hook(module, state_dict: dict, prefix: str, *args):
        _rename(state_dict, prefix + _CHECKPOINT_PREFIX, prefix)

    @staticmethod
    def _pre_load_state_dict_hook(module, state_dict, prefix: str, *args):
        _rename(state_dict, prefix, prefix + _CHECKPOINT_PREFIX)


def _rename(state: dict, before: str, after: str) -> None:
    """Names that begin so begin otherwise; in place, as hooks do it."""
    if before == after:
        raise ValueError("before and after must be distinct")
    for name in list(state.keys()):
        if name.startswith(before):
            state[after + name[len(before) :]] = state.pop(name)


class OffloadWrapper(ActivationWrapper):
    """A module whose activations wait in the memory of the CPU."""

    def forward(self, *args, **kwargs):
        """Runs the module."""
        with save_on_cpu(pin_memory=True):
            return self._checkpoint_wrapped_module(*args, **kwargs)


class CheckpointWrapper(ActivationWrapper):
    """A module that runs again in a backward pass.

    Args:
        checkpoint_impl: the form of `checkpoint`.
        checkpoint_fn: a function of the module and its arguments in its place.
        checkpoint_fn_kwargs: arguments of either.
    """

    def __init__(
        self,
        mod: Module,
        checkpoint_impl: CheckpointImpl = CheckpointImpl.NO_REENTRANT,
        checkpoint_fn: Callable | None = None,
        **checkpoint_fn_kwargs,
    ) -> None:
        super().__init__(mod)
        self.checkpoint_impl = checkpoint_impl
        if checkpoint_fn is None:
            checkpoint_fn = partial(
                checkpoint, use_reentrant=checkpoint_impl is CheckpointImpl.REENTRANT
            )
        self.checkpoint_fn = partial(checkpoint_fn, **checkpoint_fn_kwargs)

    def forward(self, *args, **kwargs):
        """Runs the module."""
        module = self._checkpoint_wrapped_module
        if self.checkpoint_impl is CheckpointImpl.REENTRANT and kwargs:
            # This form takes arguments in order alone.
            names = list(kwargs)

            def run(*values):
                count = len(values) - len(names)
                named = dict(zip(names, values[count:]))
                return module(*values[:count], **named)

            return self.checkpoint_fn(run, *args, *kwargs.values())
        return self.checkpoint_fn(module, *args, **kwargs)


def offload_wrapper(module: Module) -> Module:
    """The module with its activations in the memory of the CPU."""
    return OffloadWrapper(module)


def checkpoint_wrapper(
    module: Module,
    checkpoint_impl: CheckpointImpl = CheckpointImpl.NO_REENTRANT,
    checkpoint_fn: Callable | None = None,
    **checkpoint_fn_kwargs,
) -> Module:
    """The module, which runs again in a backward pass."""
    return CheckpointWrapper(
        module, checkpoint_impl, checkpoint_fn, **checkpoint_fn_kwargs
    )


def apply_activation_checkpointing(
    model: Module,
    checkpoint_wrapper_fn: Callable = checkpoint_wrapper,
    check_fn: Callable = lambda _: True,
    auto_wrap_policy=None,
) -> None:
    """Wraps modules of a model, in place; the model itself is not wrapped.

    Args:
        check_fn: tells which.
        auto_wrap_policy: does so instead, as `fsdp.wrap` has them.
    """
    policy = auto_wrap_policy or partial(lambda_auto_wrap_policy, lambda_fn=check_fn)
    if isinstance(policy, _Policy):
        chosen = policy._run_policy(model, ignored_modules=set(), root_kwargs={})
        _post_order_apply(
            model, _construct_wrap_fn(model, chosen, checkpoint_wrapper_fn)
        )
        return
    _recursive_wrap(
        module=model,
        auto_wrap_policy=policy,
        wrapper_cls=checkpoint_wrapper_fn,
        ignored_modules=set(),
        ignored_params=set(),
        only_wrap_children=True,
    )
