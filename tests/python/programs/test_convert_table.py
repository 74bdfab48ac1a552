"""`hotaru convert` between all formats."""

from __future__ import annotations

import json
import struct
import subprocess
import sys
from pathlib import Path

import onnx_bytes as ob
import pytest
from hotaru.weights import load_file, save_file

import hotaru as torch

ROOT = Path(__file__).parents[3]
COMMAND = Path(sys.executable).with_name("hotaru")


def convert(*words) -> subprocess.CompletedProcess:
    return subprocess.run(
        [str(COMMAND), "convert", *map(str, words)],
        capture_output=True,
        text=True,
        timeout=120,
    )


def converted(*words) -> None:
    done = convert(*words)
    assert done.returncode == 0, done.stderr


class Net(torch.nn.Module):
    """Net that formats put in ways of their own: sizes, branches, a state."""

    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(3, 4, 3)
        self.norm = torch.nn.BatchNorm2d(4)
        self.rnn = torch.nn.GRU(4, 5, batch_first=True)
        self.out = torch.nn.Linear(5, 2)

    def forward(self, x: torch.Tensor):
        y = torch.relu(self.norm(self.conv(x)))
        y = y.flatten(2).transpose(1, 2)
        if y.size(1) > 2:
            y = y[:, ::2]
        y, last = self.rnn(y)
        y = self.out(y)
        y = y * 2 if y.sum() > 0 else torch.sin(y)
        return y.reshape(x.size(0), -1), last


PROGRAMS = ("pt", "onnx", "pt2")
SHAPE = "--shape=2,3,6,6"
DYNAMIC = "--dynamic=batch=x:0"


@pytest.fixture(scope="module")
def programs(tmp_path_factory) -> dict[str, Path]:
    """The program in each format, and what it computes."""
    folder = tmp_path_factory.mktemp("programs")
    torch.manual_seed(7)
    net = Net().eval()
    files = {kind: folder / f"net.{kind}" for kind in PROGRAMS}
    torch.jit.save(torch.jit.script(net), str(files["pt"]))
    for kind in ("onnx", "pt2"):
        converted(files["pt"], files[kind], SHAPE, DYNAMIC)
    return files


# Another size of the batch than the one that was traced, of both branches.
INPUTS = [torch.full((5, 3, 6, 6), value) for value in (-1.5, 1.5)]


def results(path: Path) -> list:
    run = torch.load_program(str(path)).eval()
    with torch.no_grad():
        return [y for x in INPUTS for y in run(x)]


@pytest.mark.parametrize("to", PROGRAMS)
@pytest.mark.parametrize("source", PROGRAMS)
def test_programs(programs, tmp_path, source, to):
    path = tmp_path / f"made.{to}"
    # TorchScript archives keep what the program says of sizes.
    traced = [] if to == "pt" else [SHAPE, DYNAMIC]
    converted(programs[source], path, *traced)
    expected = results(programs["pt"])
    for a, b in zip(results(path), expected, strict=True):
        assert a.shape == b.shape
        assert a.dtype == b.dtype
        # A few operators of one rounding each, of values below 2.
        assert (a - b).abs().max() < 1e-6


@pytest.mark.parametrize("source", PROGRAMS)
def test_tensors_of_programs(programs, tmp_path, source):
    path = tmp_path / "made.safetensors"
    converted(programs[source], path)
    found = load_file(path)
    own = torch.load_program(str(programs[source])).state_dict()
    assert found.keys() == own.keys()
    for name, tensor in own.items():
        assert torch.equal(found[name], tensor)
    if source != "onnx":  # whose norm is part of the convolution
        assert {"conv.weight", "rnn.weight_hh_l0"} < found.keys()


# --- tensors ---

STATE = {
    "a.weight": torch.arange(12.0).reshape(3, 4),
    "a.half": torch.arange(4).to(torch.bfloat16),
    "steps": torch.tensor(7),
    "flags": torch.tensor([True, False]),
    "strided": torch.arange(6.0).reshape(2, 3).t(),
}
TENSORS = ("pth", "safetensors", "json")


def tensor_file(folder: Path, kind: str) -> Path:
    if kind == "json":
        part = folder / "part.safetensors"
        save_file({k: v.contiguous() for k, v in STATE.items()}, part)
        index = folder / "part.safetensors.index.json"
        names = dict.fromkeys(STATE, part.name)
        index.write_text(json.dumps({"weight_map": names}))
        return index
    path = folder / f"state.{kind}"
    if kind == "pth":
        torch.save(STATE, path)
    else:
        save_file({k: v.contiguous() for k, v in STATE.items()}, path, {"k": "v"})
    return path


