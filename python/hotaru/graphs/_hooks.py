"""Functions that are called when a graph is captured, made, replayed and lost.

Those of one graph are asked for by its methods, and their errors are the
caller's; those of all graphs by the functions here, and their errors are
dropped, so that whoever watches graphs breaks none.
"""

from __future__ import annotations

import contextlib
import itertools
import weakref
from collections import OrderedDict
from collections.abc import Callable

from .. import _C
from ..utils.hooks import RemovableHandle

_KINDS = ("capture_start", "capture_end", "instantiate", "replay_start", "replay_end")
_of_all: dict[str, OrderedDict] = {kind: OrderedDict() for kind in _KINDS}
_of_lost: OrderedDict = OrderedDict()
_numbers = itertools.count(1)


class _Held:
    """States what is kept for one capture and called when it is lost. It does not
    know the graph, which it would keep otherwise.
    """

    def __init__(self) -> None:
        self.callbacks: OrderedDict = OrderedDict()
        self.objects: OrderedDict = OrderedDict()
        self.streams: set = set()
        self.waits = False
        # Numbers of what replays launched, one for each time it was made.
        self.numbers: set[int] = set()

    def fire(self) -> None:
        """Calls and forgets everything; errors are dropped."""
        callbacks = list(self.callbacks.values())
        if self.waits:
            callbacks = [s.synchronize for s in self.streams] + callbacks
        self.callbacks.clear()
        for callback in callbacks:
            _quietly(callback)
        self.objects.clear()


def _quietly(function, *args) -> None:
    with contextlib.suppress(Exception):
        function(*args)


def _tell_lost(numbers: set[int]) -> None:
    for hook in list(_of_lost.values()):
        _quietly(hook, numbers)


def _add(hooks: OrderedDict, hook) -> RemovableHandle:
    handle = RemovableHandle(hooks)
    hooks[handle.id] = hook
    return handle


class HookedGraph(_C._Graph):
    """A graph that says what happens to it."""

    _hooks: dict[str, OrderedDict] | None = None
    _held: _Held | None = None
    _finalizer = None
    # Waits for the first replay, as what is launched is made there.
    _unmade = False

    def _hook(self, kind: str, hook) -> RemovableHandle:
        if self._hooks is None:
            self._hooks = {kind: OrderedDict() for kind in _KINDS}
        _watch_replays(kind)
        return _add(self._hooks[kind], hook)

    def register_capture_start_hook(self, hook: Callable) -> RemovableHandle:
        """Has `hook(graph)` called when a capture has begun; its calls belong
        to the capture.
        """
        return self._hook("capture_start", hook)

    def register_capture_end_hook(self, hook: Callable) -> RemovableHandle:
        """Has `hook(graph)` called when a capture has ended."""
        return self._hook("capture_end", hook)

    def register_post_instantiate_hook(self, hook: Callable) -> RemovableHandle:
        """Has `hook(graph)` called each time that what replays launch was made."""
        return self._hook("instantiate", hook)

    def register_replay_start_hook(self, hook: Callable) -> RemovableHandle:
        """Has `hook(graph)` called before each replay; an error keeps it from
        running.
        """
        return self._hook("replay_start", hook)

    def register_replay_end_hook(self, hook: Callable) -> RemovableHandle:
        """Has `hook(graph)` called after each replay was begun, or failed."""
        return self._hook("replay_end", hook)

    def register_destroy_callback(
        self, cb: Callable, *, synchronize_before_release: bool = False
    ) -> RemovableHandle:
        """Has `cb()` called once, when the graph is lost or `reset()`.

        Args:
            cb: must not know the graph, which it would keep.
            synchronize_before_release: streams that replays ran on are waited
                for first.
        """
        return _add(self._held_now(synchronize_before_release).callbacks, cb)

    def retain_object(
        self, obj: object, *, synchronize_before_release: bool = False
    ) -> RemovableHandle:
        """Keeps an object until the graph is lost or `reset()`; arguments as of
        `register_destroy_callback`.
        """
        return _add(self._held_now(synchronize_before_release).objects, obj)

    def _held_now(self, waits: bool) -> _Held:
        if self._held is None:
            self._held = _Held()
            self._finalizer = weakref.finalize(self, self._held.fire)
        if waits:
            self._held.waits = True
            _watch_replays("replay_start")
        return self._held

    def _fire(self, kind: str) -> None:
        for hook in list(_of_all[kind].values()):
            _quietly(hook, self)
        if self._hooks is not None:
            for hook in list(self._hooks[kind].values()):
                hook(self)

    def _began(self) -> None:
        if _of_lost and self._held is None:
            held = self._held_now(False)
            numbers = held.numbers
            _add(held.callbacks, lambda: _tell_lost(numbers))
        self._fire("capture_start")

    def _made(self) -> None:
        self._unmade = False
        if self._held is not None:
            self._held.numbers.add(next(_numbers))
        self._fire("instantiate")

    def _lost(self) -> None:
        """The capture is gone."""
        held, self._held = self._held, None
        self._unmade = False
        if held is not None:
            self._finalizer.detach()
            held.fire()


def _replay(self) -> None:
    """Runs the captured calls with what their tensors hold now."""
    held = self._held
    if held is not None and held.waits:
        held.streams.add(_C._current_stream(self._device()))
    if self._unmade:
        self._made()
    self._fire("replay_start")
    try:
        super(HookedGraph, self).replay()
    finally:
        self._fire("replay_end")


def _watch_replays(kind: str) -> None:
    """From now on replays pass here; before, they are native calls."""
    if kind in ("instantiate", "replay_start", "replay_end"):
        HookedGraph.replay = _replay


def _of_all_graphs(kind: str, fn) -> RemovableHandle:
    _watch_replays(kind)
    return _add(_of_all[kind], fn)


def register_graph_capture_start_hook(fn: Callable) -> RemovableHandle:
    """Has `fn(graph)` called when the capture of any graph has begun."""
    return _of_all_graphs("capture_start", fn)


def register_graph_capture_end_hook(fn: Callable) -> RemovableHandle:
    """Has `fn(graph)` called when the capture of any graph has ended."""
    return _of_all_graphs("capture_end", fn)


def register_graph_instantiate_hook(fn: Callable) -> RemovableHandle:
    """Has `fn(graph)` called when what a graph's replays launch was made."""
    return _of_all_graphs("instantiate", fn)


def register_graph_replay_start_hook(fn: Callable) -> RemovableHandle:
    """Has `fn(graph)` called before each replay of any graph."""
    return _of_all_graphs("replay_start", fn)


def register_graph_replay_end_hook(fn: Callable) -> RemovableHandle:
    """Has `fn(graph)` called after each replay of any graph."""
    return _of_all_graphs("replay_end", fn)


def register_graph_destroy_hook(fn: Callable) -> RemovableHandle:
    """Has `fn(numbers)` called when a graph is lost that was captured after
    this: with numbers, unique in the process, of what its replays launched.
    """
    return _add(_of_lost, fn)


def export_dot(path: str, *, verbose: bool = True) -> Callable:
    """A hook for `register_capture_end_hook`: it writes the graph's drawing, as
    `debug_dump` does.
    """

    def hook(graph) -> None:
        graph.debug_dump(path, verbose=verbose)

    return hook
