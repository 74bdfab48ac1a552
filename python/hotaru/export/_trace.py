"""One run of a program with stand-ins for its inputs: the operators it called.

A mode answers every operator: it computes what results look like in each world
(`_sizes.py`), with tensors that have no memory, and writes the call down.
"""

from __future__ import annotations

import operator

from .. import _C, Tensor
from .._higher_order_ops import wrap
from .._ops import aten
from .._subclasses.fake_errors import (
    DataDependentOutputException,
    DynamicOutputShapeException,
)
from .._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from ..utils import _pytree as pytree
from ..utils._python_dispatch import TorchDispatchMode, _disable_current_modes
from . import _loops as loops
from . import _operators as names
from ._builder import Builder
from ._errors import DataDependentError
from ._expressions import Expression
from ._frames import frames
from ._numbers import SymbolicFloat, SymbolicInt, symbolic
from ._sizes import Sizes
from ._values import Facts, Traced, Value, facts_of

__all__ = ["Recording", "Trace", "modes"]

_DATA = (
    "Could not guard on data-dependent expression: the program asks for the "
    "value of a tensor, at {}\nA program that is exported cannot depend on "
    "that. For a branch use torch.cond(pred, true_fn, false_fn, operands); to "
    "choose between elements torch.where."
)
_SHAPE = (
    "The shape of the result of {} depends on the elements of a tensor, which "
    "an exported program cannot have; at {}\nUse operators whose shapes follow "
    "from shapes: torch.where in place of boolean indices, for example."
)
_CONSTANT = "aten::lift_fresh"
_COPY = aten.copy_


