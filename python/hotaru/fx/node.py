"""A node of a graph: one call, parameter, attribute or result."""

from __future__ import annotations

import builtins
import operator
import typing
import warnings

import hotaru

from .. import _utils
from .._ops import OpOverload, OpOverloadPacket
from . import _names
from ._compatibility import compatibility
from .immutable_collections import immutable_dict, immutable_list

__all__ = ["Node", "has_side_effect", "map_aggregate", "map_arg"]

Target = typing.Union[typing.Callable[..., typing.Any], str]
BaseArgumentTypes = typing.Union[
    str,
    int,
    float,
    bool,
    complex,
    hotaru.dtype,
    hotaru.Tensor,
    hotaru.device,
    hotaru.memory_format,
    hotaru.layout,
]
base_types = typing.get_args(BaseArgumentTypes)
Argument = typing.Optional[
    typing.Union[
        typing.Tuple[typing.Any, ...],
        typing.List[typing.Any],
        typing.Dict[str, typing.Any],
        slice,
        range,
        "Node",
        BaseArgumentTypes,
    ]
]

_legal_ops = dict.fromkeys(
    [
        "placeholder",
        "call_method",
        "call_module",
        "call_function",
        "get_attr",
        "output",
        "root",
    ]
)


def check_op(op: str) -> None:
    if op not in _legal_ops:
        raise AssertionError(f"op '{op}' is not in _legal_ops")


_side_effectful_functions: set = {hotaru._functions._assert}
_IN_PLACE = {
    getattr(operator, name)
    for name in ("setitem", "delitem")
    if hasattr(operator, name)
}


@compatibility(is_backward_compatible=False)
def has_side_effect(fn):
    """Marks a function: calls of it are never dead code. Returns it."""
    _side_effectful_functions.add(fn)
    return fn


@compatibility(is_backward_compatible=True)
def map_aggregate(a, fn):
    """The argument with `fn` of all that is no container in it.

    Lists and dicts become immutable ones; named tuples keep their class.
    """
    if isinstance(a, tuple):
        items = [map_aggregate(item, fn) for item in a]
        return type(a)(*items) if hasattr(a, "_fields") else tuple(items)
    if isinstance(a, list):
        return immutable_list([map_aggregate(item, fn) for item in a])
    if isinstance(a, dict):
        return immutable_dict((k, map_aggregate(v, fn)) for k, v in a.items())
    if isinstance(a, slice):
        parts = (a.start, a.stop, a.step)
        return slice(*(map_aggregate(part, fn) for part in parts))
    return fn(a)


@compatibility(is_backward_compatible=True)
def map_arg(a, fn):
    """map_aggregate over the nodes alone."""
    if not callable(fn):
        raise AssertionError("torch.fx.map_arg(a, fn): fn must be a callable")
    return map_aggregate(a, lambda x: fn(x) if isinstance(x, Node) else x)


_get_qualified_name = _names.qualified_name
_type_repr = _names.type_repr


def _format_arg(arg, max_list_len: float = float("inf")) -> str:
    """An argument for people: nodes are "%name"."""
    if hasattr(arg, "_custom_fx_repr_fn"):
        return arg._custom_fx_repr_fn()
    if isinstance(arg, (list, tuple)):
        shown = [_format_arg(item) for i, item in enumerate(arg) if i < max_list_len]
        items = ", ".join(shown)
        if len(arg) > max_list_len:
            items += f", ...[total_len={len(arg)}]"
        if isinstance(arg, list):
            return f"[{items}]"
        return f"({items},)" if len(arg) == 1 else f"({items})"
    if isinstance(arg, dict):
        items = ", ".join(f"{k}: {_format_arg(v)}" for k, v in arg.items())
        return f"{{{items}}}"
    return f"%{arg}" if isinstance(arg, Node) else str(arg)


def _between(before: tuple, after: tuple | None) -> tuple:
    """A key between two others; None is behind all."""
    if after is None:
        return (before[0] + 1,) if before else (0,)
    if len(before) < len(after):
        cut = after[: len(before) + 1]
        return (*cut[:-1], cut[-1] - 1)
    if len(before) > len(after):
        cut = before[: len(after) + 1]
        return (*cut[:-1], cut[-1] + 1)
    return (*before, 0)


