"""`export` of compiled modules: archives, ONNX models, programs."""

from __future__ import annotations

import copy
import io
import math
from typing import List, Union  # noqa: UP035 - scripts know these spellings

import onnx_bytes as ob
import pytest
from hotaru.export import DataDependentError, Dim, export

import hotaru as torch


def loaded(module: torch.nn.Module):
    """As an archive gives it back."""
    file = io.BytesIO()
    torch.jit.save(torch.jit.script(module.eval()), file)
    file.seek(0)
    return torch.load_program(file)


def saved(program):
    file = io.BytesIO()
    torch.export.save(program, file)
    file.seek(0)
    return torch.export.load(file).module()


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(4, 4)
        self.norm = torch.nn.BatchNorm1d(4)
        self.step = torch.nn.Parameter(torch.tensor(0.5))

    def forward(self, x: torch.Tensor, scale: float = 2.0):
        y = self.norm(self.fc(x)) * scale
        out = [y]
        for i in range(2):
            out.append(out[i] + self.step * x.size(0))
        sizes = torch.tensor([x.size(0), x.dim()])
        same = x.dtype == torch.float32
        return {"y": torch.cat(out, 1), "n": sizes, "t": y.to(torch.float64)}, same


@pytest.mark.parametrize("batch", [3, 5])
def test_results_sizes_and_state(batch):
    torch.manual_seed(3)
    net = Net()
    script = loaded(net)
    program = export(
        script, (torch.ones(3, 4),), dynamic_shapes={"x": {0: Dim("batch")}}
    )
    assert set(program.state_dict) == set(net.state_dict())
    x = torch.randn(batch, 4)
    expected, same = script(x)
    for run in (program.module(), saved(program)):
        found, also = run(x)
        assert also == same
        assert found.keys() == expected.keys()
        for key, tensor in expected.items():
            assert found[key].dtype == tensor.dtype
            assert torch.equal(found[key], tensor)
    # Calls of PyTorch's, without what their schemas say anyway.
    targets = [str(n.target) for n in program.graph.nodes if n.op != "output"]
    assert "aten.linear.default" in targets
    assert not [n for n in program.graph.nodes if n.kwargs.get("alpha") == 1]


def test_gradients_reach_the_compiled_module():
    script = loaded(Net())
    run = export(script, (torch.ones(2, 4),)).module()
    run(torch.randn(2, 4))[0]["y"].sum().backward()
    # Once for each of the two sums, for each of 2 x 4 elements and the size.
    assert script.step.grad.item() == 2 * 8 * 2 + 8 * 2


class Containers(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 2)

    def forward(self, named, pair, *, scale):
        return {"y": self.layer(named["x"]) + pair[0], "z": (pair[1] * scale,)}


def test_a_loaded_program_keeps_its_containers():
    given = {"x": torch.randn(3, 4)}, (torch.ones(2), torch.ones(3))
    by_name = {"scale": torch.tensor(2.0)}
    batch = torch.export.Dim("batch")
    shapes = {"named": {"x": {0: batch}}, "pair": (None, None), "scale": None}
    model = Containers()
    first = export(model, given, by_name, dynamic_shapes=shapes)
    read = saved(first)
    again = export(read, given, by_name)
    for run in (again.module(), saved(again)):
        found = run(*given, **by_name)
        assert torch.equal(found["y"], model(*given, **by_name)["y"])
        assert torch.equal(found["z"][0], torch.full((3,), 2.0))
    again.module()(*given, **by_name)["y"].sum().backward()
    assert read.layer.weight.grad is not None


By = Union[torch.Tensor, float, List[int]]  # noqa: UP006 - scripts know it


class Telling(torch.nn.Module):
    def forward(self, x: torch.Tensor, by: By):
        if isinstance(by, float):
            return x.short() * math.log2(by) - math.fmod(by, 3.0)
        if isinstance(by, torch.Tensor):
            return x + by
        by.extend([7, math.floor(2.5)])
        by.insert(0, 3 << 2)
        return x * len(by) + by.pop() + by[0]


