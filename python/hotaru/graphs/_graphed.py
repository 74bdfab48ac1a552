"""Callables that run as graphs, one for each kind of call."""

from __future__ import annotations

from collections.abc import Callable

from .. import _C, Tensor, inference_mode, is_grad_enabled, no_grad, strided
from ..nn import Buffer, Parameter
from . import _settings, _stance, _state, _tree
from ._capture import Captured, Options
from ._keys import Same, Signature
from ._results import CONSTANTS, has_attributes
from ._surroundings.reach import Reach
from ._surroundings.values import kind_of, place
from ._training import key_of
from ._watching import Watching

CACHE_SIZE = 8
# Tensors whose class has no say in what operators do.
_CLASSES = (Tensor, Parameter, Buffer)
# Kinds of calls remembered to run without a graph, or for the first time.
_MAX_FAILED = 64
# After so many captures in a row that found their surroundings changed by the
# call itself, calls run without a graph.
_MAX_RESTLESS = 8
# After so many captures whose states somebody kept, calls run without a graph.
_MAX_PARTINGS = 4
_KEPT = "what the call binds to an attribute is kept elsewhere from call to call"
_SAMPLES = (
    "In the beta API, sample_args for each callable must contain only "
    "Tensors. Other types are not allowed."
)


class Graphed(_C._FastCall, Watching):
    """Calls of a function by way of graphs, one for each kind of call.

    Several threads may call it; they take turns. Within a capture it is the
    function itself.
    """

    _prefix = "_graphed_"
    _taken = (*Watching._taken, "_options")

    def __init__(self, function: Callable, options: Options, **given) -> None:
        self._options = options
        super().__init__(function, **given)

    def _forget(self) -> None:
        """Nothing is captured yet."""
        super()._forget()
        self.captures = 0
        self._known: set[int] = set()
        self._given: tuple | None = None
        self._option_key: tuple = ()
        self._late: Exception | None = None
        self._signature: Signature | None = None
        self._loose_signature: Signature | None = None
        self._carried: set[tuple] = set()
        self._failed: set[tuple] = set()
        self._seen: set[tuple] = set()
        # Captures that went because somebody kept their states.
        self._partings = 0
        self._called = False

    # -- one call ----------------------------------------------------------

    def _slow(self, /, *args, **kwargs):
        """Does what the native side cannot do."""
        if (
            _C.is_current_stream_capturing()
            or _settings.interposed()
            or self._runs_plain()
        ):
            return self.function(*args, **kwargs)
        self._acquire()
        try:
            captures = self.captures
            captured, given, nests = self._captured_for(args, kwargs)
            if captured is not None:
                result = captured.run(given, nests)
                if self.captures > captures:
                    # Graphs have memory of their own.
                    _C._give_back_memory()
                return result
            late, self._late = self._late, None
        finally:
            self._release()
        result = self.function(*args, **kwargs)
        if late is not None:
            # It was not the function's own error.
            self._on_failure(late)
        return result

    def _runs_plain(self) -> bool:
        """True if the stance has this call run without a graph."""
        stance = _stance.now()
        first, self._called = not self._called, True
        return stance == "force_eager" or (
            first and stance.endswith("eager_then_compile")
        )

    def _captured_for(self, args: tuple, kwargs: dict):
        """The graphs for a call, ready to run; None if there are none."""
        last, reach = self._last, self._reach
        if last is not None:
            if last.flat:
                if not kwargs and last.call.ready(args):
                    return last, args, ()
            else:
                form, leaves, met = self._flattened(args, kwargs)
                # The native side compares all else that keys tell.
                if form == last.form and last.call.ready(tuple(leaves)):
                    return last, tuple(leaves), met.nests
        self._forget_last()
        self._part_from_held()
        self._look_around()
        if last is None or last.flat or reach is not self._reach:
            form, leaves, met = self._flattened(args, kwargs)
        inference = _C.is_inference_mode_enabled()
        self._given = (args, kwargs, met, inference)
        captured = self._found_or_made(form, leaves, ())
        if captured is not None and captured.call.writes:
            aliases = self._aliases(leaves)
            if aliases:
                captured = self._found_or_made(form, leaves, aliases)
        self._given = None
        if captured is None:
            return None, (), ()
        self._use(captured)
        self._count_states(leaves)
        return captured, args if captured.flat else tuple(leaves), met.nests

    def _flattened(self, args: tuple, kwargs: dict):
        """The form of a call's arguments, their tensors and containers."""
        leaves: list[Tensor] = []
        met = _tree.Met(self._reach.seen)
        return _tree.flatten((args, kwargs), leaves, met), leaves, met

    def _found_or_made(self, form, leaves, aliases: tuple) -> Captured | None:
        key = self._key(form, leaves, aliases)
        captured = self._find(key, leaves)
        if (
            captured is None
            and self._restless < _MAX_RESTLESS
            and self._partings < _MAX_PARTINGS
            and self._loose(key) not in self._failed
            and self._may_capture()
        ):
            captured = self._capture(key, form, leaves)
        return captured

    def _may_capture(self) -> bool:
        """RuntimeError where the stance forbids what this call needs."""
        stance = _stance.now()
        if stance == "fail_on_recompile":
            raise RuntimeError(
                "Detected recompile when torch.compile stance is "
                f"'fail_on_recompile': {self._name()} has no graph for this "
                "call"
            )
        return stance != "eager_on_recompile"

    def _name(self) -> str:
        function = self.function
        return getattr(function, "__name__", type(function).__name__)

    def _forget_last(self) -> None:
        self._last = None
        self._set_fast(None)

    def _look_around(self) -> None:
        known = self._reach
        super()._look_around()
        if self._reach is known and not known.options.unchanged():
            known.renew_options()
            self._option_key = key_of(known)

    def _learn(self, reach: Reach) -> None:
        self._option_key = key_of(reach)
        self._known = set(map(id, self._guarded))
        signature = reach.signature(self._carried)
        # The same object compares at once.
        known = (key[3] for key in self._cache if key[3] == signature)
        self._signature = next(known, signature)
        self._loose_signature = None

    def _key(self, form: tuple, leaves, aliases: tuple) -> tuple:
        kinds = tuple(_argument_kind(leaf) for leaf in leaves)
        surroundings = (
            is_grad_enabled(),
            _settings.key(),
            aliases,
            self._option_key,
            _same_leaves(leaves),
            # Leaves that the function can compare with.
            tuple(Same(leaf) if id(leaf) in self._known else None for leaf in leaves),
        )
        return (form, kinds, surroundings, self._signature)

    def _aliases(self, leaves) -> tuple:
        """Which arguments share memory, with each other or with what the graph
        knows by address; in the latter case also with which.
        """
        found = _C._aliases(leaves, self._guarded)
        return tuple(
            (i, known, distance)
            if known >= 0
            else (i, Same(self._guarded[-1 - known]), distance)
            for i, known, distance in found
        )

    def _loose(self, key: tuple) -> tuple:
        """The same for tensors of the same kind in attributes."""
        if not self._failed and self._on_failure is None:
            return key
        if self._loose_signature is None:
            self._loose_signature = self._reach.signature(None)
        return (*key[:3], self._loose_signature)

    def _find(self, key: tuple, leaves: list) -> Captured | None:
        """A capture that nobody's backward still needs."""
        known = self._cache.get(key)
        if known is None:
            return None
        if not all(captured.call.intact() for captured in known):
            del self._cache[key]  # a parameter was given other memory
            return None
        self._cache.move_to_end(key)
        fresh = self._options.fresh
        for captured in known:
            if (
                captured.call.gradients_fit()
                and captured.leaves_fit(leaves)
                and not (fresh and captured.call.awaited())
            ):
                return captured
        return None

    def _part_from_held(self) -> None:
        """Captures whose states somebody keeps go, so that these stay what
        they are; the next capture has states of its own.
        """
        if not self._options.fresh:
            return
        for key, known in list(self._cache.items()):
            if any(captured.call.states_held() for captured in known):
                del self._cache[key]
                self._partings += 1
                if self._partings == _MAX_PARTINGS and self._on_failure:
                    self._on_failure(_state.UnfitError(_KEPT))

    def _count_states(self, leaves: list[Tensor]) -> None:
        """Nobody else holds states now; of those that are arguments that can
        not be told, and they count as kept.
        """
        arguments = {id(leaf) for leaf in leaves}
        for known in self._cache.values():
            for captured in known:
                if arguments.isdisjoint(captured.state_ids):
                    captured.call.count_states()

    def _use(self, captured: Captured) -> None:
        captured.bring_state()
        captured.training.bring(captured.call)
        if captured.carried:
            self._look_around()  # binding a state is a change as well
        reach = self._reach
        options = reach.options if reach.optimizers else None
        captured.call.renew(reach.around, options)
        if self._reach.plain:
            self._last = captured
            if captured.simple:
                self._set_fast(captured.call)

    # -- captures ----------------------------------------------------------

    def _capture(self, key, form, leaves) -> Captured | None:
        """The capture of a new kind of call; None where it has to run as it
        is.
        """
        if not self._dynamic and self._cache:
            raise RuntimeError(self._mismatch(form, leaves))
        if sum(map(len, self._cache.values())) >= self._cache_size and (
            key in self._cache
        ):
            # All of them wait for their backward.
            return None
        unfit = self._unfit(form, leaves)
        if unfit is not None:
            return self._fail(key, unfit)
        if self._reach.caches and self._is_first(key):
            # Caches that functions keep of it come into being.
            return None
        try:
            return self._add(form, leaves, False, key)
        except Exception as error:
            return self._fail(key, error)

    def _is_first(self, key) -> bool:
        """True if no call of the kind was to be captured before."""
        if key in self._seen:
            return False
        if len(self._seen) >= _MAX_FAILED:
            self._seen.clear()
        self._seen.add(key)
        return True

    def _unfit(self, form, leaves) -> Exception | None:
        """Why no graph could be right for such arguments, and for what the
        function reads besides.
        """
        for value in _tree.objects(form):
            if not isinstance(value, CONSTANTS):
                return _state.UnfitError(
                    f"an argument of type {type(value).__name__} cannot be "
                    "part of a graph"
                )
        for leaf in leaves:
            if type(leaf) not in _CLASSES:
                return _state.UnfitError(
                    f"an argument is a {type(leaf).__name__}, which may answer "
                    "operators itself"
                )
            if leaf.layout is not strided:
                return _state.UnfitError(f"an argument has the layout {leaf.layout}")
            if has_attributes(leaf):
                return _state.UnfitError("an argument has attributes")
        reach = self._reach
        asked = self._on_failure is None  # for a graph, or an error
        why = reach.unfit or ("" if asked else reach.finds)
        return _state.UnfitError(why) if why else None

    def _fail(self, key, error: Exception) -> None:
        structural = isinstance(error, _state.StateError)
        if structural:
            self._restless += 1
        if isinstance(error, _state.StartError) and (self._restless < _MAX_RESTLESS):
            return None
        if self._on_failure is not None:
            if structural or self._on_failure.passes(error):
                self._on_failure(error)
            else:
                # The function's own perhaps: then a plain call raises it, and
                # what was written until then stays written.
                self._late = error
        elif not (structural and self._dynamic):
            raise error
        # A state that has yet to find its shape does so in a plain call.
        if not structural:
            if len(self._failed) >= _MAX_FAILED:
                self._failed.clear()
            self._failed.add(self._loose(key))
        return None

    def _add(self, form, leaves, static: bool, key) -> Captured:
        before = self._reach
        # Tensors that a graph owns outlive the caller's inference mode.
        with inference_mode(False):
            captured = self._made(before, form, leaves, key[2][2], static)
        try:
            return self._kept(captured, before, key, static)
        except Exception:
            captured.take_back()
            self._reach = None
            self._look_around()
            raise

    def _kept(self, captured, before, key, static: bool) -> Captured:
        """A capture among those that calls find; its backward, unless others
        come first. StateError where the call changed what it depends on.
        """
        self.captures += 1
        self._carried.update(
            place(attribute.owner, attribute.name) for attribute, _ in captured.carried
        )
        self._reach = None
        self._look_around()
        if before.signature(self._carried) != self._signature:
            text = before.difference(self._reach, self._carried)
            if before.is_loading(self._reach):
                raise _state.StartError(text)
            raise _state.StateError(text)
        if captured.differentiable and not static:
            captured.capture_backward()
        captured.forget_samples()
        self._restless = 0
        key = (*key[:3], self._signature)
        self._cache.setdefault(key, []).append(captured)
        while sum(map(len, self._cache.values())) > self._cache_size:
            self._cache.popitem(last=False)
        return captured

    def _made(self, reach, form, leaves, aliases: tuple, static: bool):
        """Makes what runs calls of one kind."""
        return Captured(
            self.function,
            reach,
            form,
            leaves,
            aliases,
            self._options,
            static,
            self._given,
        )

    def prepare(self, args: tuple, kwargs: dict, iterations: int) -> Captured:
        """Warms up and captures for sample arguments, which become the
        graph's own.
        """
        self._look_around()
        form, leaves, met = self._flattened(args, kwargs)
        for value in _tree.objects(form):
            if not isinstance(value, CONSTANTS):
                raise AssertionError(_SAMPLES)
        inference = _C.is_inference_mode_enabled()
        self._given = (args, kwargs, met, inference)
        if iterations:
            self._warm_up(args, kwargs, leaves, iterations)
        key = self._key(form, leaves, ())
        captured = self._add(form, leaves, True, key)
        aliases = self._aliases(leaves)
        if captured.call.writes and aliases:
            # It is right for arguments that overlap as the samples do.
            del self._cache[self._key(form, leaves, ())]
            self._cache[self._key(form, leaves, aliases)] = [captured]
        return captured

    def _warm_up(self, args, kwargs, leaves, iterations: int) -> None:
        """Runs the function; values, states and generators stay as they
        are.
        """
        snapshot = _state.Snapshot(self._reach.owners, values=True)
        tensors = (*leaves, *_state.guarded(self._reach))
        devices = {t.device.index for t in tensors if t.is_cuda}
        generators = [_C._cuda_generator(device) for device in devices]
        states = [generator.get_state() for generator in generators]
        state = _C.get_rng_state()
        with no_grad():
            before = [leaf.detach().clone() for leaf in leaves]
        try:
            for _ in range(iterations):
                self.function(*args, **kwargs)
        finally:
            snapshot.restore()
            _C.set_rng_state(state)
            for generator, drawn in zip(generators, states):
                generator.set_state(drawn)
            with no_grad():
                for leaf, value in zip(leaves, before):
                    leaf.detach().copy_(value)

    def _mismatch(self, form, leaves) -> str:
        got = _tree.describe(form, iter(leaves))
        known = [
            _tree.describe(c[0].form, iter(c[0]._statics)) for c in self._cache.values()
        ]
        text = (
            f"the graphed callable was captured for (args, kwargs) = "
            f"{' or '.join(known)}, but got {got}; dynamic=True captures "
            "every kind of call"
        )
        if got in known:
            text += " (gradient mode, autocast or a module's attribute differs)"
        return text


def _argument_kind(leaf: Tensor) -> tuple:
    # Others answer such questions themselves, or have no strides.
    kind = _C._answering_class(leaf)
    if kind not in _CLASSES or leaf.layout is not strided:
        return (kind,)
    return (*kind_of(leaf), kind, has_attributes(leaf))


def _same_leaves(leaves) -> tuple:
    """For each tensor the first place of the same object."""
    firsts: dict[int, int] = {}
    return tuple(firsts.setdefault(id(t), i) for i, t in enumerate(leaves))
