"""Programs as modules that have their own parameters and run."""

from __future__ import annotations

from ..fx import Graph, GraphModule
from ..fx._codegen import _PyTreeCodeGen
from ..fx.graph import _PyTreeInfo
from ..fx.graph_module import _child_of
from ..nn import Module
from ..utils import _pytree as pytree
from ._guards import check
from .graph_signature import InputKind

__all__ = ["runnable"]


class _CodeGen(_PyTreeCodeGen):
    """`forward` takes positional arguments and then those by name."""

    def __init__(self, info: _PyTreeInfo, names: list[str]) -> None:
        super().__init__(info)
        self.keywords = names

    def gen_fn_def(
        self, free_vars, maybe_return_annotation: str, *, expanded_def=False
    ) -> str:
        text = super().gen_fn_def(
            free_vars, maybe_return_annotation, expanded_def=expanded_def
        )
        given = [n for n in self.pytree_info.orig_args if n != "self"]
        before = f"tree_flatten_spec([{', '.join(given)}], "
        count = len(given) - len(self.keywords)
        named = ", ".join(f"'{n}':{n}" for n in self.keywords)
        after = f"tree_flatten_spec(([{', '.join(given[:count])}], {{{named}}}), "
        return text.replace(before, after)


def runnable(program, check_guards: bool) -> GraphModule:
    """The module of a traced program: shares its tensors."""
    root = Module()
    signature = program.graph_signature
    targets = {}
    for spec in signature.input_specs:
        if spec.kind is InputKind.USER_INPUT:
            continue
        targets[spec.arg.name] = spec
        _put(root, spec, program.tensor_of(spec.target))
    for name, child in program.graph_module.named_children():
        root.add_module(name, child)
    graph = Graph()
    made: dict = {}
    for node in program.graph.nodes:
        if node.op == "placeholder" and node.name in targets:
            target = targets[node.name].target
            made[node] = graph.get_attr(target)
            made[node].meta.update(node.meta)
        elif node.op == "output":
            graph.output(graph_arguments(node.args[0], made))
        else:
            made[node] = graph.node_copy(node, lambda n: made[n])
    keywords = list(program.call_spec.in_spec.children()[1].context)
    info = _PyTreeInfo(
        ["self", *program._names], program.call_spec.in_spec, program.call_spec.out_spec
    )
    graph.set_codegen(_CodeGen(info, keywords))
    module = GraphModule(root, graph)
    module.register_forward_pre_hook(
        _Checks(program, keywords, check_guards), with_kwargs=True
    )
    return module


def graph_arguments(args, made: dict):
    """The nodes of the new graph."""
    from ..fx import map_arg

    return map_arg(args, lambda n: made[n])


def _put(root: Module, spec, tensor) -> None:
    *path, name = spec.target.split(".")
    owner = _child_of(root, path, make=True)
    if spec.kind is InputKind.PARAMETER:
        # That of a loaded module is a plain tensor, to which gradients must come.
        owner._parameters[name] = tensor
        return
    owner.register_buffer(name, tensor, persistent=bool(spec.persistent))


class _Checks:
    """Checks arguments before each call."""

    def __init__(self, program, keywords: list[str], guards: bool) -> None:
        self.in_spec = program.call_spec.in_spec
        self.keywords = keywords
        self.guards = program._input_guards if guards else []

    def __call__(self, module, args, kwargs):
        kwargs = self._in_order(kwargs)
        leaves, spec = pytree.tree_flatten((args, kwargs))
        if spec != self.in_spec:
            leaves = self._reordered(args, kwargs)
            if leaves is None:
                raise ValueError(_MISMATCH.format(self.in_spec, spec))
        check(self.guards, leaves)
        return args, kwargs

    def _reordered(self, args, kwargs) -> list | None:
        """The leaves where only dicts have their keys in another order."""
        try:
            leaves = self.in_spec.flatten_up_to((args, kwargs))
        except (TypeError, ValueError):
            return None
        plain = all(pytree.tree_structure(x).is_leaf() for x in leaves)
        return leaves if plain else None

    def _in_order(self, kwargs: dict) -> dict:
        if set(kwargs) != set(self.keywords):
            raise ValueError(
                "Ran into a kwarg keyword mismatch: Got the following keywords "
                f"{list(kwargs)} but expected {self.keywords}"
            )
        return {name: kwargs[name] for name in self.keywords}


_MISMATCH = (
    "Trying to flatten user inputs with exported input tree spec: \n{}\n"
    "but actually got inputs with tree spec of: \n{}.\nPlease check that the "
    "inputs have the same number and type of args and kwargs as the ones you "
    "used when tracing."
)
