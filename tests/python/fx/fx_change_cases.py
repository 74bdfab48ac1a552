"""Cases of what is done to graphs, and of what is refused."""

from __future__ import annotations

import warnings

import fx_programs
import outcomes
from fx_programs import importable


def _refused(program):
    def case(lib):
        return importable(lib).fx.symbolic_trace(program).code

    return case


def _graph(lib):
    graph = importable(lib).fx.Graph()
    x, y = graph.placeholder("x"), graph.placeholder("y")
    z = graph.call_function(lib.relu, (x,))
    graph.output(z)
    return graph, x, y, z


def _erase_used(lib):
    graph, x, _, _ = _graph(lib)
    graph.erase_node(x)


def _erase_foreign(lib):
    graph, *_ = _graph(lib)
    graph.erase_node(_graph(lib)[1])


def _foreign_place(lib):
    graph, *_ = _graph(lib)
    graph.inserting_before(_graph(lib)[1])


def _foreign_move(lib):
    _graph(lib)[1].append(_graph(lib)[1])


def _unknown_kind(lib):
    importable(lib).fx.Graph().create_node("foo", "x")


def _wrong_target(lib):
    importable(lib).fx.Graph().call_function("x")


def _list_of_arguments(lib):
    importable(lib).fx.Graph().create_node("placeholder", "x", args=[1])


def _order(lib):
    graph, x, _, z = _graph(lib)
    x.prepend(z)
    try:
        graph.lint()
    except RuntimeError as error:
        return str(error).splitlines()[0]


def _copied_without_map(lib):
    graph, *_ = _graph(lib)
    copied = importable(lib).fx.Graph()
    for node in graph.nodes:
        copied.node_copy(node)
    try:
        copied.lint()
    except RuntimeError as error:
        return str(error).splitlines()[0]


def _no_such_child(lib):
    found = importable(lib)
    graph = found.fx.Graph()
    graph.output(graph.call_module("a.b", (graph.placeholder("x"),)))
    found.fx.GraphModule({}, graph)


def _wrong_root(lib):
    importable(lib).fx.GraphModule(3, _graph(lib)[0])


def _not_a_graph(lib):
    module = importable(lib).fx.GraphModule({}, _graph(lib)[0])
    module.graph = 3


def _mutable(lib):
    found = importable(lib)

    class Strict(found.fx.Tracer):
        check_mutable_operations = True

    Strict().trace(lambda x: lib.relu_(x))


def _missing_input(lib):
    found = importable(lib)
    module = found.fx.symbolic_trace(lambda x, y: x + y)
    found.fx.Interpreter(module).run(1)


def _failing_node(lib):
    found = importable(lib)
    module = found.fx.symbolic_trace(lambda x: x.foo)
    found.fx.Interpreter(module).run(1)


def _wrap_inside(lib):
    importable(lib).fx.wrap("len")


def _no_mutation(lib):
    importable(lib).collections.immutable_list([1]).append(2)


def _foreign_parameter(lib):
    p = lib.nn.Parameter(lib.ones(2))
    importable(lib).fx.symbolic_trace(lambda x: x + p)


def _too_few_concrete(lib):
    found = importable(lib)
    found.fx.symbolic_trace(lambda x, y: x, concrete_args=(found.trace.PH,))


def _edited(lib):
    graph, x, y, z = _graph(lib)
    with graph.inserting_before(z):
        first = graph.call_function(lib.neg, (y,))
        graph.call_method("tanh", (first,))
    with graph.inserting_after(z):
        graph.call_function(lib.sin, (first,))
    z.args = (first,)
    texts = [str(graph)]
    texts.append([[n.name, [u.name for u in n.users]] for n in graph.nodes])
    z.replace_input_with(first, x)
    y.replace_all_uses_with(x)
    texts.append(str(graph))
    texts.append([graph.eliminate_dead_code(), str(graph)])
    texts.append([graph.eliminate_dead_code(), x < z, z < x, x > y])
    return texts


def _transformed(lib):
    found = importable(lib)
    module = found.fx.symbolic_trace(fx_programs.network(lib))

    class Swap(found.fx.Transformer):
        def call_function(self, target, args, kwargs):
            target = lib.tanh if target is lib.sigmoid else target
            return super().call_function(target, args, kwargs)

    made = Swap(module).transform()
    x = outcomes.tensor(lib, 2, 3)
    return [made.code, made(x), found.fx.Interpreter(made).run(x)]


def _submodules(lib):
    module = importable(lib).fx.symbolic_trace(fx_programs.network(lib))
    steps = [
        module.add_submodule("lin.a.b", lib.nn.ReLU()),
        module.add_submodule("lin.weight.b", lib.nn.ReLU()),
        module.delete_submodule("lin.q"),
        module.delete_submodule("lin.a.b"),
        module.delete_submodule("lin.weight"),
    ]
    module.delete_all_unused_submodules()
    return [steps, [name for name, _ in module.named_modules()]]


