"""The backward graph: its nodes, what they save, hooks on several tensors."""

from __future__ import annotations

import abc
import contextlib
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from .. import _C, Tensor
from ._mutation import allow_mutation_on_saved_tensors

__all__ = [
    "GradientEdge",
    "Node",
    "allow_mutation_on_saved_tensors",
    "disable_saved_tensors_hooks",
    "get_gradient_edge",
    "increment_version",
    "node_creation_hook",
    "register_multi_grad_hook",
    "save_on_cpu",
    "saved_tensors_hooks",
]


class Node(abc.ABC):
    """Class that every `grad_fn` is an instance of, though none derives from
    it.

    `name()`, `next_functions`, `metadata`, `register_hook(f)` (f is given the
    gradients of the inputs and of the outputs), `register_prehook(f)` (those of
    the outputs); both may return a tuple that takes the place of the first.
    """

    @abc.abstractmethod
    def name(self) -> str:
        """Such as `"AddBackward0"`."""

    @property
    @abc.abstractmethod
    def next_functions(self) -> tuple:
        """Pairs of a node that takes a gradient next, and of which of its
        outputs that gradient is.
        """

    @property
    @abc.abstractmethod
    def metadata(self) -> dict:
        """Data that a program keeps with the node."""

    @abc.abstractmethod
    def register_hook(self, fn):
        """Calls `fn(grad_inputs, grad_outputs)` behind the node; a tuple that
        it returns takes the place of the first. Returns a handle.
        """

    @abc.abstractmethod
    def register_prehook(self, fn):
        """Calls `fn(grad_outputs)` before the node; a tuple that it returns
        takes their place. Returns a handle.
        """

    @classmethod
    def __subclasshook__(cls, subclass: type) -> bool:
        if cls is not Node:
            return NotImplemented
        named = getattr(_C._functions, subclass.__name__, None)
        return subclass is Node or issubclass(subclass, _C._Node) or named is subclass


class GradientEdge(NamedTuple):
    """Where the gradient of one output of a node is due.

    `backward` and `grad` take it in the place of a tensor. Nodes that are
    written in Python are kept alive by `ownership_token`.
    """

    node: Node
    output_nr: int
    ownership_token: Any = None


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """Where the gradient of `tensor` is due.

    Raises:
        RuntimeError: the tensor requires no gradient.
    """
    if not tensor.requires_grad:
        raise RuntimeError(
            "It is not possible to get the gradient edge for a Tensor that "
            "does not require gradients"
        )
    node, output, owner = _C._gradient_edge(tensor)
    if not isinstance(node, _C._FunctionBase):
        owner = None
    return GradientEdge(node, output, owner)


def increment_version(tensor: Tensor | Iterable[Tensor]) -> None:
    """Says that the memory of tensors was written in a way unseen by autograd.

    Inference tensors have no version and stay as they are.
    """
    _C._increment_version((tensor,) if isinstance(tensor, Tensor) else tensor)


# Hooks that a thread is inside of, the innermost last.
_around = threading.local()


class saved_tensors_hooks:  # noqa: N801
    """Has operators inside keep what `pack_hook(tensor)` gives for a tensor.

    `unpack_hook` is given that, each time the backward pass needs the tensor,
    and gives back one of the same size, dtype and device.

    Raises:
        RuntimeError: where hooks are disabled; from an operator whose tensor
            `pack_hook` has written in place.
        TypeError: from a backward pass, if `unpack_hook` gives no tensor.
    """

    def __init__(
        self, pack_hook: Callable[[Tensor], Any], unpack_hook: Callable[[Any], Tensor]
    ) -> None:
        self.pack_hook = pack_hook
        self.unpack_hook = unpack_hook

    def __enter__(self) -> None:
        _C._autograd._push_saved_tensors_default_hooks(self.pack_hook, self.unpack_hook)
        if not hasattr(_around, "hooks"):
            _around.hooks = []
        _around.hooks.append(self)

    def __exit__(self, *error: object) -> None:
        _around.hooks.pop()
        _C._autograd._pop_saved_tensors_default_hooks()


def _hooks_around(internal: type) -> tuple[Callable, Callable] | None:
    """The innermost hooks that this thread is inside of, but those of a class."""
    for hooks in reversed(getattr(_around, "hooks", ())):
        if not isinstance(hooks, internal):
            return hooks.pack_hook, hooks.unpack_hook
    return None