@pytest.mark.parametrize("to", ["pt", "pth", "bin", "safetensors"])
@pytest.mark.parametrize("source", TENSORS)
def test_tensors(tmp_path, source, to):
    path = tmp_path / f"made.{to}"
    converted(tensor_file(tmp_path, source), path)
    found = load_file(path) if to == "safetensors" else torch.load(path)
    assert found.keys() == STATE.keys()
    for name, tensor in STATE.items():
        assert found[name].dtype == tensor.dtype
        assert torch.equal(found[name], tensor)


def gguf() -> bytes:
    """Two tensors, one of them in a quantised block."""
    text = lambda t: struct.pack("<Q", len(t)) + t.encode()  # noqa: E731
    out = b"GGUF" + struct.pack("<IQQ", 3, 2, 2)
    out += text("general.name") + struct.pack("<I", 8) + text("small")
    out += text("count") + struct.pack("<II", 4, 12)
    out += text("a") + struct.pack("<IQIQ", 1, 4, 0, 0)
    out += text("b") + struct.pack("<IQIQ", 1, 32, 8, 32)
    out += b"\0" * (-len(out) % 32)
    plain = struct.pack("<4f", 1, 2, 3, 4) + b"\0" * 16
    return out + plain + struct.pack("<e32b", 0.5, *range(32))


@pytest.mark.parametrize("to", ["pth", "safetensors"])
def test_gguf(tmp_path, to):
    source, path = tmp_path / "small.gguf", tmp_path / f"made.{to}"
    source.write_bytes(gguf())
    converted(source, path)
    found = load_file(path) if to == "safetensors" else torch.load(path)
    assert found.keys() == {"a", "b"}
    assert torch.equal(found["a"], torch.tensor([1.0, 2.0, 3.0, 4.0]))
    assert torch.equal(found["b"], torch.arange(32) * 0.5)
    if to == "safetensors":
        assert torch.weights.info(path).metadata == {
            "general.name": "small",
            "count": "12",
        }


def test_a_type_that_is_not_read_is_named(tmp_path):
    done = convert(ROOT / "tests/golden/weights.gguf", tmp_path / "made.safetensors")
    assert done.returncode == 1
    assert "'blk.0.unknown' is of type Q3_K" in done.stderr
    assert not list(tmp_path.iterdir())


def test_metadata_goes_along(tmp_path):
    source = tensor_file(tmp_path, "safetensors")
    converted(source, tmp_path / "made.safetensors")
    assert torch.weights.info(tmp_path / "made.safetensors").metadata == {"k": "v"}


def test_an_entry_of_a_checkpoint(tmp_path):
    source = tmp_path / "checkpoint.pt"
    torch.save({"epoch": 3, "model": STATE}, source)
    path = tmp_path / "made.safetensors"
    done = convert(source, path)
    assert done.returncode == 1
    assert "'epoch' is a int, no tensor; --key" in done.stderr
    assert not path.exists()
    converted(source, path, "--key", "model")
    assert load_file(path).keys() == STATE.keys()
    done = convert(source, path, "--key", "none")
    assert "there is no entry 'none'" in done.stderr


# --- what cannot be ---


@pytest.mark.parametrize(
    ("source", "to", "text"),
    [
        ("state.pth", "made.onnx", "tensors and no program"),
        ("state.pth", "made.pt2", "tensors and no program"),
        ("state.pth", "made.gguf", "hotaru writes tensors as .safetensors"),
        ("net.pt", "made.gguf", "hotaru writes tensors as .safetensors"),
        ("net.pt", "made.pt2", "forward takes x; 0 were given"),
        ("net.pt", "made.safetensors --key a", "net.pt is a program"),
        ("loop.onnx", "made.pt2 --shape 3", "a loop whose end depends on data"),
    ],
)
def test_what_cannot_be(programs, tmp_path, source, to, text):
    tensor_file(tmp_path, "pth")
    (tmp_path / "net.pt").write_bytes(programs["pt"].read_bytes())
    body = ob.graph(
        [
            ob.node("ReduceSum", ["v"], ["s"], keepdims=0),
            ob.node("Greater", ["s", "most"], ["c"]),
            ob.node("Add", ["v", "v"], ["w"]),
        ],
        [ob.value_info("i", ob.INT64, []), ob.value_info("o", ob.BOOL, []), "v"],
        ["c", "w"],
        [ob.tensor("most", ob.FLOAT, [], [9.0])],
    )
    loop = ob.node("Loop", ["", "", "x"], ["y"], body=("graph", body))
    (tmp_path / "loop.onnx").write_bytes(ob.model(ob.graph([loop], ["x"], ["y"])))
    target, *options = to.split(" ")
    done = convert(tmp_path / source, tmp_path / target, *options)
    assert done.returncode == 1
    assert text in done.stderr, done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / target).exists()
