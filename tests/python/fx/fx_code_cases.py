"""Cases of graphs, their text and their code."""

from __future__ import annotations

import copy
import operator
import pickle
import typing

import fx_programs
import outcomes
from fx_programs import importable


def _written(module) -> list:
    graph = module.graph
    return [
        module.code,
        str(graph),
        [n.name for n in graph.nodes],
        sorted(graph.python_code("self").globals),
    ]


def _traced(program, **options):
    def case(lib):
        return _written(importable(lib).fx.symbolic_trace(program, **options))

    return case


def _network(lib):
    module = importable(lib).fx.symbolic_trace(fx_programs.network(lib))
    x = outcomes.tensor(lib, 2, 3)
    return [
        *_written(module),
        str(module),
        module(x),
        module.print_readable(print_output=False),
        module._lineno_map,
    ]


def _copies(lib):
    module = importable(lib).fx.symbolic_trace(fx_programs.network(lib))
    x = outcomes.tensor(lib, 2, 3)
    copied = copy.deepcopy(module)
    loaded = pickle.loads(pickle.dumps(module))
    return [*_written(copied), *_written(loaded), loaded(x), copied(x)]


_NAMES = [
    *("x", "X", "self", "add", "int", "torch", "a.b", "class", "1a", "x_1"),
    *("x_1", "x", "inf", "HTTPServer", "_x", "__y__", "Tensor", "x_2_3"),
    *("x_2_3", "*args", "**kw", "ALL_CAPS", "aB1C", "lambda", "getattr"),
    "x_01",
]


def _names(lib):
    graph = importable(lib).fx.Graph()
    return [
        [
            graph.placeholder(name).name,
            graph.create_node("call_module", name).name,
            graph.call_function(operator.add, (), name=name).name,
        ]
        for name in _NAMES
    ]


def _functions(lib):
    found = importable(lib)
    functions = [
        lib.relu,
        lib.Tensor.add,
        operator.add,
        lib.nn.functional.relu,
        lib.nn.functional.linear,
        lib.nn.functional.gelu,
        len,
        getattr,
        lib.fft.fft,
        lib.nn.ReLU,
        lib.Size,
        lib._assert,
        operator.getitem,
        operator.not_,
        slice,
        lib.ops.aten.relu,
        lib.conv2d,
        lib.einsum,
        lib.ops.aten.add.Tensor,
    ]
    graph = found.fx.Graph()
    x = graph.placeholder("x")
    shown = []
    for function in functions:
        node = graph.call_function(function, (x, 2))
        shown.append([node.name, node._pretty_print_target(function)])
    graph.output(x)
    return [shown, graph.python_code("self").src]


_TYPES = [
    typing.List[int],
    int,
    typing.Dict[str, typing.List[int]],
    typing.Any,
    typing.Optional[int],
    typing.Union[int, str],
    typing.Tuple[int, str],
    type(None),
    tuple,
    "text",
    list,
]


def _types(lib):
    found = []
    for kind in [*_TYPES, lib.Tensor, typing.List[lib.Tensor]]:
        graph = importable(lib).fx.Graph()
        x = graph.placeholder("x", type_expr=kind)
        y = graph.call_function(lib.relu, (x,), type_expr=kind)
        graph.output(y, type_expr=kind)
        found.append([graph.python_code("self").src, str(graph)])
    return found


def _arguments(lib):
    graph = importable(lib).fx.Graph()
    x = graph.placeholder("x", default_value=float("inf"))
    y = graph.call_function(
        lib.add,
        (x, [x, (x,), {"a": x, "b": slice(x, None, 2)}, range(3), ...]),
        {"dtype": lib.float32, "device": lib.device("cpu"), "n": float("nan")},
    )
    graph.call_method("foo", (y, lib.Size([1, 2]), "s", None, True))
    graph.call_module("a.0.b", (y,))
    graph.get_attr("c.1")
    graph.output((x, y))
    return [graph.python_code("self").src, str(graph)]


def _in_place(lib):
    graph = fx_programs.in_place(lib)
    return [graph.python_code("self").src, str(graph)]


def _no_output(lib):
    graph = importable(lib).fx.Graph()
    empty = graph.python_code("self").src
    graph.call_function(lib.relu, (graph.placeholder("a"),))
    return [empty, graph.python_code("self").src, str(graph)]


class _Function:
    def __init__(self, text: str) -> None:
        self._text = text

    def __call__(self, lib):
        scope = {"T": lib, "F": lib.nn.functional}
        function = eval(f"lambda x, y: {self._text}", scope)
        return str(importable(lib).fx.symbolic_trace(function).graph)


