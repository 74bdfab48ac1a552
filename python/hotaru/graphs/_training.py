"""Gradients and optimizers of captured functions.

A training step changes what is neither an argument nor a module's: gradients
of leaves, and what optimizers keep. Their state is memory that the graph knows
by address. Options that schedules change (rates, decays, momenta) are read from
a tensor, which is filled where an option has changed. Gradients that the
function makes lie in the graph's memory and are bound to their leaves by each
call.
"""

from __future__ import annotations

from .. import Tensor, empty_like, float64, no_grad, tensor
from ..utils._deferred import Deferring
from . import _state
from ._surroundings.code import binds_gradients

_ARGUMENT = (
    "operation not permitted when stream is capturing: a gradient of an "
    "argument of the captured function; take it with autograd.grad"
)
_CHANGES = (
    "the call changes options of an optimizer; do it outside of the captured function"
)
_BEGINS = (
    "the call creates the state of {}; a graph can follow it from the next call on"
)

_SCHEDULED = (
    "the call reads options of an optimizer and steps a schedule, which changes them"
)
_MOVES = "the call gives one tensor's gradient to another"
#: Stands for a gradient that a function replaced without a look.
_REPLACED = object()


class Options:
    """The options of an optimizer's groups as one captured function reads them.

    Args:
        optimizer: see `Optimizer._numbers`.
    """

    def __init__(self, optimizer) -> None:
        self.optimizer = optimizer
        self._groups = []
        for group in optimizer.param_groups:
            values = optimizer._numbers(group)
            if values is None:
                continue
            memory = tensor(values, dtype=float64, device=_device_of(group))
            self._groups.append([group, values, memory])

    def bring(self) -> None:
        """Fills the tensors whose options have changed."""
        for entry in self._groups:
            group, known, memory = entry
            values = self.optimizer._numbers(group)
            if values != known:
                with no_grad():
                    memory.copy_(tensor(values, dtype=float64))
                entry[1] = values

    def lifted(self) -> dict:
        """By group, the tensor that stands for its numbers."""
        return {id(group): memory for group, _, memory in self._groups}


def _device_of(group: dict):
    params = group["params"]
    return params[0].device if params else None


def key_of(reach) -> tuple:
    """Options of optimizers that graphs cannot follow: all, where the code
    reads some of them itself.
    """
    return tuple(
        (
            optimizer._fixed(group),
            _frozen(optimizer._numbers(group)) if reach.reads_options else (),
        )
        for optimizer in reach.optimizers
        for group in optimizer.param_groups
    )


def _frozen(numbers) -> tuple:
    return tuple(numbers or ())


class _Mark:
    """A gradient of an argument, which the function should leave alone.

    Args:
        argument: as the graph knows it.
        binds: whether the function might take away what is not there.
    """

    def __init__(self, argument: Tensor, binds: bool) -> None:
        self._argument, self._before = argument, _gradient_of(argument)
        self._mark = self._before
        if self._mark is None and binds and argument.is_leaf:
            self._mark = argument.grad = empty_like(argument).detach()
        self._version = self._mark._version if self._mark is not None else 0

    def changed(self) -> bool:
        now = _gradient_of(self._argument)
        return now is not self._mark or (
            now is not None and now._version != self._version
        )

    def take_away(self) -> None:
        if _gradient_of(self._argument) is not self._before:
            self._argument.grad = self._before


def _gradient_of(tensor: Tensor) -> Tensor | None:
    # Others have none, and warn where they are asked.
    return tensor.grad if tensor.is_leaf or tensor.retains_grad else None


