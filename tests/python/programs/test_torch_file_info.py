"""`hotaru info` of files of torch.save."""

import json
import subprocess
import sys
from pathlib import Path

import hotaru as torch
from hotaru import nn

COMMAND = Path(sys.executable).with_name("hotaru")


def info(path, *words: str) -> str:
    return subprocess.run(
        [str(COMMAND), "info", str(path), *words],
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def test_a_state_dict_shows_its_tensors(tmp_path):
    path = tmp_path / "state.pth"
    torch.save(nn.Linear(3, 4).state_dict(), path)
    assert info(path) == (
        "torch.save, 2 tensors, 16 elements, 64 B\n\n"
        "weight  float32[4, 3]\nbias  float32[4]\n"
    )


def test_a_checkpoint_names_the_way_to_each_tensor(tmp_path):
    path = tmp_path / "checkpoint.bin"
    state = {"model": {"w": torch.ones(2).half()}, 7: [(torch.ones(1),)]}
    torch.save({**state, "epoch": 3, "name": "a"}, path)
    report = json.loads(info(path, "--json"))
    assert report == {
        "format": "torch.save",
        "tensors": [
            {"name": "model.w", "dtype": "float16", "shape": [2]},
            {"name": "7.0.0", "dtype": "float32", "shape": [1]},
        ],
        "others": 2,
    }
    assert "2 tensors, 3 elements, 8 B, and 2 other values" in info(path)


def test_what_is_shared_is_shown_once(tmp_path):
    path = tmp_path / "shared.pth"
    part = {"w": torch.ones(1)}
    torch.save({"a": part, "b": part}, path)
    assert "1 tensors" in info(path)


def test_a_file_from_before_archives(tmp_path):
    path = tmp_path / "old.pt"
    state = {"w": torch.arange(6.0).view(2, 3), "epoch": 3}
    torch.save(state, path, _use_new_zipfile_serialization=False)
    assert info(path) == (
        "torch.save, 1 tensors, 6 elements, 24 B, and 1 other values\n\n"
        "w  float32[2, 3]\n"
    )
    assert json.loads(info(path, "--json"))["others"] == 1
    path.write_bytes(path.read_bytes()[:300])
    done = subprocess.run(
        [str(COMMAND), "info", str(path)], capture_output=True, text=True
    )
    assert done.returncode == 1
    assert done.stderr.startswith(f"hotaru: {path}: ")
    assert "Traceback" not in done.stderr
