"""The graph of a program: a list of nodes, and ways to change it."""

from __future__ import annotations

import contextlib
import copy
import inspect
import warnings

from . import _codegen, _names
from ._codegen import CodeGen, PythonCode
from ._compatibility import compatibility
from .node import Argument as Argument
from .node import Node, map_arg

__all__ = ["CodeGen", "Graph", "PythonCode"]

magic_methods = _codegen.MAGIC_METHODS
inplace_methods = _codegen.INPLACE_METHODS
reflectable_magic_methods = _codegen.REFLECTABLE_MAGIC_METHODS
_PyTreeCodeGen = _codegen._PyTreeCodeGen
_PyTreeInfo = _codegen._PyTreeInfo
_format_target = _codegen.format_target
_Namespace = _names.Namespace
_custom_builtins = _names.custom_builtins
_CustomBuiltin = _names.CustomBuiltin
_is_from_torch = _names.is_from_torch
_snake_case = _names.snake_case


def _register_custom_builtin(name: str, import_str: str, obj) -> None:
    """A name that all generated code may use from now on."""
    _custom_builtins[name] = _CustomBuiltin(import_str, obj)


class _InsertPoint:
    """New nodes go to a place until the end of its `with`, if it has one."""

    def __init__(self, graph: Graph, insert) -> None:
        self._graph = graph
        self._before, graph._insert = graph._insert, insert

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exception) -> None:
        self._graph._insert = self._before


class _node_list:  # noqa: N801
    """The nodes of a graph in order; changes while it is walked are seen."""

    def __init__(self, graph: Graph, direction: str = "_next") -> None:
        if direction not in ("_next", "_prev"):
            raise AssertionError("direction must be '_next' or '_prev'")
        self._graph = graph
        self._direction = direction

    def __len__(self) -> int:
        return self._graph._len

    def __iter__(self):
        root = self._graph._root
        node = getattr(root, self._direction)
        while node is not root:
            if not node._erased:
                yield node
            node = getattr(node, self._direction)

    def __reversed__(self):
        back = "_prev" if self._direction == "_next" else "_next"
        return iter(_node_list(self._graph, back))


