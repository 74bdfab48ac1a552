"""One captured function for one kind of arguments: forward and backward."""

from __future__ import annotations

from .. import _C, Tensor, empty, empty_like, is_grad_enabled, no_grad, uint8
from . import _state, _tree, _where
from ._graph import Graph
from ._training import Training


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
            None, self.allow_unused, self.fresh, self.without, self.bitwise,
        )  # fmt: skip

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
    ) -> None:
        self._function = function
        self._options = options
        self._form = form
        self._samples = list(leaves)
        self._statics = list(leaves) if static else _statics_of(leaves, aliases)
        # Whose memory is the graph's alone.
        shared = {i for a in aliases for i in a[:2] if isinstance(i, int)}
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
        self.differentiable = any(o.requires_grad for o in self._outputs)
        # Its own backward went through what made the results.
        spent = self.differentiable and _C._history_released(self._outputs)
        self.differentiable = self.differentiable and not spent
        self._written = [
            i
            for i, (static, version) in enumerate(
                zip(self._statics, self._versions)
            )
            if static._version != version
        ]
        self._make_call()
        if spent:
            self.call.set_spent()
        if not self.differentiable:
            self._outputs = None
            self.stream = None

    def _record(self, own):
        """Captures the function; returns results and rebound attributes."""
        snapshot = _state.Snapshot(self._owners)
        tensors = (*self._statics, *self._guarded)
        self.graph = self._options.graph(
            is_grad_enabled() and any(t.requires_grad for t in tensors)
        )
        self.graph._on = self._device
        previous = _C._current_stream(self._device)
        try:
            for attribute, leaves in own or ():
                attribute.bind(leaves)
            begun = _state.Snapshot(self._owners) if own else snapshot
            _C._set_stream(self.stream)
            self.graph.capture_begin(self._options.pool)
            self._versions = [static._version for static in self._statics]
            args, kwargs = _tree.rebuild(self._form, iter(self._statics))
            with self.training:
                result = self._function(*args, **kwargs)
                changed = begun.changed()
                self.training.check()
                leaves: list[Tensor] = []
                form = _tree.flatten(result, leaves)
                _check_result(form)
                _state.carry(changed)
                renewed = self.training.release(self.graph)
                self.graph._capture_end(self._inputs(), renewed)
                self.training.found(self.graph)
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
        args, kwargs = _tree.rebuild(self._form, iter(self._samples))
        self.flat = not kwargs and _is_flat(self._form[2][0])
        triples = zip(self._samples, self._statics, self._own)
        triples = [
            next(triples) if isinstance(arg, Tensor) else (arg, None, False)
            for arg in (args if self.flat else self._samples)
        ]
        self.call = _C._GraphCall(
            self.graph, triples, self._guarded, self._reach.around
        )
        states = {id(t) for a, _ in self.carried for t in a.leaves}
        lasting = [t for t in self._guarded if id(t) not in states]
        single = self._result_form == _tree.TENSOR
        self.call.set_results(
            self._outputs, lasting, single, self._options.fresh
        )
        self.training.install(self.call)
        plain_tuple = self._result_form == _tree.flatten(
            tuple(self._outputs), []
        )
        # Such calls need no Python.
        self.simple = (
            self.flat
            and (single or plain_tuple)
            and not self._written
            and not self.training.after
        )
        # Samples were needed for their form only.
        self._samples = None

    def capture_backward(self) -> None:
        """The second half, where results require grad."""
        outputs = [o for o in self._outputs if o.requires_grad]
        incoming = [
            empty_like(o) if o.requires_grad else None for o in self._outputs
        ]
        inputs = [s for s in self._statics if s.requires_grad]
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
        self.call.set_backward(graph, incoming, found, parameters)
        # The captured calls hold what they need; the history can go.
        self._outputs = None
        self.stream = None

    def _find_parameters(self, outputs, inputs) -> list[Tensor]:
        """Trainable parameters of the modules, and whatever else the results
        depend on.
        """
        found: dict[int, Tensor] = {}
        for tensor in self._guarded:
            if tensor.requires_grad and tensor.is_leaf:
                found.setdefault(id(tensor), tensor)
        for tensor in _leaves(outputs):
            found.setdefault(id(tensor), tensor)
        for tensor in inputs:
            found.pop(id(tensor), None)
        return list(found.values())

    # -- calls -------------------------------------------------------------

    def bring_state(self) -> None:
        """Takes over states that were bound since."""
        for attribute, _ in self.carried:
            leaves: list[Tensor] = []
            _tree.flatten(attribute.now(), leaves)
            with no_grad():
                for old, new in zip(attribute.leaves, leaves):
                    if old is not new:
                        old.copy_(new)
            if any(a is not b for a, b in zip(attribute.leaves, leaves)):
                attribute.bind(attribute.leaves)

    def run(self, given: tuple):
        """The function's result for arguments of its form: the positional ones
        if it is flat, else their tensors.
        """
        results = self.call.run(given)
        self.training.finish()
        if self._written:
            self._write_back([t for t in given if isinstance(t, Tensor)])
        if self._result_form == _tree.TENSOR:
            return results
        return _tree.rebuild(self._result_form, iter(results))

    def _write_back(self, leaves: list[Tensor]) -> None:
        with no_grad():
            for i in self._written:
                if not _C._shares_storage(leaves[i], self._statics[i]):
                    leaves[i].copy_(self._statics[i])


