"""One captured function for one kind of arguments: forward and backward."""

from __future__ import annotations

from .. import (
    _C,
    Tensor,
    empty,
    empty_like,
    empty_strided,
    is_grad_enabled,
    no_grad,
    uint8,
)
from . import _results, _state, _tree, _where
from ._exact import Exact
from ._given import Given
from ._graph import Graph, passes
from ._surroundings.code import borrows_memory
from ._training import Training


class _RehearsalError(Exception):
    """A rehearsal is over, and nothing is against a capture."""


class Options:
    """How to capture, the same for all graphs of a callable."""

    def __init__(
        self,
        pool: _C.GraphPool | None,
        allow_unused: bool,
        fresh: bool,
        without=(),
        bitwise: bool = False,
    ) -> None:
        self.pool = _C.GraphPool() if pool is None else pool
        self.allow_unused = allow_unused
        self.fresh = fresh
        self.without = tuple(without)
        self.bitwise = bitwise

    def __reduce__(self):
        return Options, (
            None,
            self.allow_unused,
            self.fresh,
            self.without,
            self.bitwise,
        )

    def graph(self, training: bool = True) -> Graph:
        """A graph to capture. In training weights change from call to call:
        to bring them into another form each time takes longer than it saves.
        """
        kept = ("once", "pack_weights", "pack_int8") if training else ()
        return Graph(without=self.without + kept, bitwise=self.bitwise)


