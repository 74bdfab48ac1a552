"""Models are divided into stages: `pipeline`, and what it gives.

A model is exported (`torch.export`), its graph cut where `pipe_split` was called;
each part is a module of its own, with the parameters that it uses.
"""

from __future__ import annotations

import contextlib
import copy
import enum
import operator
import types
from collections.abc import Callable

from ... import fx, library
from ..._functions.settings import traces
from ..._ops import ops
from ...export import export
from ...fx import Graph, GraphModule, Node
from ...fx.graph_module import _child_of
from ...nn import Module, Parameter, Sequential
from ...utils._pytree import tree_flatten
from ._utils import PipeInfo
from .stage import _PipelineStage

__all__ = [
    "LossWrapper",
    "Pipe",
    "PipeSequential",
    "PipeSplitWrapper",
    "SplitPoint",
    "TrivialLossWrapper",
    "annotate_split_points",
    "get_submod_name",
    "pipe_split",
    "pipeline",
]

PP_SUBMOD_PREFIX = "submod_pp"

library.define("pippy::_pipe_split", "() -> ()")


@library.impl("pippy::_pipe_split", "CompositeExplicitAutograd")
def _nothing() -> None:
    return None


#: The operator that stands in graphs where a stage ends.
aten_pipe_split_alias = ops.pippy._pipe_split.default


def get_submod_name(stage_idx: int) -> str:
    """The name of a stage's module: "submod_pp_0"."""
    return f"{PP_SUBMOD_PREFIX}_{stage_idx}"


def pipe_split() -> None:
    """Ends a stage here, in a model's forward that `pipeline` divides; does
    nothing otherwise.
    """
    trace = traces[-1] if traces else None
    builder = getattr(trace, "builder", None)
    if builder is not None:
        node = builder.graph.call_function(aten_pipe_split_alias)
        node.meta["val"] = None
        trace.note(node)


class SplitPoint(enum.Enum):
    """Points before a submodule, or behind it, at which a stage ends."""

    BEGINNING = 1
    END = 2


class PipeSplitWrapper:
    """The former home of `SplitPoint`."""

    SplitPoint = SplitPoint


def _split_before_forward(self, *args, **kwargs):
    pipe_split()
    return self._orig_forward(*args, **kwargs)


def _split_after_forward(self, *args, **kwargs):
    try:
        return self._orig_forward(*args, **kwargs)
    finally:
        pipe_split()


_FORWARDS = {
    SplitPoint.BEGINNING: _split_before_forward,
    SplitPoint.END: _split_after_forward,
}


def annotate_split_points(mod: Module, spec: dict[str, SplitPoint]) -> None:
    """Has stages end at submodules, by their names: their `forward` is replaced.

    AttributeError: there is no such submodule. ValueError: no `SplitPoint`.
    """
    for name, point in spec.items():
        found = mod
        parts = name.split(".")
        for i, part in enumerate(parts):
            try:
                found = getattr(found, part)
            except AttributeError as error:
                raise AttributeError(
                    f"Specified target {name} referenced nonexistent module "
                    f"{'.'.join(parts[: i + 1])}"
                ) from error
        if point not in _FORWARDS:
            raise ValueError("Unknown split point type.")
        found._orig_forward = found.forward
        found.forward = types.MethodType(_FORWARDS[point], found)


@contextlib.contextmanager
def _annotated(mod: Module, spec: dict[str, SplitPoint]):
    """Inside, submodules end stages; afterwards they are as they were."""
    names = [name for name in spec if name]
    before = {}
    for name in names:
        with contextlib.suppress(AttributeError):
            module = mod.get_submodule(name)
            before[name] = module, vars(module).get("forward")
    try:
        annotate_split_points(mod, spec)
        yield
    finally:
        for module, own in before.values():
            vars(module).pop("_orig_forward", None)
            vars(module).pop("forward", None)
            if own is not None:
                module.forward = own


class PipeSequential(Sequential):
    """A Sequential of which each module is a stage."""

    @staticmethod
    def from_sequential(sequential_instance: Sequential) -> PipeSequential:
        """One of the same modules."""
        return PipeSequential(*[copy.copy(m) for m in sequential_instance])

    def forward(self, input):
        """Calls one after the other."""
        for i, module in enumerate(self):
            if i:
                pipe_split()
            input = module(input)
        return input