class Choosing(torch.nn.Module):
    def forward(self, x: torch.Tensor):
        positive = bool(x.sum() > 0)
        if not positive:
            x, flag = x * 2, True
        else:
            x, flag = torch.sin(x), False
        if flag:
            x = x - 1
        return x


@pytest.mark.parametrize("by", [8.0, torch.tensor(0.5), [1, 2]])
def test_questions_for_types_and_functions_of_numbers(by):
    script = loaded(Telling())
    x = torch.tensor([2.5, -1.5])
    want = script(x, copy.copy(by))
    assert torch.equal(saved(export(script, (x, copy.copy(by))))(x, by), want)


@pytest.mark.parametrize("value", [-2.0, 2.0])
def test_branches_on_data(value):
    script = loaded(Choosing())
    run = saved(export(script, (torch.ones(3),)))
    x = torch.full((3,), value)
    assert torch.equal(run(x), script(x))


class Until(torch.nn.Module):
    def forward(self, x: torch.Tensor):
        while bool(x.sum() < 10):
            x = x + 1
        return x


class Number(torch.nn.Module):
    def forward(self, x: torch.Tensor):
        return x[: int(x.sum())]


@pytest.mark.parametrize(
    ("module", "text"),
    [(Until, "a loop whose end depends on data"), (Number, "data-dependent")],
)
def test_what_depends_on_data_names_its_line(module, text):
    script = loaded(module())
    with pytest.raises((NotImplementedError, DataDependentError)) as error:
        export(script, (torch.ones(3),))
    assert text in str(error.value)
    assert "code/__torch__" in str(error.value)


def test_an_onnx_model():
    model = ob.model(
        ob.graph(
            [
                ob.node("MatMul", ["x", "w"], ["h"]),
                ob.node("Shape", ["h"], ["s"]),
                ob.node("Gather", ["s", "zero"], ["rows"]),
                ob.node("Cast", ["rows"], ["count"], to=ob.FLOAT),
                ob.node("Div", ["h", "count"], ["y"]),
            ],
            [ob.value_info("x", dims=["n", 3])],
            ["y"],
            [
                ob.tensor("w", ob.FLOAT, [3, 2], [1, 2, 3, 4, 5, 6]),
                ob.tensor("zero", ob.INT64, [], [0]),
            ],
        )
    )
    script = torch.load_program(io.BytesIO(model))
    program = export(script, (torch.ones(2, 3),), dynamic_shapes=({0: Dim("n")},))
    x = torch.randn(7, 3)
    assert torch.equal(saved(program)(x), script(x))


def int64(name, values):
    return ob.tensor(name, ob.INT64, [len(values)], values)