class Trace:
    """The graph of a run, and what is known of its tensors."""

    def __init__(self, sizes: Sizes) -> None:
        self.sizes = sizes
        self.fake = FakeTensorMode(allow_non_fake_inputs=True)
        self.root = Builder(self, None, modes())
        self.builder = self.root
        # By identity; the entries keep the tensors alive.
        self.known: dict[int, tuple[Tensor, Value]] = {}
        self.constants: list[tuple] = []  # placeholder, tensor
        self.first_input = None
        self.subgraphs: list[Builder] = []
        self.modules: list[tuple[str, str]] = []
        self._places: dict[str, tuple] = {}

    # --- where ---

    def where(self) -> str:
        """The line of the program that runs now."""
        import linecache

        found = frames()
        if not found:
            return "an unknown place"
        name, line, function = found[-1]
        text = linecache.getline(name, line).strip()
        return f"{name}:{line} in {function}: {text}"

    # --- inputs ---

    def tensor_input(self, name: str, tensor: Tensor, sources: list) -> Traced:
        """A stand-in for an argument; its dimensions by their sources."""
        shape = [
            tensor.shape[i] if (e := self.sizes.expression(source)) is None else e
            for i, source in enumerate(sources)
        ]
        strides = _strides(tensor, shape)
        facts = Facts(tensor, shape, strides)
        fakes = self._fakes(tensor, shape, strides)
        node = self.root.graph.placeholder(name)
        self._keep_first(node)
        value = Value(self.root, node, fakes, facts)
        node.meta.update(val=fakes[0], facts=facts)
        for dim, size in enumerate(shape):
            self._remember_place(value, dim, size)
        return Traced.of(self, value)

    def _keep_first(self, node) -> None:
        # "input" and other names of Python's own stay what they are.
        node.name = node.target
        if self.first_input is None:
            self.first_input = node

    def plain_input(self, name: str, constant) -> None:
        """An argument that is a constant of the program."""
        node = self.root.graph.placeholder(name)
        node.meta["val"] = constant
        self._keep_first(node)

    def _fakes(self, tensor, shape, strides) -> list:
        def made(size, stride):
            empty = _C.ops.empty_strided(
                tuple(size), tuple(stride), dtype=tensor.dtype, device="meta"
            )
            return FakeTensor(self.fake, empty, tensor.device)

        if not any(isinstance(s, Expression) for s in shape):
            fake = made(tensor.shape, tensor.stride())
            return [fake] * len(self.sizes.worlds)
        rows = zip(*(self.sizes.values(s) for s in shape))
        steps = zip(*(self.sizes.values(s) for s in strides))
        return [made(a, b) for a, b in zip(rows, steps)]

    def _remember_place(self, value: Value, dim: int, size) -> None:
        if not isinstance(size, Expression):
            return
        for name in size.symbols():
            factor = next(c for k, c in size.terms.items() if k)
            offset = size.terms.get((), 0)
            plain = size.symbol is not None
            if name not in self._places or plain:
                place = value, dim, offset, factor
                if plain and self._is_plain(name):
                    continue
                self._places[name] = place

    def _is_plain(self, name: str) -> bool:
        known = self._places.get(name)
        return known is not None and known[2:] == (0, 1)

    def place_of(self, name: str) -> tuple:
        """A tensor and dimension that have `factor * symbol + offset`."""
        return self._places[name]

    def state_input(self, name: str, tensor: Tensor) -> None:
        """A placeholder for a parameter or buffer, which the program has."""
        node = self.root.graph.placeholder(name)
        self._state(node, tensor)

    def _state(self, node, tensor: Tensor) -> Value:
        with _disable_current_modes():
            fake = self._fakes(tensor, list(tensor.shape), tensor.stride())[0]
        facts = facts_of(tensor)
        fakes = [fake] * len(self.sizes.worlds)
        value = Value(self.root, node, fakes, facts)
        node.meta.update(val=fake, facts=facts)
        # Names for one tensor may be two: the last is what programs use.
        self.known[id(tensor)] = (tensor, value)
        return value

    def _constant(self, tensor: Tensor) -> Value:
        """A tensor of the program that is neither input nor state."""
        if tensor.requires_grad:
            raise RuntimeError(
                "export: a tensor that requires gradients is used that is "
                "neither an input nor a parameter of the module; register it, "
                f"or detach it. At {self.where()}"
            )
        if isinstance(tensor, FakeTensor):
            raise RuntimeError("export: a fake tensor is used as a constant")
        graph = self.root.graph
        name = f"constant_{len(self.constants)}"
        if self.first_input is None:
            at = next((n for n in graph.nodes if n.op != "placeholder"), None)
        else:
            at = self.first_input
        if at is None:
            node = graph.placeholder(name)
        else:
            with graph.inserting_before(at):
                node = graph.placeholder(name)
        self.constants.append((node, tensor))
        return self._state(node, tensor)

    def value_of(self, tensor: Tensor) -> Value:
        """Returns what stands for a tensor that the program uses."""
        if isinstance(tensor, Traced):
            if tensor._trace is not self:
                raise RuntimeError(
                    "export: a tensor of another trace is used here: a trace "
                    "must leave no tensors in the module"
                )
            return tensor._value
        known = self.known.get(id(tensor))
        return known[1] if known else self._constant(tensor)

    # --- numbers ---

    def specialized(self, e: Expression) -> int:
        """The number of an expression that is used as one."""
        if e.number is None:
            self.sizes.specialize(sorted(e.symbols()), self.where())
        return e.number

    def specialize(self, symbols) -> None:
        """Makes symbols numbers."""
        self.sizes.specialize(sorted(symbols), self.where())

    def holds(self, difference: Expression, op: str) -> bool:
        """True if `difference op 0`."""
        return self.sizes.holds(difference, op, self.where())

    # --- operators ---

    def call(self, function, args: tuple, kwargs: dict):
        """The answer to an operator, which is written down."""
        name = function.name()
        if name.startswith("aten::sym_") or name == "aten::dim":
            return self._question(name, args[0])
        if name == "aten::_local_scalar_dense":
            return self._scalar(args[0])
        if name == _CONSTANT:
            return self._lifted(args[0])
        if not hasattr(function, "_schema"):
            raise NotImplementedError(f"export: {function} at {self.where()}")
        self.enter_mode()
        out = kwargs.pop("out", None) if "out" in kwargs else None
        if out is not None:
            return self._into(out, function, args, kwargs)
        results = self._computed(function, args, kwargs)
        return self._recorded(function, args, kwargs, results)

    def _into(self, out, function, args, kwargs):
        """An operator that writes to `out`: one that gives, and a copy."""
        giving = names.without_out(function)
        result = giving and self.call(giving, args, kwargs)
        if giving is None or (
            self.value_of(result).facts.shape != self.value_of(out).facts.shape
        ):
            why = "changes its size" if giving else "is not implemented"
            raise NotImplementedError(
                f"export: {function} with out= {why}; at {self.where()}"
            )
        return self.call(_COPY.default, (out, result), {})

    def _question(self, name: str, tensor):
        facts = self.value_of(tensor).facts
        if name == "aten::dim":
            return len(facts.shape)
        if name == "aten::sym_size":
            return [symbolic(self, s) for s in facts.shape]
        if name == "aten::sym_stride":
            return [symbolic(self, s) for s in facts.strides]
        if name == "aten::sym_storage_offset":
            return facts.offset
        total = Expression.of(1)
        for size in facts.shape:
            total = total * size
        return symbolic(self, total)

    def _scalar(self, tensor):
        value = self.value_of(tensor)
        constant = getattr(value.fakes[0], "constant", None)
        if constant is None and not isinstance(tensor, Traced):
            fixed = [t for _, t in self.constants]
            if any(t is tensor for t in fixed):
                constant = tensor
        if constant is None:
            raise DataDependentError(_DATA.format(self.where()))
        with _disable_current_modes():
            return constant.item()

    def _lifted(self, tensor: Tensor):
        """A tensor that the program made of numbers: a copy of a constant."""
        with _disable_current_modes():
            kept = tensor.detach().clone()
            fake = self.fake.fake_tensor_converter.from_real_tensor(
                self.fake, kept, make_constant=True
            )
        constant = self._constant(kept)
        source = self.builder.node_of(constant)
        node = self.builder.graph.create_node(
            "call_function", names.lift_copy, (source,), name="lift_fresh_copy"
        )
        fakes = [fake] * len(self.sizes.worlds)
        value = Value(self.builder, node, fakes, facts_of(fake))
        self.describe(node, value)
        return Traced.of(self, value)

    def _computed(self, function, args, kwargs) -> list:
        """The results in each world."""
        leaves, spec = pytree.tree_flatten((args, kwargs))
        columns = [self._column(leaf) for leaf in leaves]
        if not any(varies for _, varies in columns):
            given = [column[0] for column, _ in columns]
            a, k = pytree.tree_unflatten(given, spec)
            result = self._run(function, a, k)
            return [result] * len(self.sizes.worlds)
        results = []
        for world in range(len(self.sizes.worlds)):
            given = [column[world] for column, _ in columns]
            a, k = pytree.tree_unflatten(given, spec)
            try:
                results.append(self._run(function, a, k))
            except (RuntimeError, IndexError, ValueError) as error:
                if world == 0 or isinstance(error, DataDependentError):
                    raise
                self._conflict(function, leaves, spec, error, world)
        return results

    def _column(self, leaf) -> tuple[list, bool]:
        """An argument in each world, and whether it differs."""
        count = len(self.sizes.worlds)
        if isinstance(leaf, Tensor):
            value = self.value_of(leaf)
            first = value.fakes[0]
            return value.fakes, any(f is not first for f in value.fakes)
        if type(leaf) in (SymbolicInt, SymbolicFloat):
            return leaf.values(), True
        return [leaf] * count, False

    def _run(self, function, args, kwargs):
        try:
            with _disable_current_modes():
                own = _OWN.get(function.name())
                if own is not None:
                    return own(self, *args, **kwargs)
                return self.fake._answer(function, args, dict(kwargs))
        except DynamicOutputShapeException as error:
            raise DataDependentError(_SHAPE.format(function, self.where())) from error
        except DataDependentOutputException as error:
            raise DataDependentError(_DATA.format(self.where())) from error

    def _conflict(self, function, leaves, spec, error, world) -> None:
        symbols: set = set()
        for leaf in leaves:
            if isinstance(leaf, Tensor):
                for size in self.value_of(leaf).facts.shape:
                    if isinstance(size, Expression):
                        symbols |= size.symbols()
            elif type(leaf) is SymbolicInt:
                symbols |= leaf.expression.symbols()
            elif type(leaf) is SymbolicFloat:
                symbols |= leaf.symbols()

        def works(world: dict) -> bool:
            return self._probed(function, leaves, spec, world) is not None

        failed = self.sizes.worlds[world]
        self.sizes.conflict(symbols, works, error, failed, self.where())

    def _probed(self, function, leaves, spec, world: dict):
        """The result for other sizes; None where it fails."""
        given = [self._at(leaf, world) for leaf in leaves]
        args, kwargs = pytree.tree_unflatten(given, spec)
        try:
            return self._run(function, args, kwargs)
        except (RuntimeError, IndexError, ValueError):
            return None

    def _at(self, leaf, world: dict):
        """An argument for other sizes."""

        def number(x):
            return x.value(world) if isinstance(x, Expression) else x

        if isinstance(leaf, Tensor):
            facts = self.value_of(leaf).facts
            empty = _C.ops.empty_strided(
                tuple(map(number, facts.shape)),
                tuple(map(number, facts.strides)),
                dtype=facts.dtype,
                device="meta",
            )
            return FakeTensor(self.fake, empty, facts.device)
        if type(leaf) is SymbolicInt:
            return leaf.expression.value(world)
        return leaf.hint if type(leaf) is SymbolicFloat else leaf

    # --- writing ---

    def argument(self, leaf):
        """Returns what stands for an argument in the current graph."""
        if isinstance(leaf, Tensor):
            return self.builder.node_of(self.value_of(leaf))
        if type(leaf) in (SymbolicInt, SymbolicFloat):
            return self.builder.number(leaf)
        return leaf

    def _recorded(self, function, args, kwargs, results: list):
        given = _sizes_in(self, args, kwargs)
        leaves, spec = pytree.tree_flatten((args, kwargs))

        def probe(world: dict):
            return self._probed(function, leaves, spec, world)

        target, shown, named = names.canonical(function, args, kwargs)
        shown, named = pytree.tree_map(self.argument, (shown, named))
        shown, named = _lists((shown, named))
        base = function.overloadpacket.__name__
        node = self.builder.graph.create_node(
            "call_function", target, tuple(shown), named, name=base
        )
        self.note(node)
        if base.endswith("_") and not base.endswith("__"):
            return self._changed(node, args[0])
        if isinstance(results[0], Tensor):
            same = next((x for x in args if self._is_same(x, results[0])), None)
            value = self._value(node, results, given, probe)
            if same is not None:  # x.to(x.dtype), x.contiguous()
                value.fakes = self.value_of(same).fakes
            return Traced.of(self, value)
        if isinstance(results[0], (list, tuple)):
            return self._parts(node, results, given, probe)
        node.meta["val"] = results[0]
        return results[0]

    def _is_same(self, x, result) -> bool:
        return isinstance(x, Tensor) and self.value_of(x).fakes[0] is result

    def _changed(self, node, tensor):
        """An operator in place gives the tensor that it changed."""
        value = self.value_of(tensor)
        self.describe(node, value)
        if value.home is self.builder and isinstance(tensor, Traced):
            value.node = node
        return tensor

    def _value(self, node, results: list, given: list, probe) -> Value:
        value = Value.of_results(self, results, given, probe)
        value.home, value.node = self.builder, node
        self.describe(node, value)
        return value

    def _parts(self, node, results: list, given: list, probe):
        kind = type(results[0])
        parts = []
        for place, fakes in enumerate(zip(*results)):
            if not isinstance(fakes[0], Tensor):
                parts.append(fakes[0])
                continue
            part = self.builder.graph.call_function(operator.getitem, (node, place))
            part.meta["stack"] = node.meta["stack"]

            def one(world: dict, place: int = place):
                found = probe(world)
                return None if found is None else found[place]

            value = self._value(part, list(fakes), given, one)
            parts.append(Traced.of(self, value))
        vals = [p._value.fakes[0] if isinstance(p, Traced) else p for p in parts]
        node.meta["val"] = tuple(vals)
        if len({len(r) for r in results}) > 1:
            raise RuntimeError(
                "export: how many tensors there are depends on a size that "
                f"varies; at {self.where()}"
            )
        return kind(parts)

    def note(self, node) -> None:
        """Where a node is of."""
        node.meta["stack"] = frames()
        node.meta["modules"] = list(self.modules)

    def describe(self, node, value: Value) -> None:
        """Notes what a node gives."""
        node.meta.update(val=value.fakes[0], facts=value.facts)
        if "stack" not in node.meta:
            self.note(node)

    # --- parts without gradients, or with autocast ---

    def enter_mode(self) -> None:
        """Operators under `no_grad` or `autocast` are a graph of their own."""
        wanted = modes()
        if self.builder.modes == wanted:
            return
        while self.builder.is_part and self.builder.modes != wanted:
            self._leave_part()
        grad, cast = self.builder.modes
        if cast != wanted[1]:
            cast = wanted[1]
            self.builder = Builder(self, self.builder, (grad, cast), True)
        if grad != wanted[0]:
            self.builder = Builder(self, self.builder, wanted, True)

    def _leave_part(self) -> None:
        part, self.builder = self.builder, self.builder.parent
        part.closed = True
        inputs = [self.outside(x) for x in part.inputs]
        place = self.builder.graph.get_attr(self.named("submod", part))
        grad, cast = part.modes
        if cast != self.builder.modes[1]:
            target = wrap.wrap_with_autocast
            args = (*(cast or ("cpu", None, False, True)), place, *inputs)
        else:
            target = wrap.wrap_with_set_grad_enabled
            args = (grad, place, *inputs)
        part.node = self.builder.graph.call_function(target, args)
        self.note(part.node)

    def leave_parts(self) -> None:
        """Ends them, as a graph ends."""
        while self.builder.is_part:
            self._leave_part()

    def outside(self, value):
        """The node in the current graph."""
        return self.builder.node_of(value)

    def named(self, kind: str, builder: Builder) -> str:
        """A name for a graph in the current one."""
        used = [b.name for b in self.subgraphs]
        number = 1 if kind == "submod" else 0
        while f"{kind}_{number}" in used:
            number += 1
        builder.name = f"{kind}_{number}"
        builder.graph_parent = self.builder
        self.subgraphs.append(builder)
        return builder.name

    def higher_order(self, name: str, *args):
        """An operator that takes functions, which are written down."""
        return loops.WRITTEN[name](self, *args)

    def chosen(self, pred, results: list, first, second) -> None:
        """Told of a `cond`'s results, which are those of one branch."""

    def _give_output(self, part: Builder) -> None:
        """A part that only changes tensors gives one: files need that."""
        made = [n for n in part.graph.nodes if n.op == "call_function"]
        last = next(n for n in reversed(made) if "facts" in n.meta)
        fakes, facts = [last.meta["val"]], last.meta["facts"]
        part.outputs.append((last, Value(part, last, fakes, facts)))
        graph = part.parent.graph
        with graph.inserting_after(part.node):
            node = graph.call_function(operator.getitem, (part.node, 0))
        node.meta.update(val=fakes[0], facts=facts, stack=[])

    def finish_parts(self) -> None:
        """Ends the graphs whose results were not known before."""
        for part in self.subgraphs:
            if part.is_part:
                if not part.outputs:
                    self._give_output(part)
                nodes = tuple(node for node, _ in part.outputs)
                part.graph.output(nodes)
                part.node.meta["val"] = tuple(
                    value.fakes[0] for _, value in part.outputs
                )


