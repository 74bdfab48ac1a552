"""Functions that another engine runs: traced once for each kind of call,
exported, and compiled by the engine.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable

from .. import _C, Tensor, is_grad_enabled, no_grad
from ..nn import Module, ModuleList
from ..onnx.errors import UnsupportedOperatorError
from . import _stance, _state, _tree, _where
from ._surroundings.reach import Reach
from ._watching import Watching

# After so many compiled kinds in a row that no call asked for again, calls run
# as they are.
_MAX_RESTLESS = 16
_GRADIENTS = (
    "its result would require gradients, and {} computes none; call it under "
    "torch.no_grad()"
)

_WRITES = "the call writes to its arguments or its state"


class RefusedError(RuntimeError):
    """Raised where what a function does cannot be given to an engine."""


class Engined(Watching):
    """Calls of a function by way of an engine's programs.

    Args:
        function: what is called.
        build: makes the engine's program from an ONNX model's bytes; it takes
            tensors and gives a tensor or a tuple.
        engine: the engine's name in errors.
        dynamic: whether calls of a second kind are compiled, too.
        cache_size: how many kinds are kept; the least recently used goes.
        on_failure: is given the error where something cannot be compiled; what
            it lets pass runs as it is.
        root: the module whose calls these are, if they are one's.

    Threads may call it at once; one compiles at a time.
    """

    _prefix = "_engined_"
    _taken = (*Watching._taken, "_build", "_engine")

    def __init__(
        self,
        function: Callable,
        build: Callable[[bytes], Callable],
        engine: str,
        **options,
    ) -> None:
        self._build, self._engine = build, engine
        super().__init__(function, **options)

    def _begin(self) -> None:
        self._lock = threading.RLock()
        self._acquire, self._release = self._lock.acquire, self._lock.release
        super()._begin()

    def _forget(self) -> None:
        """Nothing is compiled yet."""
        super()._forget()
        #: How many programs were made.
        self.programs = 0
        self._signatures: dict[tuple, int] = {}

    def __call__(self, /, *args, **kwargs):
        stance = _stance.now()
        if stance == "force_eager" or _C.is_current_stream_capturing():
            return self.function(*args, **kwargs)
        last = self._last
        if last is not None and not kwargs and self._is_like(last, args):
            return last[0](args)
        leaves: list[Tensor] = []
        form = _tree.flatten((args, kwargs), leaves)
        program = self._program_for(form, leaves, stance)
        if program is None:
            return self.function(*args, **kwargs)
        if not kwargs and len(leaves) == len(args):
            self._last = (program, self._changes, _modes(), _C._TensorKinds(leaves))
        return program(leaves)

    def _is_like(self, last: tuple, args: tuple) -> bool:
        """True if the last call's program is right for this one, of tensors."""
        program, changes, modes, kinds = last
        return (
            kinds.hold(args)
            and not is_grad_enabled()
            and changes == self._changes
            and self._knows()
            and modes == _modes()
            and program.unchanged.holds()
        )

    # -- programs ----------------------------------------------------------

    def _program_for(self, form, leaves, stance: str) -> _Program | None:
        with self._lock:
            self._look_around()
            if is_grad_enabled() and any(
                t.requires_grad for t in (*leaves, *self._guarded)
            ):
                self._on_failure(RefusedError(_GRADIENTS.format(self._engine)))
                return None
            key = self._key(form, leaves)
            if key in self._cache:
                program = self._cache[key]
                if program is None or program.unchanged.holds():
                    self._cache.move_to_end(key)
                    self._restless = 0
                    return program
            if stance == "fail_on_recompile":
                raise RuntimeError(
                    "Detected recompile when torch.compile stance is "
                    "'fail_on_recompile': there is no program for this call"
                )
            if stance == "eager_on_recompile":
                return None
            if self._restless >= _MAX_RESTLESS:
                return None
            if self._cache and not self._dynamic and key not in self._cache:
                raise RuntimeError(
                    "compiled for another kind of call, but got "
                    f"{_tree.describe(form, iter(leaves))}; dynamic=True "
                    "compiles every kind"
                )
            return self._add(key, form, leaves)

    def _add(self, key: tuple, form: tuple, leaves: list) -> _Program | None:
        program = None
        try:
            program = self._compiled(form, leaves)
            self.programs += 1
        except Exception as error:
            self._on_failure(error)
        self._restless += 1
        self._cache[key] = program
        self._cache.move_to_end(key)
        while len(self._cache) > self._cache_size:
            self._cache.popitem(last=False)
        return program

    def _learn(self, reach: Reach) -> None:
        # A number stands for it in keys, as it is long.
        self._signature = self._signatures.setdefault(
            reach.signature(set()), len(self._signatures)
        )

    def _key(self, form: tuple, leaves: list) -> tuple:
        kinds = tuple((t.shape, t.dtype, t.device) for t in leaves)
        return (form, kinds, _modes(), self._signature)

    def _compiled(self, form: tuple, leaves: list) -> _Program:
        for value in _tree.objects(form):
            if not isinstance(value, (_C.dtype, _C.device)):
                raise RefusedError(
                    f"an argument of type {type(value).__name__} cannot be "
                    "part of a model"
                )
        traced, result_form = self._traced(form, leaves)
        try:
            data = _export(traced, leaves)
        except UnsupportedOperatorError as error:
            self._add_line(error, form, leaves)
            raise
        return _Program(self._build(data), result_form, _C._Unchanged(self._guarded))

    def _add_line(self, error, form: tuple, leaves: list) -> None:
        """Adds where the program calls one of the operators that are missing:
        a trace knows its own lines alone. Runs the call once more, on copies.
        """
        with no_grad():
            samples = [leaf.detach().clone() for leaf in leaves]
            traces = _Traces([*samples, *self._guarded])
            args, kwargs = _tree.rebuild(form, iter(samples))
            finder = _line_finder({name for name, *_ in error.operators})
            try:
                with finder:
                    self.function(*args, **kwargs)
            finally:
                traces.take_back()
        if finder.line:
            error.args = (f"{error}\n  at {finder.line}",)

    def _traced(self, form: tuple, leaves: list):
        """The call as a script module of its tensors, and its result's form.
        The function runs once, on copies, and leaves nothing behind.
        """
        from ..jit import TracerWarning, trace
        from ..onnx._capture import separate_operators

        reach = self._reach
        own = [o for o in reach.owners if isinstance(o, Module)]
        inner = {id(c) for o in own for c in o.modules() if c is not o}
        flat = _Flat(self.function, form, [o for o in own if id(o) not in inner])
        with no_grad():
            samples = [leaf.detach().clone() for leaf in leaves]
            traces = _Traces([*samples, *self._guarded])
            reach.mark()
            attributes = _state.Snapshot(reach.owners)
            try:
                with warnings.catch_warnings(), separate_operators():
                    warnings.simplefilter("error", TracerWarning)
                    traced = trace(
                        flat, tuple(samples), check_trace=False, strict=False
                    )
                changed = attributes.changed()
            except TracerWarning as warning:
                raise RefusedError(_frozen_text(warning)) from None
            finally:
                written, drawn = traces.take_back()
                attributes.restore()
                reach.restore()
        if changed:
            raise RefusedError(f"the call rebinds {changed[0][0].text}")
        if written:
            raise RefusedError(_WRITES)
        if drawn:
            raise RefusedError("the call draws random numbers")
        for _ in _tree.objects(flat.result):
            raise RefusedError("the result holds what is no tensor or number")
        return traced, flat.result


