"""Kinds of what `hotaru run` takes and gives: numbers, files and results."""

# TorchScript knows the old spellings.
# ruff: noqa: UP006, UP035

import json
import os
import subprocess
from subprocess import PIPE
from typing import Dict, List

import numpy as np
import pytest
from test_command import COMMAND, hotaru, output

import hotaru as torch


class Edges(torch.nn.Module):
    """Numbers that JSON has no words for."""

    def forward(self, x):
        return torch.cat([x.log(), -x.log(), x.log() * 0, x]), float("inf")


class Named(torch.nn.Module):
    """A dictionary with another in it."""

    def forward(self, x) -> Dict[str, List[torch.Tensor]]:
        return {"a": [x + 1], "b": [x.sum(), x * 2]}


class Doubled(torch.nn.Module):
    """Works on numbers of any kind."""

    def forward(self, x):
        return x.double() + 1


def saved(module, folder):
    torch.jit.script(module).save(str(folder / "m.pt"))
    return folder / "m.pt"


@pytest.fixture
def zeros(tmp_path):
    np.save(tmp_path / "x.npy", np.zeros(1, np.float32))
    return tmp_path / "x.npy"


def test_numbers_that_are_not_finite(tmp_path, zeros):
    model = saved(Edges(), tmp_path)
    text = output("run", model, "--input", zeros, "--json")
    tensor, number = json.loads(text, parse_constant=pytest.fail)["result"]
    assert tensor["values"] == ["-inf", "inf", "nan", 0.0]
    assert number == "inf"


def test_dictionaries(tmp_path, zeros):
    model = saved(Named(), tmp_path)
    text = output("run", model, "--input", zeros)
    assert "a: tensor([1.])" in text
    assert "b: tensor(0.)" in text
    result = json.loads(output("run", model, "--input", zeros, "--json"))
    assert result["result"]["b"][0]["values"] == 0.0
    assert result["result"]["a"][0]["values"] == [1.0]
    files = [tmp_path / f"{i}.npy" for i in range(3)]
    output("run", model, "--input", zeros, "--output", *files)
    assert [np.load(f).tolist() for f in files] == [[1.0], 0.0, [0.0]]


@pytest.mark.parametrize(
    "code",
    [
        "<u2",
        "<u4",
        "<u8",
        ">u2",
        ">u8",
        ">i2",
        ">i4",
        ">i8",
        ">f2",
        ">f4",
        ">f8",
        "|u1",
        "|b1",
    ],
)
def test_arrays_of_every_kind(tmp_path, code):
    model = saved(Doubled(), tmp_path)
    given = np.array([[1, 0, 1], [1, 1, 0]], code)
    np.save(tmp_path / "x.npy", given)
    out = tmp_path / "y.npy"
    output("run", model, "--input", tmp_path / "x.npy", "--output", out)
    assert np.load(out).tolist() == (given.astype(float) + 1).tolist()


def test_complex_arrays_of_the_other_order(tmp_path):
    model = saved(torch.nn.Identity(), tmp_path)
    np.save(tmp_path / "x.npy", np.array([1 + 2j, -3j], ">c8"))
    out = tmp_path / "y.npy"
    output("run", model, "--input", tmp_path / "x.npy", "--output", out)
    assert np.load(out).tolist() == [1 + 2j, -3j]


def test_large_unsigned_numbers(tmp_path):
    model = saved(torch.nn.Identity(), tmp_path)
    np.save(tmp_path / "x.npy", np.array([2**64 - 1, 3], np.uint64))
    text = output("run", model, "--input", tmp_path / "x.npy", "--json")
    assert json.loads(text)["result"]["values"] == [2**64 - 1, 3]


def test_nothing_of_the_current_folder_is_run(tmp_path, monkeypatch):
    model = saved(torch.nn.Linear(2, 2), tmp_path)
    folder = tmp_path / "here"
    folder.mkdir()
    for name in ("json", "numpy", "pathlib", "argparse", "inspect", "hotaru"):
        (folder / f"{name}.py").write_text("open('executed', 'w').close()\n")
    monkeypatch.chdir(folder)
    monkeypatch.delenv("PYTHONPATH", raising=False)
    done = hotaru("convert", model, "out.pt2", "--shape", "2,2")
    assert done.returncode == 0, done.stderr
    assert "out.pt2" in os.listdir(folder)
    assert "executed" not in os.listdir(folder)


@pytest.mark.parametrize("words", [("info",), ("--help",), ("run", "--help")])
def test_a_disk_that_is_full(words):
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [str(COMMAND), *words], stdout=full, stderr=PIPE, text=True
        )
    assert done.returncode == 1
    assert "standard output cannot be written: No space" in done.stderr


class Turned(torch.nn.Module):
    def forward(self, x):
        return x * 1j, 2 - 0.5j


def test_complex_numbers_are_pairs(tmp_path, zeros):
    model = saved(Turned(), tmp_path)
    text = output("run", model, "--input", zeros, "--json")
    tensor, number = json.loads(text)["result"]
    assert tensor["dtype"] == "complex64"
    assert tensor["values"] == [[0.0, 0.0]]
    assert number == [2.0, -0.5]


class Halved(torch.nn.Module):
    def forward(self, x):
        return x, x.bfloat16()


def test_files_of_results_are_written_all_or_none(tmp_path, zeros):
    model = saved(Halved(), tmp_path)
    paths = [tmp_path / "a.npy", tmp_path / "b.npy"]
    done = hotaru("run", model, "--input", zeros, "--output", *paths)
    assert done.returncode == 1
    assert "NumPy has no torch.bfloat16" in done.stderr
    assert not any(path.exists() for path in paths)


@pytest.mark.parametrize("code", ["=f4", "f4", "<f4"])
def test_arrays_by_any_name_of_their_dtype(tmp_path, zeros, code):
    """In a file of another name, with another array behind."""
    header = f"{{'descr': '{code}', 'fortran_order': False, 'shape': (1,)}}"
    header = header.ljust(117) + "\n"
    path = tmp_path / "array.bin"
    path.write_bytes(
        b"\x93NUMPY\x01\x00"
        + len(header).to_bytes(2, "little")
        + header.encode()
        + np.float32(3).tobytes()
        + zeros.read_bytes()
    )
    text = output("run", saved(Doubled(), tmp_path), "--input", path)
    assert "4." in text


def test_arrays_through_pipes(tmp_path, zeros):
    model = saved(Doubled(), tmp_path)
    for contents, right in ((zeros.read_bytes(), True), (b"RIFF", False)):
        done = subprocess.run(
            [str(COMMAND), "run", str(model), "--input", "/dev/stdin"],
            input=contents,
            capture_output=True,
        )
        assert (done.returncode == 0) == right, done.stderr
    cut = subprocess.run(
        [str(COMMAND), "run", str(model), "--input", "/dev/stdin"],
        input=zeros.read_bytes()[:-1],
        stderr=PIPE,
    )
    assert b"needs 4 bytes, the file has 3" in cut.stderr


@pytest.mark.parametrize("value", ["0", "-1", "abc", "nan", "inf"])
def test_numbers_that_options_refuse(value):
    done = hotaru("bench", "--seconds", value, "absent.pt")
    assert done.returncode == 2
    assert f"'{value}' is no number above 0" in done.stderr
