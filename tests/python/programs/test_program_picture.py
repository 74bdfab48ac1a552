"""`hotaru info FILE --picture`: programs drawn."""

from __future__ import annotations

import subprocess
import sys
import xml.etree.ElementTree as ET
from dataclasses import dataclass, field
from pathlib import Path

import onnx_bytes as ob
import pytest

import hotaru as torch

ROOT = Path(__file__).parents[3]
COMMAND = Path(sys.executable).with_name("hotaru")
SVG = "{http://www.w3.org/2000/svg}"


@dataclass
class Box:
    """A rectangle of the picture, with what is drawn in it."""

    name: str = ""
    notes: list[str] = field(default_factory=list)
    times: int = 1
    inside: list[Box] = field(default_factory=list)

    def find(self, name: str) -> Box:
        found = [b for b in self.inside if b.name == name]
        assert len(found) == 1, (name, [b.name for b in self.inside])
        return found[0]

    def all(self):
        for box in self.inside:
            yield box
            yield from box.all()


def boxes_of(group: ET.Element) -> list[Box]:
    """Rectangles in their order; a group belongs to the one before it."""
    found: list[Box] = []
    for element in group:
        if element.tag == SVG + "rect":
            found.append(Box())
        elif element.tag == SVG + "g":
            found[-1].inside = boxes_of(element)
        elif element.tag == SVG + "text" and found:
            box, text = found[-1], element.text or ""
            if element.get("text-anchor") == "end":
                box.times = int(text.removeprefix("×"))
            elif element.get("font-size") == "12":
                box.name = text
            else:
                box.notes.append(text)
    # Repeated boxes have a second one behind them, without words.
    return [b for b in found if b.name or b.inside]


