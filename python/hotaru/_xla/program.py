"""One kind of call of a function, as an executable of XLA."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import hotaru

from .. import (
    _C,
    Tensor,
    empty,
    get_num_threads,
    get_rng_state,
    is_grad_enabled,
    no_grad,
)
from ..graphs import _tree
from ..graphs._surroundings.values import kind_of
from ..jit import ScriptFunction, ScriptModule, TracerWarning, trace
from ..jit._tracing.traced import TracedInt
from ..nn import Module
from . import client
from .values import DRAWS, NotWritten, Val
from .walk import Walk
from .writer import Writer

_SMALL = 1 << 16  # bytes
_PACKAGE = str(Path(__file__).resolve().parents[1]) + "/"


class _Lines(list):
    """Lines of a trace, with the user's line that each is of."""

    def __init__(self) -> None:
        super().__init__()
        self.places: list = []

    def append(self, line) -> None:
        super().append(line)
        frame = sys._getframe(1)
        while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
            frame = frame.f_back
        code = frame and (frame.f_code.co_filename, frame.f_lineno)
        self.places.append(code)

    def place(self, number: int):
        """The user's line of line `number` of the text, whose first is 1."""
        at = number - 2
        return self.places[at] if 0 <= at < len(self.places) else None


class _Whole(Module):
    """A function as a module that has all those that the function calls, and
    takes and gives tensors alone.
    """

    def __init__(self, function, modules, form) -> None:
        super().__init__()
        for i, module in enumerate(modules):
            self.add_module(f"m{i}", module)
        object.__setattr__(self, "state", (function, form))
        object.__setattr__(self, "lines", _Lines())
        object.__setattr__(self, "result_form", None)

    def forward(self, *leaves):
        function, form = self.state
        if leaves:
            # A result is a stand-in, which knows who writes the lines.
            leaves[0].detach().recorder.lines = self.lines
        args, kwargs = _tree.rebuild(form, iter(leaves))
        found: list[Tensor] = []
        result = _tree.flatten(function(*args, **kwargs), found)
        object.__setattr__(self, "result_form", _plain(result))
        return tuple(found)


def _plain(form: tuple) -> tuple:
    """A form with sizes as numbers. NotWritten: other objects."""
    if form[0] == "object":
        value = form[2].value
        if isinstance(value, int) and type(value) is TracedInt:
            return ("constant", int, int(value))
        raise NotWritten(f"it gives a value of type {type(value).__name__}")
    if form[0] == "list":
        return (*form[:2], tuple(map(_plain, form[2])))
    if form[0] in ("dict", "fields"):
        return (*form[:2], tuple((k, _plain(v)) for k, v in form[2]))
    return form


def _roots(owners) -> list[Module]:
    """The modules that are no part of another."""
    modules = [o for o in owners if isinstance(o, Module)]
    inner = {
        id(part)
        for module in modules
        for part in module.modules()
        if part is not module
    }
    return [m for m in modules if id(m) not in inner]


def write(function, owners, form, leaves) -> tuple:
    """The StableHLO of a call, what its arguments are, and its result's form.

    Arguments are tensors, or numbers of leaves.

    Raises:
        NotWritten: it cannot be written; names the operator and its line.
    """
    writer = Writer()
    values = []
    for i, leaf in enumerate(leaves):
        value = Val(None, leaf.shape, leaf.dtype)
        value.origin, value.given = i, "an argument"
        values.append(value)
    if _is_compiled(function):
        result = _walked(function, writer, form, values)
        results: list[Val] = []
        result_form = _form_of(result, results)
    else:
        whole = _Whole(function, _roots(owners), form)
        traced = _traced(whole, leaves)
        walk = Walk(writer, whole.lines.place)
        results = walk.run(traced.inlined_graph, [whole, *values])
        result_form = whole.result_form
        if isinstance(results, Val):  # a tuple of one
            results = [results]
    if not results:
        raise NotWritten("it gives no tensor")
    text = writer.text(results)
    kinds = [(r.shape, r.dtype) for r in results]
    return text, writer.arguments, kinds, result_form