class Training:
    """Effects of one function on gradients and optimizers, as it is captured.

    Args:
        reach: what it can read.
        guarded: the tensors of it.
        statics: its arguments, in the graph's memory.
    """

    def __init__(self, reach, guarded: list, statics: list) -> None:
        self._optimizers = reach.optimizers
        self._reads_options = reach.reads_options
        self._options = [Options(o) for o in reach.optimizers]
        self._leaves = [t for t in guarded if t.is_leaf]
        known = set(map(id, guarded))
        self._arguments = [t for t in statics if id(t) not in known]
        # Who binds gradients may take some away that are not there now.
        self._binds = binds_gradients(reach)
        #: Calls to make after each replay.
        self.after: list = []
        self._gradients: list = []
        self._asked: set = set()

    def __enter__(self) -> Training:
        self._before = [_gradient_of(leaf) for leaf in self._leaves]
        self._marks = [_Mark(a, self._binds) for a in self._arguments]
        self._states = [
            {key: dict(kept) for key, kept in o.state.items()} for o in self._optimizers
        ]
        self._groups = [
            (group, dict(group)) for o in self._optimizers for group in o.param_groups
        ]
        for options in self._options:
            options.optimizer._lifted = options.lifted()
        self._deferring = Deferring()
        self._deferring.__enter__()
        return self

    def __exit__(self, kind, error, traceback) -> None:
        self._deferring.__exit__()
        for optimizer in self._optimizers:
            optimizer._lifted = None
        if error is not None:
            self._restore_states()
            for group, before in self._groups:
                group.update(before)
            self.restore(failed=True)
        for mark in self._marks:
            mark.take_away()

    def kept(self) -> list[Tensor]:
        """Tensors that go from call to call: of optimizers, and gradients."""
        states = [
            value
            for optimizer in self._optimizers
            for kept in optimizer.state.values()
            for value in kept.values()
        ]
        options = [t for o in self._options for t in o.lifted().values()]
        found = [*states, *options, *self._before]
        return [value for value in found if isinstance(value, Tensor)]

    def check(self, asked: set) -> None:
        """Amid a capture, at the function's end: errors for what no graph can
        follow. `asked`: tensors, by id, whose gradient it has looked at.
        """
        self._asked = asked
        for optimizer, before in zip(self._optimizers, self._states):
            if not _same_states(before, optimizer.state):
                name = type(optimizer).__name__
                raise _state.StartError(_BEGINS.format(name))
        if any(not _same_items(before, g) for g, before in self._groups):
            raise _state.StateError(_CHANGES)
        if any(mark.changed() for mark in self._marks):
            raise RuntimeError(_ARGUMENT)
        self.after = self._deferring.calls
        if self.after and self._reads_options:
            raise _state.UnfitError(_SCHEDULED)

    def _check_moves(self) -> None:
        others = {id(b) for b in self._before if b is not None}
        for leaf, before in zip(self._leaves, self._before):
            after = _gradient_of(leaf)
            if after is not before and id(after) in others:
                raise _state.UnfitError(_MOVES)

    def release(self, graph) -> list:
        """Before a capture ends: lets go of gradients that the function has
        replaced without a look, for those in the graph's memory to find room.

        Returns:
            The gradients that the function has made: between calls they are
            their leaves', during one the graph may use their memory.
        """
        renewed = []
        self._check_moves()
        for i, leaf in enumerate(self._leaves):
            before, after = self._before[i], _gradient_of(leaf)
            if after is None or after is before:
                continue
            renewed.append(after)
            if before is not None and not graph._touches(before):
                self._before[i] = _REPLACED
        return renewed

    def found(self, graph) -> None:
        """After a capture: learns what the graph did to gradients, and leaves
        them as they were.
        """
        self._gradients = []
        for leaf, before in zip(self._leaves, self._before):
            after = _gradient_of(leaf)
            given = before is not None
            seen = given and before is not _REPLACED
            touched = seen and graph._touches(before)
            kept = after is before
            counts = self._binds or id(leaf) in self._asked
            if touched or not kept or counts:
                read = before if touched else None
                self._gradients.append((leaf, given, read, after, kept and not touched))
        self.restore()
        self._before, self._states, self._groups = [], [], []

    def restore(self, failed: bool = False) -> None:
        """Gradients as they were before the capture, but for those that the
        function has replaced: they are the graph's, or, if it failed, none.
        """
        for leaf, before in zip(self._leaves, self._before):
            if before is _REPLACED:
                leaf.grad = None if failed else leaf.grad
            elif _gradient_of(leaf) is not before:
                leaf.grad = before

    def _restore_states(self) -> None:
        for optimizer, before in zip(self._optimizers, self._states):
            state = optimizer.state
            for key in [key for key in state if key not in before]:
                del state[key]
            for key, kept in before.items():
                if not _same_items(kept, state[key]):
                    state[key].clear()
                    state[key].update(kept)

    def install(self, call) -> None:
        """Tells the native call of the gradients."""
        call.set_gradients(self._gradients)
        self._gradients = []

    def bring(self, call) -> None:
        """Before a replay: options and gradients to where the graph reads
        them.
        """
        for options in self._options:
            options.bring()
        call.bring_gradients()

    def finish(self) -> None:
        """After a replay."""
        for step in self.after:
            step()


def _same_items(a: dict, b: dict) -> bool:
    return len(a) == len(b) and all(
        k in b and (b[k] is v or _equal(b[k], v)) for k, v in a.items()
    )


def _equal(a, b) -> bool:
    return not isinstance(a, Tensor) and not isinstance(b, Tensor) and a == b


def _same_states(before: dict, state: dict) -> bool:
    return len(before) == len(state) and all(
        key in state and _same_items(kept, state[key]) for key, kept in before.items()
    )
