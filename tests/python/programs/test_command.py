"""The command `hotaru`: what it prints, and what it says when it can't."""

import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest
from golden import recordings

import hotaru as torch

ROOT = Path(__file__).parents[3]
GOLDEN = json.loads((ROOT / "tests/golden/silero.json").read_text())
MODEL = Path(os.environ.get("HOTARU_SILERO", ROOT / ".cache/silero_vad.jit"))
COMMAND = Path(sys.executable).with_name("hotaru")
RECORDING = "cards/001.wav"


def hotaru(*words) -> subprocess.CompletedProcess:
    return subprocess.run(
        [str(COMMAND), *map(str, words)], capture_output=True, text=True, timeout=60
    )


def output(*words) -> str:
    done = hotaru(*words)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def model() -> Path:
    if not MODEL.exists():
        pytest.skip(f"{MODEL} is absent; ./dev test fetches it from PyPI")
    return MODEL


@pytest.fixture
def chunk(tmp_path) -> Path:
    """A .npy file with the first chunk of a recording, shape (1, 512)."""
    path = tmp_path / "chunk.npy"
    _, samples = recordings.read(RECORDING)
    np.save(path, recordings.chunks(samples, 512)[:1])
    return path


def test_info_tells_the_same_to_people_and_programs():
    report = json.loads(output("info", "--json"))
    text = output("info")
    assert f"hotaru {report['version']}" in text
    assert f"{report['threads']} of {report['cores']}" in text
    assert report["simd"] in text
    assert "get_num_threads" in report["parallel_info"]


# Kernels of the CPU that CUDA has no use for: layouts and whole layers that
# other kernels stand for there, what graphs of the CPU are made of, and other
# engines.
CPU_ONLY = {
    "attention_token",
    "block_channels",
    "blocked_avg_pool",
    "blocked_conv",
    "blocked_max_pool",
    "blocked_mean",
    "blocked_scale",
    "blocked_weight",
    "conv_fused",
    "dynamic_quantize",
    "embedding_bag_grad",
    "graph_fused",
    "int8_conv",
    "int8_matmul",
    "lstm_train",
    "lstm_train_grad",
    "narrow_rows",
    "pack_int8",
    "pack_int8_conv",
    "provider_run",
    "rnn_layer",
    "softmax_product",
    "unblock_channels",
    "weight_only_linear",
    "winograd_conv",
    "winograd_weight",
}


def test_info_lists_kernels_by_device():
    rows = json.loads(output("info", "--kernels", "--json"))
    assert rows["add"] == {"cpu": True, "cuda": rows["sum"]["cuda"]}
    lacking = {name for name, row in rows.items() if not row["cuda"]}
    if rows["add"]["cuda"]:
        # Collectives take tensors of the CPU.
        assert {n for n in lacking if not n.startswith("c10d::")} == CPU_ONLY
    last = output("info", "--kernels").splitlines()[-1]
    assert last.startswith(f"{len(rows)} kernels: ")


@pytest.mark.parametrize("command", ["info", "run", "bench", "graph", "compare"])
def test_help_of_each_command(command):
    assert "--json" in output(command, "--help")


def test_run_prints_what_the_model_answers(model, chunk):
    words = ("run", model, "--input", chunk, "16000")
    expected = GOLDEN["mono"][RECORDING][0]
    result = json.loads(output(*words, "--json"))["result"]
    assert result["dtype"] == "float32"
    assert result["shape"] == [1, 1]
    assert abs(result["values"][0][0] - expected) < 1e-5
    assert output(*words) == f"tensor([[{expected:.4f}]])\n"


def test_run_writes_tensors(model, chunk, tmp_path):
    target = tmp_path / "y.npy"
    words = ("--input", chunk, "--input", "16000", "--output", target)
    assert output("run", model, *words) == ""
    written = np.load(target)
    assert written.shape == (1, 1)
    assert abs(written[0, 0] - GOLDEN["mono"][RECORDING][0]) < 1e-5


def test_arguments_keep_the_order_of_the_command_line(model):
    """A shape before and a number behind it."""
    words = ("--shape", "1,512", "--input", "16000")
    assert output("run", model, *words).startswith("tensor([[")
    reverse = ("--input", "16000", "--shape", "1,512")
    assert hotaru("run", model, *reverse).returncode == 1


def test_bench_reports_ordered_percentiles(model):
    words = ("bench", model, "--shape", "1,512", "--input", "16000")
    words += ("--seconds", "0.2", "--threads", "1")
    report = json.loads(output(*words, "--json"))
    times = report["seconds"]
    order = [times[k] for k in ("min", "p50", "p90", "p99", "p99.9", "max")]
    assert order == sorted(order)
    assert order[0] > 0
    assert report["calls"] >= 20
    assert report["threads"] == 1
    assert "calls a second" in output(*words)