def _is_compiled(function) -> bool:
    """True if there is a graph already."""
    if isinstance(function, ScriptModule):
        return not any(
            m._forward_hooks or m._forward_pre_hooks for m in function.modules()
        )
    return isinstance(function, ScriptFunction)


def _walked(function, writer: Writer, form, values):
    """The result of a compiled program, which is written."""
    args, kwargs = _tree.rebuild(form, iter(values))
    if isinstance(function, ScriptModule):
        args, program = (function, *args), function.forward
    else:
        program = function
    given = list(args)
    for argument in program.schema.arguments[len(args) :]:
        if argument.name in kwargs:
            given.append(kwargs[argument.name])
        elif argument.has_default_value():
            given.append(argument.default_value)
        else:
            raise NotWritten(f"the argument {argument.name!r} is missing")
    return Walk(writer).run(program.inlined_graph, given)


def _form_of(value, found: list) -> tuple:
    """As `_tree.flatten`, of a result that is written."""
    if isinstance(value, Val):
        found.append(value)
        return _tree.TENSOR
    if isinstance(value, (list, tuple)):
        return ("list", type(value), tuple(_form_of(v, found) for v in value))
    if isinstance(value, dict):
        items = tuple((k, _form_of(v, found)) for k, v in value.items())
        return ("dict", dict, items)
    return _plain(_tree.flatten(value, []))


def _traced(whole: _Whole, leaves):
    mha = hotaru.backends.mha
    fast = mha.get_fastpath_enabled()
    drawn = get_rng_state()
    try:
        # The layers' operators one by one.
        mha.set_fastpath_enabled(False)
        with warnings.catch_warnings(), no_grad():
            warnings.simplefilter("error", TracerWarning)
            given = tuple(leaf.detach() for leaf in leaves)
            traced = trace(whole, given, check_trace=False)
    except TracerWarning as warning:
        text = str(warning).partition(" might")[0].removeprefix("Converting ")
        raise NotWritten(
            f"{_line_of(warning)}it turns {text}: control flow or numbers "
            "that depend on tensors' values"
        ) from None
    except NotWritten:
        raise
    except Exception as error:
        raise NotWritten(f"it cannot be traced: {error}") from error
    finally:
        mha.set_fastpath_enabled(fast)
    if not (get_rng_state() == drawn).all():
        raise NotWritten(DRAWS)
    return traced


def _line_of(error: BaseException) -> str:
    """The innermost line of the user's that an error comes from."""
    found, at = "", error.__traceback__
    while at is not None:
        name = at.tb_frame.f_code.co_filename
        if not name.startswith(_PACKAGE):
            found = f'at File "{name}", line {at.tb_lineno}: '
        at = at.tb_next
    return found


