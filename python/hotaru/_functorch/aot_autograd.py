"""Functions whose gradients are traced before they are asked for."""

from __future__ import annotations

import functools
import itertools

from .. import _C, Tensor, ones
from ..autograd import Function, grad
from ..fx import Graph, GraphModule
from ..fx.experimental.proxy_tensor import make_fx
from ..nn import Module
from ..utils import _pytree as pytree
from .partitioners import default_partition

__all__ = [
    "aot_function",
    "aot_module",
    "compiled_function",
    "compiled_module",
    "make_boxed_compiler",
    "make_boxed_func",
]


def make_boxed_func(f):
    """A function of one list, for one of many arguments."""

    def boxed(args):
        return f(*args)

    boxed._boxed_call = True
    return boxed


def make_boxed_compiler(compiler):
    """A compiler whose results take one list, for one of many arguments."""

    @functools.wraps(compiler)
    def compile_boxed(fx_g, inps):
        return make_boxed_func(compiler(fx_g, inps))

    return compile_boxed


def _called(compiled, args):
    if getattr(compiled, "_boxed_call", False):
        return compiled(list(args))
    return compiled(*args)


def aot_function(
    fn,
    fw_compiler,
    bw_compiler=None,
    partition_fn=default_partition,
    decompositions=None,
    num_params_buffers: int = 0,
    keep_inference_input_mutations: bool = False,
    inference_compiler=None,
    *,
    dynamic: bool = False,
    enable_log: bool = True,
    disable_functionalization: bool = False,
):
    """A function like `fn` that runs graphs of it and of its gradients.

    A first call with tensors of certain shapes and dtypes traces both graphs
    and compiles them. Mutations stay operators of the graphs.

    Args:
        fn: of tensors, in containers, too; gives one or more.
        fw_compiler: takes a GraphModule of flat arguments and examples of
            them, gives what runs in its place.
        bw_compiler: that of the gradients' graph; None: fw_compiler.
        partition_fn: cuts the joint graph in two.
        decompositions: functions in place of overloads, which are traced.
        num_params_buffers: accepted and not used.
        keep_inference_input_mutations: accepted: mutations are kept.
        inference_compiler: fw_compiler's place where nothing needs gradients.
        dynamic: accepted; every new shape is traced anew.
        enable_log: accepted and not used.
        disable_functionalization: accepted: graphs are as they are traced.

    RuntimeError, from the call: `fn` writes to an argument that needs gradients.
    """
    made: dict = {}

    @functools.wraps(fn)
    def run(*args, **kwargs):
        flat, spec = pytree.tree_flatten((args, kwargs))
        key = (spec, _C.is_grad_enabled(), *map(_key, flat))
        if key not in made:
            made[key] = _Traced(fn, flat, spec, decompositions)
            made[key].compile(
                fw_compiler,
                bw_compiler or fw_compiler,
                partition_fn,
                inference_compiler,
            )
        return made[key](flat)

    return run


compiled_function = aot_function


def _key(value):
    if isinstance(value, Tensor):
        shape, strides = tuple(value.shape), None
        if value.layout is _C.strided:
            strides = tuple(value.stride())
        kind = value.__class__, value.dtype, value.device, value.layout
        return *kind, shape, strides, value.requires_grad
    try:
        hash(value)
    except TypeError:
        return id(value)
    return value.__class__, value