class Captured:
    """The graphs of a function, and the tensors at their ends.

    Args:
        function: what to capture.
        reach: what it can read besides its arguments.
        form, leaves: its arguments, ``(args, kwargs)``.
        given: these themselves, and the containers among them.
        aliases: which of the leaves share memory, see ``_C._aliases``.
        static: takes the arguments' own memory as the graph's.
    """

    def __init__(
        self,
        function,
        reach,
        form,
        leaves,
        aliases: tuple,
        options: Options,
        static: bool,
        given: tuple,
    ) -> None:
        self._function = function
        self._given = given
        self._options = options
        #: Form of the arguments.
        self.form = form
        self._samples = list(leaves)
        self._statics = list(leaves)
        # Whose memory is the graph's alone.
        shared = {i for a in aliases for i in a[:2] if isinstance(i, int)}
        if not static:
            known = set(map(id, _state.guarded(reach)))
            self._statics = _statics_of(leaves, aliases, known)
            shared |= {i for i, t in enumerate(leaves) if id(t) in known}
        self._own = [not static and i not in shared for i in range(len(leaves))]
        self._reach = reach
        self._owners = reach.owners
        self._guarded = _state.guarded(reach)
        self.training = Training(reach, self._guarded, self._statics)
        self._device = _device_of((*self._statics, *self._guarded))
        self.stream = _C.Stream(self._device)
        self._capture_forward()

    # -- capture -----------------------------------------------------------

    def _capture_forward(self) -> None:
        self._reach.mark()
        self._begun = _state.Snapshot(self._owners)
        try:
            self._make()
        except Exception:
            self.take_back()
            raise

    def _make(self) -> None:
        if borrows_memory(self._reach):
            self._rehearse()
        outputs, self.carried = self._record(None)
        if self.carried:
            # Once more, with states of its own: what the user bound stays
            # what it is.
            own = [
                (attribute, _own(attribute, leaves))
                for attribute, leaves in self.carried
            ]
            self.graph.reset()
            del outputs
            outputs, self.carried = self._record(own)
        self._result_form, self._outputs = outputs
        del outputs
        self.differentiable = any(o.requires_grad for o in self._outputs)
        # Its own backward went through what made the results.
        spent = self.differentiable and _C._history_released(self._outputs)
        self.differentiable = self.differentiable and not spent
        self._make_call()
        self.differentiable = self.differentiable and any(
            o.requires_grad for o in self._outputs
        )
        if spent:
            self.call.set_spent()
        if not self.differentiable:
            self._outputs = None
            self.stream = None

    def _rehearse(self) -> None:
        """Records the calls as they are, to see what they find in memory:
        passes leave out that a call reads what it writes.
        """
        try:
            self._record(None, rehearsal=True)
        except _RehearsalError:
            self.graph = None

    def _record(self, own, rehearsal: bool = False):
        """Captures the function; returns results and rebound attributes. As a
        rehearsal it ends with an error, and everything is as before.
        """
        snapshot = _state.Snapshot(self._owners)
        tensors = (*self._statics, *self._guarded)
        if rehearsal:
            self.graph = Graph(without=[name for name, _, _ in passes()])
        else:
            self.graph = self._options.graph(
                is_grad_enabled() and any(t.requires_grad for t in tensors)
            )
        self.graph._on = self._device
        previous = _C._current_stream(self._device)
        try:
            for attribute, leaves in own or ():
                attribute.bind(leaves, anew=True)
            begun = _state.Snapshot(self._owners) if own else snapshot
            _C._set_stream(self.stream)
            # Rehearsals never run: they take no part of what graphs share.
            self.graph.capture_begin(None if rehearsal else self._options.pool)
            exact = Exact(self._reach, self._samples, self._statics)
            args, kwargs, met, inference = self._given
            given = Given(args, kwargs, met.nests, self._samples, self._statics)
            with exact, given, self.training:
                with exact.watching(), _Inference(inference):
                    result = exact.call(self._function, given.args, given.kwargs)
                changed = begun.changed()
                self.training.check(exact.asked_gradients)
                given.check()
                exact.check()
                _state.check_memory(changed, exact.written(), self._guarded)
                leaves: list[Tensor] = []
                found = _tree.Met(self._reach.seen, met, given.copies)
                form = _tree.flatten(result, leaves, found)
                _results.check_form(form)
                _results.find_histories(leaves)
                tensors = (*self._statics, *self._guarded)
                lost = _results.check(
                    leaves, self._statics, tensors, exact.hooked, inference
                )
                lost += _results.replaced_states(leaves, changed)
                if lost and self._options.fresh:
                    raise _state.UnfitError(lost[0][1])
                if not self._options.fresh:
                    lost += _results.constants(leaves, tensors)
                if lost:
                    # Results are the graph's memory anyway.
                    leaves = _results.own_memory(leaves, lost)
                _state.carry(changed)
                renewed = self.training.release(self.graph)
                if rehearsal:
                    computed = _results.computed(leaves)
                self.graph._capture_end(self._inputs(), renewed)
                if rehearsal:
                    states = [t for a, _ in changed for t in a.leaves]
                    kept = [*states, *self.training.kept(), *renewed]
                    exact.check_constants(self.graph, kept, computed)
                    raise _RehearsalError
                self.training.found(self.graph)
            self._writes = exact.writes()
            self._leaf_pattern, self._stride_pattern = exact.patterns(
                self._samples, _results.some_views(leaves, self._statics)
            )
            return (form, leaves), changed
        except BaseException as error:
            self.graph._abandon()
            snapshot.restore()
            self._reach.restore()
            _where.add_line(error, error.__traceback__)
            raise
        finally:
            _C._set_stream(previous)

    def _inputs(self) -> list[Tensor]:
        """Arguments' copies, which every call fills anew."""
        return [s for s, own in zip(self._statics, self._own) if own]

    def _make_call(self) -> None:
        # Arguments without nests are compared and loaded as they come.
        args, kwargs, _, _ = self._given
        self.flat = not kwargs and _is_flat(self.form[2][0])
        triples = zip(self._samples, self._statics, self._own)
        triples = [
            next(triples) if isinstance(arg, Tensor) else (arg, None, False)
            for arg in (args if self.flat else self._samples)
        ]
        with _Inference(self._given[3]):
            self.call = _C._GraphCall(
                self.graph, triples, self._guarded, self._reach.around
            )
        states = {id(t) for a, _ in self.carried for t in a.leaves}
        lasting = [t for t in self._guarded if id(t) not in states]
        single = self._result_form == _tree.TENSOR
        count = len(self._statics)
        roots = self.call.set_results(
            self._outputs, lasting, single, self._options.fresh, self._writes[:count]
        )
        if isinstance(roots, str):
            raise _state.UnfitError(roots)
        self._outputs = roots
        self.call.set_writes(self._writes[count:])
        if self._leaf_pattern is not None:
            self.call.set_leaves_matter()
        if self._stride_pattern is not None:
            self.call.set_strides_matter()
        self._watch_states()
        self.training.install(self.call)
        kind, content = self._result_form[1:3] if not single else (None, ())
        plain_tuple = kind is tuple and all(c == _tree.TENSOR for c in content)
        # Such calls need no Python.
        self.simple = self.flat and (single or plain_tuple) and not self.training.after

    def _watch_states(self) -> None:
        """Whoever keeps a state is to find in it what was there."""
        states = [
            old
            for attribute, leaves in self.carried
            for old, new in zip(attribute.leaves, leaves)
            if old is not new
        ]
        nests = [n for a, _ in self.carried for n in a.containers()]
        self.call.watch_states(states, nests)
        #: The ids of tensors whose values each call renews.
        self.state_ids = set(map(id, states))

    def capture_backward(self) -> None:
        """The second half, where results require grad."""
        outputs = [o for o in self._outputs if o.requires_grad]
        _results.check_ends(outputs)
        incoming = [empty_like(o) if o.requires_grad else None for o in self._outputs]
        inputs = _once(s for s in self._statics if s.requires_grad)
        parameters = self._find_parameters(outputs, inputs)
        wanted = (*inputs, *parameters)
        graph = self._options.graph()
        graph._on = self._device
        previous = _C._current_stream(self._device)
        _C._set_stream(self.stream)
        try:
            graph.capture_begin(self._options.pool)
            # Hooks of parameters run when the graph's node hands these on.
            found = _C._run_backward(
                outputs,
                [g for g in incoming if g is not None],
                retain_graph=False,
                create_graph=False,
                inputs=wanted,
                allow_unused=self._options.allow_unused,
                accumulate=False,
                input_hooks=False,
            )
            found = [g if g is None else g.detach() for g in found]
            graph._capture_end()
        except BaseException as error:
            graph._abandon()
            _where.add_line(error, error.__traceback__)
            raise
        finally:
            _C._set_stream(previous)
        self.call.set_backward(
            graph,
            self._outputs,
            incoming,
            found,
            parameters,
            _results.sources(self._outputs, wanted),
        )
        # The captured calls hold what they need; the history can go.
        self._outputs = None
        self.stream = None

    def _find_parameters(self, outputs, inputs) -> list[Tensor]:
        """Leaves that the results depend on, those of the modules first, and
        trainable parameters of these that are not to be unused.
        """
        reached = {id(t): t for t in _results.leaves_of(outputs)}
        every = not self._options.allow_unused
        found: dict[int, Tensor] = {}
        for tensor in self._guarded:
            if (
                tensor.requires_grad
                and tensor.is_leaf
                and (every or id(tensor) in reached)
            ):
                found.setdefault(id(tensor), tensor)
        found = {**found, **reached}
        for tensor in inputs:
            found.pop(id(tensor), None)
        return list(found.values())

    # -- calls -------------------------------------------------------------

    def bring_state(self) -> None:
        """Takes over states that were bound since."""
        pairs, bound = [], []
        for attribute, _ in self.carried:
            leaves: list[Tensor] = []
            _tree.flatten(attribute.now(), leaves)
            if any(a is not b for a, b in zip(attribute.leaves, leaves)):
                pairs += zip(attribute.leaves, leaves)
                bound.append(attribute)
        if bound:
            _state.put(pairs)
        for attribute in bound:
            attribute.bind(attribute.leaves)

    def run(self, given: tuple, nests: list | tuple = ()):
        """The function's result for arguments of its form: the positional ones
        if it is flat, else their tensors and the containers of these.
        """
        results = self.call.run(given)
        self.training.finish()
        if self._result_form == _tree.TENSOR:
            return results
        return _tree.rebuild(self._result_form, iter(results), nests)

    def leaves_fit(self, leaves: list[Tensor]) -> bool:
        """Tells whether those are leaves that have to be, and all strides
        the same where the code has asked for some.
        """
        wanted, strides = self._leaf_pattern, self._stride_pattern
        return (wanted is None or wanted == [t.is_leaf for t in leaves]) and (
            strides is None or strides == [t.stride() for t in leaves]
        )

    def take_back(self) -> None:
        """Attributes are bound to what they were before the capture, which is
        of no use.
        """
        self._begun.restore()
        self._reach.restore()

    def forget_samples(self) -> None:
        """These were needed for captures alone."""
        self._samples = self._given = self._begun = None