def test_graph_lists_and_draws_what_it_captured(model, tmp_path):
    words = ("graph", model, "--shape", "1,512", "--input", "16000")
    pictures = {name: tmp_path / f"{name}.svg" for name in ("graph", "memory")}
    text = output(
        *words, "--picture", pictures["graph"], "--memory", pictures["memory"]
    )
    report = json.loads(output(*words, "--json"))
    nodes = report["nodes"]
    first = text.splitlines()[0]
    assert first.startswith(f"{report['captured']} calls captured, {len(nodes)} run")
    assert [n["name"] for n in nodes].count("rnn_layer") == 1
    assert 0 < report["memory"]["least"] <= report["memory"]["plan"]
    assert report["memory"]["plan"] < report["memory"]["together"]
    titles = {"graph": "as captured", "memory": "Memory of intermediate values"}
    for name, path in pictures.items():
        labels = [t.text for t in ET.parse(path).iter() if (t.text or "").strip()]
        assert labels[0] == titles[name]
    drawn = [t.text for t in ET.parse(pictures["graph"]).iter()]
    # Once as captured, once as it runs.
    assert drawn.count("rnn_layer") == 2
    apart = json.loads(output(*words, "--json", "--without", "fuse_pointwise"))
    assert len(apart["nodes"]) > len(nodes)


def test_a_model_on_a_device(tmp_path, monkeypatch):
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.a = torch.nn.Linear(4, 8)
            self.b = torch.nn.Linear(8, 3)

        def forward(self, x):
            return self.b(self.a(x).relu()).softmax(-1)

    path = tmp_path / "net.pt"
    net = Net().eval()
    torch.jit.script(net).save(str(path))
    x = tmp_path / "x.npy"
    np.save(x, np.ones((2, 4), np.float32))
    monkeypatch.setenv("HOTARU_CUDA_DRIVER", "soft")
    on_device = ("--device", "cuda", "--json")
    run = json.loads(output("run", path, "--input", x, *on_device))
    found = torch.tensor(run["result"]["values"]).float()
    torch.testing.assert_close(found, net(torch.ones(2, 4)).detach())
    graph = json.loads(output("graph", path, "--shape", "2,4", *on_device))
    assert graph["device"]["launches"] == 1
    assert [n["name"] for n in graph["nodes"]] == ["linear", "matmul", "softmax"]
    assert all(n["seconds"] >= 0 for n in graph["nodes"])
    text = output("graph", path, "--shape", "2,4", "--device", "cuda:0")
    assert re.search(r"a replay: \d+ kernels, copies and fills in 1 launch\n", text)
    bench = json.loads(
        output("bench", path, "--shape", "2,4", "--seconds", "0.1", *on_device)
    )
    assert bench["calls"] >= 20
    done = hotaru("run", path, "--shape", "2,4", "--device", "cuda:7")
    assert done.returncode == 1
    assert "invalid device ordinal" in done.stderr


def test_graph_says_what_cannot_be_captured(tmp_path):
    class Chooses(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            if bool(x.sum() > 0):
                return x
            return -x

    path = tmp_path / "chooses.pt"
    torch.jit.save(torch.jit.script(Chooses()), path)
    done = hotaru("graph", path, "--shape", "4")
    assert done.returncode == 1
    assert "can't be captured" in done.stderr
    assert "not permitted when stream is capturing" in done.stderr
    done = hotaru("graph", path, "--shape", "4", "--without", "nothing")
    assert "no pass 'nothing'" in done.stderr


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--input", "16000"], "x: Tensor, sr: int"),
        (["--shape", "1,600", "--input", "16000"], "number of samples is 600"),
        (["--shape", "1,x", "--input", "16000"], "'x' is no size"),
        (["--shape", "1,512:float31"], "'float31' is no dtype"),
        (["--input", "chunk.wav"], "give a .npy file, a number"),
        (["--input", "absent.npy"], "absent.npy: can't be read: No such file"),
        (["--method", "backward", "--shape", "1"], "backward"),
    ],
)
def test_errors_say_what_would_be_right(model, words, expected):
    done = hotaru("run", model, *words)
    assert done.returncode == 1
    assert done.stderr.startswith("hotaru: ")
    assert expected in done.stderr
    assert done.stdout == ""


def test_absent_model_and_no_model(tmp_path):
    absent = tmp_path / "absent.pt"
    done = hotaru("run", absent)
    assert done.returncode == 1
    assert str(absent) in done.stderr
    assert "No such file" in done.stderr
    other = tmp_path / "other.pt"
    other.write_bytes(b"PK\x03\x04 and nothing else")
    done = hotaru("bench", other)
    assert done.returncode == 1
    assert str(other) in done.stderr


def test_senseless_command_line_is_another_exit_code():
    assert hotaru("fly").returncode == 2
    assert hotaru("run").returncode == 2
    assert hotaru("info", "--jsno").returncode == 2
