"""Checkpoints that keep the results of some operators.

The first run asks a policy for each operator; what it says to save is kept,
and the second run takes it from there instead of computing it. Both see their
operators as modes of `__torch_dispatch__` that answer with the history of what
they call, so nodes are those of a program without checkpoints. An operator
that is not computed again saves nothing either: what it saved the first time
is noted, as one of its arguments where it was, and given to the checkpoint.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from .. import Tensor, autograd, empty, enable_grad, no_grad
from .._dispatch.questions import QUESTIONS
from .._ops import OpOverload, OpOverloadPacket, aten
from . import _pytree
from ._python_dispatch import TorchDispatchMode
from ._recompute import give_saved, hooks_of_the_program, saved_inside

#: About a tensor, not its values: done again rather than kept.
SAC_IGNORED_OPS = {aten.detach.default, *QUESTIONS}

_NOT_FOUND = (
    " encountered during backward but not found in storage. This can happen if "
    "the operations in the checkpointed region are nondeterministic or depend "
    "on global state that changed between forward and backward."
)


class CheckpointPolicy(enum.Enum):
    """Decision of a policy about one call of an operator.

    SAVE keeps its result, CPU_OFFLOAD keeps it in the CPU's memory, RECOMPUTE
    computes it again. MUST and PREFER are the same here: they differ for
    compilers that choose themselves.
    """

    MUST_SAVE = 0
    PREFER_SAVE = 1
    MUST_RECOMPUTE = 2
    PREFER_RECOMPUTE = 3
    MUST_CPU_OFFLOAD = 4
    PREFER_CPU_OFFLOAD = 5


_KEPT = (CheckpointPolicy.MUST_SAVE, CheckpointPolicy.PREFER_SAVE)
_OFFLOADED = (CheckpointPolicy.MUST_CPU_OFFLOAD, CheckpointPolicy.PREFER_CPU_OFFLOAD)


class SelectiveCheckpointContext:
    """Facts that a policy may look at: `op_output`, the operator's result
    without history. Policies are asked in the first run alone, so
    `is_recompute` is False.
    """

    def __init__(self, *, is_recompute: bool, op_output: Any = None) -> None:
        self.is_recompute = is_recompute
        self.op_output = op_output


@dataclass
class _Value:
    """A kept result, or a part of one; `val` has no history."""

    val: Any
    had_history: bool = False
    version: int | None = None
    device: Any = None
    unpack: Callable | None = None

    @staticmethod
    def of(value, offload: bool, hooks) -> _Value:
        if not isinstance(value, Tensor):
            return _Value(value)
        kept = value.detach()
        if hooks is not None:
            packed = hooks[0](kept)
            return _Value(packed, value.requires_grad, unpack=hooks[1])
        if offload:
            kept = kept.to("cpu")
            return _Value(kept, value.requires_grad, device=value.device)
        return _Value(kept, value.requires_grad, value._version)

    def get(self, may_differ: bool):
        """RuntimeError if it was written since, unless it `may_differ`."""
        if self.unpack is not None:
            return self.unpack(self.val)
        if self.device is not None:
            return self.val.to(self.device)
        written = self.version is not None and self.val._version != self.version
        if written and not may_differ:
            raise RuntimeError(
                "Tensor cached during selective activation checkpoint has been mutated"
            )
        return self.val


@dataclass
class _Entry:
    """The results of one call and what it saved: places of its arguments and
    behind them its results, or what is kept.
    """

    results: list[_Value]
    spec: Any
    saved: list[int | _Value]

    @property
    def val(self):
        """The result, of an operator that has one."""
        return self.results[0].val


class _CachingTorchDispatchMode(TorchDispatchMode):
    """The first run: keeps what the policy says."""

    _keeps_history = True

    def __init__(self, policy: Callable, storage: dict) -> None:
        super().__init__()
        self.policy = policy
        #: By operator and number of the call; None: computed again, or used.
        self.storage = storage
        #: True: what is kept goes through the program's hooks for saved tensors.
        self.respect_saved_tensors_hooks: bool | None = None

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if func in SAC_IGNORED_OPS:
            return func(*args, **kwargs)
        with saved_inside() as seen:
            result = func(*args, **kwargs)
        with no_grad():
            leaves, spec = _pytree.tree_flatten(result)
            context = SelectiveCheckpointContext(
                is_recompute=False, op_output=_detached(result)
            )
            policy = self.policy(context, func, *args, **kwargs)
            calls = self.storage.setdefault(func, {})
            number = len(calls)
            calls[number] = None
            offload = policy in _OFFLOADED
            if offload or policy in _KEPT or policy is True:
                hooks = None
                if self.respect_saved_tensors_hooks and not offload:
                    hooks = hooks_of_the_program()
                known = [*_tensors(args, kwargs), *leaves]
                calls[number] = _Entry(
                    [_Value.of(leaf, offload, hooks) for leaf in leaves],
                    spec,
                    [_place(tensor, known, hooks) for tensor in seen],
                )
        return result


class _CachedTorchDispatchMode(TorchDispatchMode):
    """The second run: computes what was not kept."""

    _keeps_history = True

    def __init__(self, storage: dict, may_differ: bool) -> None:
        super().__init__()
        self.storage = storage
        self._may_differ = may_differ
        self._numbers: dict = {}
        self._kept: set | None = None

    def __enter__(self):
        self._numbers = {}
        if self._kept is None:
            self._kept = {
                (func, number)
                for func, calls in self.storage.items()
                for number, entry in calls.items()
                if entry is not None
            }
        return super().__enter__()

    def __exit__(self, *exception) -> None:
        super().__exit__(*exception)
        for calls in self.storage.values():  # the run may have ended early
            calls.update(dict.fromkeys(calls))

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if func in SAC_IGNORED_OPS:
            return func(*args, **kwargs)
        entry = self._entry(func)
        if entry is None:
            return func(*args, **kwargs)
        with no_grad():
            leaves = [part.get(self._may_differ) for part in entry.results]
            known = [*_tensors(args, kwargs), *leaves]
            for saved in entry.saved:
                if not isinstance(saved, int):
                    saved = saved.get(may_differ=True)
                else:
                    saved = known[saved]
                give_saved(saved)
            if _writes(func):
                args[0].copy_(leaves[0])
                return args[0]
        for i, part in enumerate(entry.results):
            if part.had_history:
                leaves[i] = _with_history(leaves[i])
        return _pytree.tree_unflatten(leaves, entry.spec)

    def _entry(self, func) -> _Entry | None:
        number = self._numbers.get(func, 0)
        self._numbers[func] = number + 1
        calls = self.storage.get(func)
        if calls is None:
            raise RuntimeError(f"{func}{_NOT_FOUND}")
        if number not in calls:
            raise RuntimeError(f"{func} invocation index {number}{_NOT_FOUND}")
        if (func, number) not in self._kept:
            return None
        entry, calls[number] = calls[number], None
        if entry is None:
            raise RuntimeError(
                "Trying to backward an extra time. "
                "You are only allowed to backward once on any region computed "
                "under selective activation checkpoint."
            )
        return entry


class _Kept(autograd.Function):
    """A history for a kept result: what is computed from it is recorded."""

    @staticmethod
    def forward(ctx, anchor, value):
        return value.detach()

    @staticmethod
    def backward(ctx, grad):
        raise AssertionError("the second run of a checkpoint has no gradient")


def _with_history(value: Tensor) -> Tensor:
    with enable_grad():
        return _Kept.apply(empty(0, requires_grad=True), value)


def _detached(result):
    return _pytree.tree_map_only(Tensor, Tensor.detach, result)


def _tensors(args, kwargs) -> list[Tensor]:
    leaves = _pytree.tree_leaves((args, kwargs))
    return [leaf for leaf in leaves if isinstance(leaf, Tensor)]


def _place(tensor: Tensor, known: list, hooks) -> int | _Value:
    """Which of the arguments and results a saved tensor is; kept if it is none
    of them.
    """
    for place, given in enumerate(known):
        if given is tensor:
            return place
    if hooks is not None:
        for place, given in enumerate(known):
            if isinstance(given, Tensor) and _same_memory(given, tensor):
                return place
    return _Value.of(tensor, False, hooks)


def _same_memory(a: Tensor, b: Tensor) -> bool:
    return a.is_set_to(b) and a.dtype == b.dtype


def _writes(func) -> bool:
    packet = getattr(func, "overloadpacket", func)
    name = packet.__name__
    return name.endswith("_") and not name.endswith("__")


def create_selective_checkpoint_contexts(
    policy_fn_or_list: Callable | Sequence, allow_cache_entry_mutation: bool = False
) -> tuple[TorchDispatchMode, TorchDispatchMode]:
    """The two contexts of a checkpoint that keeps some results.

    To be given as `context_fn` of `checkpoint(..., use_reentrant=False)`. What
    is kept lives from the first run to the backward pass, which may run once.
    Operators are those of `torch.ops.aten` that PyTorch calls.

    Args:
        policy_fn_or_list: `policy(context, op, *args, **kwargs)`, which gives
            a `CheckpointPolicy` (or whether to save), or the operators to save.
        allow_cache_entry_mutation: what is kept may be written in place before
            the backward pass, which then computes with what was written.

    Raises:
        ValueError: a list of anything but overloads.
        TypeError: neither a list nor a function.
        RuntimeError: from the backward pass, where a kept result was written,
            the runs call different operators, or it is the second pass.
    """
    if isinstance(policy_fn_or_list, list):
        policy = _saving(policy_fn_or_list)
    elif callable(policy_fn_or_list):
        policy = policy_fn_or_list
    else:
        raise TypeError("policy_fn_or_list must be either a function or a list of ops.")
    storage: dict = {}
    return (
        _CachingTorchDispatchMode(policy, storage),
        _CachedTorchDispatchMode(storage, allow_cache_entry_mutation),
    )


def _saving(ops: list) -> Callable:
    for op in ops:
        if not isinstance(op, OpOverload):
            more = (
                "Please update the OpOverloadPacket to a specific OpOverload."
                "For example, if you have `torch.ops.aten.mm`, change it to "
                "`torch.ops.aten.mm.default`."
            )
            raise ValueError(
                "Expected op in `op_list` to be an OpOverload but got: "
                f"{op} of type {type(op)}. "
                + (more if isinstance(op, OpOverloadPacket) else "")
            )

    def policy(context, op, *args, **kwargs):
        if op in ops:
            return CheckpointPolicy.MUST_SAVE
        return CheckpointPolicy.PREFER_RECOMPUTE

    return policy
