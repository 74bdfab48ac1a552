"""Saved tensors that are computed again when the backward pass wants them.

While the function of a checkpoint runs, each tensor that an operator saves is
replaced by a `Holder`. The first holder that a pass unpacks has the function
run again; the tensors saved then go to the holders in the same order. A pass is
known by the engine's number of it, so each pass computes them once, and each
holder gives its tensor once a pass: what is used is freed.
"""

from __future__ import annotations

import contextlib
import itertools
import threading
import weakref

from .. import _C, Tensor, autograd, empty, enable_grad

_TIP = (
    "Tip: the tensors that a function saves must not depend on anything but "
    "its arguments and the random state, the second time as the first."
)
_USED = object()
_outside = itertools.count(1)


class _Thread(threading.local):
    """Who is told what operators save: the hooks inside of which the thread
    is, the innermost last, and a list of those that listen; the group that
    its backward passes belong to.
    """

    def __init__(self) -> None:
        self.packs: list = []
        self.seen: list | None = None
        self.group: GraphExecGroup | None = None


_thread = _Thread()


class _Hooks(autograd.graph.saved_tensors_hooks):
    """Hooks of a checkpoint, which `give_saved` finds."""

    def __enter__(self) -> None:
        super().__enter__()
        _thread.packs.append(self.pack_hook)

    def __exit__(self, *error: object) -> None:
        _thread.packs.pop()
        super().__exit__(*error)


def hooks_of_the_program():
    """The innermost hooks for saved tensors that are no checkpoint's."""
    return autograd.graph._hooks_around(_Hooks)


@contextlib.contextmanager
def saved_inside():
    """Gives the list of what the innermost checkpoint is given inside."""
    before, _thread.seen = _thread.seen, []
    try:
        yield _thread.seen
    finally:
        _thread.seen = before


def give_saved(tensor: Tensor) -> None:
    """Has the innermost checkpoint take a tensor as one an operator saved."""
    _thread.packs[-1](tensor)


class CheckpointError(RuntimeError):
    """The second run of a checkpointed function was not as the first."""


class StopRecomputation(Exception):  # noqa: N818  (is no error)
    """All that was saved the first time is there again."""


def default_description(tensor: Tensor) -> dict:
    """Describes what has to be the same of a tensor in both runs."""
    return {"shape": tensor.shape, "dtype": tensor.dtype, "device": tensor.device}


DESCRIPTIONS = {"default": default_description, "none": lambda tensor: None}


class GraphExecGroup:
    """Backward passes inside of it compute saved tensors again once for all.

    They must not use a saved tensor twice, even of a graph that is kept: what
    is used is freed. Of checkpoints without `use_reentrant` alone.
    """

    def __enter__(self) -> None:
        if _thread.group is not None:
            raise RuntimeError(
                "GraphExecGroup contexts cannot be nested. "
                f"Already inside group {_thread.group}"
            )
        _thread.group = self

    def __exit__(self, *error: object) -> None:
        _thread.group = None


def _pass_number():
    """Number of the backward pass of this thread, or its group of passes; a
    new one outside of passes.
    """
    if _thread.group is not None:
        return _thread.group
    number = _C._current_graph_task_id()
    return number if number != -1 else ("outside", next(_outside))


class Holder:
    """Stands for one saved tensor; holds it between its return and its use."""

    def __init__(self) -> None:
        self._found: dict = {}

    def put(self, number, tensor: Tensor) -> None:
        self._found[number] = tensor

    def peek(self, number) -> Tensor:
        return self._found[number]

    def take(self, number) -> Tensor:
        tensor = self._found.get(number)
        if tensor is _USED:
            raise CheckpointError(
                "torch.utils.checkpoint: Unpack is being triggered for a "
                "tensor that was already unpacked once. If you are calling "
                "ctx.saved_tensors in backward, make sure to do so only once. "
                "Otherwise please open an issue with details on your use case."
            )
        if tensor is None:
            raise CheckpointError(
                "torch.utils.checkpoint: A tensor that the forward pass saved "
                "was not saved by its recomputation."
            )
        self._found[number] = _USED
        return tensor