@compatibility(is_backward_compatible=True)
class Graph:
    """Placeholders, calls and one output, in an order in which they can run.

    `owning_module` is the GraphModule whose code it is.
    """

    def __init__(self, owning_module=None, tracer_cls=None, tracer_extras=None) -> None:
        self._root = Node(self, "", "root", "root", (), {})
        self._insert = self._root.prepend
        self._len = 0
        self._graph_namespace = _Namespace()
        self._owning_module = owning_module
        self._tracer_cls = tracer_cls
        self._tracer_extras = tracer_extras
        self._codegen = CodeGen()
        self._co_fields: dict = {}

    @property
    def owning_module(self):
        return self._owning_module

    @owning_module.setter
    def owning_module(self, module) -> None:
        self._owning_module = module

    @property
    def nodes(self) -> _node_list:
        """The nodes in order, reversible; nodes may be erased meanwhile."""
        return _node_list(self)

    def output_node(self) -> Node:
        """The node that says the result."""
        node = self._root._prev
        if node.op != "output":
            raise AssertionError("expected an output node at the end")
        return node

    def find_nodes(self, *, op: str, target=None, sort: bool = True) -> list:
        """The nodes of a kind, and of a target where one is given."""
        if op == "call_function" and target is None:
            raise AssertionError("op is call_function and target is None")
        return [
            node
            for node in self.nodes
            if node.op == op and (target is None or node.target == target)
        ]

    # -- making nodes ----------------------------------------------------------

    def create_node(
        self, op, target, args=None, kwargs=None, name=None, type_expr=None
    ) -> Node:
        """Adds a node at the place where nodes go.

        AssertionError for an unknown `op`, ValueError for a target of the
        wrong type.
        """
        args = () if args is None else args
        kwargs = {} if kwargs is None else kwargs
        from .node import check_op

        check_op(op)
        if not isinstance(args, tuple):
            raise AssertionError(f"args must be a tuple, got {type(args)}")
        if not isinstance(kwargs, dict):
            raise AssertionError(f"kwargs must be a dict, got {type(kwargs)}")
        candidate = name if name is not None else self._target_to_str(target)
        name = self._graph_namespace.create_name(candidate, None)
        node = Node(self, name, op, target, args, kwargs, type_expr)
        owner = self.owning_module
        for hook in getattr(owner, "_create_node_hooks", ()):
            hook(node)
        self._graph_namespace.associate_name_with_obj(name, node)
        self._insert(node)
        self._len += 1
        return node

    def _target_to_str(self, target) -> str:
        if callable(target):
            name = target.__name__
        else:
            if not isinstance(target, str):
                raise AssertionError(f"Expected target to be str, got {type(target)}")
            name = target
            if _names.is_magic(name):
                name = name[2:-2]
        return _snake_case(name)

    def placeholder(
        self, name: str, type_expr=None, default_value=inspect.Signature.empty
    ) -> Node:
        """A parameter; "*name" and "**name" take all others."""
        given = default_value is not inspect.Signature.empty
        args = (default_value,) if given else ()
        return self.create_node("placeholder", name, args, type_expr=type_expr)

    def get_attr(self, qualified_name: str, type_expr=None) -> Node:
        """An attribute of the module, "a.b.weight"; warns if it has none."""
        if self.owning_module and not _has(self.owning_module, qualified_name):
            warnings.warn(
                "Attempted to insert a get_attr Node with no underlying "
                "reference in the owning GraphModule! Call "
                "GraphModule.add_submodule to add the necessary submodule, "
                "GraphModule.add_parameter to add the necessary Parameter, or "
                "nn.Module.register_buffer to add the necessary buffer",
                stacklevel=2,
            )
        return self.create_node("get_attr", qualified_name, type_expr=type_expr)

    def call_module(
        self, module_name: str, args=None, kwargs=None, type_expr=None
    ) -> Node:
        """A call of a child, "a.b"; AttributeError if the owner has none."""
        if self.owning_module is not None:
            self.owning_module.get_submodule(module_name)
        return self.create_node(
            "call_module", module_name, args, kwargs, type_expr=type_expr
        )

    def call_method(
        self, method_name: str, args=None, kwargs=None, type_expr=None
    ) -> Node:
        """A call of a method of the first argument."""
        return self.create_node(
            "call_method", method_name, args, kwargs, type_expr=type_expr
        )

    def call_function(
        self, the_function, args=None, kwargs=None, type_expr=None, name=None
    ) -> Node:
        """A call of a function."""
        return self.create_node(
            "call_function", the_function, args, kwargs, name, type_expr
        )

    def output(self, result, type_expr=None) -> Node:
        """Sets what the graph returns: a node, or a tree of them."""
        return self.create_node("output", "output", (result,), {}, None, type_expr)

    def node_copy(self, node: Node, arg_transform=lambda x: x) -> Node:
        """Adds a node like that one, with its arguments transformed."""
        args = map_arg(node.args, arg_transform)
        kwargs = map_arg(node.kwargs, arg_transform)
        copied = self.create_node(
            node.op, node.target, args, kwargs, node.name, node.type
        )
        copied.meta = copy.copy(node.meta)
        return copied

    def graph_copy(self, g: Graph, val_map: dict, return_output_node: bool = False):
        """Adds all nodes of a graph but its output, which it returns.

        `val_map` says what stands for nodes of `g`, and is filled.
        """
        for node in g.nodes:
            if node in val_map:
                continue
            if node.op == "output":
                result = map_arg(node.args[0], lambda n: val_map[n])
                return (result, node) if return_output_node else result
            val_map[node] = self.node_copy(node, lambda n: val_map[n])
        return None

    # -- changing --------------------------------------------------------------

    def erase_node(self, to_erase: Node) -> None:
        """Takes a node away; RuntimeError while others use it."""
        if to_erase.users:
            raise RuntimeError(
                f"Tried to erase Node {to_erase} but it still had "
                f"{len(to_erase.users)} users in the graph: {to_erase.users}!"
            )
        if to_erase.graph is not self:
            raise RuntimeError(f"Attempting to remove {to_erase} from wrong graph!")
        if to_erase._erased:
            warnings.warn(
                f"erase_node({to_erase}) on an already erased node", stacklevel=2
            )
            return
        for hook in getattr(self.owning_module, "_erase_node_hooks", ()):
            hook(to_erase)
        to_erase._unlink()
        to_erase._erased = True
        self._len -= 1
        to_erase._set_arguments((), {})

    def inserting_before(self, n: Node | None = None) -> _InsertPoint:
        """New nodes go before `n`, or to the front of the graph."""
        if n is None:
            return self.inserting_after(self._root)
        if n.graph is not self:
            raise AssertionError("Node to insert before is not in graph.")
        return _InsertPoint(self, n.prepend)

    def inserting_after(self, n: Node | None = None) -> _InsertPoint:
        """New nodes go behind `n`, or to the end of the graph."""
        if n is None:
            return self.inserting_before(self._root)
        if n.graph is not self:
            raise AssertionError("Node to insert after is not in graph.")
        return _InsertPoint(self, n.append)

    def eliminate_dead_code(self, is_impure_node=None) -> bool:
        """Erases what has no users and no effect; whether there was any."""
        from ._checks import eliminate_dead_code

        return eliminate_dead_code(self, is_impure_node)

    def lint(self) -> None:
        """RuntimeError where the graph is not well-formed."""
        from ._checks import lint

        lint(self)

    def _clear_nodes(self) -> None:
        for node in reversed(self.nodes):
            node.users.clear()
            self.erase_node(node)

    # -- code and text ---------------------------------------------------------

    def process_inputs(self, *args):
        """The graph's inputs from the arguments of `forward`."""
        return self._codegen.process_inputs(*args)

    def process_outputs(self, out):
        return self._codegen.process_outputs(out)

    def python_code(
        self, root_module: str, *, verbose: bool = False, expanded_def: bool = False
    ) -> PythonCode:
        """The code of `forward`; `root_module` is what the module is called."""
        namespace = _Namespace()

        def renamed(node: Node) -> str:
            return namespace.create_name(node.name, node)

        nodes = list(self.nodes)
        before = [node._repr_fn for node in nodes]
        for node in nodes:
            node._repr_fn = renamed
        try:
            return self._codegen._gen_python_code(
                self.nodes,
                root_module,
                namespace,
                verbose=verbose,
                expanded_def=expanded_def,
            )
        finally:
            for node, function in zip(nodes, before):
                node._repr_fn = function

    def set_codegen(self, codegen: CodeGen) -> None:
        """Chooses who writes the code."""
        self._codegen = codegen

    @contextlib.contextmanager
    def _restoring(self, transformer):
        try:
            yield
        finally:
            self._codegen._body_transformer = transformer

    def on_generate_code(self, make_transformer):
        """The lines of the code pass through a function from now on.

        `make_transformer` takes the function before it (or None) and returns
        the new one, which takes lines and returns them. The result is a
        context manager that restores the one before.
        """
        before = self._codegen._body_transformer
        self._codegen._body_transformer = make_transformer(before)
        return self._restoring(before)

    def __str__(self) -> str:
        lines = [node.format_node() for node in self.nodes]
        return "\n    ".join(["graph():", *lines])

    def print_tabular(self) -> None:
        """Prints the nodes as a table; needs the package tabulate."""
        try:
            from tabulate import tabulate
        except ImportError:
            raise ModuleNotFoundError(
                "`print_tabular` relies on the library `tabulate`, which could "
                "not be found on this machine. "
                "Run `pip install tabulate` to install the library.",
                name="tabulate",
            ) from None
        rows = [[n.op, n.name, n.target, n.args, n.kwargs] for n in self.nodes]
        headers = ["opcode", "name", "target", "args", "kwargs"]
        print(tabulate(rows, headers=headers))

    # -- copies ----------------------------------------------------------------

    def __deepcopy__(self, memo=None) -> Graph:
        memo = {} if memo is None else memo
        copied = Graph(tracer_cls=self._tracer_cls)
        memo[id(self)] = copied
        output = copied.graph_copy(self, {}, return_output_node=True)
        copied._codegen = copy.deepcopy(self._codegen, memo)
        copied._co_fields = dict(self._co_fields)
        if output is not None:
            result, old = output
            node = copied.output(result, old.type)
            node.meta = copy.copy(old.meta)
        return copied

    def __getstate__(self) -> dict:
        # Links between nodes would nest a pickle as deep as the graph is long.
        state = dict(self.__dict__)
        state["_nodes"] = [_state_of(node) for node in self.nodes]
        for name in ("_root", "_insert", "_owning_module", "_graph_namespace"):
            state.pop(name)
        return state

    def __setstate__(self, state: dict) -> None:
        nodes = state.pop("_nodes")
        self.__init__()
        self.__dict__.update(state)
        self._len = 0
        made: dict[str, Node] = {}
        for op, target, args, kwargs, name, kind, meta in nodes:
            args, kwargs = (_resolve(a, made) for a in (args, kwargs))
            node = self.create_node(op, target, args, kwargs, name, kind)
            node.meta = meta
            made[name] = node


class _Reference:
    """Stands for a node in a pickle."""

    def __init__(self, name: str) -> None:
        self.name = name


def _state_of(node: Node) -> tuple:
    args, kwargs = (
        map_arg(a, lambda n: _Reference(n.name)) for a in (node.args, node.kwargs)
    )
    return node.op, node.target, args, kwargs, node.name, node.type, node.meta


def _resolve(arg, made: dict):
    from .node import map_aggregate

    return map_aggregate(
        arg, lambda a: made[a.name] if isinstance(a, _Reference) else a
    )


def _has(module, qualified_name: str) -> bool:
    """True if a module has what a get_attr node may name."""
    path, _, name = qualified_name.rpartition(".")
    try:
        owner = module.get_submodule(path)
    except AttributeError:
        warnings.warn(f"Failed to fetch module {path}!", stacklevel=3)
        return False
    if not hasattr(owner, name):
        return False
    value = getattr(owner, name)
    from ..nn import Module, Parameter

    return isinstance(value, (Module, Parameter)) or name in owner._buffers
