"""`export`: programs of modules, traced once with example inputs."""

from __future__ import annotations

import contextlib
import inspect
import warnings

from .. import _C, Tensor, backends
from .._functions.settings import traces
from ..jit import ScriptModule
from ..nn import Module
from ..nn.modules._aspects.global_hooks import (
    register_module_forward_hook,
    register_module_forward_pre_hook,
)
from ..utils import _pytree as pytree
from . import _trace
from ._arguments import SymFloatArgument, SymIntArgument
from ._errors import Restart, UserError
from ._module import ExportedModule
from ._numbers import SymbolicFloat, SymbolicInt
from ._sizes import Sizes
from ._trace import Recording, Trace
from ._traced_program import TracedProgram
from ._values import Traced
from .dynamic_shapes import by_name, of_leaves
from .graph_signature import (
    ConstantArgument,
    ExportGraphSignature,
    InputKind,
    InputSpec,
    OutputKind,
    OutputSpec,
    TensorArgument,
)

__all__ = ["export", "export_with"]

_PLAIN = (int, float, bool, str, type(None))
# Each attempt learns something of a size, of which there are not that many.
_ATTEMPTS = 200


def export(
    mod: Module,
    args: tuple,
    kwargs: dict | None = None,
    *,
    dynamic_shapes=None,
    strict: bool = False,
    preserve_module_call_signature: tuple = (),
    prefer_deferred_runtime_asserts_over_guards: bool = False,
) -> TracedProgram:
    """Traces a module with example inputs: a program of operators.

    Python runs once, with tensors that have no elements; the module is
    afterwards as it was. Sizes are those of the examples, but for the
    dimensions that `dynamic_shapes` names.

    Args:
        mod: the module; its parameters and buffers are the program's. Of a
            compiled one (an archive, an ONNX model) the graph is followed.
        args, kwargs: example arguments: tensors, numbers, strings, None, and
            containers of those. All but tensors are constants of the program.
        dynamic_shapes: for each argument, by name or in order, a dict from
            dimensions to `Dim("name", min=, max=)`, `Dim.AUTO` (varies if the
            program allows it), `Dim.DYNAMIC` (must), or None; in containers
            like the argument's.
        strict: accepted; programs are traced in the same way.

    Raises:
        UserError: a dimension cannot vary as it should, or `dynamic_shapes`
            does not fit the arguments. DataDependentError: the program asks
            for elements of a tensor. NotImplementedError: what is not
            supported; the text names it.
    """
    return export_with(
        Trace, mod, args, kwargs, dynamic_shapes, preserve_module_call_signature
    )


def export_with(make, mod, args, kwargs, dynamic_shapes, preserved) -> TracedProgram:
    """As `export`, with traces that `make` gives for sizes."""
    if not isinstance(mod, Module):
        raise ValueError(
            f"Expected `mod` to be an instance of `torch.nn.Module`, got {type(mod)}."
        )
    if not isinstance(args, tuple):
        raise UserError(
            "Expecting `args` to be a tuple of example positional inputs, got "
            f"{type(args)}"
        )
    if preserved:
        raise NotImplementedError(
            "export: preserve_module_call_signature is not implemented; the "
            "program is flat"
        )
    if getattr(_C, "_autocast_key", int)():
        raise NotImplementedError(
            "export: exporting with autocast on is not implemented; export "
            "without it, and call what comes of it within autocast"
        )
    if isinstance(mod, ScriptModule):
        from ._script import exported_module, python_module

        loaded = isinstance(mod, ExportedModule)
        mod = (exported_module if loaded else python_module)(mod)
    return _Export(make, mod, args, kwargs or {}, dynamic_shapes).run()


class _Input:
    """A leaf of the arguments."""

    def __init__(self, name: str, source: str, value, dims: dict) -> None:
        self.name, self.source, self.value = name, source, value
        self.dims = dims

    def sources(self) -> list[str]:
        """Names that guards have for its sizes."""
        return [f"{self.source}.size()[{i}]" for i in range(self.value.dim())]