@compatibility(is_backward_compatible=True)
class Node:
    """One step of a Graph; made by the graph's methods.

    `op` is what kind of step it is, `target` what it calls or names, `users`
    the nodes that have it among their arguments (a dict, for its order).
    Comparisons with `<` ask which stands first in the graph.
    """

    _args: tuple
    _kwargs: dict

    def __init__(self, graph, name, op, target, args, kwargs, return_type=None) -> None:
        check_op(op)
        if op == "call_function":
            if not callable(target):
                raise ValueError(
                    f"Node [graph = {graph}, name = '{name}'] target {target} "
                    f"has type {_type_name(target)} but a Callable is expected"
                )
        elif not isinstance(target, str):
            raise ValueError(
                f"Node [graph = {graph}, name = '{name}'] target {target} has "
                f"type {_type_name(target)} but a str is expected"
            )
        self.graph = graph
        self.name = name
        self.op = op
        self.target = target
        self._input_nodes: dict = {}
        self.users: dict = {}
        self.type = return_type
        self.meta: dict = {}
        self._prev = self._next = self
        self._erased = False
        self._sort_key: tuple = ()
        self._repr_fn = None
        self._set_arguments(args, kwargs)

    # -- order -----------------------------------------------------------------

    @property
    def next(self) -> Node:
        return self._next

    @property
    def prev(self) -> Node:
        return self._prev

    def prepend(self, x: Node) -> None:
        """Moves `x` to the place before this node, within the graph."""
        if self.graph is not x.graph:
            raise AssertionError("Attempting to move a Node into a different Graph")
        if self is x:
            warnings.warn(
                "Trying to prepend a node to itself. This behavior has no "
                "effect on the graph.",
                stacklevel=2,
            )
            return
        x._unlink()
        before = self._prev
        before._next, x._prev = x, before
        x._next, self._prev = self, x
        after = None if self.op == "root" else self._sort_key
        x._sort_key = _between(before._sort_key, after)

    def append(self, x: Node) -> None:
        """Moves `x` to the place after this node, within the graph."""
        self._next.prepend(x)

    def _unlink(self) -> None:
        self._prev._next, self._next._prev = self._next, self._prev

    def __lt__(self, other: Node) -> bool:
        return self._sort_key < other._sort_key

    def __gt__(self, other: Node) -> bool:
        return self._sort_key > other._sort_key

    def __le__(self, other: Node) -> bool:
        return self is other or self < other

    def __ge__(self, other: Node) -> bool:
        return self is other or self > other

    # -- arguments -------------------------------------------------------------

    @property
    def args(self) -> tuple:
        """Immutable; assign new ones."""
        return self._args

    @args.setter
    def args(self, args: tuple) -> None:
        self._set_arguments(args, self._kwargs)

    @property
    def kwargs(self) -> dict:
        return self._kwargs

    @kwargs.setter
    def kwargs(self, kwargs: dict) -> None:
        self._set_arguments(self._args, kwargs)

    @property
    def all_input_nodes(self) -> list[Node]:
        """The nodes among the arguments, each once."""
        return list(self._input_nodes)

    def _set_arguments(self, args, kwargs) -> None:
        for node in self._input_nodes:
            node.users.pop(self, None)
        self._input_nodes = {}

        def keep(arg):
            if isinstance(arg, Node):
                self._input_nodes[arg] = None
                arg.users[self] = None
            return arg

        self._args = map_aggregate(tuple(args), keep)
        self._kwargs = map_aggregate(dict(kwargs), keep)

    def update_arg(self, idx: int, arg) -> None:
        """Replaces a positional argument."""
        args = list(self.args)
        args[idx] = arg
        self.args = tuple(args)

    def insert_arg(self, idx: int, arg) -> None:
        """Puts a positional argument before the one at `idx`."""
        if not 0 <= idx <= len(self.args):
            raise AssertionError(
                "insert_args index must be between 0 and len(self.args)"
            )
        self.args = (*self.args[:idx], arg, *self.args[idx:])

    def update_kwarg(self, key: str, arg) -> None:
        """Replaces or adds an argument by name."""
        self.kwargs = {**self.kwargs, key: arg}

    def replace_input_with(self, old_input: Node, new_input: Node) -> None:
        """Puts another node in the place of one among the arguments."""
        self._replace({old_input: new_input})

    def _replace(self, nodes: dict) -> None:
        for hook in _hooks(self, "_replace_hooks"):
            for old, new in nodes.items():
                hook(old=old, new=new.name, user=self)
        args = map_arg(self._args, lambda n: nodes.get(n, n))
        kwargs = map_arg(self._kwargs, lambda n: nodes.get(n, n))
        self._set_arguments(args, kwargs)

    def replace_all_uses_with(
        self, replace_with: Node, delete_user_cb=None, *, propagate_meta: bool = False
    ) -> list[Node]:
        """Puts `replace_with` in the place of this node in all its users.

        Users for which `delete_user_cb` is false stay as they are. Returns
        those that changed.
        """
        if propagate_meta:
            if replace_with.meta:
                raise AssertionError(
                    "Called node.replace_all_uses_with(replace_with, "
                    "propagate_meta=True), but replace_with already has .meta "
                    "keys"
                )
            replace_with.meta.update(self.meta)
        changed = [
            user
            for user in self.users
            if delete_user_cb is None or delete_user_cb(user)
        ]
        for user in changed:
            user._replace({self: replace_with})
        return changed

    # -- what it is ------------------------------------------------------------

    @property
    def stack_trace(self) -> str | None:
        """Where the program made it, where the tracer recorded that."""
        return self.meta.get("stack_trace")

    @stack_trace.setter
    def stack_trace(self, trace: str | None) -> None:
        self.meta["stack_trace"] = trace

    def is_impure(self, impure_random: bool = True) -> bool:
        """True if it does something else than giving a result."""
        if self.op in ("placeholder", "output"):
            return True
        if self.op == "call_function":
            if self.target in _side_effectful_functions:
                return True
            if self.target in _IN_PLACE or self._is_in_place():
                return True
            return impure_random and _is_random(self.target)
        if self.op == "call_method":
            return False
        if self.op == "call_module":
            owner = self.graph.owning_module
            if owner is None:
                raise AssertionError(
                    "self.graph.owning_module not set for purity check"
                )
            module = owner.get_submodule(self.target)
            return getattr(module, "_is_impure", False)
        return False

    def _is_in_place(self) -> bool:
        """True if it is an operator of this package that writes."""
        target = self.target
        if isinstance(target, OpOverload):
            if target._defined_in_python:
                return target._schema.is_mutable
            target = target.overloadpacket
        if isinstance(target, OpOverloadPacket) and target._defined_in_python:
            names = target.overloads()
            return any(getattr(target, n)._schema.is_mutable for n in names)
        if not isinstance(target, (hotaru._C.Op, OpOverloadPacket)):
            return False
        name = target.__name__
        return "out" in self.kwargs or (name.endswith("_") and not name.startswith("_"))

    def normalized_arguments(
        self,
        root,
        arg_types=None,
        kwarg_types=None,
        normalize_to_only_use_kwargs: bool = False,
    ):
        """Arguments as the target's signature names them; None if unknown."""
        from .operator_schemas import normalize_function, normalize_module

        if self.op == "call_function":
            return normalize_function(
                self.target,
                self.args,
                self.kwargs,
                arg_types,
                kwarg_types,
                normalize_to_only_use_kwargs,
            )
        if self.op == "call_module":
            return normalize_module(
                root, self.target, self.args, self.kwargs, normalize_to_only_use_kwargs
            )
        return None

    # -- print -----------------------------------------------------------------

    def __repr__(self) -> str:
        return self._repr_fn(self) if self._repr_fn else self.name

    @staticmethod
    def _pretty_print_target(target) -> str:
        return _names.pretty_target(target)

    def format_node(
        self,
        placeholder_names: list[str] | None = None,
        maybe_return_typename: list[str] | None = None,
        *,
        include_tensor_metadata: bool = False,
    ) -> str | None:
        """The node as a line of a graph's text.

        A graph gives lists: parameters and the type of the result go there.
        """
        kind = f"{_type_repr(self.type)} " if self.type else ""
        head = f"%{self.name} : {kind}[num_users={len(self.users)}] = "
        if self.op == "placeholder":
            if not isinstance(self.target, str):
                raise AssertionError("placeholder target must be a str")
            if placeholder_names is not None:
                placeholder_names.append(f"{self.target}{_annotation(self)}")
            default = f"(default={self.args[0]})" if self.args else ""
            return f"{head}{self.op}[target={self.target}]{default}"
        if self.op == "get_attr":
            target = self._pretty_print_target(self.target)
            return f"{head}{self.op}[target={target}]"
        if self.op == "output":
            if self.type and maybe_return_typename:
                maybe_return_typename[0] = f" -> {_type_repr(self.type)}"
            return f"return {self.args[0]}"
        target = self._pretty_print_target(self.target)
        return (
            f"{head}{self.op}[target={target}](args = {_format_arg(self.args)}"
            f", kwargs = {_format_arg(self.kwargs)})"
        )

    # -- copies ----------------------------------------------------------------

    def _rename(self, candidate: str) -> None:
        """Gives another name, made unique."""
        if candidate == self.name:
            return
        self.name = self.graph._graph_namespace.create_name(candidate, None)
        self.graph._graph_namespace.rename_object(self, self.name)

    def __deepcopy__(self, memo):
        copied = _copy_graph(self.graph, memo)
        for old, new in zip(self.graph.nodes, copied.nodes):
            if old is self:
                return new
        raise RuntimeError(f"Node {self} is not in its graph")


def _copy_graph(graph, memo):
    import copy

    return copy.deepcopy(graph, memo)


def _hooks(node: Node, name: str) -> list:
    owner = node.graph.owning_module
    return getattr(owner, name, ()) if owner is not None else ()


def _annotation(node: Node) -> str:
    return f" : {_type_repr(node.type)}" if node.type else ""


def _type_name(target) -> str:
    if isinstance(target, hotaru._C.Op):
        return f"torch._VariableFunctionsClass.{target.__name__}"
    return _utils.typename(target)


_RANDOM = frozenset(
    [
        "alpha_dropout",
        "bernoulli",
        "dropout",
        "feature_alpha_dropout",
        "feature_dropout",
        "multinomial",
        "native_dropout",
        "normal",
        "poisson",
        "rand",
        "rand_like",
        "randint",
        "randint_like",
        "randn",
        "randn_like",
        "randperm",
        "rrelu",
    ]
)


def _is_random(target) -> bool:
    if not isinstance(target, (hotaru._C.Op, hotaru._C.Function)):
        return target in (builtins.input,)
    return target.__name__ in _RANDOM