class _Arguments(autograd.Function):
    """Saves tensors as any operator would, so that hooks around see them."""

    @staticmethod
    def forward(ctx, kept: list, anchor: Tensor, *tensors: Tensor):
        ctx.save_for_backward(*tensors)
        kept.append(ctx)
        return empty(0)

    @staticmethod
    def backward(ctx, *grads):
        raise AssertionError("the arguments of a checkpoint have no gradient")


class Frame:
    """One checkpointed call.

    Args:
        function: runs the call again, given its arguments.
        args: what it was given; tensors are saved under the hooks around.
        early_stop: end the second run as soon as all is there.
        describe: what of saved tensors is compared.
        explain: gives the text of the error where the runs differ, if not None.
    """

    def __init__(self, function, args: tuple, early_stop: bool, describe, explain=None):
        self._explain = explain
        self._function = function
        self._early_stop = early_stop
        self._describe = describe
        self._holders: list[weakref.ref] = []
        self._descriptions: list = []
        self._counts: dict = {}
        self._more_is_fine = False
        self.complete = False
        self._args = [None if isinstance(a, Tensor) else a for a in args]
        self._places = [i for i, a in enumerate(args) if isinstance(a, Tensor)]
        self._kept: list = []
        # The anchor has the function recorded whatever the arguments require.
        with enable_grad():
            anchor = empty(0, requires_grad=True)
            self._output = _Arguments.apply(
                self._kept, anchor, *(args[i] for i in self._places)
            )

    def hooks(self):
        """The context to run the function in for the first time."""
        return _Hooks(self._pack, self._unpack)

    def _pack(self, tensor: Tensor) -> Holder:
        if _thread.seen is not None:
            _thread.seen.append(tensor)
        holder = Holder()
        self._holders.append(weakref.ref(holder))
        self._descriptions.append(self._describe(tensor))
        return holder

    def _unpack(self, holder: Holder) -> Tensor:
        number = _pass_number()
        if number not in self._counts:
            try:
                self._recompute(number)
                self._compare(number)
            except CheckpointError as error:
                if self._explain is None:
                    raise
                raise CheckpointError(self._explain()) from error
        return holder.take(number)

    def _arguments(self) -> list:
        args = list(self._args)
        for place, tensor in zip(self._places, self._kept[0].saved_tensors):
            args[place] = tensor
        return args

    def _recompute(self, number) -> None:
        args = self._arguments()
        self._counts[number] = 0

        def pack(tensor: Tensor) -> Tensor:
            if tensor.requires_grad:
                tensor = tensor.detach()
            place = self._counts[number]
            self._counts[number] = place + 1
            if place >= len(self._holders):
                self._have_more()
                return tensor
            holder = self._holders[place]()
            if holder is not None:
                holder.put(number, tensor)
            if self._early_stop and place + 1 == len(self._holders):
                raise StopRecomputation
            return tensor

        hooks = _Hooks(pack, lambda t: t)
        try:
            with hooks, enable_grad():
                self._function(*args)
        except StopRecomputation:
            pass

    def _have_more(self) -> None:
        """CheckpointError, but for a pass inside of the function itself.

        Such a pass comes before the function has saved everything.
        """
        if self.complete:
            raise CheckpointError(
                "torch.utils.checkpoint: trying to save more tensors during "
                f"recomputation than during the original forward pass.\n{_TIP}"
            )
        self._more_is_fine = True

    def _compare(self, number) -> None:
        """CheckpointError unless both runs saved alike."""
        if self._more_is_fine:
            return
        first, second = len(self._holders), self._counts[number]
        if first != second:
            raise CheckpointError(
                "torch.utils.checkpoint: A different number of tensors was "
                "saved during the original forward and recomputation.\nNumber "
                f"of tensors saved during forward: {first}\nNumber of tensors "
                f"saved during recomputation: {second}.\n{_TIP}"
            )
        different = ""
        for place, weak in enumerate(self._holders):
            holder = weak()
            if holder is None:
                continue
            before = self._descriptions[place]
            now = self._describe(holder.peek(number))
            if before != now:
                different += (
                    f"tensor at position {place}:\nsaved metadata: {before}\n"
                    f"recomputed metadata: {now}\n"
                )
        if different:
            raise CheckpointError(
                "torch.utils.checkpoint: Recomputed values for the following "
                "tensors have different metadata than during the forward pass."
                f"\n{different}.\n{_TIP}"
            )
