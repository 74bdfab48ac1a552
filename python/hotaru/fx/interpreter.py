"""Runs graphs node by node."""

from __future__ import annotations

import collections
import inspect

from . import traceback as fx_traceback
from ._compatibility import compatibility
from ._tracer import Tracer
from .graph import Graph
from .graph_module import GraphModule
from .node import Argument, Node, Target, map_aggregate, map_arg
from .proxy import Proxy

__all__ = ["Interpreter", "Transformer"]


@compatibility(is_backward_compatible=True)
class Interpreter:
    """Runs the graph of a module; subclasses change what nodes do.

    `env` has the values of the nodes while it runs; those that are not needed
    any more are dropped unless `garbage_collect_values` is false.
    """

    def __init__(
        self, module, garbage_collect_values: bool = True, graph: Graph | None = None
    ) -> None:
        self.module = module
        self.submodules = dict(module.named_modules())
        self.graph = module.graph if graph is None else graph
        self.env: dict = {}
        self.name = "Interpreter"
        self.garbage_collect_values = garbage_collect_values
        self.extra_traceback = True
        if garbage_collect_values:
            self.user_to_last_uses = _last_uses(self.graph)

    def run(self, *args, initial_env=None, enable_io_processing: bool = True):
        """The graph's result; values in `initial_env` are not computed."""
        self.env = {} if initial_env is None else initial_env
        if enable_io_processing:
            args = self.graph.process_inputs(*args)
        self.args_iter = iter(args)
        for node in self.graph.nodes:
            if node in self.env:
                continue
            self.env[node] = self._run(node)
            if self.garbage_collect_values:
                for used in self.user_to_last_uses.get(node, ()):
                    del self.env[used]
            if node.op == "output":
                result = self.env[node]
                if enable_io_processing:
                    return self.graph.process_outputs(result)
                return result
        return None

    def _run(self, node: Node):
        try:
            return self.run_node(node)
        except Exception as error:
            if self.extra_traceback:
                _explain(error, node)
            raise

    def boxed_run(self, args_list: list):
        """run() with a list that it empties, so that inputs can be freed."""
        args = list(args_list)
        args_list.clear()
        return self.run(*args)

    def run_node(self, n: Node):
        """The value of a node."""
        with fx_traceback.set_current_meta(n):
            args, kwargs = self.fetch_args_kwargs_from_env(n)
            return getattr(self, n.op)(n.target, args, kwargs)

    def placeholder(self, target: Target, args, kwargs):
        """The next input; "*name" takes all that are left."""
        if target.startswith("*"):
            return list(self.args_iter)
        try:
            return next(self.args_iter)
        except StopIteration:
            if args:
                return args[0]
            raise RuntimeError(
                f"Expected positional argument for parameter {target}, but "
                "one was not passed in!"
            ) from None

    def get_attr(self, target: Target, args, kwargs):
        return self.fetch_attr(target)

    def call_function(self, target: Target, args, kwargs):
        return target(*args, **kwargs)

    def call_method(self, target: Target, args, kwargs):
        return getattr(args[0], target)(*args[1:], **kwargs)

    def call_module(self, target: Target, args, kwargs):
        return self.fetch_attr(target)(*args, **kwargs)

    def output(self, target: Target, args, kwargs):
        return args[0]

    def fetch_attr(self, target: str):
        """The module's attribute at a path; RuntimeError if it has none."""
        found = self.module
        parts = target.split(".")
        for i, part in enumerate(parts):
            if not hasattr(found, part):
                raise RuntimeError(
                    f"Node referenced nonexistent target {'.'.join(parts[: i + 1])}"
                )
            found = getattr(found, part)
        return found

    def fetch_args_kwargs_from_env(self, n: Node):
        """A node's arguments, with values for nodes."""
        args = self.map_nodes_to_values(n.args, n)
        kwargs = self.map_nodes_to_values(n.kwargs, n)
        return args, kwargs

    def map_nodes_to_values(self, args: Argument, n: Node):
        def value_of(node: Node):
            if node not in self.env:
                raise RuntimeError(
                    f"Node {n} referenced nonexistent value {node}! "
                    "Run Graph.lint() to diagnose such issues"
                )
            return self.env[node]

        return map_arg(args, value_of)


def _explain(error: Exception, node: Node) -> None:
    """Says in the error's text which node it was."""
    text = f"While executing {node.format_node()}"
    text = f"{error.args[0]}\n\n{text}" if error.args else text
    text += f"\nOriginal traceback:\n{node.stack_trace}"
    text += (
        "\nUse tlparse to see full graph. (https://github.com/pytorch/"
        "tlparse?tab=readme-ov-file#tlparse-parse-structured-pt2-logs)"
    )
    error.args = (text, *error.args[1:])


def _last_uses(graph: Graph) -> dict:
    """The nodes whose values nobody needs behind each node."""
    seen: set = set()
    found = collections.defaultdict(list)
    for node in reversed(graph.nodes):
        for used in node.all_input_nodes:
            if used not in seen:
                seen.add(used)
                found[node].append(used)
    return found


@compatibility(is_backward_compatible=True)
class Transformer(Interpreter):
    """Makes a new module from a graph: methods give proxies."""

    def __init__(self, module) -> None:
        super().__init__(module)
        self.new_graph = Graph()
        self.new_graph.set_codegen(module.graph._codegen)

        class TransformerTracer(Tracer):
            """Records into the new graph; modules are calls."""

            def __init__(self, graph: Graph) -> None:
                super().__init__()
                self.graph = graph
                self.tensor_attrs = {}

            def is_leaf_module(self, module, path) -> bool:
                return True

        self.tracer = TransformerTracer(self.new_graph)
        self.tracer.root = module

    def placeholder(self, target: Target, args, kwargs):
        default = args[0] if args else inspect.Signature.empty
        return Proxy(
            self.new_graph.placeholder(target, default_value=default), self.tracer
        )

    def get_attr(self, target: Target, args, kwargs):
        return self.tracer.create_proxy("get_attr", target, args, kwargs)

    def call_module(self, target: Target, args, kwargs):
        module = self.fetch_attr(target)
        return self.tracer.call_module(module, module.forward, args, kwargs)

    def call_function(self, target: Target, args, kwargs):
        return self.tracer.create_proxy("call_function", target, args, kwargs)

    def transform(self) -> GraphModule:
        """The module of the new graph."""
        with fx_traceback.preserve_node_meta():
            result = super().run(enable_io_processing=False)
        if result is not None:
            old = self.graph.output_node()

            def node_of(value):
                return value.node if isinstance(value, Proxy) else value

            node = self.new_graph.output(map_aggregate(result, node_of))
            node.meta = dict(old.meta)
        return GraphModule(self.module, self.new_graph)
