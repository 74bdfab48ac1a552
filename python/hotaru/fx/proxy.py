"""Stand-ins for values while a program is traced: they record what is done."""

from __future__ import annotations

import collections
import copy
import dataclasses
import dis
import enum
import inspect
import operator
import traceback

import hotaru

from .. import _C, nn
from .._ops import OpOverload, OpOverloadPacket
from . import traceback as fx_traceback
from ._codegen import MAGIC_METHODS, REFLECTABLE_MAGIC_METHODS
from ._compatibility import compatibility
from ._names import is_method
from .graph import Graph
from .node import Argument as Argument
from .node import Node, base_types, map_aggregate
from .operator_schemas import check_for_mutable_operation

__all__ = [
    "Attribute",
    "GraphAppendingTracer",
    "ParameterProxy",
    "Proxy",
    "Scope",
    "ScopeContextManager",
    "TraceError",
    "TracerBase",
]


@compatibility(is_backward_compatible=True)
class TraceError(ValueError):
    """The program asks for something that is known only when it runs."""


@compatibility(is_backward_compatible=False)
class Scope:
    """The module whose `forward` is being traced: its path and its class."""

    def __init__(self, module_path: str, module_type) -> None:
        self.module_path = module_path
        self.module_type = module_type


@compatibility(is_backward_compatible=False)
class ScopeContextManager:
    """Makes the tracer's scope another one inside of its `with`."""

    def __init__(self, scope: Scope, current_scope: Scope) -> None:
        self._before = copy.copy(scope)
        self._scope = scope
        scope.module_path = current_scope.module_path
        scope.module_type = current_scope.module_type

    def __enter__(self) -> Scope:
        return self._scope

    def __exit__(self, *exception) -> None:
        self._scope.module_path = self._before.module_path
        self._scope.module_type = self._before.module_type


# Fields that nodes made behind a node keep of it.
_COPY_META_FIELDS = [
    "nn_module_stack",
    "torch_fn",
    "source_fn_stack",
    "original_aten",
    "recompute",
    "ac_graph_id",
    "has_backward_hook",
    "from_node",
    "quantization_tag",
    "custom",
]


@compatibility(is_backward_compatible=True)
class TracerBase:
    """Turns what is done with proxies into nodes of `graph`.

    Subclasses may override every method.
    """

    graph: Graph
    record_stack_traces: bool = False
    # Refuse operators that write to their arguments.
    check_mutable_operations: bool = False
    # Set if attributes of proxies are proxies at once.
    proxy_buffer_attributes: bool = False
    traced_func_name: str = "forward"
    scope: Scope
    module_stack: collections.OrderedDict
    node_name_to_scope: dict

    def create_node(
        self, kind, target, args, kwargs, name=None, type_expr=None
    ) -> Node:
        """Adds a node to the graph; the arguments are values of nodes."""
        if kind == "call_function" and self.check_mutable_operations:
            check_for_mutable_operation(target, args, kwargs)
        node = self.graph.create_node(kind, target, args, kwargs, name, type_expr)
        scope = getattr(self, "scope", None)
        if scope is not None:
            self.node_name_to_scope[node.name] = (scope.module_path, scope.module_type)
        if fx_traceback.has_preserved_node_meta():
            self._keep_meta(node)
        elif getattr(self, "module_stack", None):
            node.meta["nn_module_stack"] = copy.copy(self.module_stack)
        return node

    @staticmethod
    def _keep_meta(node: Node) -> None:
        current = fx_traceback.get_current_meta()
        trace = current.get("stack_trace")
        if trace:
            node.stack_trace = trace
        for field in _COPY_META_FIELDS:
            if field in current:
                node.meta[field] = copy.copy(current[field])

    def proxy(self, node: Node) -> Proxy:
        return Proxy(node, self)

    def create_proxy(
        self,
        kind,
        target,
        args,
        kwargs,
        name=None,
        type_expr=None,
        proxy_factory_fn=None,
    ):
        """Adds a node for a call with proxies; returns the result's proxy."""
        args = self.create_arg(args)
        kwargs = self.create_arg(kwargs)
        if not isinstance(args, tuple):
            raise AssertionError(f"Expected args to be tuple, got {type(args)}")
        if not isinstance(kwargs, dict):
            raise AssertionError(f"Expected kwargs to be dict, got {type(kwargs)}")
        node = self.create_node(kind, target, args, kwargs, name, type_expr)
        proxy = proxy_factory_fn(node) if proxy_factory_fn else self.proxy(node)
        if self.record_stack_traces and not node.stack_trace:
            node.stack_trace = self._stack_of_program()
        return proxy

    @staticmethod
    def _stack_of_program() -> str:
        """The stack without the frames of this package."""
        root = hotaru.__path__[0]
        frames = [
            f for f in traceback.extract_stack() if not f.filename.startswith(root)
        ]
        return "".join(traceback.StackSummary.from_list(frames).format()).strip()

    def create_arg(self, a):
        """Returns what stands for a value among a node's arguments.

        NotImplementedError for what cannot stand in a graph.
        """
        if isinstance(a, Proxy):
            return a.node
        if hasattr(a, "__fx_create_arg__"):
            return a.__fx_create_arg__(self)
        if isinstance(a, tuple):
            items = [self.create_arg(item) for item in a]
            return type(a)(*items) if hasattr(a, "_fields") else tuple(items)
        if isinstance(a, list):
            return [self.create_arg(item) for item in a]
        if isinstance(a, dict):
            return self._dict_arg(a)
        if isinstance(a, slice):
            parts = (a.start, a.stop, a.step)
            return slice(*(self.create_arg(part) for part in parts))
        if isinstance(a, range):
            parts = (a.start, a.stop, a.step)
            return range(*(self.create_arg(part) for part in parts))
        if isinstance(a, (_C.Op, _C.Function, OpOverload, OpOverloadPacket)):
            return a
        if dataclasses.is_dataclass(a) and not isinstance(a, type):
            kwargs = {
                field.name: self.create_arg(getattr(a, field.name))
                for field in dataclasses.fields(a)
            }
            return self.create_node("call_function", type(a), (), kwargs)
        if isinstance(a, (*base_types, *_MORE_TYPES)) or a is None or a is ...:
            return a
        raise NotImplementedError(f"argument of type: {type(a)}")

    def _dict_arg(self, items: dict) -> dict:
        made = {}
        for key, value in items.items():
            key = self.create_arg(key)

            def refuse(node, key=key):
                if isinstance(node, Node):
                    raise RuntimeError(
                        "Keys for dictionaries used as an argument cannot "
                        f"contain a Node. Got key: {key}"
                    )
                return node

            map_aggregate(key, refuse)
            made[key] = self.create_arg(value)
        return made

    def to_bool(self, obj: Proxy) -> bool:
        """Asked where a proxy decides what the program does."""
        raise TraceError(
            "symbolically traced variables cannot be used as inputs to control flow"
        )

    def iter(self, obj: Proxy):
        raise TraceError(
            "Proxy object cannot be iterated. "
            "This can be attempted when the Proxy is used in a loop or as a "
            "*args or **kwargs function argument. See the torch.fx docs on "
            "pytorch.org for a more detailed explanation of what types of "
            "control flow can be traced, and check out the Proxy docstring for "
            "help troubleshooting Proxy iteration errors"
        )

    def keys(self, obj: Proxy):
        return Attribute(obj, "keys")()