_CALLS = """
F.relu(x)|F.softmax(x, -1)|F.dropout(x, 0.3)|F.max_pool2d(x, 2)
F.layer_norm(x, (3,))|F.linear(x, y)|F.conv2d(x, y, padding=1)
T.max(x, 0)[0]|T.norm(x)|T.einsum('i,i', x, y)|T.ones(2) + x|T.ones(2) - x
T.ones(2) / x|x.foo.bar(1)|x.keys()|x(3)|x.data|T.sum(x, dim=(1, 2))
T.ones(2) // x|T.stack([x, y])|F.cross_entropy(x, y)|F.gelu(x)
""".replace("\n", "|").split("|")


def _concrete(value, name="val"):
    def case(lib):
        def program(x, val=None, flag=True, n=3):
            return x if val is None else x + val

        fx = importable(lib).fx
        return _written(fx.symbolic_trace(program, {name: value}))

    return case


def _trees(lib):
    found = importable(lib)
    hole = found.trace.PH

    def program(x):
        return {"s": x["a"] + x["b"][1], "t": [x["b"][0]]}

    module = found.fx.symbolic_trace(
        program, concrete_args={"x": {"a": hole, "b": (hole, 3)}}
    )
    return [module.code, str(module.graph), module({"a": 1, "b": (2, 3)})]


def _signatures(lib):
    find = importable(lib).schemas.get_signature_for_torch_op
    inputs = []
    for function in (lib.conv2d, lib.nn.functional.linear, lib.relu_, lib.std):
        first = find(function)[0]
        names = [str(p).replace("hotaru", "torch") for p in first.parameters]
        inputs.append(names)
    return [inputs, find(lib.nn.functional.relu)]


def _normal(lib):
    normalize = importable(lib).schemas.normalize_function
    x = outcomes.tensor(lib, 2)
    relu = lib.nn.functional.relu
    pool = lib.nn.functional.max_pool2d
    return [
        normalize(lib.add, (x, 3), {}, (lib.Tensor, int)),
        normalize(lib.relu, (x,), {}),
        normalize(lib.relu, (x,), {}, normalize_to_only_use_kwargs=True),
        normalize(relu, (x,), {}),
        normalize(pool, (x, 2), {}, None, None, True),
        normalize(len, (x,), {}),
        normalize(lib.add, (x,), {}),
    ]


def _stack(lib):
    module = importable(lib).fx.symbolic_trace(fx_programs.network(lib))
    return {
        n.name: [
            [path, entry[0], entry[1].__name__]
            for path, entry in n.meta["nn_module_stack"].items()
        ]
        for n in module.graph.nodes
        if n.meta.get("nn_module_stack")
    }


CASES = {
    "network": _network,
    "copies": _copies,
    "syntax": _traced(fx_programs.syntax),
    "typed": _traced(fx_programs.typed),
    "stars": _traced(fx_programs.stars),
    "unpacked": _traced(fx_programs.unpacked),
    "names": _names,
    "functions": _functions,
    "types": _types,
    "arguments": _arguments,
    "in place": _in_place,
    "no output": _no_output,
    "concrete None": _concrete(None),
    "concrete bool": _concrete(False, "flag"),
    "concrete int": _concrete(5, "n"),
    "concrete float": _concrete(2.5, "n"),
    "trees": _trees,
    "signatures": _signatures,
    "normal forms": _normal,
    "module stack": _stack,
    **{text: _Function(text) for text in _CALLS if text},
}


def _tensor_types(lib):
    import importlib

    types = importlib.import_module(f"{lib.__name__}.fx.tensor_type")
    dyn, tensor = types.Dyn, types.TensorType
    pairs = [
        (int, dyn),
        (dyn, int),
        (tensor((1, 2)), tensor((1, dyn))),
        (tensor((1, dyn)), tensor((1, 2))),
        (tensor((1, 2)), dyn),
        (tensor((1, 2)), tensor((1, 2, 3))),
        (tensor((1, 2)), int),
        (1, 2),
    ]
    relations = (types.is_consistent, types.is_more_precise)
    return [
        [repr(tensor((1, dyn))), tensor((1, 2)) == tensor((1, 2))],
        [[relation(*pair) for relation in relations] for pair in pairs],
    ]


def _annotated(lib):
    import importlib

    annotate = importlib.import_module(f"{lib.__name__}.fx.annotate").annotate

    def program(x):
        y = annotate(x, int)
        return annotate(y + 1, float)

    return _written(importable(lib).fx.symbolic_trace(program))


CASES["tensor types"] = _tensor_types
CASES["annotated"] = _annotated