class _Export:
    def __init__(self, make, module, args, kwargs, shapes) -> None:
        self.make = make
        self.module, self.args, self.kwargs = module, args, kwargs
        leaves, self.in_spec = pytree.tree_flatten((args, kwargs))
        self.inputs = _inputs(module, args, kwargs, shapes)
        for leaf in leaves:
            if not isinstance(leaf, (Tensor, *_PLAIN)):
                raise UserError(
                    f"Unsupported input type {type(leaf)}. Export supports "
                    "tensors, numbers, strings, None, and containers of them; "
                    "register other classes with torch.utils._pytree"
                )
        self.sizes = Sizes()
        for one in self.inputs:
            for place, dim in one.dims.items():
                source = one.sources()[place]
                self.sizes.add(source, dim, one.value.size(place))

    def run(self) -> TracedProgram:
        """Traces until nothing new is learned of sizes."""
        for _ in range(_ATTEMPTS):
            try:
                return self._attempt()
            except Restart:
                continue
        raise RuntimeError("export: the sizes that vary are not consistent")

    def _attempt(self) -> TracedProgram:
        self.sizes.begin()
        trace = self.make(self.sizes)
        states = _states(self.module)
        for name, _, tensor in states:
            trace.state_input(name, tensor)
        given = []
        for one in self.inputs:
            if isinstance(one.value, Tensor):
                made = trace.tensor_input(one.name, one.value, one.sources())
                given.append(made)
            else:
                trace.plain_input(one.name, one.value)
                given.append(one.value)
        args, kwargs = pytree.tree_unflatten(given, self.in_spec)
        kept = _Kept(self.module)
        try:
            with _surroundings(trace, self.module):
                result = _export_runs(self.module, args, kwargs)
                trace.leave_parts()
                kept.write_buffers(trace)
                leaves, out_spec = pytree.tree_flatten(result)
                outputs = [self._output(trace, leaf) for leaf in leaves]
        finally:
            kept.restore()
        trace.root.graph.output(tuple(node for node, _ in outputs))
        trace.finish_parts()
        return self._program(trace, states, outputs, out_spec)

    def _output(self, trace: Trace, leaf) -> tuple:
        """Returns what the graph returns, and what the signature says of it."""
        builder = trace.root
        if isinstance(leaf, Tensor):
            node = builder.node_of(trace.value_of(leaf))
            return node, lambda: TensorArgument(node.name)
        if type(leaf) in (SymbolicInt, SymbolicFloat):
            node = builder.number(leaf)
            whole = type(leaf) is SymbolicInt
            kind = SymIntArgument if whole else SymFloatArgument
            return node, lambda: kind(node.name)
        if isinstance(leaf, _PLAIN):
            return leaf, lambda: ConstantArgument("", leaf)
        raise UserError(
            f"Unsupported output type {type(leaf)}. Export supports tensors, "
            "numbers, strings, None, and containers of them"
        )

    def _program(self, trace, states, outputs, out_spec) -> TracedProgram:
        constants = _named_constants(self.module, trace)
        specs = [
            InputSpec(kind, TensorArgument(name), target, kept)
            for name, (kind, target, kept), _ in states
        ]
        specs += [
            InputSpec(InputKind.CONSTANT_TENSOR, TensorArgument(node.name), target)
            for node, target, _ in constants
        ]
        for one in self.inputs:
            argument = TensorArgument(one.name)
            if not isinstance(one.value, Tensor):
                argument = ConstantArgument(one.name, one.value)
            specs.append(InputSpec(InputKind.USER_INPUT, argument, None))
        out = [
            OutputSpec(OutputKind.USER_OUTPUT, argument(), None)
            for _, argument in outputs
        ]
        held = {target: tensor for _, target, tensor in constants}
        state = {}
        for _, (_, target, persistent), tensor in states:
            if persistent is False:
                held[target] = tensor
            else:
                state[target] = tensor
        return TracedProgram(
            trace=trace,
            signature=ExportGraphSignature(specs, out),
            state_dict=state,
            constants=held,
            in_spec=self.in_spec,
            out_spec=out_spec,
            names=_argument_names(self.module, self.args, self.kwargs),
            example_inputs=(self.args, self.kwargs),
            sources={one.name: one.source for one in self.inputs},
            modules=[n for n, _ in self.module.named_modules() if n],
        )


def _export_runs(module, args: tuple, kwargs: dict):
    """Frames of programs begin below this one."""
    return module(*args, **kwargs)


def _inputs(module, args, kwargs, shapes) -> list[_Input]:
    """The leaves, in the order of (args, kwargs)."""
    named = by_name(module, args, kwargs)
    dims = iter(of_leaves(named, shapes))
    by_argument = {
        name: [next(dims) for _ in pytree.tree_leaves(value)]
        for name, value in named.items()
    }
    # Arguments given by name stand behind, in the order of the call.
    order = [n for n in named if n not in kwargs] + list(kwargs)
    used: set = set()
    found = []
    for name in order:
        for path, value in pytree.tree_leaves_with_path(named[name]):
            place = by_argument[name].pop(0)
            shown = "_".join([name, *(_plain_key(k) for k in path)])
            source = f"L['{name}']" + "".join(map(_index, path))
            found.append(_Input(_free(shown, used), source, value, place))
    return found


def _argument_names(module, args: tuple, kwargs: dict) -> list[str]:
    """A name for each argument; those of *args have numbers."""
    names = [n for n in by_name(module, args, kwargs) if n not in kwargs]
    extra = len(args) - len(names)
    if names and (extra > 0 or _is_var_positional(module, names[-1])):
        last = names.pop()
        names += [f"{last}_{i}" for i in range(extra + 1)]
    return [*names, *kwargs]


def _is_var_positional(module, name: str) -> bool:
    parameter = inspect.signature(module.forward).parameters.get(name)
    return parameter is not None and parameter.kind is parameter.VAR_POSITIONAL


def _plain_key(key) -> str:
    text = pytree.keystr((key,)).strip("[].'\"")
    return "".join(c if c.isalnum() else "_" for c in text)