class _Traced:
    """One function of one kind of arguments, as graphs."""

    def __init__(self, fn, flat, spec, table) -> None:
        self._fn, self._spec, self._table = fn, spec, table
        self._flat = [None if isinstance(x, Tensor) else x for x in flat]
        self._places = [i for i, x in enumerate(flat) if isinstance(x, Tensor)]
        self._examples = [flat[i] for i in self._places]
        learns = _C.is_grad_enabled()
        self._learning = [learns and t.requires_grad for t in self._examples]
        self._forward = self._backward = None
        self._out_spec = None
        self._constants: list = []  # results, None where a tensor stands
        self._marks: list[bool] = []  # tensors among them that need gradients

    def compile(self, forward, backward, partition, inference) -> None:
        """Traces the graphs and has them compiled."""
        if not any(self._learning):
            graph = self._traced(self._results, self._examples, len(self._examples))
            compiler = inference or forward
            self._forward = compiler(graph, self._examples)
        else:
            tangents = self._tangents()
            if any(self._marks):
                self._cut(tangents, forward, backward, partition)
            else:
                graph = self._traced(self._results, self._examples, len(self._examples))
                self._forward = forward(graph, self._examples)
        self._examples = []

    def _cut(self, tangents, forward, backward, partition) -> None:
        count = len(self._examples)
        inputs = [*self._examples, *tangents]
        joint = self._traced(self._joint, inputs, count)
        parts = partition(joint, inputs, num_fwd_outputs=len(self._marks))
        self._forward = forward(parts[0], self._examples)
        self._backward = backward(parts[1], _examples_of(parts[1]))

    def _arguments(self, tensors):
        flat = list(self._flat)
        for i, tensor in zip(self._places, tensors):
            flat[i] = tensor
        return pytree.tree_unflatten(flat, self._spec)

    def _run(self, tensors) -> list:
        args, kwargs = self._arguments(tensors)
        out = self._fn(*args, **kwargs)
        flat, self._out_spec = pytree.tree_flatten(out)
        self._constants = [None if isinstance(x, Tensor) else x for x in flat]
        self._is_tensor = [isinstance(x, Tensor) for x in flat]
        return [x for x in flat if isinstance(x, Tensor)]

    def _results(self, *tensors):
        results = self._run(tensors)
        self._marks = [False] * len(results)
        return tuple(results)

    def _learned(self, tensors) -> list:
        return [
            t.detach().requires_grad_() if learns else t.detach()
            for t, learns in zip(tensors, [*self._learning, *[False] * len(tensors)])
        ]

    def _tangents(self) -> list:
        """Runs the function once, for what its results are like."""
        from .._subclasses import FakeTensorMode

        mode = FakeTensorMode(allow_non_fake_inputs=True)
        with mode:
            fakes = [mode.from_tensor(t) for t in self._examples]
            tensors = self._learned(fakes)
            results = self._run(tensors)
        self._marks = [r.requires_grad for r in results]
        marked = [r for r, mark in zip(results, self._marks) if mark]
        return [_like(r) for r in marked]

    def _joint(self, *inputs):
        tensors = inputs[: len(self._learning)]
        results = self._run(tensors)
        marked = [r for r, mark in zip(results, self._marks) if mark]
        wanted = [t for t, learns in zip(tensors, self._learning) if learns]
        tangents = inputs[len(self._learning) :]
        gradients = grad(marked, wanted, tangents, allow_unused=True)
        return (*results, *gradients)

    def _traced(self, function, inputs, primals: int) -> GraphModule:
        module = make_fx(function, self._table, "fake", _allow_non_fake_inputs=True)(
            *self._learned(inputs)
        )
        return _named(module, primals)

    def __call__(self, flat):
        tensors = [flat[i] for i in self._places]
        if self._backward is None:
            results = list(_called(self._forward, tensors))
        else:
            results = list(_Compiled.apply(self, *tensors))
        tensor = iter(results)
        values = [
            next(tensor) if is_tensor else value
            for value, is_tensor in zip(self._constants, self._is_tensor)
        ]
        return pytree.tree_unflatten(values, self._out_spec)


def _like(meta) -> Tensor:
    device = getattr(meta, "device", None)
    return ones(tuple(meta.shape), dtype=meta.dtype, device=device)


def _examples_of(module) -> list:
    """Examples of the module's arguments, by what was traced of them."""
    metas = [n.meta.get("tensor_meta") for n in module.graph.nodes]
    inputs = [m for m, n in zip(metas, module.graph.nodes) if n.op == "placeholder"]
    return [None if m is None else _like(m) for m in inputs]


def _named(module, primals: int) -> GraphModule:
    """The graph with flat results and with the names of a joint graph."""
    graph, made, count = Graph(), {}, itertools.count(1)
    for node in module.graph.nodes:
        if node.op == "placeholder":
            i = next(count)
            name = f"primals_{i}" if i <= primals else f"tangents_{i - primals}"
            made[node] = graph.placeholder(name)
            made[node].meta = dict(node.meta)
        elif node.op == "output":
            values = pytree.tree_leaves(node.args[0], is_leaf=lambda x: x is None)
            graph.output(tuple(None if v is None else made.get(v, v) for v in values))
        else:
            made[node] = graph.node_copy(node, made.__getitem__)
    return GraphModule(module, graph)


class _Compiled(Function):
    @staticmethod
    def forward(ctx, traced, *tensors):
        results = list(_called(traced._forward, [t.detach() for t in tensors]))
        count = len(traced._marks)
        results, saved = results[:count], results[count:]
        ctx.traced = traced
        ctx.others = [None if isinstance(s, Tensor) else s for s in saved]
        ctx.save_for_backward(*(s for s in saved if isinstance(s, Tensor)))
        quiet = [r for r, mark in zip(results, traced._marks) if not mark]
        ctx.mark_non_differentiable(*quiet)
        return tuple(results)

    @staticmethod
    def backward(ctx, *gradients):
        traced, tensors = ctx.traced, iter(ctx.saved_tensors)
        saved = [next(tensors) if other is None else other for other in ctx.others]
        tangents = [g for g, mark in zip(gradients, traced._marks) if mark]
        given = iter(_called(traced._backward, [*saved, *tangents]))
        return None, *(next(given) if learns else None for learns in traced._learning)


def aot_module(mod: Module, *args, **kwargs) -> Module:
    """A module like `mod` whose forward is an `aot_function`, with the
    parameters and buffers of `mod`.

    Args:
        mod: the module.
        *args: those of `aot_function` behind the function.
        **kwargs: those of `aot_function` by name.
    """
    from ..func import functional_call

    def call(named, inputs, keywords):
        return functional_call(mod, named, inputs, keywords)

    compiled = aot_function(call, *args, **kwargs)

    class AOTModule(Module):
        def __init__(self) -> None:
            super().__init__()
            self.orig_module = mod

        def forward(self, *inputs, **keywords):
            named = {**dict(mod.named_parameters()), **dict(mod.named_buffers())}
            return compiled(named, inputs, keywords)

    return AOTModule()


compiled_module = aot_module