class Program:
    """An executable and the memory of its parameters."""

    carried = ()
    writes = ()
    differentiable = False
    simple = False

    def __init__(self, function, reach, form, leaves, guarded) -> None:
        self.call = self
        self._form = form
        _check(leaves, guarded)
        self.text, self._arguments, self._kinds, self._result_form = write(
            function, reach.owners, form, leaves
        )
        args, kwargs = _tree.rebuild(form, iter(leaves))
        # Arguments without nests are compared as they come.
        self.flat = not kwargs and all(
            part == _tree.TENSOR or part[0] in ("constant", "float")
            for part in form[2][0][2]
        )
        self._wanted = [_kind(arg) for arg in args] if self.flat else []
        self._mode = _mode()
        own = {
            id(t)
            for module in _roots(reach.owners)
            for t in (*module.parameters(), *module.buffers())
        }
        # Tracing may have computed with these.
        self._outside = [(t, t._version) for t in guarded if id(t) not in own]
        self._load()

    def _load(self) -> None:
        self._client = client.client()
        self._execute = self._client.compile(self.text, self._kinds)
        self._places: dict[int, tuple] = {}
        self._buffers: list = [None] * len(self._arguments)
        self._states: list = [None] * len(self._arguments)
        self._held = [i for i, a in enumerate(self._arguments) if isinstance(a, Tensor)]
        self._leaves = [
            (i, a) for i, a in enumerate(self._arguments) if not isinstance(a, Tensor)
        ]

    # --- as captured graphs have it ---

    def leaves_fit(self, leaves: list) -> bool:
        """There are no gradients."""
        return True

    def take_back(self) -> None:
        """A trace binds nothing anew."""

    def forget_samples(self) -> None:
        """None are kept."""

    def intact(self) -> bool:
        return all(t._version == version for t, version in self._outside)

    def awaited(self) -> bool:
        return False

    def renew(self, around) -> None:
        self._around, self._changes = around, _C._module_changes()

    def ready(self, args: tuple) -> bool:
        """Tells whether a call with these follows the last one in kind, and
        all that the function can read is as it was.
        """
        return (
            len(args) == len(self._wanted)
            and all(_kind(a) == w for a, w in zip(args, self._wanted))
            and self._changes == _C._module_changes()
            and self._around.unchanged()
            and self._mode == _mode()
            and self.intact()
        )

    def bring_state(self) -> None:
        pass

    def run(self, given: tuple, nests=()):
        """The function's result for arguments of its form: the positional ones
        if it is flat, else their tensors.
        """
        with no_grad():
            return self._run([t for t in given if isinstance(t, Tensor)])

    def _run(self, leaves: list):
        if self._client.threads != get_num_threads():
            self._load()
        buffers = self._buffers
        for i in self._held:
            tensor = self._arguments[i]
            pointer = tensor.data_ptr()
            state = self._states[i]
            # Its own memory shows what is written into it; a copy doesn't.
            if (
                state is None
                or state[0] != pointer
                or (state[1] is not None and state[1] != tensor._version)
            ):
                buffers[i], own = self._client.buffer(tensor)
                version = None if own else tensor._version
                self._states[i] = (pointer, version)
        given = list(buffers)
        for i, leaf in self._leaves:
            given[i] = self._brought(i, leaves[leaf])
        out = self._execute(given)
        tensors = [self._client.tensor(b) for b in out]
        if self._result_form == _tree.TENSOR:
            return tensors[0]
        return _tree.rebuild(self._result_form, iter(tensors))

    def _brought(self, i: int, leaf: Tensor):
        """An argument's buffer. Handing memory over takes longer than to copy
        a little into memory that was handed over before.
        """
        if leaf.nbytes > _SMALL:
            return self._client.buffer(leaf)[0]
        if i not in self._places:
            place = empty(leaf.shape, dtype=leaf.dtype)
            self._places[i] = place, self._client.buffer(place)
        place, (buffer, own) = self._places[i]
        if not own:
            return self._client.buffer(leaf)[0]
        place.copy_(leaf)
        place.data_ptr()  # waits, where a stream is queued
        return buffer


def _kind(value):
    """Equal where a program is right for either argument."""
    if isinstance(value, Tensor):
        return kind_of(value)
    if type(value) is float:
        return value.hex()
    return type(value), value


def _mode() -> tuple:
    return is_grad_enabled(), _C.get_default_dtype(), _C._autocast_key()


def _check(leaves, guarded) -> None:
    tensors = (*leaves, *guarded)
    if is_grad_enabled() and any(t.requires_grad for t in tensors):
        raise NotWritten(
            "gradients are required, and the xla backend is for inference: "
            "call it within no_grad() or inference_mode()"
        )
    for tensor in leaves:
        if not tensor.is_cpu:
            raise NotWritten(f"an argument on {tensor.device}")