# Sizes and numbers that files compute with tensors: nodes, constants.
_OF_NUMBERS = {
    "reshape_through_int32": (
        [
            ob.node("Shape", ["x"], ["s"]),
            ob.node("Cast", ["s"], ["i"], to=ob.INT32),
            ob.node("Slice", ["i", "begin", "end"], ["n"]),
            ob.node("Concat", ["n", "k"], ["j"], axis=0),
            ob.node("Cast", ["j"], ["t"], to=ob.INT64),
            ob.node("Reshape", ["x", "t"], ["y"]),
        ],
        [
            int64("begin", [0]),
            int64("end", [1]),
            ob.tensor("k", ob.INT32, [2], [2, -1]),
        ],
    ),
    "sizes_through_float32": (
        [
            ob.node("Shape", ["x"], ["s"]),
            ob.node("Cast", ["s"], ["f"], to=ob.FLOAT),
            ob.node("Mul", ["f", "half"], ["h"]),
            ob.node("Floor", ["h"], ["g"]),
            ob.node("Cast", ["g"], ["t"], to=ob.INT64),
            ob.node("Slice", ["x", "zero", "t", "axes"], ["y"]),
        ],
        [
            ob.tensor("half", ob.FLOAT, [1], [0.7]),
            int64("zero", [0, 0]),
            int64("axes", [0, 1]),
        ],
    ),
    "expand_chosen_by_where": (
        [
            ob.node("Shape", ["x"], ["s"]),
            ob.node("Equal", ["t", "m1"], ["e"]),
            ob.node("Where", ["e", "s", "t"], ["o"]),
            ob.node("Expand", ["b", "o"], ["p"]),
            ob.node("Add", ["x", "p"], ["y"]),
        ],
        [
            int64("t", [-1, 4]),
            int64("m1", [-1]),
            ob.tensor("b", ob.FLOAT, [1, 1], [0.5]),
        ],
    ),
    "range_of_constants": (
        [ob.node("Range", ["a", "n", "d"], ["r"]), ob.node("Mul", ["x", "r"], ["y"])],
        [
            ob.tensor("a", ob.FLOAT, [], [0.0]),
            ob.tensor("n", ob.FLOAT, [], [2.0]),
            ob.tensor("d", ob.FLOAT, [], [0.5]),
        ],
    ),
    "target_of_two_dimensions": (
        [
            ob.node("Shape", ["x"], ["s"]),
            ob.node("Reshape", ["s", "two"], ["m"]),
            ob.node("ReduceProd", ["m"], ["p"], axes=[1], keepdims=0),
            ob.node("Concat", ["p", "one"], ["t"], axis=0),
            ob.node("Reshape", ["x", "t"], ["y"]),
        ],
        [int64("two", [1, 2]), int64("one", [1])],
    ),
    "names_of_methods": (
        [ob.node("Mul", ["x", "half"], ["y"])],
        [ob.tensor("half", ob.INT32, [1], [3])],
    ),
    "resize": (
        [
            ob.node("Unsqueeze", ["x", "front"], ["z"]),
            ob.node(
                "Resize",
                ["z", "", "", "size"],
                ["y"],
                mode="linear",
                coordinate_transformation_mode="half_pixel",
            ),
        ],
        [int64("front", [0, 1]), int64("size", [1, 1, 6, 5])],
    ),
}


@pytest.mark.parametrize("name", _OF_NUMBERS)
def test_numbers_that_an_onnx_model_computes_with_tensors(name):
    nodes, constants = _OF_NUMBERS[name]
    kind = ob.INT32 if name == "names_of_methods" else ob.FLOAT
    info = ob.value_info("x", kind, [3, 4])
    graph = ob.graph(nodes, [info], ["y"], constants)
    script = torch.load_program(io.BytesIO(ob.model(graph, opset=17)))
    x = torch.arange(12.0).view(3, 4)
    if kind == ob.INT32:
        x = x.to(torch.int32)
    want = script(x)
    assert want.dtype == x.dtype
    assert torch.equal(saved(export(script, (x,)))(x), want)


class Changed(torch.nn.Module):
    """Numbers of the program that become data."""

    def forward(self, x: torch.Tensor):
        sizes = torch.tensor([1, 2])
        part = sizes[:1]
        sizes.add_(x)
        items: list[int] = part.tolist()
        return torch.zeros(items)


class Own(torch.nn.Module):
    """Numbers that the program changes itself."""

    def forward(self, x: torch.Tensor):
        sizes = torch.tensor([1, 2])
        part = sizes[:1]
        sizes.add_(2)
        items: list[int] = part.tolist()
        return x + torch.zeros(items)


def test_numbers_that_were_changed():
    x = torch.ones(3)
    assert torch.equal(saved(export(loaded(Own()), (x,)))(x), x)
    script = loaded(Changed())
    with pytest.raises(NotImplementedError, match="only the run knows"):
        export(script, (torch.ones(2, dtype=torch.int64),))


def test_the_command_fails_in_one_line(monkeypatch, capsys):
    from hotaru.export import __main__ as command

    def fails(options):
        raise AttributeError("of its insides")

    monkeypatch.setattr(command, "_convert", fails)
    monkeypatch.setattr("sys.argv", ["command", "m.onnx", "m.pt2"])
    assert command.main() == 1
    said = "hotaru: m.onnx cannot be written as .pt2: of its insides\n"
    assert capsys.readouterr().err == said
