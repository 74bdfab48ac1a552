"""Checks whether a graph would do again what a captured call did.

A capture runs a function's Python code once and records its calls. Beside them
the code may look at its tensors (where they lie, how often they were written),
give them another shape, memory or history, or draw random numbers of Python's:
a replay would know nothing of that. Then the call is no graph's.
"""

from __future__ import annotations

import contextlib

from .. import _C, Tensor, strided
from .._tensor.hook_table import HooksNoted
from . import _settings, _state
from ._generators import Generators
from ._reads import Reads

_CHANGES = "the call changes the {} of {}; no graph can do that"
_ASKS = "the call asks {} for `{}`, of which graphs know nothing"
_DRAWS = "the call draws from a random number generator of Python's or numpy's"
_IMPORTS = "the call imports a random number generator"
_SETS = "the call sets a context variable"
_FILLS = "the call adds to what {} keeps"
_MODES = "the call changes the setting of {}"
_OWN = "the call changes attributes of a {}"
_BEYOND = "the call runs a backward pass that goes on behind its arguments"
_CONSTANT = (
    "the call makes a tensor over memory of Python's and writes to it, which "
    "the next one would find written"
)
# Answers that are right for a graph's copy of a leaf.
_OF_LEAVES = {"is_leaf", "grad_fn", "retains_grad", "output_nr"}
_GRADIENTS = {"grad", "_grad"}
_ARGUMENT, _OTHER = "an argument", "a tensor that it reads"