_MORE_TYPES = (enum.Enum, type)


@compatibility(is_backward_compatible=True)
class GraphAppendingTracer(TracerBase):
    """Adds what is done with proxies to a graph that is there."""

    def __init__(self, graph: Graph) -> None:
        super().__init__()
        self.graph = graph
        self.scope = Scope("", None)
        self.module_stack = collections.OrderedDict()
        self.node_name_to_scope = {}


@compatibility(is_backward_compatible=True)
class Proxy:
    """A value of a traced program: of `node`, where nothing is computed.

    Operators, attributes, methods and functions of this package give proxies
    again. What needs the value itself, `if` or a loop, raises TraceError.
    """

    def __init__(self, node: Node, tracer: TracerBase | None = None) -> None:
        self.tracer = GraphAppendingTracer(node.graph) if tracer is None else tracer
        self.node = node

    def __repr__(self) -> str:
        return f"Proxy({self.node.name})"

    def __getattr__(self, k):
        # While it is being copied there is no node to take attributes of.
        if k in ("tracer", "node"):
            raise AttributeError(k)
        return Attribute(self, k)

    def __getstate__(self) -> dict:
        return self.__dict__

    def __setstate__(self, state: dict) -> None:
        self.__dict__ = state

    def __deepcopy__(self, memo) -> Proxy:
        made = Proxy.__new__(Proxy)
        memo[id(self)] = made
        made.__dict__ = {
            name: copy.deepcopy(value, memo) for name, value in self.__dict__.items()
        }
        return made

    def __call__(self, *args, **kwargs):
        return self.tracer.create_proxy(
            "call_method", "__call__", (self, *args), kwargs
        )

    def __iter__(self):
        frame = inspect.currentframe().f_back
        count = _unpacked_by(frame)
        if count is not None:
            return (self[i] for i in range(count))
        return self.tracer.iter(self)

    def __abs__(self):
        return self.tracer.create_proxy("call_function", operator.abs, (self,), {})

    def __bool__(self) -> bool:
        return self.tracer.to_bool(self)

    def keys(self):
        return self.tracer.keys(self)

    def __len__(self) -> int:
        raise RuntimeError(
            "'len' is not supported in symbolic tracing by default. "
            "If you want this call to be recorded, please call "
            "torch.fx.wrap('len') at module scope"
        )

    @classmethod
    def __torch_function__(cls, orig_method, types, args=None, kwargs=None):
        args, kwargs = args or (), kwargs or {}
        tracer = _the_tracer(args, kwargs)
        if is_method(orig_method):
            return tracer.create_proxy(
                "call_method", orig_method.__name__, args, kwargs
            )
        if isinstance(orig_method, _C.Function):
            args, kwargs = _as_written(orig_method, args, kwargs)
        return tracer.create_proxy("call_function", orig_method, args, kwargs)