def _device_of(tensors):
    """The device whose stream is captured: that of the first tensor that is
    not the CPU's; None is the CPU.
    """
    return next((t.device for t in tensors if not t.is_cpu), None)


def _static_of(leaf: Tensor) -> Tensor:
    with no_grad():
        copy = leaf.detach().clone()
    return copy.requires_grad_(leaf.requires_grad)


def _statics_of(leaves: list[Tensor], aliases: tuple) -> list[Tensor]:
    """Memory for the arguments' values: for those that overlap one piece, in
    which they overlap the same way, and for those that overlap what the graph
    knows by address where they are.
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
            statics[i] = _static_of(leaves[i])
        else:
            statics.update(_overlapping({j: leaves[j] for j in group}))
    return [statics[i] for i in range(len(leaves))]


def _alias_of(leaf: Tensor) -> Tensor:
    return leaf.detach().requires_grad_(leaf.requires_grad)


def _overlapping(leaves: dict[int, Tensor]) -> dict[int, Tensor]:
    """Copies of tensors of one storage that overlap as they do."""
    begins = {
        i: leaf.storage_offset() * leaf.element_size()
        for i, leaf in leaves.items()
    }
    # Offsets from here are whole elements of every dtype.
    start = min(begins.values()) // 16 * 16
    end = max(
        begins[i]
        + leaf.element_size()
        * (1 + sum((n - 1) * s for n, s in zip(leaf.shape, leaf.stride())))
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
            static.copy_(leaf.detach())
            out[i] = static.requires_grad_(leaf.requires_grad)
    return out


def _own(attribute, leaves: list[Tensor]) -> list[Tensor]:
    """Tensors for a state: copies of those that the call replaces."""
    return [
        old if old is new else old.detach().clone()
        for old, new in zip(attribute.leaves, leaves)
    ]


def _check_result(form: tuple) -> None:
    for value in _tree.objects(form):
        raise TypeError(
            "a graphed callable returns tensors, numbers, text and nests of "
            f"them, not {type(value).__name__}"
        )


def _is_flat(form: tuple) -> bool:
    """Whether arguments are tensors and constants, without nests."""
    return all(
        part == _tree.TENSOR or part[0] in ("constant", "float")
        for part in form[2]
    )


def _leaves(outputs) -> list[Tensor]:
    """The leaf tensors that results depend on."""
    found, seen = [], set()
    stack = [o.grad_fn for o in outputs]
    found += [o for o in outputs if o.grad_fn is None]
    while stack:
        node = stack.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        variable = getattr(node, "variable", None)
        if variable is not None:
            found.append(variable)
        stack += [following for following, _ in node.next_functions]
    return found
