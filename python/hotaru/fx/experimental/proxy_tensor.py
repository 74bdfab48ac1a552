"""Graphs of the operators that a function calls."""

from __future__ import annotations

import functools
import inspect
import operator
from collections.abc import Callable

from ... import Tensor, nn
from ..._dispatch.derivative import Derivative
from ..._ops import aten
from ..._subclasses.fake_tensor import FakeTensorMode, is_fake
from ...utils import _pytree
from ...utils._python_dispatch import (
    TorchDispatchMode,
    _disable_current_modes,
    _get_current_dispatch_mode_stack,
)
from ..graph import Graph, _PyTreeCodeGen, _PyTreeInfo
from ..graph_module import GraphModule
from ..node import Node
from ..passes.shape_prop import _extract_tensor_metadata

__all__ = ["get_proxy_mode", "make_fx"]

# Operators that give a number, which a graph cannot know.
_NUMBERS = frozenset(["equal", "allclose"])
_VALUE = (
    "It appears that you're trying to get value out of a tracing tensor with "
    "{} - erroring out! It's likely that this is caused by data-dependent "
    "control flow or similar."
)


def make_fx(
    f: Callable,
    decomposition_table: dict | None = None,
    tracing_mode: str = "real",
    _allow_non_fake_inputs: bool = False,
) -> Callable:
    """A function that takes example arguments of `f`, runs it, and returns a
    GraphModule of the operators that it called, as `torch.ops.aten` has them.

    Operators are those that `__torch_dispatch__` sees, PyTorch's; the
    derivative of one is an operator of hotaru's (`hotaru.mul.Tensor.vjp`).
    Tensors that are no arguments are attributes of the module; control flow is
    what it was for the example.

    Args:
        decomposition_table: functions in place of overloads, which are traced.
        tracing_mode: "real" runs the operators, "fake" finds shapes only.
        _allow_non_fake_inputs: of "fake", whether `f` may use other tensors
            than its arguments and those it makes; they are attributes, too.

    Raises, from the function that is returned:
        AssertionError: another tracing mode.
        NotImplementedError: "symbolic", as sizes are numbers.
        RuntimeError: `f` asks for the value of a tensor.
    """
    table = decomposition_table or {}

    @functools.wraps(f)
    def traced(*args):
        if tracing_mode == "symbolic":
            raise NotImplementedError(
                "make_fx: hotaru's sizes are numbers; use tracing_mode='fake'"
            )
        if tracing_mode not in ("real", "fake"):
            raise AssertionError(
                f"tracing_mode must be real/fake/symbolic, got {tracing_mode}"
            )
        fake = _fake_mode(args, tracing_mode, _allow_non_fake_inputs)
        return _Trace(f, table, fake).run(args)

    return traced


def get_proxy_mode() -> TorchDispatchMode | None:
    """The innermost mode that records a graph for `make_fx`, if any does."""
    for mode in reversed(_get_current_dispatch_mode_stack()):
        if isinstance(mode, _Tracing):
            return mode
    return None


def _fake_mode(args, tracing_mode: str, allow: bool):
    from ..._guards import detect_fake_mode

    if tracing_mode == "real":
        return None
    return detect_fake_mode(args) or FakeTensorMode(allow_non_fake_inputs=allow)


class _Trace:
    """One run of a function, and the graph of it."""

    def __init__(self, f: Callable, table: dict, fake_mode) -> None:
        self.f, self.table, self.fake_mode = f, table, fake_mode
        self.graph = Graph()
        self.root = nn.Module()
        # By the identity of a tensor, which the entry keeps alive.
        self.nodes: dict[int, tuple[Tensor, Node]] = {}
        self.counts: dict[str, int] = {}

    def run(self, args: tuple) -> GraphModule:
        leaves, spec = _pytree.tree_flatten(args)
        nested = not all(map(_is_leaf, args))
        leaves = [self._placed(x) for x in leaves]
        names = _names(self.f, args)
        for leaf, name in zip(leaves, _leaf_names(names, args)):
            self._placeholder(leaf, name)
        given = _pytree.tree_unflatten(leaves, spec)
        result = self._called(given)
        self._finish(names, spec, result, nested)
        kind = getattr(self.f, "__name__", type(self.f).__name__)
        return GraphModule(self.root, self.graph, class_name=kind)

    def _placed(self, leaf):
        if self.fake_mode is not None and isinstance(leaf, Tensor):
            return self.fake_mode.from_tensor(leaf)
        return leaf

    def _placeholder(self, leaf, name: str) -> None:
        node = self.graph.placeholder(name)
        if isinstance(leaf, Tensor):
            self._is(leaf, node)

    def _called(self, args: tuple):
        mode = _Tracing(self)
        if self.fake_mode is None:
            with mode:
                return self.f(*args)
        with self.fake_mode, mode:
            return self.f(*args)

    def _finish(self, names, spec, result, nested: bool) -> None:
        if not nested:
            self.graph.output(_pytree.tree_map(self.argument, result))
            return
        leaves, out_spec = _pytree.tree_flatten(result)
        self.graph.output([self.argument(x) for x in leaves])
        info = _PyTreeInfo(names, spec, out_spec)
        self.graph._codegen = _PyTreeCodeGen(info)

    def _is(self, tensor: Tensor, node: Node) -> None:
        self.nodes[id(tensor)] = (tensor, node)
        node.meta["tensor_meta"] = _extract_tensor_metadata(tensor)
        if self.fake_mode is not None:
            node.meta["val"] = _elements(tensor)

    def known(self, x) -> bool:
        """True if it is a tensor of the graph."""
        return isinstance(x, Tensor) and id(x) in self.nodes

    def argument(self, x):
        """The node of a tensor; anything else as it is."""
        if not isinstance(x, Tensor):
            return x
        if id(x) not in self.nodes:
            self._is(x, self._constant(x))
        return self.nodes[id(x)][1]

    def _constant(self, x: Tensor) -> Node:
        kind = "param" if isinstance(x, nn.Parameter) else "tensor"
        place = self.counts.get(kind, 0)
        self.counts[kind] = place + 1
        name = f"_{kind}_constant{place}"
        if kind == "param":
            self.root.register_parameter(name, x)
        else:
            self.root.register_buffer(name, x)
        return self.graph.get_attr(name)

    def written_down(self, real: Tensor, made: Tensor) -> Tensor:
        """A tensor that the function makes of numbers: a copy, each time, of
        an attribute.
        """
        with _disable_current_modes():
            constant = self._constant(real.clone())
        copy = aten.lift_fresh_copy.default
        self._is(made, self.graph.call_function(copy, (constant,)))
        return made

    def record(self, func, args, kwargs, result) -> None:
        """A call, and the nodes of what it gives."""
        args, kwargs = _pytree.tree_map(self.argument, (args, kwargs))
        packet = func if isinstance(func, Derivative) else func.overloadpacket
        name = packet.__name__.replace(".", "_")
        node = self.graph.call_function(func, args, kwargs, name=name)
        if isinstance(result, Tensor):
            self._is(result, node)
        elif isinstance(result, (tuple, list)):
            for place, item in enumerate(result):
                if isinstance(item, Tensor):
                    part = (node, place)
                    self._is(item, self.graph.call_function(operator.getitem, part))