class _Inference:
    """Inference mode, or none, whatever gradients do."""

    def __init__(self, mode: bool) -> None:
        self._mode = mode

    def __enter__(self) -> None:
        self._before = _C.is_inference_mode_enabled()
        _C._set_inference_mode(self._mode)

    def __exit__(self, *exception) -> None:
        _C._set_inference_mode(self._before)


def _device_of(tensors):
    """The device whose stream is captured: that of the first tensor that is
    not the CPU's; None is the CPU.
    """
    return next((t.device for t in tensors if not t.is_cpu), None)


def _static_of(leaf: Tensor) -> Tensor:
    """The values in memory of the same geometry that is the graph's."""
    with no_grad():
        copy = empty_strided(
            leaf.shape, leaf.stride(), dtype=leaf.dtype, device=leaf.device
        )
        _C._bring_values(copy, leaf.detach())
    return _like(copy, leaf)


def _like(static: Tensor, leaf: Tensor) -> Tensor:
    """A tensor that is to stand for another as one of its class."""
    kind = _C._answering_class(leaf)
    if kind is not Tensor:
        static = _C._make_subclass(kind, static, False)
    return static.requires_grad_(leaf.requires_grad)


def _once(tensors) -> list[Tensor]:
    """Without those that come again."""
    return list({id(t): t for t in tensors}.values())