def modes() -> tuple:
    """Tells whether gradients are recorded; autocast's device, dtype, whether
    it is on, and whether it keeps casts, or None where it is off.
    """
    import hotaru

    cast = None
    if hotaru.is_autocast_enabled("cpu"):
        dtype = hotaru.get_autocast_dtype("cpu")
        cast = ("cpu", dtype, True, hotaru.is_autocast_cache_enabled())
    elif _C._autocast_key():
        raise NotImplementedError(
            "export: autocast of another device than the CPU is not implemented"
        )
    return _C.is_grad_enabled(), cast


def _one_hot(trace: Trace, tensor, count: int = -1):
    """Its shape follows from the number of classes, where that is given."""
    if count < 0:
        raise DynamicOutputShapeException("aten.one_hot")
    empty = _C.ops.empty((*tensor.shape, count), dtype=_C.int64, device="meta")
    return FakeTensor(trace.fake, empty, tensor.device)


# Operators of which the fake tensors do not know what is known here.
_OWN = {"aten::one_hot": _one_hot}


def _lists(tree):
    """Tuples within arguments as lists, as PyTorch's graphs have them."""
    args, kwargs = tree

    def changed(x):
        if isinstance(x, (list, tuple)) and not hasattr(x, "_fields"):
            return [changed(y) for y in x]
        return x

    return tuple(map(changed, args)), {k: changed(v) for k, v in kwargs.items()}


def _sizes_in(trace: Trace, args, kwargs) -> list:
    """All sizes of the arguments that vary, each once."""
    found: list = []
    for leaf in pytree.tree_leaves((args, kwargs)):
        if isinstance(leaf, Tensor):
            found += trace.value_of(leaf).facts.shape
        elif type(leaf) is SymbolicInt:
            found.append(leaf.expression)
    return [x for x in found if isinstance(x, Expression)]


def _strides(tensor: Tensor, shape: list) -> list:
    """Strides of an input, with the sizes that vary in them."""
    order = sorted(range(tensor.dim()), key=lambda i: (tensor.stride(i), -i))
    found: list = list(tensor.stride())
    step, real = Expression.of(1), 1
    for place in order:
        if tensor.stride(place) == real:
            found[place] = step if step.number is None else step.number
        real *= tensor.shape[place]
        step = step * shape[place]
    return found


class Recording(TorchDispatchMode):
    """Asks a trace."""

    _keeps_history = True
    _sees_whole = True

    def __init__(self, trace: Trace) -> None:
        super().__init__()
        self.trace = trace

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return self.trace.call(func, args, dict(kwargs or {}))