def _modes() -> tuple:
    return (_C.get_default_dtype(), _C._autocast_key())


class _Program:
    """An engine's program, and the form of what the function returns."""

    def __init__(self, run: Callable, form: tuple, unchanged) -> None:
        self._run = run
        self._form = form
        self.unchanged = unchanged

    def __call__(self, leaves: list[Tensor]):
        with no_grad():
            results = self._run(*leaves)
        if self._form == _tree.TENSOR:
            return results
        if isinstance(results, Tensor):
            results = (results,)
        return _tree.rebuild(self._form, iter(results))


class _Flat(Module):
    """A call of a function as a module that takes the tensors of its arguments
    and gives those of its result.
    """

    def __init__(self, function: Callable, form: tuple, modules: list) -> None:
        super().__init__()
        # Not a member, so that names of parameters stay short.
        object.__setattr__(self, "_function", function)
        self._form = form
        self.inner = ModuleList(modules)
        self.training = False

    def forward(self, *leaves):
        args, kwargs = _tree.rebuild(self._form, iter(leaves))
        out: list[Tensor] = []
        # While it is traced they are others than the caller's.
        tensors = (*leaves, *self.parameters(), *self.buffers())
        before = [t._version for t in tensors]
        result = self._function(*args, **kwargs)
        if before != [t._version for t in tensors]:
            raise RefusedError(_WRITES)
        form = _plain(_tree.flatten(result, out))
        object.__setattr__(self, "result", form)
        if not out:
            raise RefusedError("the result holds no tensor")
        return out[0] if len(out) == 1 else tuple(out)


def _plain(form: tuple) -> tuple:
    """The form with sizes, which a tracer follows, as the numbers they are."""
    what, kind, *content = form if form != _tree.TENSOR else ("tensor", None)
    if what == "object" and isinstance(content[0].value, int):
        return ("constant", int, int(content[0].value))
    if what == "list":
        return (what, kind, tuple(_plain(item) for item in content[0]))
    if what in ("dict", "fields"):
        return (what, kind, tuple((k, _plain(v)) for k, v in content[0]))
    return form


def _frozen_text(warning) -> str:
    """Words what a tracer's warning says is no function of tensors."""
    what = str(warning).partition(" might")[0].removeprefix("Converting ")
    text = f"the call turns {what}, so what it does depends on values"
    line = _where.line_of(warning.__traceback__)
    return f"{text}\n  at {line}" if line else text


def _line_finder(names: set):
    """A mode that notes the line that calls one of these operators first."""
    from ..utils._python_dispatch import TorchDispatchMode

    class Finder(TorchDispatchMode):
        _sees_whole = True
        line = ""

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            if not self.line and func._schema.name in names:
                self.line = _where.calling_line()
            return func(*args, **(kwargs or {}))

    return Finder()


class _Traces:
    """Tensors and the generator before a call, to take back what it did."""

    def __init__(self, tensors: list[Tensor]) -> None:
        self._before = [
            (t, t._version, None if t.requires_grad else t.clone()) for t in tensors
        ]
        self._state = _C.get_rng_state()

    def take_back(self) -> tuple[bool, bool]:
        """Tells whether tensors were written, and random numbers drawn."""
        written = [b for b in self._before if b[0]._version != b[1]]
        for tensor, _, value in written:
            if value is not None:
                tensor.copy_(value)
        drawn = bool((_C.get_rng_state() != self._state).any())
        if drawn:
            _C.set_rng_state(self._state)
        return bool(written), drawn


def _export(traced: Module, leaves: list[Tensor]) -> bytes:
    """The ONNX model of a traced program; its inputs are the leaves."""
    from .. import onnx

    names = [f"input_{i}" for i in range(len(leaves))]
    return onnx.export(traced, tuple(leaves), input_names=names).to_bytes()