class LossWrapper(Module):
    """A model and its loss; what connects them is `forward` of classes below."""

    def __init__(self, module: Module, loss_fn) -> None:
        super().__init__()
        self.module, self.loss_fn = module, loss_fn

    def forward(self, *args, **kwargs):
        """NotImplementedError."""
        raise NotImplementedError(
            "This instance of LossWrapper does not have an overriddenforward(). "
            "Please implement forward() to specify the arguments, connection between "
            "the module and loss, and loss output value."
        )


class TrivialLossWrapper(LossWrapper):
    """The loss of what the model gives for its one argument."""

    loss_spec = True

    def forward(self, x, targets):
        """The loss."""
        return self.loss_fn(self.module(x), targets)


# --- cutting ---


def _is_split(node: Node) -> bool:
    return node.op == "call_function" and node.target in (
        aten_pipe_split_alias,
        pipe_split,
    )


class _Part:
    """Stage that is being made: its nodes, what it takes, what it gives."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.inputs: list[Node] = []
        self.outputs: list[Node] = []


class _Cut:
    """The graph of a program, cut into modules."""

    def __init__(self, module: GraphModule, names: dict[int, list[str]]) -> None:
        self.module, self.names = module, names
        self.parts: list[_Part] = []
        self.home: dict[Node, int] = {}
        self.placeholders = [n for n in module.graph.nodes if n.op == "placeholder"]
        self.output = next(n for n in module.graph.nodes if n.op == "output")
        self._divide()
        self._connect()

    def _divide(self) -> None:
        ends = True
        for node in self.module.graph.nodes:
            if _is_split(node):
                ends = True
            elif node.op not in ("placeholder", "get_attr", "output"):
                if ends:
                    self.parts.append(_Part())
                    ends = False
                self.home[node] = len(self.parts) - 1
                self.parts[-1].nodes.append(node)
        if not self.parts:
            self.parts.append(_Part())

    def _connect(self) -> None:
        last = len(self.parts) - 1
        used: list[set] = [set() for _ in self.parts]
        for place, part in enumerate(self.parts):
            for node in part.nodes:
                used[place].update(node.all_input_nodes)
        # The last stage gives the whole result, of others what they give it.
        used[last].update(self.output.all_input_nodes)
        for place, part in enumerate(self.parts):
            taken = {n for n in used[place] if self.home.get(n, place) < place}
            part.inputs = [n for n in self.home if n in taken]
            part.inputs += [n for n in self.placeholders if n in used[place]]
            for node in part.inputs:
                home = self.home.get(node)
                if home is not None and node not in self.parts[home].outputs:
                    self.parts[home].outputs.append(node)
        for part in self.parts[:-1]:
            order = {node: i for i, node in enumerate(part.nodes)}
            part.outputs.sort(key=order.__getitem__)
        results = self.output.args[0]
        leaves = tree_flatten(results)[0]
        self.results = leaves
        self.parts[last].outputs = leaves

    # --- a stage's module ---

    def stage(self, place: int) -> GraphModule:
        """The module of a part: its parameters keep their names."""
        part = self.parts[place]
        root, graph = Module(), Graph()
        made: dict[Node, Node] = {}
        for node in part.inputs:
            made[node] = graph.placeholder(node.name)
            made[node].meta.update(node.meta)
        for node in part.nodes:
            for given in node.all_input_nodes:
                if given.op == "get_attr" and given not in made:
                    made[given] = self._attribute(root, graph, given, node)
            made[node] = graph.node_copy(node, lambda n: made[n])
        for node in part.outputs:
            if isinstance(node, Node) and node not in made:
                made[node] = self._attribute(root, graph, node, node)
        outputs = tuple(
            made.get(n, n) if isinstance(n, Node) else n for n in part.outputs
        )
        graph.output(outputs[0] if len(outputs) == 1 else outputs)
        graph.lint()
        return GraphModule(root, graph, class_name="GraphModule")

    def _attribute(self, root: Module, graph: Graph, node: Node, user: Node) -> Node:
        target = self._name(node.target, user)
        *path, name = target.split(".")
        before = self.module
        for part in node.target.split(".")[:-1]:
            before = getattr(before, part)
        own = node.target.split(".")[-1]
        value = getattr(before, own)
        owner = _child_of(root, path, make=True)
        if isinstance(value, Module):
            owner.add_module(name, value)
        elif isinstance(value, Parameter):
            owner.register_parameter(name, value)
        else:
            kept = own not in before._non_persistent_buffers_set
            owner.register_buffer(name, value, persistent=kept)
        made = graph.get_attr(target)
        made.meta.update(node.meta)
        return made

    def _name(self, target: str, user: Node) -> str:
        """Name of a tensor in the module that uses it, where it has several."""
        value = self.module
        for part in target.split("."):
            value = getattr(value, part)
        names = self.names.get(id(value), [])
        paths = [path for path, _ in user.meta.get("modules") or ()]
        for path in reversed(paths):
            for name in names:
                if name.rpartition(".")[0] == path:
                    return name
        return target

    # --- the outer graph ---

    def outer(self) -> GraphModule:
        """The module that calls the stages."""
        root, graph = Module(), Graph()
        made: dict[Node, Node] = {}
        for node in self.placeholders:
            made[node] = graph.placeholder(node.name)
            made[node].meta.update(node.meta)
        results = None
        for place, part in enumerate(self.parts):
            name = get_submod_name(place)
            root.add_module(name, self.stage(place))
            call = graph.call_module(name, tuple(made[n] for n in part.inputs))
            call.meta["stage_idx"] = place
            one = len(part.outputs) == 1
            given = []
            for i, node in enumerate(part.outputs):
                value = (
                    call if one else graph.call_function(operator.getitem, (call, i))
                )
                if isinstance(node, Node):
                    value.meta["val"] = node.meta.get("val")
                given.append(value)
            if place == len(self.parts) - 1:
                results = tuple(given)
            else:
                made.update(zip(part.outputs, given))
        graph.output(results)
        graph.lint()
        return GraphModule(root, graph, class_name="GraphModule")


class Pipe(Module):
    """A model in stages: `get_stage_module(i)` is one, `build_stage` one that
    schedules take. Called, it runs them all here.

    Args:
        split_gm: a module that calls the stages.
        num_stages: how many there are.
        has_loss_and_backward: False: losses are the schedules'.
        loss_spec: None.
    """

    def __init__(
        self, split_gm: GraphModule, num_stages: int, has_loss_and_backward, loss_spec
    ) -> None:
        super().__init__()
        self.split_gm, self.num_stages = split_gm, num_stages
        self.has_loss_and_backward, self.loss_spec = has_loss_and_backward, loss_spec
        self._keywords: list[str] = []
        users: dict[int, dict[str, str]] = {}
        for stage, module in split_gm.named_children():
            for name, parameter in module.named_parameters():
                users.setdefault(id(parameter), {})[stage] = name
        #: Parameters of several stages, by stage: each has its own, whose
        #: gradients are to be added up before an optimizer's step.
        self.replicated_params = [names for names in users.values() if len(names) > 1]
        for names in self.replicated_params:
            for stage, name in names.items():
                *path, own = name.split(".")
                owner = split_gm.get_submodule(".".join([stage, *path]))
                owner.register_parameter(own, copy.deepcopy(getattr(owner, own)))

        def throw(*args, **kwargs):
            raise RuntimeError(
                "To run pipeline locally, invoke the Pipe object directly, not "
                "`split_gm`"
            )

        self.split_gm.forward = throw

    def forward(self, *args, **kwargs) -> tuple:
        """Runs all stages, one after the other.

        TypeError: arguments that the model has not.
        """
        unknown = set(kwargs) - set(self._keywords)
        names = [n.target for n in self.split_gm.graph.nodes if n.op == "placeholder"]
        if not unknown:
            kwargs = {name: kwargs[name] for name in self._keywords if name in kwargs}
            leaves = tree_flatten((args, kwargs))[0]
        else:
            leaves = list(args) + [kwargs[n] for n in names[len(args) :] if n in kwargs]
        if len(leaves) != len(names):
            raise TypeError(
                f"the pipeline takes {', '.join(names)}; {len(leaves)} values were "
                "given"
            )
        return fx.Interpreter(self.split_gm).run(*leaves)

    def get_stage_module(self, stage_idx: int) -> Module:
        """The module of a stage; ValueError: there is no such stage."""
        if not 0 <= stage_idx < self.num_stages:
            raise ValueError(f"Invalid stage index {stage_idx}!")
        return getattr(self.split_gm, get_submod_name(stage_idx))

    @staticmethod
    def from_tracing(
        mod: Module,
        example_args: tuple,
        example_kwargs: dict | None = None,
        split_policy: Callable | None = None,
    ) -> Pipe:
        """Cuts a model where its forward calls `pipe_split`.

        Args:
            mod: the model.
            example_args, example_kwargs: arguments with the shapes of a
                microbatch.
            split_policy: changes the graph before it is cut.

        RuntimeError: the model cannot be exported.
        """
        try:
            program = export(mod, example_args, example_kwargs)
        except Exception as error:
            raise RuntimeError(
                "It seems that we cannot capture your model as a full graph. Typical "
                "reasons include graph breaks, data/shape-dependent control flow, or "
                "missing meta kernels for custom operators. You can use our manual "
                "pipeline interfaces, or try to fix the graph breaks, see "
                "https://pytorch.org/docs/stable/export.html"
            ) from error
        traced = program.module(check_guards=False)
        codegen = traced.graph._codegen
        if split_policy is not None:
            traced = split_policy(traced)
        names: dict[int, list[str]] = {}
        for name, tensor in mod.state_dict(keep_vars=True).items():
            names.setdefault(id(tensor), []).append(name)
        cut = _Cut(traced, names)
        pipe = Pipe(cut.outer(), len(cut.parts), False, None)
        pipe._keywords = list(program.call_spec.in_spec.children()[1].context)
        pipe._take_signature(codegen, cut)
        return pipe

    def _take_signature(self, codegen, cut: _Cut) -> None:
        """The first stage takes the model's arguments, if they are all its own."""
        first = self.get_stage_module(0)
        if cut.parts[0].inputs == cut.placeholders:
            own = copy.copy(codegen)
            own.pytree_info = codegen.pytree_info._replace(out_spec=None)
            first.graph.set_codegen(own)
            first.recompile()

    def info(self) -> PipeInfo:
        """Facts of it, for `build_stage`."""
        return PipeInfo(
            self.split_gm.graph, self.num_stages, self.has_loss_and_backward
        )

    def build_stage(self, stage_index: int, device, group=None) -> _PipelineStage:
        """A stage that schedules take, on a device."""
        module = self.get_stage_module(stage_index)
        _move_operators(module, device)
        return _PipelineStage(module, stage_index, self.info(), device, group)

    def print_readable(self) -> None:
        """Prints the outer graph, and those of the stages."""
        self.split_gm.print_readable()

    def __str__(self) -> str:
        return str(self.split_gm)

    def __repr__(self) -> str:
        return repr(self.split_gm)