def _statics_of(leaves: list[Tensor], aliases: tuple, known: set[int]) -> list[Tensor]:
    """Memory for the arguments' values: for those that overlap one piece, in
    which they overlap the same way, and for those that overlap what the graph
    knows by address where they are. Tensors that it knows so themselves, by
    their ids, stand for themselves.
    """
    groups = [{i} for i in range(len(leaves))]
    in_place = set()
    for i, other, _ in aliases:
        if not isinstance(other, int):
            in_place.add(i)
        elif groups[i] is not groups[other]:
            groups[i] |= groups[other]
            for member in groups[i]:
                groups[member] = groups[i]
    statics: dict[int, Tensor] = {}
    for i, group in enumerate(groups):
        if i in statics:
            continue
        if group & in_place:
            statics.update((j, _alias_of(leaves[j])) for j in group)
        elif len(group) == 1:
            own = id(leaves[i]) not in known
            statics[i] = _static_of(leaves[i]) if own else leaves[i]
        else:
            statics.update(_overlapping({j: leaves[j] for j in group}))
    firsts = {id(leaf): leaf for leaf in leaves if id(leaf) in known}
    return [firsts.setdefault(id(leaf), statics[i]) for i, leaf in enumerate(leaves)]


def _alias_of(leaf: Tensor) -> Tensor:
    return _like(leaf.detach(), leaf)


def _overlapping(leaves: dict[int, Tensor]) -> dict[int, Tensor]:
    """Copies of tensors of one storage that overlap as they do."""
    begins = {
        i: leaf.storage_offset() * leaf.element_size() for i, leaf in leaves.items()
    }
    # Offsets from here are whole elements of every dtype.
    start = min(begins.values()) // 16 * 16
    end = max(
        begins[i]
        + leaf.element_size()
        * (1 + sum((n - 1) * s for n, s in zip(leaf.shape, leaf.stride())))
        * (leaf.numel() > 0)
        for i, leaf in leaves.items()
    )
    device = next(iter(leaves.values())).device
    memory = empty(-(-(end - start) // 16) * 16, dtype=uint8, device=device)
    out = {}
    with no_grad():
        for i, leaf in leaves.items():
            at = (begins[i] - start) // leaf.element_size()
            elements = memory.view(leaf.dtype)
            static = elements.as_strided(leaf.shape, leaf.stride(), at)
            static = static.detach()
            _C._bring_values(static, leaf.detach())
            out[i] = _like(static, leaf)
    return out


def _own(attribute, leaves: list[Tensor]) -> list[Tensor]:
    """Tensors for a state: copies of those that the call replaces."""
    return [
        old if old is new else old.detach().clone()
        for old, new in zip(attribute.leaves, leaves)
    ]


def _is_flat(form: tuple) -> bool:
    """True if arguments are tensors and constants, without nests."""
    return all(
        part == _tree.TENSOR or part[0] in ("constant", "float") for part in form[2]
    )
