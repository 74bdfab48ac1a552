"""Loops and branches of `torch._higher_order_ops` in programs that are
exported here: run from memory and from the file.
"""

import copy
import io
import json
import pickle
import zipfile

import pytest
from hotaru._dynamo.exc import UncapturedHigherOrderOpError
from hotaru._higher_order_ops import associative_scan, map, scan, while_loop
from hotaru.export import Dim, export, load, save

import hotaru as torch
from hotaru import nn


class Program(nn.Module):
    """A function of a module with a parameter."""

    def __init__(self, function):
        super().__init__()
        self.function = function
        self.w = nn.Parameter(torch.linspace(-1, 1, 4))

    def forward(self, x):
        return self.function(self.w, x)


def containers(w, x):
    return map(lambda row: {"a": row * w, "none": None, "v": row[:2]}, x)


def arguments(w, x):
    return map(lambda row, a, b, n: row * a + b["q"] * n, x, w, {"q": x.sum()}, 2.5)


def sizes(w, x):
    return map(lambda row: row * x.shape[0] + x.shape[1], x)


def running(w, x):
    def combine(carry, row):
        total, count = carry
        return (total * 0.5 + row, count + 1), (total * row, row.max())

    first = torch.zeros(4), torch.zeros((), dtype=torch.int64)
    return scan(combine, first, x)


def backwards(w, x):
    return scan(
        lambda c, column: (c + column, (column * c, None, c.sum())),
        torch.zeros(x.shape[0]),
        x,
        dim=1,
        reverse=True,
    )


def passed_on(w, x):
    return scan(lambda c, row: (c, row), w, x)


def last_alone(w, x):
    return scan(lambda c, row: (c + row, row * 2), torch.zeros(4), x)[0]


def rows_alone(w, x):
    return scan(lambda c, row: (c + row, row * 2), torch.zeros(4), x)[1]


def constants(w, x):
    return scan(
        lambda c, row: (c * torch.tensor(0.5) + row, torch.ones(2)),
        torch.tensor([1.0, 2.0, 3.0, 4.0]),
        x,
    )


def within(w, x):
    def row_of(row):
        return scan(lambda c, e: (c + e * w.sum(), c * e), torch.zeros(()), row)[1]

    return map(row_of, x)


def map_in_cond(w, x):
    return torch.cond(
        x.sum() > 0, lambda x: map(lambda r: r * w, x), lambda x: x - 1, (x,)
    )


def cond_in_map(w, x):
    def row_of(row):
        return torch.cond(row.sum() > 0, lambda r: r * w, lambda r: r - 1, (row,))

    return map(row_of, x)


def without_gradients(w, x):
    def row_of(row):
        with torch.no_grad():
            y = row * w
        return y + row

    with torch.no_grad():
        first = map(lambda row: row * w, x)
    return first, map(row_of, x)


def changed_before(w, x):
    y = x.clone()
    y.add_(1)
    return map(lambda row: row * 2, y), y


def loop(w, x):
    def test(i, state):
        return i < state["n"].abs().sum() + w.sum() * 0

    def body(i, state):
        grown = [state["m"][0] + w * x.shape[0]]
        return i + 1, {"n": state["n"] * 0.5, "m": grown}

    return while_loop(test, body, (torch.tensor(0), {"n": x, "m": [w]}))


def loop_of_one(w, x):
    return while_loop(lambda x: x.sum() < 100, lambda x: (x * 2 + 1,), (x.abs(),))


WHOLE = [
    containers,
    arguments,
    sizes,
    running,
    backwards,
    passed_on,
    last_alone,
    rows_alone,
    constants,
    within,
    map_in_cond,
    cond_in_map,
    without_gradients,
    changed_before,
    loop,
    loop_of_one,
]


def saved(program):
    file = io.BytesIO()
    save(program, file)
    file.seek(0)
    return file


def graph_of(program) -> dict:
    with zipfile.ZipFile(saved(program)) as archive:
        name = next(n for n in archive.namelist() if n.endswith("model.json"))
        return json.loads(archive.read(name))["graph_module"]["graph"]


def exported(function, **options):
    model = Program(function)
    return model, export(model, (torch.ones(3, 4),), **options)


@pytest.mark.parametrize("function", WHOLE)
def test_loops_are_written_for_all_sizes(function):
    model, program = exported(
        function, dynamic_shapes=({0: Dim("rows", min=2, max=64)},)
    )
    modules = [program.module(), load(saved(program)).module()]
    generator = torch.Generator().manual_seed(0)
    for count in (3, 5, 2):
        x = torch.randn(count, 4, generator=generator)
        for given in (x, x.abs(), -x.abs()):
            wanted = model(given)
            for module in modules:
                torch.testing.assert_close(module(given), wanted)