def _move_operators(module: GraphModule, device) -> None:
    """Operators that name a device (`torch.ones`) name this one."""
    changed = False
    for node in module.graph.nodes:
        named = node.kwargs.get("device") if node.op == "call_function" else None
        if named is not None and str(named) != str(device):
            node.kwargs = {**node.kwargs, "device": device}
            changed = True
    if changed:
        module.recompile()


def pipeline(
    module: Module,
    mb_args: tuple,
    mb_kwargs: dict | None = None,
    split_spec: dict[str, SplitPoint] | None = None,
    split_policy: Callable | None = None,
) -> Pipe:
    """Divides a model into stages.

    Args:
        module: the model.
        mb_args, mb_kwargs: arguments with the shapes of a microbatch.
        split_spec: where stages end, by names of submodules.
        split_policy: changes the exported graph before it is cut where
            `pipe_split` was called.

    ValueError: both of the last.
    """
    if split_spec is not None and split_policy is not None:
        raise ValueError(
            "Cannot specify both `split_spec` and `split_policy`. Please use only one "
            "of them."
        )
    if split_spec is None:
        return Pipe.from_tracing(module, mb_args, mb_kwargs, split_policy)
    with _annotated(module, split_spec):
        return Pipe.from_tracing(module, mb_args, mb_kwargs)