class Exact:
    """The scope of a function's call amid a capture.

    Args:
        reach: what the function can read.
        leaves: the tensors among its arguments.
        statics: those that stand for them.
    """

    def __init__(self, reach, leaves: list, statics: list) -> None:
        self._reach = reach
        self._statics = statics
        self._tensors = [*statics, *_state.guarded(reach)]
        self._beyond = any(t.requires_grad and not t.is_leaf for t in leaves)
        self._leaf_like = all(t.is_leaf for t in leaves)
        self._generators = Generators(reach)
        self._hooks, self._reads = HooksNoted(), Reads(reach.environment)
        self._asked: list[tuple] = []
        #: Set if the code may have given hooks to parts of a history.
        self.hooked = False

    def __enter__(self) -> Exact:
        for static in self._statics:
            _give_history(static)
        self._states = [_C._TensorState(t) for t in self._tensors]
        self._versions = [_version(t) for t in self._tensors]
        self._misses = [c.cache_info().misses for c in self._reach.caches]
        return self

    def __exit__(self, kind, error, traceback) -> None:
        self._asked.clear()
        if error is not None:
            for state in self._states:
                state.restore()
            self._generators.restore()
            for handle in self._hooks.handles:
                handle.remove()
            for cache in self._filled():
                # It may hold tensors of the capture.
                cache.cache_clear()
        self._states = []

    @contextlib.contextmanager
    def watching(self):
        """Notes what the code within asks of tensors."""
        settings = _settings.Kept()
        _C._watch_questions(True)
        try:
            with self._hooks, self._reads:
                yield
        finally:
            self._asked = _C._watch_questions(False)
            changed = settings.changed()
            settings.restore()
        if changed:
            raise _state.UnfitError(_MODES.format(changed))
        # Hooks of a step are registered with what `grad_fn` gives.
        asked = any(
            name == "grad_fn" and tensor.grad_fn is not None
            for name, tensor in self._asked
        )
        self.hooked = asked or bool(self._hooks.handles)

    def call(self, function, args: tuple, kwargs: dict):
        """The function's result, for arguments as a capture has them."""
        variables = self._reach.variables
        if not variables:
            return function(*args, **kwargs)
        import contextvars

        # Variables that it sets go with the context; calls do so in their own.
        context = contextvars.copy_context()
        before = {variable: context.get(variable) for variable in variables}
        result = context.run(function, *args, **kwargs)
        if any(context.get(v) is not value for v, value in before.items()):
            raise _state.UnfitError(_SETS)
        return result

    @property
    def asked_gradients(self) -> set[int]:
        """Tensors, by id, whose gradient the code has looked at."""
        return {id(t) for name, t in self._asked if name in _GRADIENTS}

    def check(self) -> None:
        """UnfitError for what a replay would not do."""
        self._reads.check()
        for tensor, state in zip(self._tensors, self._states):
            difference = state.difference()
            if difference is not None:
                whose = self._whose(tensor)
                raise _state.UnfitError(_CHANGES.format(difference, whose))
        for static in self._statics:
            if getattr(static, "__dict__", None):
                text = _CHANGES.format("attributes", _ARGUMENT)
                raise _state.UnfitError(text)
        for name, tensor in self._asked:
            if name != "stride":
                self._check_question(name, tensor)
        self.strides_matter = any(name == "stride" for name, _ in self._asked)
        self.leaves_matter = any(
            name in _OF_LEAVES or name == "backward" for name, _ in self._asked
        )
        self._asked.clear()
        if self._generators.changed():
            raise _state.UnfitError(_DRAWS)
        if self._generators.came():
            raise _state.StartError(_IMPORTS)
        for cache in self._filled():
            raise _state.StartError(_FILLS.format(cache.__name__))
        own = self._reach.changed_own()
        if own is not None:
            raise _state.StartError(_OWN.format(type(own).__name__))

    def patterns(self, leaves: list, views: bool) -> tuple[list | None, list | None]:
        """Which arguments are leaves, and their strides: None for what calls
        need not have alike, as the code did not ask for it. Strides also matter
        where some results are `views` of arguments.
        """
        strides = self.strides_matter or views
        return (
            [t.is_leaf for t in leaves] if self.leaves_matter else None,
            [t.stride() for t in leaves] if strides else None,
        )

    def _filled(self) -> list:
        """The caches that have kept something since."""
        return [
            cache
            for cache, before in zip(self._reach.caches, self._misses)
            if cache.cache_info().misses != before
        ]

    def _check_question(self, name: str, tensor: Tensor) -> None:
        if name == "backward":
            if self._beyond:
                raise _state.UnfitError(_BEYOND)
            return
        if name in _OF_LEAVES and self._leaf_like:
            return
        if name == "set_" and tensor._is_view() and tensor.requires_grad:
            # Its history still tells of where it lay before.
            raise _state.UnfitError(_CHANGES.format("memory", "a view"))
        of_argument = any(_C._shares_storage(tensor, s) for s in self._statics)
        counted = name == "_version" and any(
            _C._shares_storage(tensor, t) for t in self._tensors
        )
        if of_argument or counted:
            whose = _ARGUMENT if of_argument else _OTHER
            raise _state.UnfitError(_ASKS.format(whose, name))

    def check_constants(self, graph, others, results) -> None:
        """UnfitError where a graph, captured as it was recorded, writes to
        memory that it borrowed meanwhile: a replay finds what the one before
        has left.

        Args:
            graph: the calls.
            others: tensors beside those that the function can reach that may
                go from call to call.
            results: tensors that the calls alone have filled.
        """
        lasting = {
            t.untyped_storage()._cdata
            for t in (*self._tensors, *others, *results)
            if t.layout is strided
        }
        touches: dict[int, list[tuple]] = {}
        for _, operands in graph._nodes():
            for key, access, sizes, _, nbytes, planned in reversed(operands):
                if sizes is not None and planned is None:
                    touches.setdefault(key, []).append((access, nbytes))
        for key, accesses in touches.items():
            if key not in lasting and _finds_values(accesses):
                raise _state.UnfitError(_CONSTANT)

    def _whose(self, tensor: Tensor) -> str:
        return _ARGUMENT if any(tensor is s for s in self._statics) else _OTHER

    def written(self) -> set[int]:
        """The tensors that were written, by id."""
        return {id(t) for t, n in zip(self._tensors, self.writes()) if n}

    def writes(self) -> list[int]:
        """How often each static, then each other tensor, was written."""
        return [
            _version(t) - before for t, before in zip(self._tensors, self._versions)
        ]


def _give_history(static: Tensor) -> None:
    """Has a tensor without a history keep the record of one, if an empty one:
    `detach_` takes it away, which is noticed. It is an error for views, and no
    graph's call asks whether an argument is one.
    """
    if not static.requires_grad and static.grad is None:
        static.grad = static.detach()
        static.grad = None


def _finds_values(accesses: list[tuple]) -> bool:
    """Tells whether calls that write to memory find what was there before: the
    first one reads, or writes less than another one reads.

    Args:
        accesses: of each operand there how, and how many bytes.
    """
    if not any("w" in access for access, _ in accesses):
        return False
    first, filled = accesses[0]
    return "r" in first or any(
        "r" in access and nbytes > filled for access, nbytes in accesses
    )


def _version(tensor: Tensor) -> int:
    return 0 if tensor.is_inference() else tensor._version