class save_on_cpu(saved_tensors_hooks):  # noqa: N801
    """Has operators inside keep their tensors in the CPU's memory.

    `pin_memory`: in pinned memory, where there is a device of `device_type`.
    """

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        import hotaru

        devices = getattr(hotaru, device_type, hotaru.cuda)

        def pack(tensor: Tensor) -> tuple[Any, Tensor]:
            if not pin_memory:
                return tensor.device, tensor.cpu()
            pinned = devices.is_available()
            packed = hotaru.empty(tensor.size(), dtype=tensor.dtype, pin_memory=pinned)
            packed.copy_(tensor, non_blocking=pinned)
            return tensor.device, packed

        def unpack(packed: tuple[Any, Tensor]) -> Tensor:
            device, tensor = packed
            return tensor.to(device, non_blocking=pin_memory)

        super().__init__(pack, unpack)


@contextlib.contextmanager
def disable_saved_tensors_hooks(error_message: str) -> Iterator[None]:
    """Makes `saved_tensors_hooks` inside an error of this text."""
    hooks = _C._autograd
    before = hooks._saved_tensors_hooks_get_disabled_error_message()
    try:
        hooks._saved_tensors_hooks_disable(error_message)
        yield
    finally:
        if before is None:
            hooks._saved_tensors_hooks_enable()
        else:
            hooks._saved_tensors_hooks_disable(before)


class node_creation_hook:  # noqa: N801
    """Has `hook(node)` called with each node that this thread makes within.

    The node has its `next_functions`, its outputs and what it saved; an
    `AccumulateGrad` comes when a leaf is first met. Contexts within contexts
    call all their hooks, the outermost one's first.

    RuntimeError: from an operator within a hook that would make a node.
    """

    def __init__(self, hook: Callable[[Node], None]) -> None:
        self.hook = hook

    def __enter__(self) -> None:
        _C._autograd._push_node_creation_hook(self.hook)

    def __exit__(self, *error: object) -> None:
        _C._autograd._pop_node_creation_hook()


def queue_callback(callback: Callable[[], None]) -> None:
    """Calls a function without arguments at the end of the backward pass that
    runs now.

    RuntimeError: none does.
    """
    _C._queue_callback(callback)


class _MultiHandle:
    """Takes a hook on several tensors away again."""

    _is_hook_handle = True

    def __init__(self, handles: Sequence[Any]) -> None:
        self.handles = tuple(handles)

    def remove(self) -> None:
        for handle in self.handles:
            handle.remove()

    def __enter__(self) -> _MultiHandle:
        return self

    def __exit__(self, *error: object) -> None:
        self.remove()


class _WhenAll:
    """Calls `fn` with all gradients once the last expected one has come."""

    def __init__(self, tensors: Sequence[Tensor], fn: Callable) -> None:
        self._fn = fn
        self._nodes = [_C._gradient_edge(tensor)[0] for tensor in tensors]
        self._lock = threading.Lock()
        # By pass: [how many are expected, how many came, the gradients].
        self._passes: dict[int, list] = {}

    def hook(self, place: int) -> Callable:
        def arrived(grad: Tensor) -> None:
            task = _C._current_graph_task_id()
            with self._lock:
                state = self._passes.get(task)
                if state is None:
                    expected = sum(map(_C._will_engine_execute_node, self._nodes))
                    state = [expected, 0, [None] * len(self._nodes)]
                    self._passes[task] = state
                state[2][place] = grad
                state[1] += 1
                complete = state[0] == state[1]
                if complete:
                    del self._passes[task]
            if complete:
                self._fn(state[2])

        return arrived


class _WhenAny:
    """Calls `fn` with the first gradient of each pass."""

    def __init__(self, fn: Callable) -> None:
        self._fn = fn
        self._lock = threading.Lock()
        self._seen: set[int] = set()

    def __call__(self, grad: Tensor) -> None:
        task = _C._current_graph_task_id()
        with self._lock:
            if task in self._seen:
                return
            self._seen.add(task)
        _C._queue_callback(lambda: self._seen.discard(task))
        self._fn(grad)


def register_multi_grad_hook(
    tensors: Sequence[Tensor], fn: Callable, *, mode: str = "all"
) -> _MultiHandle:
    """Calls `fn` once in each backward pass that reaches any of the tensors.

    With mode "all" when the gradients of all that the pass reaches are there,
    with a list that has None for the others; with "any" when the first is,
    with that one. What `fn` returns is not used.

    Raises:
        ValueError: any other mode.
        RuntimeError: a tensor that requires no gradient.
    """
    modes = ("all", "any")
    if mode not in modes:
        raise ValueError(f"Expects mode to be one of {modes} but got {mode}")
    if mode == "any":
        hook = _WhenAny(fn)
        handles = [tensor.register_hook(hook) for tensor in tensors]
    else:
        wanted = _WhenAll(tensors, fn)
        handles = [
            tensor.register_hook(wanted.hook(i)) for i, tensor in enumerate(tensors)
        ]
    return _MultiHandle(handles)