def picture(path: Path) -> Box:
    out = path.with_suffix(".svg")
    done = subprocess.run(
        [str(COMMAND), "info", str(path), "--picture", str(out)],
        capture_output=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    sheet = ET.parse(out).getroot().find(SVG + "g")
    assert sheet is not None
    assert sheet.find(SVG + "text").text == path.name
    return Box("", [], 1, boxes_of(sheet.find(SVG + "g")))


def lines(path: Path) -> int:
    root = ET.parse(path.with_suffix(".svg")).getroot()
    return len(list(root.iter(SVG + "path")))


# --- TorchScript ---


class Block(torch.nn.Module):
    def __init__(self, width: int):
        super().__init__()
        self.a = torch.nn.Linear(4, width)
        self.b = torch.nn.BatchNorm1d(width)

    def forward(self, x: torch.Tensor, twice: bool):
        x = self.b(self.a(x))
        y = x + 1 if twice else torch.sin(x)
        return torch.relu(y)


class Net(torch.nn.Module):
    def __init__(self, widths):
        super().__init__()
        self.layers = torch.nn.ModuleList(map(Block, widths))
        self.head = torch.nn.Sequential(torch.nn.Linear(4, 2), torch.nn.ReLU())

    def forward(self, x: torch.Tensor, twice: bool = False):
        for layer in self.layers:
            x = layer(x, twice)
        return self.head(x), x


def archive(folder: Path, widths) -> Path:
    path = folder / "net.pt"
    torch.jit.save(torch.jit.script(Net(widths).eval()), str(path))
    return path


def test_modules_are_nested_and_repetitions_folded(tmp_path):
    top = picture(archive(tmp_path, [4] * 12))
    names = [b.name for b in top.inside]
    assert names == ["x", "twice", "layers", "head", "output[0]", "output[1]"]
    layers = top.find("layers")
    assert layers.notes[0] == "432 elements, 1.7 KB"
    (layer,) = layers.inside
    assert (layer.name, layer.times) == ("0 … 11", 12)
    assert [b.name for b in layer.inside] == [
        "a: linear",
        "b: batch_norm",
        "if",
        "relu",
    ]
    assert layer.find("a: linear").notes == ["weight float32[4, 4]", "bias float32[4]"]
    # In eval mode nothing is left of the other mode's branch.
    branches = layer.find("if").inside
    assert [b.name for b in branches] == ["then", "else"]
    assert [b.name for b in branches[0].inside] == ["add"]
    assert [b.name for b in branches[1].inside] == ["sin"]
    assert [b.name for b in top.find("head").inside] == ["0: linear", "1: relu"]


class Two(torch.nn.Module):
    """Layers of which one is wider, and a residual beside each."""

    def __init__(self):
        super().__init__()
        sizes = [8, 8, 8, 16, 8]
        self.up = torch.nn.ModuleList(torch.nn.Linear(8, n) for n in sizes)
        self.down = torch.nn.ModuleList(torch.nn.Linear(n, 8) for n in sizes)

    def forward(self, x: torch.Tensor):
        for up, down in zip(self.up, self.down):
            x = x + down(torch.relu(up(x)))
        return x


def test_what_differs_is_not_folded(tmp_path):
    path = tmp_path / "two.pt"
    torch.jit.save(torch.jit.script(Two().eval()), str(path))
    top = picture(path)
    rows = [b for b in top.inside if b.times > 1]
    assert [b.times for b in rows] == [3]
    assert [b.name for b in rows[0].inside] == [
        "up.0: linear",
        "relu",
        "down.0: linear",
        "add",
    ]
    # The residual's line goes around what is in between: input, three calls'
    # lines, the residual, the result; the rest stands outside.
    assert "up.3: linear" in [b.name for b in top.inside]
    assert lines(path) > 3 + 4 + 8


def test_what_does_not_compile_is_drawn(tmp_path):
    import zipfile

    made = archive(tmp_path, [4])
    path = tmp_path / "changed.pt"
    with zipfile.ZipFile(made) as old, zipfile.ZipFile(path, "w") as new:
        for record in old.infolist():
            data = old.read(record)
            if record.filename.endswith(".py"):
                data = data.replace(b"torch.batch_norm(", b"torch.no_such(")
            new.writestr(record.filename, data)
    drawn = list(picture(path).all())
    wrong = [b for b in drawn if b.notes and "no_such" in b.notes[0]]
    assert [b.name for b in wrong] == ["b: batch_norm"]
    assert "a: linear" in [b.name for b in drawn]


class Recursive(torch.nn.Module):
    def forward(self, x: torch.Tensor, n: int) -> torch.Tensor:
        if n > 0:
            x = self.forward(x * 2, n - 1)
        while bool(x.sum() < 10):
            x = x + 1
        return x


def test_recursion_and_loops(tmp_path):
    path = tmp_path / "recursive.pt"
    torch.jit.save(torch.jit.script(Recursive()), str(path))
    drawn = list(picture(path).all())
    names = [b.name for b in drawn]
    assert names.count("forward") == 1
    loop = next(b for b in drawn if b.name == "loop")
    assert [b.name for b in loop.find("each time").inside] == ["sum", "lt", "add"]


# --- ONNX ---


def layer(i: int) -> list[bytes]:
    def name(node: bytes, op: str) -> bytes:
        path = ob.field(3, f"/layers.{i}/{op}")
        return node.replace(ob.field(3, f"the_{op}"), path)

    into, out = f"h{i}", f"h{i + 1}"
    return [
        name(ob.node("MatMul", [into, f"w{i}"], [f"m{i}"]), "MatMul"),
        name(ob.node("Relu", [f"m{i}"], [f"r{i}"]), "Relu"),
        name(ob.node("Add", [f"r{i}", into], [out]), "Add"),
    ]


def onnx_model(count: int) -> bytes:
    inner = ob.graph([ob.node("Neg", ["t"], ["i"])], [], ["i"])
    other = ob.graph([ob.node("Twice", ["t"], ["j"], "mine")], [], ["j"])
    nodes = [ob.node("Identity", ["x"], ["h0"])]
    for i in range(count):
        nodes += layer(i)
    nodes += [
        ob.node("Abs", [f"h{count}"], ["t"]),
        ob.node(
            "Constant", [], ["c"], value=("tensor", ob.tensor("", ob.BOOL, [], [True]))
        ),
        ob.node(
            "If",
            ["c"],
            ["y"],
            then_branch=("graph", inner),
            else_branch=("graph", other),
        ),
    ]
    shape = ob.value_info("h1", dims=["batch", 3])
    return ob.model(
        ob.graph(
            nodes,
            [ob.value_info("x", dims=["batch", 3])],
            [ob.value_info("y", dims=["batch", 3])],
            [ob.tensor(f"w{i}", ob.FLOAT, [3, 3], [0.0] * 9) for i in range(count)],
        )
        + ob.field(13, shape),
        functions=[
            ob.function(
                "Twice", "mine", ["a"], ["b"], [ob.node("Add", ["a", "a"], ["b"])]
            )
        ],
        mine=1,
    )


def test_an_onnx_model(tmp_path):
    path = tmp_path / "model.onnx"
    path.write_bytes(onnx_model(6))
    top = picture(path)
    names = [b.name for b in top.inside]
    assert names == ["x", "Identity", "layers", "Abs", "If", "y"]
    assert top.find("x").notes == ["float32[batch, 3]"]
    # A shape is declared for the first one alone: it is not like the others.
    first, others = top.find("layers").inside
    assert (first.name, first.times) == ("0", 1)
    assert first.find("Add").notes == ["float32[batch, 3]"]
    assert (others.name, others.times) == ("1 … 5", 5)
    assert others.find("MatMul").notes == ["w1 float32[3, 3]"]
    branches = top.find("If")
    assert branches.find("then_branch").inside[0].name == "Neg"
    # The model's own function is drawn where it is called.
    (called,) = branches.find("else_branch").inside
    assert called.name == "mine::Twice"
    assert [b.name for b in called.inside] == ["Add"]


@pytest.mark.parametrize("name", ["a<b&c>\x01\x1b[2J", "\ud800 \uffff", "ü" * 99])
def test_names_of_any_kind_are_valid_xml(tmp_path, name):
    raw = name.encode("utf-8", "surrogatepass")
    node = ob.field(4, raw) + ob.field(1, "x") + ob.field(2, "y")
    path = tmp_path / "model.onnx"
    path.write_bytes(ob.model(ob.field(1, node) + ob.graph([], ["x"], ["y"])))
    top = picture(path)
    assert [b.name for b in top.inside][::2] == ["x", "y"]


def test_a_function_that_grows_is_refused(tmp_path):
    functions = [ob.function("f0", "m", ["a"], ["b"], [ob.node("Neg", ["a"], ["b"])])]
    for i in range(1, 40):
        twice = [
            ob.node(f"f{i - 1}", ["a"], ["c"], "m"),
            ob.node(f"f{i - 1}", ["c"], ["b"], "m"),
        ]
        functions.append(ob.function(f"f{i}", "m", ["a"], ["b"], twice, opset=1))
    path = tmp_path / "grows.onnx"
    graph = ob.graph([ob.node("f39", ["x"], ["y"], "m")], ["x"], ["y"])
    path.write_bytes(ob.model(graph, functions=functions, m=1))
    done = subprocess.run(
        [str(COMMAND), "info", str(path), "--picture", str(tmp_path / "o.svg")],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 1
    assert "more than 100000 nodes" in done.stderr
    assert not (tmp_path / "o.svg").exists()


# --- programs of torch.export ---


def golden(tmp_path: Path, name: str) -> Box:
    path = tmp_path / name
    path.write_bytes((ROOT / "tests/golden/pt2" / name).read_bytes())
    return picture(path)


def test_an_exported_program(tmp_path):
    drawn = {b.name: b for b in golden(tmp_path, "cond.pt2").all()}
    branches = drawn["higher_order.cond"]
    assert [b.name for b in branches.inside] == ["true_graph_0", "false_graph_0"]
    names = [b.name for b in branches.find("true_graph_0").inside]
    assert "aten.sin" in names
    assert drawn["x"].notes == ["float32[s77, 4]"]


def test_an_exported_program_of_its_own_modules(tmp_path):
    path = tmp_path / "own.pt2"
    net = torch.nn.Sequential(
        *(torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU()) for _ in range(5))
    )
    torch.export.save(torch.export.export(net, (torch.zeros(2, 4),)), str(path))
    top = picture(path)
    (row,) = [b for b in top.inside if b.inside]
    assert (row.name, row.times) == ("0 … 4", 5)
    assert [b.name for b in row.inside] == ["0: aten.linear", "1: aten.relu"]
    assert row.inside[0].notes == [
        "float32[2, 4]",
        "weight float32[4, 4]",
        "bias float32[4]",
    ]


# --- what is refused ---


def test_what_is_no_program_is_refused(tmp_path):
    weights = ROOT / "tests/golden/weights.gguf"
    for words in ([str(weights)], []):
        done = subprocess.run(
            [str(COMMAND), "info", *words, "--picture", str(tmp_path / "o.svg")],
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert done.returncode == 1
        assert "program" in done.stderr
    assert not list(tmp_path.iterdir())


def test_damaged_models_end_in_a_picture_or_an_error(tmp_path):
    import random

    draw = random.Random(11)
    whole = onnx_model(3)
    path, out = tmp_path / "model.onnx", tmp_path / "o.svg"
    drawn = 0
    for _ in range(60):
        data = bytearray(whole)
        for _ in range(draw.randint(1, 4)):
            data[draw.randrange(len(data))] = draw.randrange(256)
        path.write_bytes(data)
        out.unlink(missing_ok=True)
        done = subprocess.run(
            [str(COMMAND), "info", str(path), "--picture", str(out)],
            capture_output=True,
            timeout=60,
        )
        assert done.returncode in (0, 1), bytes(data)
        if out.exists():
            ET.parse(out)
            drawn += 1
    assert drawn > 5