def test_what_is_used_of_the_program_around_learns():
    model, program = exported(running)
    module = program.module()
    assert [n for n, _ in module.named_parameters()] == ["w"]
    model, program = exported(arguments)
    x = torch.linspace(-1, 2, 12).view(3, 4)
    grads = []
    for one in (model, program.module(), load(saved(program)).module()):
        (weight,) = one.parameters()
        grads.append(torch.autograd.grad(one(x).square().sum(), weight)[0])
    torch.testing.assert_close(grads[1], grads[0])
    torch.testing.assert_close(grads[2], grads[0])


def test_a_map_is_one_node_with_rows_first():
    _, program = exported(arguments)
    graph = graph_of(program)
    (node,) = [n for n in graph["nodes"] if "higher_order" in n["target"]]
    assert node["target"] == "torch.ops.higher_order.map_impl"
    body, rows, rest = (x["arg"] for x in node["inputs"])
    inner = body["as_graph"]["graph"]
    names = [x["as_tensor"]["name"] for x in inner["inputs"]]
    assert len(rows["as_tensors"]) == 1
    assert len(names) == 1 + len(rest["as_tensors"]) == 3
    looks = inner["tensor_values"][names[0]]
    assert [s["as_int"] for s in looks["sizes"]] == [4]
    result = graph["tensor_values"][node["outputs"][0]["as_tensor"]["name"]]
    assert [s["as_int"] for s in result["sizes"]] == [3, 4]


def test_a_condition_gives_its_result_alone():
    """PyTorch's loop asks for a tensor there, the body's for a tuple."""
    _, program = exported(loop_of_one)
    graph = graph_of(program)
    (node,) = [n for n in graph["nodes"] if "while_loop" in n["target"]]
    test, body, carried, rest = (x["arg"] for x in node["inputs"])
    assert test["as_graph"]["graph"]["is_single_tensor_return"]
    assert not body["as_graph"]["graph"]["is_single_tensor_return"]
    assert len(carried["as_tensors"]) == 1
    assert rest["as_tensors"] == []


def test_results_of_graphs_share_no_memory():
    """PyTorch's passes refuse graphs that give an input, or one thing twice."""
    _, program = exported(lambda w, x: scan(lambda c, row: (c, (row[:2], c)), w, x))
    (body,) = program.graph_module.children()
    (results,) = next(n for n in body.graph.nodes if n.op == "output").args
    assert len(set(results)) == 3
    assert all("clone" in str(node.target) for node in results)


def test_associative_scan_is_unrolled():
    model, program = exported(
        lambda w, x: associative_scan(
            lambda a, b: a * b + a, x, 1, combine_mode="generic"
        )
    )
    x = torch.linspace(-1, 2, 12).view(3, 4)
    assert not [n for n in program.graph.nodes if "scan" in str(n.target)]
    for module in (program.module(), load(saved(program)).module()):
        torch.testing.assert_close(module(x), model(x))


def test_programs_with_loops_are_exported_again():
    model, program = exported(loop)
    again = export(program.module(), (torch.ones(3, 4),))
    assert "while_loop" in str(again.graph)
    x = torch.linspace(-1, 2, 12).view(3, 4)
    torch.testing.assert_close(again.module()(x), model(x))


def test_copies_and_pickles_of_programs_run():
    model, program = exported(map_in_cond)
    x = torch.linspace(-1, 2, 12).view(3, 4)
    wanted = model(x)
    # The checks of arguments are hooks that take keywords, in a copy as well.
    copied = copy.deepcopy(program.module())
    torch.testing.assert_close(copied(x), wanted)
    with pytest.raises(AssertionError, match="Guard failed"):
        copied(x[:2])
    # A graph is traced when it is unpickled; the operators stay whole.
    graph = pickle.loads(pickle.dumps(program.graph_module))
    assert [str(n.target) for n in graph.graph.nodes] == [
        str(n.target) for n in program.graph.nodes
    ]
    torch.testing.assert_close(graph(model.w, x)[0], wanted)


def test_loops_that_cannot_be_written():
    with pytest.raises(UncapturedHigherOrderOpError, match="input mutation"):
        exported(lambda w, x: map(lambda row: row.mul_(2), x))
    with pytest.raises(UncapturedHigherOrderOpError, match=r"float32 vs .*64"):
        exported(lambda w, x: scan(lambda c, r: (c.double(), r), w, x))
    with pytest.raises(NotImplementedError, match="carries a number"):
        exported(
            lambda w, x: while_loop(
                lambda i, x: i < 3, lambda i, x: (i + 1, x * 2), (0, x)
            )
        )
    kept = []
    with pytest.raises(RuntimeError, match="used outside of it; return it"):
        exported(lambda w, x: map(lambda r: kept.append(r) or r, x) + kept[0])