def _replaced(lib):
    found = importable(lib)

    def program(x, y):
        a = lib.relu(x + y) + lib.relu(y + 1)
        return lib.neg(a) + lib.relu(a + x)

    module = found.fx.symbolic_trace(program)
    matches = found.fx.replace_pattern(
        module, lambda a, b: lib.relu(a + b), lambda a, b: lib.sigmoid(a) * b
    )
    module.graph.lint()
    return [module.code, [[m.anchor.name, len(m.nodes_map)] for m in matches]]


def _not_replaced(lib):
    found = importable(lib)

    def program(x):
        y = x + 1
        return lib.relu(y) * y

    module = found.fx.symbolic_trace(program)
    matches = found.fx.replace_pattern(
        module, lambda a: lib.relu(a + 1), lambda a: lib.neg(a)
    )
    return [module.code, len(matches)]


def _split(lib):
    found = importable(lib)
    module = found.fx.symbolic_trace(fx_programs.network(lib))
    seen = {}
    names = {}

    def part_of(node):
        return seen.setdefault(node, len(seen)) // 4

    parts = found.split.split_module(module, module, part_of, names)
    x = outcomes.tensor(lib, 2, 3)
    texts = [child.code for _, child in parts.named_children()]
    return [parts.code, texts, names, parts(x)]


def _folded(lib):
    found = importable(lib)

    class Program(lib.nn.Module):
        def __init__(self):
            super().__init__()
            self.a = lib.nn.Parameter(outcomes.tensor(lib, 2))

        def forward(self, x):
            b = self.a * 2
            return (x + b) * self.a - b.sin()

    with warnings.catch_warnings():
        # PyTorch's own nodes make it warn.
        warnings.simplefilter("ignore")
        folded = found.fold.split_const_subgraphs(Program())
    x = outcomes.tensor(lib, 2, start=3)
    return [folded.code, folded(x), len(folded._FX_CONST_FOLDED_ATTRS)]


def _shapes(lib):
    found = importable(lib)
    module = found.fx.symbolic_trace(fx_programs.network(lib))
    found.shape_prop.ShapeProp(module).propagate(outcomes.tensor(lib, 2, 3))
    return {
        n.name: [list(m.shape), str(m.dtype), m.requires_grad, list(m.stride)]
        for n in module.graph.nodes
        for m in [n.meta.get("tensor_meta")]
        if n.op != "output" and m is not None
    }


def _asserts(lib):
    found = importable(lib)
    tracer = found.rewriter.RewritingTracer()
    graph = tracer.trace(_Asserting.make(lib))
    return str(graph)


class _Asserting:
    @staticmethod
    def make(lib):
        import fx_asserting

        return fx_asserting.module_of(lib)


def _code_lines(lib):
    module = importable(lib).fx.symbolic_trace(lambda x: x.sin() + 1)
    module.graph.on_generate_code(lambda _: lambda body: ["a = 1\n", *body])
    module.recompile()
    return [module.code, module._lineno_map]


CASES = {
    "loop": _refused(lambda x: [i for i in x]),  # noqa: C416
    "condition": _refused(lambda x: 1 if x else 2),
    "len": _refused(lambda x: len(x)),
    "int": _refused(lambda x: int(x)),
    "in": _refused(lambda x: 3 in x),
    "dict key": _refused(lambda x: {x: 1}),
    "object": _refused(lambda x: x.foo(object())),
    "no function": _refused(3),
    "erase used": _erase_used,
    "erase foreign": _erase_foreign,
    "foreign place": _foreign_place,
    "foreign move": _foreign_move,
    "unknown kind": _unknown_kind,
    "wrong target": _wrong_target,
    "list of arguments": _list_of_arguments,
    "order": _order,
    "copied without map": _copied_without_map,
    "no such child": _no_such_child,
    "wrong root": _wrong_root,
    "not a graph": _not_a_graph,
    "mutable": _mutable,
    "missing input": _missing_input,
    "failing node": _failing_node,
    "wrap inside": _wrap_inside,
    "no mutation": _no_mutation,
    "foreign parameter": _foreign_parameter,
    "too few concrete": _too_few_concrete,
    "edited": _edited,
    "transformed": _transformed,
    "submodules": _submodules,
    "replaced": _replaced,
    "not replaced": _not_replaced,
    "split": _split,
    "folded": _folded,
    "shapes": _shapes,
    "asserts": _asserts,
    "code lines": _code_lines,
}


def _annotated_twice(lib):
    import importlib

    annotate = importlib.import_module(f"{lib.__name__}.fx.annotate").annotate
    fx = importable(lib).fx
    fx.symbolic_trace(lambda x: annotate(annotate(x, int), float))


CASES["annotated twice"] = _annotated_twice