def _as_written(function, args, kwargs) -> tuple:
    """The call of a function in Python: parameters that have a default by
    name, all of them; the rest by position.
    """
    signature = inspect.signature(function)
    parameters = signature.parameters.values()
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        # einsum's operands may be given as a list, and are written without.
        is_einsum = function.__name__ == "einsum" and len(args) == 2
        if is_einsum and isinstance(args[1], (list, tuple)):
            args = (args[0], *args[1])
        return args, kwargs
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError:
        return args, kwargs
    bound.apply_defaults()
    positional, named = [], {}
    for p in parameters:
        value = bound.arguments[p.name]
        if p.default is p.empty and p.kind is not p.KEYWORD_ONLY:
            positional.append(value)
        else:
            named[p.name] = value
    return tuple(positional), named


def _the_tracer(args, kwargs) -> TracerBase:
    """The tracer of the proxies among arguments; they have one."""
    found: dict = {}

    def look(a):
        if isinstance(a, Proxy):
            found[a.tracer] = None

    map_aggregate(args, look)
    map_aggregate(kwargs, look)
    if len(found) > 1:
        raise RuntimeError(
            "Found multiple different tracers "
            f"{list(found)} while trying to trace operations"
        )
    return next(iter(found))


def _unpacked_by(frame) -> int | None:
    """Into how many names the frame unpacks a value just now, if it does."""
    for instruction in dis.get_instructions(frame.f_code):
        if instruction.offset == frame.f_lasti:
            unpacks = instruction.opname == "UNPACK_SEQUENCE"
            return instruction.argval if unpacks else None
    return None


@compatibility(is_backward_compatible=True)
class Attribute(Proxy):
    """An attribute of a proxy: a node once used, a call if called."""

    def __init__(self, root: Proxy, attr: str) -> None:
        self.root = root
        self.attr = attr
        self.tracer = root.tracer
        self._node: Node | None = None

    @property
    def node(self) -> Node:
        # Methods are called without a node for the attribute.
        if self._node is None:
            self._node = self.tracer.create_proxy(
                "call_function", getattr, (self.root, self.attr), {}
            ).node
        return self._node

    def __call__(self, *args, **kwargs):
        return self.tracer.create_proxy(
            "call_method", self.attr, (self.root, *args), kwargs
        )


@compatibility(is_backward_compatible=False)
class ParameterProxy(Proxy):
    """A parameter whose shape is known while the program is traced."""

    def __init__(self, tracer, node: Node, name: str, param) -> None:
        super().__init__(node, tracer)
        if not isinstance(param, nn.Parameter):
            raise AssertionError(f"Expected Parameter, got {type(param)}")
        self.param = param
        self.name = name

    def __repr__(self) -> str:
        return f"ParameterProxy({self.name})"

    @property
    def shape(self):
        return self.param.shape

    def size(self):
        return self.param.size()

    def dim(self) -> int:
        return self.param.dim()

    @property
    def ndim(self) -> int:
        return self.param.ndim

    def numel(self) -> int:
        return self.param.numel()

    def nelement(self) -> int:
        return self.param.nelement()


def _operator_method(name: str):
    """`__add__` and its like, which record the function of `operator`."""
    target = getattr(operator, name, None)

    def method(*args, **kwargs):
        tracer = args[0].tracer
        return tracer.create_proxy("call_function", target, args, kwargs)

    method.__name__ = f"__{name.strip('_')}__"
    return method


def _reflected_method(name: str):
    target = getattr(operator, name)

    def method(self, rhs):
        return self.tracer.create_proxy("call_function", target, (rhs, self), {})

    method.__name__ = f"__r{name.strip('_')}__"
    return method


for _name in MAGIC_METHODS:
    if hasattr(operator, _name):
        _method = _operator_method(_name)
        setattr(Proxy, _method.__name__, _method)
for _name in REFLECTABLE_MAGIC_METHODS:
    if hasattr(operator, _name) and _name != "getitem":
        _method = _reflected_method(_name)
        setattr(Proxy, _method.__name__, _method)
# Equality is recorded: proxies are told apart by what they are.
Proxy.__hash__ = object.__hash__