def _index(key) -> str:
    return pytree.keystr((key,))


def _free(name: str, used: set) -> str:
    found, count = name, 0
    while found in used:
        count += 1
        found = f"{name}_{count}"
    used.add(found)
    return found


def _states(module: Module) -> list[tuple]:
    """Name, (kind, path, whether saved) and tensor of parameters and buffers,
    those of two names twice.
    """
    found = []
    used: set = set()

    def add(prefix, kind, path, tensor, kept):
        name = _free(prefix + _flat(path), used)
        found.append((name, (kind, path, kept), tensor))

    for path, tensor in module.named_parameters(remove_duplicate=False):
        add("p_", InputKind.PARAMETER, path, tensor, None)
    for path, tensor in module.named_buffers(remove_duplicate=False):
        parent, _, name = path.rpartition(".")
        owner = module.get_submodule(parent)
        kept = name not in owner._non_persistent_buffers_set
        add("b_", InputKind.BUFFER, path, tensor, kept)
    return found


def _flat(path: str) -> str:
    return "".join(c if c.isalnum() else "_" for c in path).lower()


def _named_constants(module: Module, trace: Trace) -> list[tuple]:
    """Node, name and tensor of constants: attributes keep their names."""
    known = {}
    for path, inner in module.named_modules():
        for name, value in vars(inner).items():
            if isinstance(value, Tensor):
                full = f"{path}.{name}" if path else name
                known.setdefault(id(value), full)
    found = []
    lifted = 0
    for node, tensor in trace.constants:
        name = known.get(id(tensor))
        if name is None:
            name = f"lifted_tensor_{lifted}"
            lifted += 1
        node._rename(f"c_{_flat(name)}")
        found.append((node, name, tensor))
    return found


class _Kept:
    """The module as it was: its attributes, its buffers, its parameters."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.attributes = {
            inner: (
                dict(vars(inner)),
                dict(inner._parameters),
                dict(inner._buffers),
                dict(inner._modules),
            )
            for inner in module.modules()
        }

    def write_buffers(self, trace: Trace) -> None:
        """Buffers that were assigned to are written at the end."""
        for inner, (_, _, buffers, _) in self.attributes.items():
            for name, before in buffers.items():
                now = inner._buffers.get(name)
                if now is not before and before is not None:
                    before.copy_(now)
            for name, value in vars(inner).items():
                if isinstance(value, Traced):
                    warnings.warn(
                        f"The tensor attribute self.{name} was assigned during "
                        "export. Such attributes must be registered as buffers "
                        "using the `register_buffer` API (https://pytorch.org/"
                        "docs/stable/generated/torch.nn.Module.html#torch.nn."
                        "Module.register_buffer).",
                        stacklevel=5,
                    )

    def restore(self) -> None:
        """Puts all back."""
        for inner, (own, *tables) in self.attributes.items():
            vars(inner).clear()
            vars(inner).update(own)
            names = ("_parameters", "_buffers", "_modules")
            for name, table in zip(names, tables):
                current = getattr(inner, name)
                if not _same(current, table):
                    current.clear()
                    current.update(table)


def _same(a: dict, b: dict) -> bool:
    return list(a) == list(b) and all(a[k] is b[k] for k in a)


@contextlib.contextmanager
def _surroundings(trace: Trace, module: Module):
    """The mode, the stack of modules, the state of random numbers."""
    names = {inner: name for name, inner in module.named_modules()}

    def enter(inner, args):
        kind = type(inner)
        path = f"{kind.__module__}.{kind.__qualname__}"
        trace.modules.append((names.get(inner, ""), path))

    def leave(inner, args, result):
        if trace.modules:
            trace.modules.pop()

    state = _C._get_rng_state() if hasattr(_C, "_get_rng_state") else None
    # Attention in its parts: its operator of inference is no PyTorch program's.
    fast = backends.mha.get_fastpath_enabled()
    backends.mha.set_fastpath_enabled(False)
    first = register_module_forward_pre_hook(enter)
    last = register_module_forward_hook(leave, always_call=True)
    traces.append(trace)
    try:
        with Recording(trace):
            yield
    finally:
        traces.pop()
        last.remove()
        first.remove()
        backends.mha.set_fastpath_enabled(fast)
        if state is not None:
            _C._set_rng_state(state)


def _export_by_steps(
    mod: Module,
    args: tuple,
    kwargs: dict | None = None,
    dynamic_shapes=None,
    *,
    strict: bool = True,
    preserve_module_call_signature: tuple = (),
    pre_dispatch: bool = False,
    prefer_deferred_runtime_asserts_over_guards: bool = False,
) -> TracedProgram:
    """As `export`, for programs that call what stands behind PyTorch's.

    Args:
        pre_dispatch: accepted; operators are those that the module calls.
    """
    return export(
        mod,
        args,
        kwargs,
        dynamic_shapes=dynamic_shapes,
        strict=strict,
        preserve_module_call_signature=preserve_module_call_signature,
    )


_trace._export = _export_by_steps
