"""bench/networks.py: what it measures, computes and draws."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

BENCH = Path(__file__).resolve().parents[3] / "bench"
sys.path.insert(0, str(BENCH))

import networks  # noqa: E402


def run(folder, *words):
    command = [sys.executable, BENCH / "networks.py", "--folder", folder]
    return subprocess.run(
        [*command, "--out", folder / "out", *words], capture_output=True, text=True
    )


@pytest.fixture
def folder(tmp_path):
    """The MLP's arguments; its file is there but not read: it is our own."""
    x = np.random.default_rng(0).standard_normal((1, 784), dtype=np.float32)
    np.savez(tmp_path / "mlp784_b1.npz", x0=x)
    (tmp_path / "mlp784_b1.onnx").touch()
    return tmp_path


def test_measures_both_precisions_and_how_far_they_are_apart(folder):
    done = run(folder, "--rounds", "2", "--seconds", "0.001")
    assert done.returncode == 0, done.stderr
    report = json.loads((folder / "out/networks.json").read_text())
    (one,) = report["reports"]
    row = one["rows"]["mlp784_b1"]
    assert row["hotaru"]["error"] == 0  # is what others are compared with
    assert len(row["hotaru bfloat16"]["rounds"]) == 2
    # Factors are rounded to 8 bits, three times in a row.
    assert 1e-5 < row["hotaru bfloat16"]["error"] < 3 * 2**-7
    assert "| mlp784_b1 " in done.stdout


def test_an_unknown_network_is_named(folder):
    done = run(folder, "--networks", "mlp784_b1,nonesuch")
    assert done.returncode == 1
    assert "no file in" in done.stderr
    assert "nonesuch" in done.stderr.splitlines()[-1]


def row(**ratios):
    cells = {name: {"ratio": r, "seconds": 1.0} for name, r in ratios.items()}
    return {"hotaru": {"seconds": 1.0}, **cells}


def test_the_best_engine_is_the_fastest_in_float32():
    one = row(eager=2.0, onnxruntime=1.5, openvino=1.7)
    one["openvino own"] = {"ratio": 0.5}
    one["compile"] = {"skipped": "no compiler"}
    assert networks.best_of(one) == ("onnxruntime", 1.5)
    assert networks.best_of(row()) is None
    assert networks.mean([0.5, 2.0]) == "1.00"


def test_errors_are_relative_to_each_outputs_largest():
    wanted = [np.array([1.0, -4.0]), np.zeros(2)]
    assert networks.error_of([np.array([1.0, -3.0]), np.zeros(2)], wanted) == (0.25)
    assert networks.error_of([wanted[0], np.array([0, 0.5])], wanted) == 0.5
    for nan in ([np.array([1, np.nan]), wanted[1]], [np.nan * wanted[0]] * 2):
        assert np.isnan(networks.error_of(nan, wanted))
        assert np.isnan(networks.error_of(wanted, nan))


def test_a_deep_networks_result_depends_on_its_input():
    """Batch norms have the statistics of what goes through them."""
    command = (
        "import sys; sys.path.insert(0, sys.argv[1]); import torch;"
        "import network_list;"
        "model, (x,) = network_list.make('mobilenet_v2');"
        "torch.set_grad_enabled(False);"
        "print(float((model(x) - model(-x)).abs().max()))"
    )
    words = [sys.executable, "-m", "hotaru", "-c", command, BENCH]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) > 0.1


def test_draws_every_network(tmp_path):
    pytest.importorskip("matplotlib")
    from plots import networks as plots

    rows = {"first": row(eager=2.0, openvino=1.1), "second": row()}
    rows["second"]["openvino own"] = {"ratio": 0.8}
    report = {"reports": [{"threads": n, "rows": rows} for n in (1, 2)]}
    plots.draw(report, tmp_path / "a.svg")
    plots.draw(report, tmp_path / "b.svg")
    text = (tmp_path / "a.svg").read_text()
    assert text == (tmp_path / "b.svg").read_text()
    assert text.count("<svg") == 1
    assert "second" in text