class _Gradient(Tensor):
    """A gradient while a graph is made. Autograd adds gradients up by itself,
    but asks for the sum of those without memory, so that it is in the graph.
    """

    @staticmethod
    def __new__(cls, elem: Tensor):
        made = Tensor._make_wrapper_subclass(
            cls,
            elem.size(),
            strides=elem.stride(),
            dtype=elem.dtype,
            device="meta" if is_fake(elem) else elem.device,
        )
        made.elem = elem
        return made

    @property
    def device(self):
        """That of the gradient, if it is fake, too."""
        return self.elem.device

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        args, kwargs = _pytree.tree_map(_elements, (args, kwargs or {}))
        return func(*args, **kwargs)


def _is_gradient(x) -> bool:
    return isinstance(x, _Gradient)


def _elements(x):
    return x.elem if isinstance(x, _Gradient) else x


def _as_gradients(result, given: list):
    """The same of a result; what was written to stays the object it was."""
    known = {id(x.elem): x for x in given if isinstance(x, _Gradient)}

    def convert(x):
        if not isinstance(x, Tensor) or any(x is y for y in given):
            return x
        same = known.get(id(x))
        return _Gradient(x) if same is None else same

    return _pytree.tree_map(convert, result)


class _Tracing(TorchDispatchMode):
    def __init__(self, trace: _Trace) -> None:
        super().__init__()
        self.trace = trace

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if not isinstance(func, Derivative) and not hasattr(func, "_text"):
            return self._question(func, args)
        other = self.trace.table.get(func)
        if other is not None:
            with self:
                return other(*args, **kwargs)
        # Arguments that the call reads are noted before it writes to them.
        leaves = _pytree.tree_leaves((args, kwargs))
        if getattr(func, "_opname", None) in _NUMBERS and any(
            map(self.trace.known, leaves)
        ):
            raise RuntimeError(_VALUE.format(func))
        for leaf in leaves:
            self.trace.argument(leaf)
        given = _pytree.tree_map(_elements, (args, kwargs))
        result = func(*given[0], **given[1])
        if isinstance(func, Derivative) or any(map(_is_gradient, leaves)):
            result = _as_gradients(result, leaves)
        self.trace.record(func, args, kwargs, result)
        return result

    def _question(self, func, args):
        given = args[0]
        args = _pytree.tree_map(_elements, args)
        if func.name() == "aten::lift_fresh":
            return self.trace.written_down(args[0], func(*args))
        if func.name() == "aten::_local_scalar_dense":
            if self.trace.known(args[0]) or _is_gradient(given):
                raise RuntimeError(_VALUE.format(func))
            with _disable_current_modes():
                return func(*args)
        return func(*args)


def _is_leaf(x) -> bool:
    return _pytree.tree_flatten(x)[1].is_leaf()


def _names(f: Callable, args: tuple) -> list[str]:
    """Parameters' names, "arg0" and so on where there are more arguments."""
    function = f.forward if isinstance(f, nn.Module) else f
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    names = [p.name for p in parameters if p.kind in kinds]
    rest = [f"arg{i}" for i in range(len(names), len(args))]
    return [*names, *rest][: len(args)]


def _leaf_names(names: list[str], args: tuple) -> list[str]:
    """Names of the leaves of argument "x": "x_1", "x_2" and so on."""
    return [
        f"{name}_{place + 1}"
        for name, value in zip(names, args)
        for place in range(_pytree.tree_flatten(value)[1].num_leaves)
    ]
