"""One run of a program with stand-ins for its inputs: the operators it called.

A mode answers every operator: it computes what results look like in each world
(`_sizes.py`), with tensors that have no memory, and writes the call down.
"""

from __future__ import annotations

import operator

from .. import Tensor, _C
from .._subclasses.fake_errors import (
    DataDependentOutputException,
    DynamicOutputShapeException,
)
from .._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from ..utils import _pytree as pytree
from ..utils._python_dispatch import TorchDispatchMode, _disable_current_modes
from . import _operators as names
from ._builder import Builder
from ._errors import DataDependentError, Restart
from ._expressions import Expression
from ._frames import frames
from ._numbers import SymbolicFloat, SymbolicInt, symbolic
from ._sizes import Sizes
from ._values import Facts, Traced, Value, facts_of

__all__ = ["Trace"]

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


class Trace:
    """The graph of a run, and what is known of its tensors."""

    def __init__(self, sizes: Sizes) -> None:
        self.sizes = sizes
        self.fake = FakeTensorMode(allow_non_fake_inputs=True)
        self.root = Builder(self, None, _C.is_grad_enabled())
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
            tensor.shape[i]
            if (e := self.sizes.expression(source)) is None
            else e
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
        # Of two names for one tensor the last is what programs use.
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
        """What stands for a tensor that the program uses."""
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
        """Whether `difference op 0`."""
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
        self._enter_mode()
        out = kwargs.pop("out", None) if "out" in kwargs else None
        if out is not None:
            raise NotImplementedError(
                f"export: {function} with out= is not implemented; at "
                f"{self.where()}"
            )
        results = self._computed(function, args, kwargs)
        return self._recorded(function, args, kwargs, results)

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
        self._describe(node, value)
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
                self._conflict(function, leaves, spec, error)
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
                return self.fake._answer(function, args, dict(kwargs))
        except DynamicOutputShapeException as error:
            raise DataDependentError(
                _SHAPE.format(function, self.where())
            ) from error
        except DataDependentOutputException as error:
            raise DataDependentError(_DATA.format(self.where())) from error

    def _conflict(self, function, leaves, spec, error) -> None:
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
            given = [self._at(leaf, world) for leaf in leaves]
            args, kwargs = pytree.tree_unflatten(given, spec)
            try:
                self._run(function, args, kwargs)
            except (RuntimeError, IndexError, ValueError):
                return False
            return True

        self.sizes.conflict(symbols, works, error, self.where())

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

    def _argument(self, leaf):
        if isinstance(leaf, Tensor):
            return self.builder.node_of(self.value_of(leaf))
        if type(leaf) in (SymbolicInt, SymbolicFloat):
            return self.builder.number(leaf)
        return leaf

    def _recorded(self, function, args, kwargs, results: list):
        given = _sizes_in(self, args, kwargs)
        target, shown, named = names.canonical(function, args, kwargs)
        shown, named = pytree.tree_map(self._argument, (shown, named))
        shown, named = _lists((shown, named))
        base = function.overloadpacket.__name__
        node = self.builder.graph.create_node(
            "call_function", target, tuple(shown), named, name=base
        )
        self._note(node)
        if base.endswith("_") and not base.endswith("__"):
            return self._changed(node, args[0])
        if isinstance(results[0], Tensor):
            same = next(
                (x for x in args if self._is_same(x, results[0])), None
            )
            value = self._value(node, results, given)
            if same is not None:  # x.to(x.dtype), x.contiguous()
                value.fakes = self.value_of(same).fakes
            return Traced.of(self, value)
        if isinstance(results[0], (list, tuple)):
            return self._parts(node, results, given)
        node.meta["val"] = results[0]
        return results[0]

    def _is_same(self, x, result) -> bool:
        return isinstance(x, Tensor) and self.value_of(x).fakes[0] is result

    def _changed(self, node, tensor):
        """An operator in place gives the tensor that it changed."""
        value = self.value_of(tensor)
        self._describe(node, value)
        if value.home is self.builder and isinstance(tensor, Traced):
            value.node = node
        return tensor

    def _value(self, node, results: list, given: list) -> Value:
        value = Value.of_results(self, results, given)
        value.home, value.node = self.builder, node
        self._describe(node, value)
        return value

    def _parts(self, node, results: list, given: list):
        kind = type(results[0])
        parts = []
        for place, fakes in enumerate(zip(*results)):
            if not isinstance(fakes[0], Tensor):
                parts.append(fakes[0])
                continue
            part = self.builder.graph.call_function(
                operator.getitem, (node, place)
            )
            part.meta["stack"] = node.meta["stack"]
            value = self._value(part, list(fakes), given)
            parts.append(Traced.of(self, value))
        vals = [p._value.fakes[0] if isinstance(p, Traced) else p
                for p in parts]  # fmt: skip
        node.meta["val"] = tuple(vals)
        if len({len(r) for r in results}) > 1:
            raise RuntimeError(
                "export: how many tensors there are depends on a size that "
                f"varies; at {self.where()}"
            )
        if hasattr(kind, "_fields") or kind not in (list, tuple):
            return kind(parts)
        return kind(parts)

    def _note(self, node) -> None:
        node.meta["stack"] = frames()
        node.meta["modules"] = list(self.modules)

    def _describe(self, node, value: Value) -> None:
        node.meta.update(val=value.fakes[0], facts=value.facts)
        if "stack" not in node.meta:
            self._note(node)

    # --- parts without gradients ---

    def _enter_mode(self) -> None:
        """Operators under `no_grad` are a graph of their own."""
        wanted = _C.is_grad_enabled()
        while self.builder.grad != wanted and self._is_part(self.builder):
            self._leave_part()
        if self.builder.grad != wanted:
            part = Builder(self, self.builder, wanted)
            part.is_part = True
            self.builder = part

    @staticmethod
    def _is_part(builder: Builder) -> bool:
        return getattr(builder, "is_part", False)

    def _leave_part(self) -> None:
        part, self.builder = self.builder, self.builder.parent
        part.closed = True
        inputs = [self._outside(x) for x in part.inputs]
        place = self.builder.graph.get_attr(self._named("submod", part))
        part.node = self.builder.graph.call_function(
            names.with_grad, (part.grad, place, *inputs)
        )
        self._note(part.node)

    def leave_parts(self) -> None:
        """Ends them, as a graph ends."""
        while self._is_part(self.builder):
            self._leave_part()

    def _outside(self, value):
        if isinstance(value, Expression):
            return self.builder.of_expression(value)
        return self.builder.node_of(value)

    def _named(self, kind: str, builder: Builder) -> str:
        used = [b.name for b in self.subgraphs]
        number = 1 if kind == "submod" else 0
        while f"{kind}_{number}" in used:
            number += 1
        builder.name = f"{kind}_{number}"
        builder.graph_parent = self.builder
        self.subgraphs.append(builder)
        return builder.name

    # --- branches ---

    def cond(self, pred, true_fn, false_fn, operands):
        """`torch.cond`: both branches are written down."""
        if type(pred) is bool:
            return (true_fn if pred else false_fn)(*operands)
        self._enter_mode()
        test = self._argument(pred)
        branches = [self._branch(f, operands) for f in (true_fn, false_fn)]
        (a, a_spec), (b, b_spec) = (branch[1:] for branch in branches)
        first, second = branches[0][0], branches[1][0]
        if a_spec != b_spec:
            raise RuntimeError(
                "Unmatched output spec from torch.cond branches: true branch "
                f"tree_spec {a_spec} vs false branch tree_spec {b_spec}."
            )
        for x, y in zip(a, b):
            self._check_branches(x, y)
        inputs = list(dict.fromkeys([*first.inputs, *second.inputs]))
        for branch in (first, second):
            _ordered(self, branch, inputs)
        outside = tuple(self._outside(x) for x in inputs)
        graph = self.builder.graph
        places = [
            graph.get_attr(self._named(kind, branch))
            for kind, branch in (
                ("true_graph", first),
                ("false_graph", second),
            )
        ]
        node = graph.call_function(names.cond, (test, *places, outside))
        self._note(node)
        results = []
        for place, tensor in enumerate(a):
            part = graph.call_function(operator.getitem, (node, place))
            found = tensor._value
            value = Value(self.builder, part, found.fakes, found.facts)
            part.meta["stack"] = node.meta["stack"]
            self._describe(part, value)
            results.append(Traced.of(self, value))
        node.meta["val"] = tuple(r._value.fakes[0] for r in results)
        return pytree.tree_unflatten(results, a_spec)

    def _check_branches(self, x, y) -> None:
        x, y = x._value.facts, y._value.facts
        if (x.shape, x.dtype, x.device) != (y.shape, y.dtype, y.device):
            raise RuntimeError(
                "Expect outputs of both branches of torch.cond to have the "
                f"same metadata: {x!r} and {y!r}; at {self.where()}"
            )

    def _branch(self, function, operands) -> tuple:
        outer = self.builder
        self.builder = branch = Builder(self, outer, _C.is_grad_enabled())
        try:
            # Results that are inputs are copies, as an operator gives them.
            leaves, spec = pytree.tree_flatten(function(*operands))
            if not leaves or any(not isinstance(x, Tensor) for x in leaves):
                raise RuntimeError(
                    "Expect branches of torch.cond to return (containers of) "
                    f"tensors; at {self.where()}"
                )
            found = []
            for leaf in leaves:
                value = self.value_of(leaf)
                if branch.node_of(value).op == "placeholder":
                    leaf = leaf.clone()
                found.append(leaf)
            self.leave_parts()
            nodes = tuple(branch.node_of(x._value) for x in found)
            branch.graph.output(nodes)
        finally:
            self.builder = outer
        return branch, found, spec

    def finish_parts(self) -> None:
        """Ends the graphs whose results were not known before."""
        for part in self.subgraphs:
            if self._is_part(part):
                nodes = tuple(node for node, _ in part.outputs)
                part.graph.output(nodes)
                part.node.meta["val"] = tuple(
                    value.fakes[0] for _, value in part.outputs
                )


def _ordered(trace: Trace, branch: Builder, inputs: list) -> None:
    """Gives a branch all inputs of both, in the same order."""
    for value in inputs:
        if value not in branch.inputs:
            outer = trace._outside(value)
            branch.nodes[value] = node = branch._input(outer.name, value)
            node.meta.update(outer.meta)
    nodes = [n for n in branch.graph.nodes if n.op == "placeholder"]
    by_value = dict(zip(branch.inputs, nodes))
    for value in reversed(inputs):
        first = next(iter(branch.graph.nodes))
        node = by_value[value]
        if node is not first:
            first.prepend(node)
    branch.inputs = list(inputs)


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
    """Those of an input, with the sizes that vary in them."""
    order = sorted(
        range(tensor.dim()), key=lambda i: (tensor.stride(i), -i)
    )
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

    def __init__(self, trace: Trace) -> None:
        super().__init__()
        self.trace = trace

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return self.trace.call(func, args, dict(kwargs or {}))


__all__ += ["Recording", "Restart"]
